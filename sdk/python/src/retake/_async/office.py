"""What is of the namespace: keys, webhooks, schedules, events, the audit log, the store."""

from __future__ import annotations

import asyncio
import json
from datetime import datetime
from typing import Any, AsyncIterable, AsyncIterator, Iterable, Optional, Union

import httpx

from .. import models
from .._ask import PAGE, QUIET, Stream, ask, pause
from .._wire import encode, present
from ..errors import RetakeError
from .core import AsyncCore, understood

Archive = Union[bytes, AsyncIterable[bytes]]


class AsyncOffice(AsyncCore):
    async def about(self) -> models.About:
        """Who answers."""
        return await self._call(models.About, ask("GET", "about"))

    async def namespace(self) -> models.Namespace:
        """The namespace that the key is of: its limits, its default workspace."""
        return await self._call(models.Namespace, ask("GET", "namespace"))

    async def usage(self) -> models.Usage:
        """What the namespace takes."""
        return await self._call(models.Usage, ask("GET", "usage"))

    async def set_limits(self, *, if_match: str = "", **limits: int) -> models.Namespace:
        """Changes limits; what is not named stays. 0 is no bound. With the etag of the namespace in if_match it
        fails with the code precondition_failed if others changed them since."""
        return await self._call(models.Namespace, ask("PUT", "namespace", "limits", body=limits, if_match=if_match))

    async def workspaces(self) -> list[models.WorkspaceState]:
        """All workspaces, the most recently used first."""
        return await self._list(models.WorkspaceState, "workspaces", ask("GET", "workspaces"))

    async def init(self, name: str = "", *, dir: str = "", accept: Iterable[str] = (), mark: str = "") -> models.SaveResult:
        """Makes a workspace and takes its first checkpoint. dir is one of the server, which makes one by the name
        when there is none."""
        body = present({"dir": dir, "name": name, "accept": list(accept), "mark": mark})
        return await self._call(models.SaveResult, ask("POST", "workspaces", body=body))

    async def import_archive(self, archive: Archive, *, name: str = "", intent: str = "") -> models.SaveResult:
        """Makes a workspace of a tar archive, plain or packed. It is sent once: the server keeps no answer for it."""
        a = ask("POST", "import", query={"name": name, "intent": intent}, again=False)
        del a.headers["Idempotency-Key"]
        a.body = archive
        a.headers["Content-Type"] = "application/x-tar"
        return await self._call(models.SaveResult, a)

    async def keys(self) -> list[models.Key]:
        """All keys, also those that ended."""
        return [k async for k in self._pages(models.Key, "keys")]

    async def make_key(
        self, kind: str, *, name: str = "", workspaces: Iterable[str] = (), expires: Optional[datetime] = None
    ) -> models.NewKey:
        """Makes a key. Its secret is told once."""
        body = present({"kind": kind, "name": name, "workspaces": list(workspaces), "expires": expires})
        return await self._call(models.NewKey, ask("POST", "keys", body=body))

    async def revoke_key(self, id: str) -> models.Key:
        """Ends a key at once."""
        return await self._call(models.Key, ask("DELETE", "keys", id))

    async def webhooks(self) -> list[models.Webhook]:
        """All webhooks."""
        return [w async for w in self._pages(models.Webhook, "webhooks")]

    async def make_webhook(self, url: str, *, types: Iterable[str] = (), scheme: str = "") -> models.NewWebhook:
        """Tells an address of events. The secret is told once; verify_webhook takes it."""
        body = present({"url": url, "types": list(types), "scheme": scheme})
        return await self._call(models.NewWebhook, ask("POST", "webhooks", body=body))

    async def change_webhook(
        self, id: str, *, url: str, types: Iterable[str] = (), disabled: Optional[datetime] = None, if_match: str = ""
    ) -> models.Webhook:
        """Replaces address and types. With a time in disabled it gets nothing. With its etag in if_match it fails
        with the code precondition_failed if others changed it since."""
        body = present({"url": url, "types": list(types), "disabled": disabled})
        return await self._call(models.Webhook, ask("PUT", "webhooks", id, body=body, if_match=if_match))

    async def drop_webhook(self, id: str) -> None:
        """Tells it no more."""
        await self._drop(ask("DELETE", "webhooks", id))

    async def rotate_webhook(self, id: str) -> models.NewWebhook:
        """Makes a new secret; the old one signs too for a day."""
        return await self._call(models.NewWebhook, ask("POST", "webhooks", id, "rotate"))

    async def deliveries(
        self, *, webhook: str = "", state: str = "", limit: Optional[int] = None, page: int = PAGE
    ) -> AsyncIterator[models.Delivery]:
        """Messages and their tries, newest first."""
        async for d in self._pages(models.Delivery, "deliveries", limit=limit, page=page, webhook=webhook, state=state):
            yield d

    async def delivery(self, id: str) -> models.Delivery:
        """One message, with its body."""
        return await self._call(models.Delivery, ask("GET", "deliveries", id))

    async def replay(self, id: str) -> models.Delivery:
        """Sends a message again, under its own id."""
        return await self._call(models.Delivery, ask("POST", "deliveries", id, "replay"))

    async def events(self, after: int = 0, *, limit: Optional[int] = None, wait: str = "") -> list[models.Event]:
        """What happened behind an event, oldest first, in one part. wait: how long for the first, such as 20s."""
        return await self._list(models.Event, "data", ask("GET", "events", query={"after": after or None, "limit": limit, "wait": wait}))

    async def follow(self, after: int = 0) -> AsyncIterator[models.Event]:
        """What happens behind an event, without end; 0 is the beginning. A stream that breaks off is taken up
        again behind the last event that was given."""
        idle = 0
        while True:
            a = ask("GET", "events")
            a.headers.update({"Accept": "text/event-stream", "Last-Event-ID": str(after)})
            a.quiet = QUIET
            answer = await self._send(a, whole=False)
            events = Stream()
            try:
                async for chunk in answer.aiter_bytes():
                    for sent in events.feed(chunk):
                        value = json.loads(sent["data"])
                        if sent["event"] == "problem":
                            raise RetakeError.of(value)
                        event = understood(models.Event, value)
                        yield event
                        after, idle = event.seq, 0
            except httpx.TransportError:
                pass
            except RetakeError as e:
                if not e.retryable or idle > self._retries:
                    raise
            finally:
                await answer.aclose()
            await asyncio.sleep(pause(min(idle, 5)))
            idle += 1

    async def schedules(self) -> list[models.Schedule]:
        """All schedules, and how they went."""
        return [s async for s in self._pages(models.Schedule, "schedules")]

    async def make_schedule(self, work: str, cron: str, *, workspace: str = "", jitter: int = 0) -> models.Schedule:
        """Does save, retain or drill on a cadence: cron has five fields, in UTC. jitter is nanoseconds."""
        body = present({"work": work, "cron": cron, "workspace": workspace or self._workspace, "jitter": jitter or None})
        return await self._call(models.Schedule, ask("POST", "schedules", body=body))

    async def drop_schedule(self, id: str) -> None:
        """Ends a schedule."""
        await self._drop(ask("DELETE", "schedules", id))

    async def audit(self, *, limit: Optional[int] = None, page: int = PAGE) -> AsyncIterator[models.AuditEntry]:
        """Who did what, newest first."""
        async for e in self._pages(models.AuditEntry, "audit", limit=limit, page=page):
            yield e

    async def check_audit(self) -> models.AuditProof:
        """Reads the whole audit log and every anchor."""
        return await self._call(models.AuditProof, ask("GET", "audit", "check"))

    async def deletions(self) -> list[models.Deletion]:
        """All requests to delete."""
        return [d async for d in self._pages(models.Deletion, "deletions")]

    async def cancel_deletion(self, id: str) -> models.Deletion:
        """Takes a request to delete back."""
        return await self._call(models.Deletion, ask("DELETE", "deletions", id, again=False))

    async def observe(self, signal: Union[models.Signal, dict[str, Any]]) -> models.Reaction:
        """Tells what an agent does: a prompt, a call, the end of a turn. Its dir is one of the server."""
        return await self._call(models.Reaction, ask("POST", "signals", body=encode(signal)))

    async def stored(self, id: str) -> bytes:
        """Stored bytes by the address that an entry has."""
        return (await self._send(ask("GET", "objects", id))).content

    async def space(self) -> models.StoreState:
        """The room that the store takes and has."""
        return await self._call(models.StoreState, ask("GET", "space"))

    async def space_plan(self) -> models.SpacePlan:
        """What the next cleanup would drop; it drops nothing."""
        return await self._call(models.SpacePlan, ask("GET", "space", "plan"))

    async def scrub(self, share: float = 0.0) -> models.ScrubReport:
        """Reads the store back: a share of all bytes, 0 to 1."""
        return await self._call(models.ScrubReport, ask("POST", "scrub", body={"share": share}))

    async def sweep(self) -> models.SweepReport:
        """Gives back the bytes that no checkpoint needs."""
        return await self._call(models.SweepReport, ask("POST", "sweep"))

    async def thin(self) -> models.ThinReport:
        """Does the next cleanup now."""
        return await self._call(models.ThinReport, ask("POST", "thin"))

    async def rebuild(self) -> models.RebuildReport:
        """Makes the catalog again from the store."""
        return await self._call(models.RebuildReport, ask("POST", "rebuild"))
