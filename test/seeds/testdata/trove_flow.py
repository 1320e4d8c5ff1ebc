"""Plays the product page of TroveFiles against a server, and checks each of its promises.

    trove_flow.py [--restore-does-nothing] [--known NAME]... < scene.json

It prints each check, and exits with 1 at the first one that does not hold. A difference that
is known by its name does not end it; once the page is right again, it must not be known any
more.
"""

import argparse
import base64
import datetime
import hmac
import http.server
import io
import json
import os
import sys
import tarfile
import threading
import time
import urllib.parse

import trove_sdk

LABEL = "before-quarterly-rebuild"
PATIENCE = 60  # seconds for a message


class Judge:
    """Prints checks, and ends the program at the first that fails."""

    def __init__(self, known):
        self.known = set(known)

    def check(self, name, holds, detail=""):
        if holds == (name in self.known):
            print(f"DIFFERS  {name}: {'it is known to differ and does not' if holds else detail}")
            sys.exit(1)
        print(f"{'ok' if holds else 'known'}  {name}" + ("" if holds else f": {detail}"))

    def refused(self, name, call, statuses=(400, 403, 422)):
        """Checks that a call is refused, for a reason and not by accident."""
        try:
            call()
        except trove_sdk.TroveError as e:
            self.check(name, e.status in statuses, str(e))
            print("   ", e.status, json.loads(e.problem)["what"][:80])
        else:
            self.check(name, False, "it was done")


class Receiver:
    """An endpoint that keeps the messages that it gets."""

    def __init__(self):
        self._arrived = threading.Condition()
        self._messages = []
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                with receiver._arrived:
                    receiver._messages.append((dict(self.headers.items()), body))
                    receiver._arrived.notify_all()
                self.send_response(204)
                self.end_headers()

            def log_message(self, *args):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/trove-events"

    def wait_for(self, fits):
        """Returns the first message that fits, or None if none comes."""
        end = time.monotonic() + PATIENCE
        with self._arrived:
            while True:
                for headers, body in self._messages:
                    if fits(json.loads(body)):
                        return headers, body
                if not self._arrived.wait(max(0, end - time.monotonic())):
                    return None

    def types(self):
        with self._arrived:
            return {json.loads(body)["type"] for _, body in self._messages}


def signed(secret, headers, body):
    """Reports whether a message has a signature of Standard Webhooks that fits."""
    headers = {name.lower(): value for name, value in headers.items()}
    if abs(time.time() - int(headers["webhook-timestamp"])) > 300:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    text = f'{headers["webhook-id"]}.{headers["webhook-timestamp"]}.'.encode() + body
    ours = "v1," + base64.b64encode(hmac.digest(key, text, "sha256")).decode()
    return any(hmac.compare_digest(ours, given) for given in headers["webhook-signature"].split())


class Agent:
    """The agent's tools: it writes and deletes files, and knows nothing of snapshots."""

    def __init__(self, wire, workspace):
        self.wire, self.workspace = wire, workspace

    def _at(self, path, mode=None):
        query = {"path": path} | ({"mode": mode} if mode else {})
        return f"/v1/workspaces/{self.workspace}/file?" + urllib.parse.urlencode(query)

    def write(self, path, content, mode=None):
        self.wire.ask("PUT", self._at(path, mode), raw=content)

    def delete(self, path):
        self.wire.ask("DELETE", self._at(path))

    def changes_since(self, snapshot_id):
        """Lists how the files of now differ from those of a snapshot."""
        told = self.wire.ask("GET", f"/v1/workspaces/{self.workspace}/diff?" + urllib.parse.urlencode({"from": snapshot_id}))
        return [c["path"] for c in told["changes"]]


class DoesNothing(trove_sdk.TroveClient):
    """A client whose rollback only says that it was done."""

    def restore_snapshot(self, snapshot_id):
        return 1000


def write_all(agent, top):
    """Gives the workspace the files and the directories below top, and returns their bytes."""
    size = 0
    for here, dirs, files in os.walk(top):
        at = os.path.relpath(here, top)
        for name in files:
            path = os.path.join(here, name)
            if os.path.islink(path):
                continue
            with open(path, "rb") as f:
                content = f.read()
            size += len(content)
            agent.write(os.path.normpath(os.path.join(at, name)), content, "755" if os.access(path, os.X_OK) else None)
        if not dirs and not files:  # a directory without files is made by one that goes again
            agent.write(os.path.join(at, "x"), b"")
            agent.delete(os.path.join(at, "x"))
    return size


def go_off_the_rails(agent, top):
    """Overwrites, deletes a directory with all in it, and adds garbage. Returns how many files must come back."""
    agent.write("memory/notes.md", b"the customer said nothing")
    agent.write("config.json", b"\x00garbage\x00" * 1000)
    gone = os.path.join(top, "reports")
    back = 2
    for here, _, files in os.walk(gone, topdown=False):
        at = os.path.relpath(here, top)
        for name in files:
            agent.delete(os.path.join(at, name))
            back += 1
        agent.delete(at)
    agent.delete("inbox")
    for i in range(5):
        agent.write(f"junk/{i}/tmp.bin", os.urandom(100))
    return back


def instant(text):
    """Returns a time in a form that can be compared: the digits of a second's part are any number."""
    seconds, _, part = text.removesuffix("Z").partition(".")
    return datetime.datetime.fromisoformat(seconds + "+00:00"), part.ljust(9, "0")


def capture(judge, trove, size):
    before = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(minutes=5)
    snap = trove.create_snapshot(label=LABEL)
    print(snap.snapshot_id, snap.size_bytes, snap.created_at)
    judge.check("a snapshot has an ID", isinstance(snap.snapshot_id, str) and snap.snapshot_id != "", repr(snap))
    judge.check("a snapshot has the size of the files", snap.size_bytes == size, f"{snap.size_bytes} bytes, the files have {size}")
    judge.check("a snapshot has its label", snap.label == LABEL, repr(snap.label))
    judge.check("a snapshot has a time in UTC", snap.created_at.endswith("Z") and instant(snap.created_at)[0] > before, snap.created_at)
    return snap


def roll_back(judge, trove, agent, snap, back):
    judge.check("the agent broke something", len(agent.changes_since(snap.snapshot_id)) > 0)
    restored = trove.restore_snapshot(snap.snapshot_id)
    print(f"Rolled back. {restored} files restored.")
    judge.check("a restore is one call", 409 not in trove.wire.statuses, str(trove.wire.statuses))
    judge.check("a restore says how many files came back", isinstance(restored, int) and restored >= back, f"{restored}, and {back} had to")
    left = agent.changes_since(snap.snapshot_id)
    judge.check("after a restore the files are those of the snapshot", left == [], f"{left}")


def browse(judge, trove, snap, foreign):
    trove.create_snapshot()
    listed = trove.list_snapshots()
    for s in listed:
        print(s.created_at, s.label or "(no label)", s.snapshot_id)
    times = [instant(s.created_at) for s in listed]
    judge.check("the list is newest first", times == sorted(times, reverse=True), str(times))
    judge.check("a snapshot without a label is the newest", listed[0].label == "", repr(listed[0]))
    judge.check("a restore keeps the snapshot", snap in listed, repr(listed))
    judge.check("a namespace sees its own snapshots only", foreign not in [s.snapshot_id for s in listed])
    judge.refused("a snapshot of another namespace cannot be restored", lambda: trove.restore_snapshot(foreign), (404,))
    judge.refused("a snapshot that does not exist cannot be restored", lambda: trove.restore_snapshot("snap-1f3a2c"), (404,))


def audit(judge, receiver, hook, namespace, snap):
    judge.check("a webhook has a secret", hook.secret.startswith("whsec_"), hook.secret[:6])
    fits = {
        "snapshot.created": lambda e: e["type"] == "snapshot.created" and e["data"].get("snapshot_id") == snap.snapshot_id,
        "snapshot.restored": lambda e: e["type"] == "snapshot.restored",
    }
    for kind, fit in fits.items():
        got = receiver.wait_for(fit)
        judge.check(f"{kind} arrives", got is not None, f"only {receiver.types()} within {PATIENCE} s")
        headers, body = got
        judge.check(f"{kind} is signed", signed(hook.secret, headers, body), str(headers))
        judge.check(f"{kind} cannot be changed", not signed(hook.secret, headers, body + b" "))
        judge.check(f"{kind} cannot be forged", not signed("whsec_" + base64.b64encode(bytes(32)).decode(), headers, body))
        data = json.loads(body)["data"]
        judge.check(f"{kind} has the namespace", data.get("namespace") == namespace, str(data))
        judge.check(f"{kind} has the ID of the snapshot", data.get("snapshot_id") == snap.snapshot_id, str(data))
    judge.check("nothing else arrives", receiver.types() <= set(fits), str(receiver.types()))


def stay_inside(judge, agent, trove, snap, outside):
    hostile = [
        f"{outside}/escaped", "/escaped", "//escaped", "../escaped", "../../../../escaped", "memory/../../escaped", "memory/../escaped", "exit/escaped",
        "..", ".", "/", "", "memory//escaped", "memory/./escaped", "memory/", "memory/..", "escaped\0.txt", ".retake/escaped", "a" * 300, "a/" * 3000 + "escaped",
    ]
    for path in hostile:
        path_shown = path.replace(outside, "OUTSIDE")
        short = repr(path_shown if len(path_shown) < 40 else path_shown[:20] + "…")
        statuses = (409,) if path == "exit/escaped" else (400, 403, 422)  # a link is there instead of a directory
        judge.refused(f"{short} is not written", lambda: agent.write(path, b"escaped"), statuses)
        judge.refused(f"{short} is not deleted", lambda: agent.delete(path), statuses)
    for path in [f"{outside}/escaped", "../escaped", "memory/../../escaped", "../../../../server.db", "exit/escaped"]:  # one of them is there
        body, shown = {"paths": [path]}, path.replace(outside, "OUTSIDE")
        judge.refused(f"{shown!r} is not restored", lambda: trove.wire.ask("POST", f"/v1/snapshots/{snap.snapshot_id}/restore", body), (404, 422))
    judge.check("refusals change nothing", agent.changes_since(snap.snapshot_id) == [], str(agent.changes_since(snap.snapshot_id)))


def entry(name, kind=tarfile.REGTYPE, target=""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, target, 7 if kind == tarfile.REGTYPE else 0
    return info


def unpack_nothing(judge, wire, outside):
    """Sends archives that want to write elsewhere. Each is refused as a whole."""
    archives = {
        "with a parent": [entry("good.txt"), entry("../escaped")],
        "with a deep parent": [entry("a/b/../../../escaped")],
        "with an absolute path": [entry(f"{outside}/escaped")],
        "with a file below a link": [entry("out", tarfile.SYMTYPE, outside), entry("out/escaped")],
        "with a link below a link": [entry("out", tarfile.SYMTYPE, ".."), entry("out/escaped", tarfile.SYMTYPE, outside)],
        "with a hard link out": [entry("escaped", tarfile.LNKTYPE, "../../../../server.db")],
    }
    for i, (name, entries) in enumerate(archives.items()):
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
            for e in entries:
                tar.addfile(e, io.BytesIO(b"escaped") if e.size else None)
        judge.refused(f"an archive {name} is not unpacked", lambda: wire.ask("POST", f"/v1/import?name=archive{i}", raw=packed.getvalue()))
    judge.refused("an archive that is none is not unpacked", lambda: wire.ask("POST", "/v1/import?name=none", raw=b"no archive at all" * 100))
    named = [w["name"] for w in wire.ask("GET", "/v1/workspaces")["workspaces"]]
    judge.check("no archive left a workspace", named == ["default"], str(named))


def delete(judge, trove, admin_trove):
    doomed = trove.create_snapshot(label="to be deleted")
    trove.create_snapshot(label="the newest")  # which is never deleted
    try:
        trove.delete_snapshot(doomed.snapshot_id)
        judge.check("the key that takes snapshots deletes them", True)
    except trove_sdk.TroveError as e:
        judge.check("the key that takes snapshots deletes them", False, str(e))
    admin_trove.delete_snapshot(doomed.snapshot_id)
    judge.check("a deletion is accepted", admin_trove.wire.statuses[-1] in (200, 202, 204), str(admin_trove.wire.statuses))
    listed = [s.snapshot_id for s in trove.list_snapshots()]
    judge.check("a deleted snapshot is not listed", doomed.snapshot_id not in listed, "it is listed until its grace period ends")


def main():
    flags = argparse.ArgumentParser()
    flags.add_argument("--restore-does-nothing", action="store_true")
    flags.add_argument("--known", action="append", default=[])
    args = flags.parse_args()
    scene = json.load(sys.stdin)
    judge, receiver = Judge(args.known), Receiver()
    url, namespace, workspace = scene["url"], scene["namespace"], scene["workspace"]

    client = DoesNothing if args.restore_does_nothing else trove_sdk.TroveClient
    trove = client(api_key=scene["agent"], namespace=namespace, base_url=url)
    admin = trove_sdk.TroveAdminClient(api_key=scene["admin"], workspace_id=workspace, base_url=url)
    hook = admin.create_webhook(url=receiver.url, events=["snapshot.created", "snapshot.restored"], namespace=namespace)

    agent = Agent(trove_sdk.Wire(scene["agent"], url), workspace)
    size = write_all(agent, scene["files"])
    snap = capture(judge, trove, size)
    back = go_off_the_rails(agent, scene["files"])
    roll_back(judge, trove, agent, snap, back)
    browse(judge, trove, snap, scene["foreign"])
    audit(judge, receiver, hook, namespace, snap)
    stay_inside(judge, agent, trove, snap, scene["outside"])
    unpack_nothing(judge, trove_sdk.Wire(scene["operator"], url), scene["outside"])
    delete(judge, trove, trove_sdk.TroveClient(api_key=scene["admin"], namespace=namespace, base_url=url))
    print("snapshot", snap.snapshot_id)


if __name__ == "__main__":
    main()
