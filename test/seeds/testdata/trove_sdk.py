"""A client for snapshots of agent workspaces, as the product page of TroveFiles shows it.

Names, arguments and results are those of the page. The page does not say how a namespace
travels or what a list looks like, so these are the only two things taken from the server:
the API key belongs to one namespace, and a list comes in pages.
"""

import json
import urllib.error
import urllib.request
from dataclasses import dataclass


class TroveError(Exception):
    """An answer that is no success."""

    def __init__(self, status, problem):
        super().__init__(f"{status} {problem}")
        self.status = status
        self.problem = problem


@dataclass(frozen=True)
class Snapshot:
    """One point in time of a namespace."""

    snapshot_id: str
    size_bytes: int
    created_at: str
    label: str

    @classmethod
    def of(cls, told):
        return cls(told["snapshot_id"], told["size_bytes"], told["created_at"], told.get("label", ""))


@dataclass(frozen=True)
class Webhook:
    """A subscription. The secret is told only once."""

    webhook_id: str
    secret: str


class Wire:
    """Sends requests and remembers the status of each answer."""

    def __init__(self, api_key, base_url):
        self._api_key = api_key
        self._base_url = base_url.rstrip("/")
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # never through a proxy of the machine
        self.statuses = []

    def ask(self, method, path, body=None, raw=None):
        """Returns the decoded answer, or None if there is none."""
        data = raw if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._base_url + path, data=data, method=method)
        request.add_header("Authorization", "Bearer " + self._api_key)
        request.add_header("Content-Type", "application/json" if raw is None else "application/octet-stream")
        try:
            with self._opener.open(request, timeout=120) as answer:
                self.statuses.append(answer.status)
                text = answer.read()
        except urllib.error.HTTPError as refused:
            with refused:
                self.statuses.append(refused.code)
                raise TroveError(refused.code, refused.read().decode(errors="replace")) from None
        return json.loads(text) if text else None


class TroveClient:
    """Snapshots of one namespace."""

    def __init__(self, api_key, namespace, base_url):
        self.wire = Wire(api_key, base_url)
        self.namespace = namespace
        told = self.wire.ask("GET", "/v1/about").get("namespace")
        if told != namespace:  # or the caller would roll back somebody else
            raise ValueError(f"the API key is for the namespace {told!r}, not {namespace!r}")

    def create_snapshot(self, label=None):
        """Captures the full state of the namespace."""
        return Snapshot.of(self.wire.ask("POST", "/v1/snapshots", {"label": label} if label else {}))

    def restore_snapshot(self, snapshot_id):
        """Rolls the whole namespace back, and returns how many files that took."""
        return self.wire.ask("POST", f"/v1/snapshots/{snapshot_id}/restore")["files_restored"]

    def list_snapshots(self):
        """Lists all snapshots, newest first."""
        out, cursor = [], ""
        while True:
            page = self.wire.ask("GET", "/v1/snapshots" + (f"?cursor={cursor}" if cursor else ""))
            out += [Snapshot.of(s) for s in page["data"]]
            cursor = page.get("next_cursor")
            if not cursor:
                return out

    def delete_snapshot(self, snapshot_id):
        """Deletes one snapshot."""
        self.wire.ask("DELETE", f"/v1/snapshots/{snapshot_id}")


class TroveAdminClient:
    """Subscriptions of a workspace."""

    def __init__(self, api_key, workspace_id, base_url):
        self.wire = Wire(api_key, base_url)
        self.workspace_id = workspace_id

    def create_webhook(self, url, events, namespace):
        """Subscribes a URL to events of a namespace."""
        told = self.wire.ask("POST", "/v1/webhooks", {"url": url, "events": events, "namespace": namespace, "workspace_id": self.workspace_id})
        return Webhook(told["webhook"]["id"], told["secret"])
