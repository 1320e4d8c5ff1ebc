"""What is of one workspace: its checkpoints, their files, and going back."""

from __future__ import annotations

from datetime import datetime
from typing import Any, AsyncIterator, Iterable, Optional, Union

from .. import models
from .._ask import PAGE, ask, checkpoint_id
from .._wire import encode, paths_of, present, stamp
from ..errors import RetakeError
from .core import AsyncCore

Path = Union[str, bytes]
Paths = Union[Path, list, tuple]


class AsyncHistory(AsyncCore):
    async def save(self, intent: str = "", **options: Any) -> models.Checkpoint:
        """Takes a checkpoint. The options are those of save_result."""
        return (await self.save_result(intent, **options)).checkpoint

    async def save_result(
        self, intent: str = "", *, pin: str = "", if_changed: bool = False, trigger: str = "", budget: int = 0, id: str = ""
    ) -> models.SaveResult:
        """Takes a checkpoint, and tells what else there is to say. budget is nanoseconds. It has an id before it
        is asked for, so that asking again adds nothing."""
        body = present(
            {"id": id or checkpoint_id(), "intent": intent, "pin": pin, "if_changed": if_changed, "trigger": trigger, "budget": budget or None}
        )
        return await self._call(models.SaveResult, ask("POST", *await self._at("checkpoints"), body=body))

    async def checkpoints(
        self,
        *,
        since: Optional[datetime] = None,
        before: Optional[int] = None,
        good: bool = False,
        path: Path = "",
        session: str = "",
        limit: Optional[int] = None,
        page: int = PAGE,
    ) -> AsyncIterator[models.Checkpoint]:
        """The timeline, newest first. It is fetched in parts of page as they are needed."""
        left = limit
        while left is None or left > 0:
            size = page if left is None else min(page, left)
            t = await self.timeline(since=since, before=before, good=good, path=path, session=session, limit=size)
            for c in t.checkpoints:
                yield c
            if len(t.checkpoints) < size:
                return
            left = None if left is None else left - len(t.checkpoints)
            before = t.checkpoints[-1].number

    async def timeline(
        self,
        *,
        since: Optional[datetime] = None,
        before: Optional[int] = None,
        good: bool = False,
        path: Path = "",
        session: str = "",
        limit: Optional[int] = None,
    ) -> models.Timeline:
        """One part of the timeline, with the pins and what is known of each checkpoint."""
        query = {"since": stamp(since) if since else None, "before": before, "good": good, "path": path, "session": session, "limit": limit}
        return await self._call(models.Timeline, ask("GET", *await self._at("checkpoints"), query=query))

    async def checkpoint(self, ref: str = "latest") -> models.Checkpoint:
        """The checkpoint that a ref names: an id, a number, a pin."""
        return await self._call(models.Checkpoint, ask("GET", *await self._at("find"), query={"ref": ref}))

    async def status(self) -> models.Status:
        """How well the workspace is protected now."""
        return await self._call(models.Status, ask("GET", *await self._at("status")))

    async def deinit(self) -> models.Workspace:
        """Ends the protection; the history stays."""
        return await self._call(models.Workspace, ask("DELETE", *await self._at(), again=False))

    async def diff(self, from_ref: str = "", to_ref: str = "", paths: Paths = ()) -> models.Comparison:
        """What differs between two checkpoints. Without to_ref: now."""
        return await self._call(models.Comparison, ask("GET", *await self._at("diff"), query=_between(from_ref, to_ref, paths)))

    async def story(self, from_ref: str = "", to_ref: str = "", paths: Paths = ()) -> models.Story:
        """What really changed between two checkpoints, by meaning."""
        return await self._call(models.Story, ask("GET", *await self._at("story"), query=_between(from_ref, to_ref, paths)))

    async def rows(
        self, path: Path, from_ref: str = "", to_ref: str = "", table: str = "", what: str = "", skip: Optional[int] = None, limit: Optional[int] = None
    ) -> models.RowsDiff:
        """What differs between the rows of a SQLite database at two checkpoints. With a table its rows are listed, else those that differ are counted."""
        query = {"path": path, "from": from_ref, "to": to_ref, "table": table, "what": what, "skip": skip, "limit": limit}
        return await self._call(models.RowsDiff, ask("GET", *await self._at("rows"), query=query))

    async def search(self, text: str, limit: Optional[int] = None) -> list[models.Hit]:
        """Checkpoints by words: intents, prompts, paths, facts."""
        return await self._list(models.Hit, "hits", ask("GET", *await self._at("search"), query={"text": text, "limit": limit}))

    async def blame(self, path: Path, ref: str = "") -> models.Blame:
        """Which checkpoint wrote each line of a file."""
        return await self._call(models.Blame, ask("GET", *await self._at("blame"), query={"path": path, "ref": ref}))

    async def chronicle(self, kind: str, name: str = "", limit: Optional[int] = None) -> list[models.Mention]:
        """The checkpoints in which a fact, such as a package, changed."""
        query = {"kind": kind, "name": name, "limit": limit}
        return await self._list(models.Mention, "mentions", ask("GET", *await self._at("chronicle"), query=query))

    async def entries(self, dir: Path = "", ref: str = "latest") -> list[models.Entry]:
        """The entries of a directory at a checkpoint."""
        return await self._list(models.Entry, "entries", ask("GET", *await self._at("list"), query={"dir": dir, "ref": ref}))

    async def read(self, path: Path, ref: str = "latest") -> bytes:
        """The bytes of a file at a checkpoint, or the text of a link."""
        return (await self._send(ask("GET", *await self._at("file"), query={"path": path, "ref": ref}))).content

    async def write_file(self, path: Path, content: bytes, *, mode: str = "") -> models.FileWritten:
        """Writes a file of the workspace. It takes no checkpoint."""
        a = ask("PUT", *await self._at("file"), query={"path": path, "mode": mode})
        a.body = content
        a.headers["Content-Type"] = "application/octet-stream"
        return await self._call(models.FileWritten, a)

    async def remove_file(self, path: Path) -> None:
        """Removes a file or an empty directory of the workspace. It takes no checkpoint."""
        await self._drop(ask("DELETE", *await self._at("file"), query={"path": path}))

    async def archive(self, ref: str) -> AsyncIterator[bytes]:
        """A checkpoint as a tar archive, as it arrives."""
        async for chunk in self._chunks(ask("GET", *await self._at("checkpoints", ref, "archive"))):
            yield chunk

    async def plan(
        self, ref: str = "", *, course: str = "restore", paths: Paths = (), git: bool = False, fork: str = ""
    ) -> models.Plan:
        """Says what going back would do, and touches nothing."""
        body = {"course": course, **present({"ref": ref, "git": git, "fork": fork, **paths_of(paths)})}
        return await self._call(models.Plan, ask("POST", *await self._at("plans"), body=body))

    async def apply(self, plan: models.Plan, *, accept: Iterable[str] = (), git: bool = False) -> models.RestoreResult:
        """Does exactly the plan; when the files changed since, the error is moved. git: as it was planned with."""
        body = present(
            {
                "course": plan.course,
                "digest": plan.digest,
                "ref": plan.target.id if plan.target else "",
                "paths": plan.paths,
                "paths_raw": plan.paths_raw,
                "fork": plan.fork.id if plan.fork else "",
                "git": git,
                "accept": list(accept),
                "id": checkpoint_id(),
            }
        )
        return await self._call(models.RestoreResult, ask("POST", *await self._at("restores"), body=body))

    async def restore(
        self,
        ref: str = "",
        *,
        paths: Paths = (),
        accept: Iterable[str] = ("changed", "mass-delete", "held", "git"),
        course: str = "restore",
        git: bool = False,
        fork: str = "",
    ) -> models.RestoreResult:
        """Plans and goes back in one call. What was there is in safety, whole; so changed, deleted and open files
        need no confirmation unless accept says otherwise. With obstacles that are not in accept nothing is done:
        the error is denied and has the plan. Paths that could not be changed are in failed."""
        body = present(
            {"course": course, "ref": ref, "git": git, "fork": fork, "accept": list(accept), "id": checkpoint_id(), **paths_of(paths)}
        )
        return await self._call(models.RestoreResult, ask("POST", *await self._at("restore"), body=body))

    async def fork(self, name: str, ref: str = "latest", *, dir: str = "", throwaway: bool = False) -> models.ForkResult:
        """Creates a new workspace from a checkpoint. dir is one of the server, which makes one by the name when there is none."""
        body = present({"name": name, "ref": ref, "dir": dir, "throwaway": throwaway})
        return await self._call(models.ForkResult, ask("POST", *await self._at("forks"), body=body))

    async def forks(self) -> list[models.WorkspaceState]:
        """The forks of this workspace."""
        return await self._list(models.WorkspaceState, "forks", ask("GET", *await self._at("forks")))

    async def pins(self) -> list[models.Pin]:
        """All pins; holds are among them."""
        return (await self.timeline(limit=1)).pins

    async def pin(self, name: str, ref: str) -> models.Pin:
        """Keeps a checkpoint under a name."""
        a = ask("PUT", *await self._at("pins", name), body={"ref": ref})
        try:
            return await self._call(models.Pin, a)
        except RetakeError as e:
            if not a.doubt or e.code not in ("already_exists", "exists"):
                raise
            wanted = (await self.checkpoint(ref)).id  # an answer was lost: it may be ours
            for p in await self.pins():
                if p.name == name and p.checkpoint == wanted:
                    return p
            raise

    async def unpin(self, name: str) -> None:
        """Takes a pin off."""
        await self._drop(ask("DELETE", *await self._at("pins", name)))

    async def hold(self, name: str, ref: str) -> models.Pin:
        """Puts a legal hold on a checkpoint: nothing takes it until the hold ends."""
        return await self._call(models.Pin, ask("POST", *await self._at("holds"), body={"name": name, "ref": ref}))

    async def release(self, name: str) -> None:
        """Ends a legal hold."""
        await self._drop(ask("DELETE", *await self._at("holds"), query={"name": name}))

    async def attest(self, command: str = "", *, exit: int = 0, ref: str = "", name: str = "", **more: Any) -> models.Verification:
        """Records what a command answered. more: verdict, where, by, claim, why, started, took, output."""
        body = present({"command": command, "exit": exit, "ref": ref, "name": name, **more})
        return await self._call(models.Verification, ask("POST", *await self._at("verifications"), body=body))

    async def verifications(
        self, *, ref: str = "", name: str = "", command: str = "", limit: Optional[int] = None
    ) -> list[models.Verification]:
        """Answers of commands, newest first."""
        query = {"ref": ref, "name": name, "command": command, "limit": limit}
        return await self._list(models.Verification, "verifications", ask("GET", *await self._at("verifications"), query=query))

    async def standing(self) -> list[models.Standing]:
        """The verifications that are wanted of every checkpoint."""
        return await self._list(models.Standing, "standing", ask("GET", *await self._at("standing")))

    async def tasks(self) -> list[models.Task]:
        """The newest to-do list."""
        return await self._list(models.Task, "tasks", ask("GET", *await self._at("tasks")))

    async def set_tasks(self, tasks: Iterable[Union[models.Task, dict]]) -> models.Reaction:
        """Replaces the to-do list. A task has an id, a title and a status."""
        body = {"tasks": [encode(t) for t in tasks]}
        return await self._call(models.Reaction, ask("PUT", *await self._at("tasks"), body=body))

    async def effects(self, since: str = "") -> list[models.Effect]:
        """What was done outside since a checkpoint, which no restore can undo."""
        return await self._list(models.Effect, "effects", ask("GET", *await self._at("effects"), query={"since": since}))

    async def approve(self, effect: str) -> models.Effect:
        """Lets a call that the policy stopped pass once."""
        return await self._call(models.Effect, ask("POST", *await self._at("effects", effect, "approve")))

    async def state(self, ref: str = "latest") -> models.State:
        """What the agent held at a checkpoint: tasks, calls, its conversation."""
        return await self._call(models.State, ask("GET", *await self._at("state"), query={"ref": ref}))

    async def conversation(self, ref: str = "latest") -> bytes:
        """That conversation, as the agent wrote it."""
        return (await self._send(ask("GET", *await self._at("conversation"), query={"ref": ref}))).content

    async def resume(self, ref: str = "", *, dir: str = "", look: bool = False) -> models.Resumption:
        """Makes a fork of the conversation that ends at a checkpoint. look: writes nothing."""
        body = present({"ref": ref, "dir": dir, "look": look})
        return await self._call(models.Resumption, ask("POST", *await self._at("resume"), body=body))

    async def proof(self, ref: str = "latest") -> models.Proof:
        """Our tree id beside that of the stock engine."""
        return await self._call(models.Proof, ask("GET", *await self._at("proof"), query={"ref": ref}))

    async def request_deletion(self, refs: Iterable[str], why: str = "") -> models.Deletion:
        """Asks for the deletion of checkpoints. It is done when the grace ends."""
        workspace = (await self._at())[1]
        body = present({"workspace": workspace, "refs": list(refs), "why": why})
        return await self._call(models.Deletion, ask("POST", "deletions", body=body))


def _between(from_ref: str, to_ref: str, paths: Paths) -> dict[str, Any]:
    return {"from": from_ref, "to": to_ref, "path": [paths] if isinstance(paths, (str, bytes)) else list(paths)}
