# Made by sdk/python/generate.py from _async/history.py. Do not edit.
"""What is of one workspace: its checkpoints, their files, and going back."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Iterable, Iterator, Optional, Union

from .. import models
from .._ask import PAGE, ask, checkpoint_id
from .._wire import encode, paths_of, present, stamp
from ..errors import RetakeError
from .core import Core

Path = Union[str, bytes]
Paths = Union[Path, list, tuple]


class History(Core):
    def save(self, intent: str = "", **options: Any) -> models.Checkpoint:
        """Takes a checkpoint. The options are those of save_result."""
        return (self.save_result(intent, **options)).checkpoint

    def save_result(
        self, intent: str = "", *, pin: str = "", if_changed: bool = False, trigger: str = "", budget: int = 0, id: str = ""
    ) -> models.SaveResult:
        """Takes a checkpoint, and tells what else there is to say. budget is nanoseconds. It has an id before it
        is asked for, so that asking again adds nothing."""
        body = present(
            {"id": id or checkpoint_id(), "intent": intent, "pin": pin, "if_changed": if_changed, "trigger": trigger, "budget": budget or None}
        )
        return self._call(models.SaveResult, ask("POST", *self._at("checkpoints"), body=body))

    def checkpoints(
        self,
        *,
        since: Optional[datetime] = None,
        before: Optional[int] = None,
        good: bool = False,
        path: Path = "",
        session: str = "",
        limit: Optional[int] = None,
        page: int = PAGE,
    ) -> Iterator[models.Checkpoint]:
        """The timeline, newest first. It is fetched in parts of page as they are needed."""
        left = limit
        while left is None or left > 0:
            size = page if left is None else min(page, left)
            t = self.timeline(since=since, before=before, good=good, path=path, session=session, limit=size)
            for c in t.checkpoints:
                yield c
            if len(t.checkpoints) < size:
                return
            left = None if left is None else left - len(t.checkpoints)
            before = t.checkpoints[-1].number

    def timeline(
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
        return self._call(models.Timeline, ask("GET", *self._at("checkpoints"), query=query))

    def checkpoint(self, ref: str = "latest") -> models.Checkpoint:
        """The checkpoint that a ref names: an id, a number, a pin."""
        return self._call(models.Checkpoint, ask("GET", *self._at("find"), query={"ref": ref}))

    def status(self) -> models.Status:
        """How well the workspace is protected now."""
        return self._call(models.Status, ask("GET", *self._at("status")))

    def deinit(self) -> models.Workspace:
        """Ends the protection; the history stays."""
        return self._call(models.Workspace, ask("DELETE", *self._at(), again=False))

    def diff(self, from_ref: str = "", to_ref: str = "", paths: Paths = ()) -> models.Comparison:
        """What differs between two checkpoints. Without to_ref: now."""
        return self._call(models.Comparison, ask("GET", *self._at("diff"), query=_between(from_ref, to_ref, paths)))

    def story(self, from_ref: str = "", to_ref: str = "", paths: Paths = ()) -> models.Story:
        """What really changed between two checkpoints, by meaning."""
        return self._call(models.Story, ask("GET", *self._at("story"), query=_between(from_ref, to_ref, paths)))

    def rows(
        self, path: Path, from_ref: str = "", to_ref: str = "", table: str = "", what: str = "", skip: Optional[int] = None, limit: Optional[int] = None
    ) -> models.RowsDiff:
        """What differs between the rows of a SQLite database at two checkpoints. With a table its rows are listed, else those that differ are counted."""
        query = {"path": path, "from": from_ref, "to": to_ref, "table": table, "what": what, "skip": skip, "limit": limit}
        return self._call(models.RowsDiff, ask("GET", *self._at("rows"), query=query))

    def search(self, text: str, limit: Optional[int] = None) -> list[models.Hit]:
        """Checkpoints by words: intents, prompts, paths, facts."""
        return self._list(models.Hit, "hits", ask("GET", *self._at("search"), query={"text": text, "limit": limit}))

    def blame(self, path: Path, ref: str = "") -> models.Blame:
        """Which checkpoint wrote each line of a file."""
        return self._call(models.Blame, ask("GET", *self._at("blame"), query={"path": path, "ref": ref}))

    def chronicle(self, kind: str, name: str = "", limit: Optional[int] = None) -> list[models.Mention]:
        """The checkpoints in which a fact, such as a package, changed."""
        query = {"kind": kind, "name": name, "limit": limit}
        return self._list(models.Mention, "mentions", ask("GET", *self._at("chronicle"), query=query))

    def entries(self, dir: Path = "", ref: str = "latest") -> list[models.Entry]:
        """The entries of a directory at a checkpoint."""
        return self._list(models.Entry, "entries", ask("GET", *self._at("list"), query={"dir": dir, "ref": ref}))

    def read(self, path: Path, ref: str = "latest") -> bytes:
        """The bytes of a file at a checkpoint, or the text of a link."""
        return (self._send(ask("GET", *self._at("file"), query={"path": path, "ref": ref}))).content

    def write_file(self, path: Path, content: bytes, *, mode: str = "") -> models.FileWritten:
        """Writes a file of the workspace. It takes no checkpoint."""
        a = ask("PUT", *self._at("file"), query={"path": path, "mode": mode})
        a.body = content
        a.headers["Content-Type"] = "application/octet-stream"
        return self._call(models.FileWritten, a)

    def remove_file(self, path: Path) -> None:
        """Removes a file or an empty directory of the workspace. It takes no checkpoint."""
        self._drop(ask("DELETE", *self._at("file"), query={"path": path}))

    def archive(self, ref: str) -> Iterator[bytes]:
        """A checkpoint as a tar archive, as it arrives."""
        for chunk in self._chunks(ask("GET", *self._at("checkpoints", ref, "archive"))):
            yield chunk

    def plan(
        self, ref: str = "", *, course: str = "restore", paths: Paths = (), git: bool = False, fork: str = ""
    ) -> models.Plan:
        """Says what going back would do, and touches nothing."""
        body = {"course": course, **present({"ref": ref, "git": git, "fork": fork, **paths_of(paths)})}
        return self._call(models.Plan, ask("POST", *self._at("plans"), body=body))

    def apply(self, plan: models.Plan, *, accept: Iterable[str] = (), git: bool = False) -> models.RestoreResult:
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
        return self._call(models.RestoreResult, ask("POST", *self._at("restores"), body=body))

    def restore(
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
        return self._call(models.RestoreResult, ask("POST", *self._at("restore"), body=body))

    def fork(self, name: str, ref: str = "latest", *, dir: str = "", throwaway: bool = False) -> models.ForkResult:
        """Creates a new workspace from a checkpoint. dir is one of the server, which makes one by the name when there is none."""
        body = present({"name": name, "ref": ref, "dir": dir, "throwaway": throwaway})
        return self._call(models.ForkResult, ask("POST", *self._at("forks"), body=body))

    def forks(self) -> list[models.WorkspaceState]:
        """The forks of this workspace."""
        return self._list(models.WorkspaceState, "forks", ask("GET", *self._at("forks")))

    def pins(self) -> list[models.Pin]:
        """All pins; holds are among them."""
        return (self.timeline(limit=1)).pins

    def pin(self, name: str, ref: str) -> models.Pin:
        """Keeps a checkpoint under a name."""
        a = ask("PUT", *self._at("pins", name), body={"ref": ref})
        try:
            return self._call(models.Pin, a)
        except RetakeError as e:
            if not a.doubt or e.code not in ("already_exists", "exists"):
                raise
            wanted = (self.checkpoint(ref)).id  # an answer was lost: it may be ours
            for p in self.pins():
                if p.name == name and p.checkpoint == wanted:
                    return p
            raise

    def unpin(self, name: str) -> None:
        """Takes a pin off."""
        self._drop(ask("DELETE", *self._at("pins", name)))

    def hold(self, name: str, ref: str) -> models.Pin:
        """Puts a legal hold on a checkpoint: nothing takes it until the hold ends."""
        return self._call(models.Pin, ask("POST", *self._at("holds"), body={"name": name, "ref": ref}))

    def release(self, name: str) -> None:
        """Ends a legal hold."""
        self._drop(ask("DELETE", *self._at("holds"), query={"name": name}))

    def attest(self, command: str = "", *, exit: int = 0, ref: str = "", name: str = "", **more: Any) -> models.Verification:
        """Records what a command answered. more: verdict, where, by, claim, why, started, took, output."""
        body = present({"command": command, "exit": exit, "ref": ref, "name": name, **more})
        return self._call(models.Verification, ask("POST", *self._at("verifications"), body=body))

    def verifications(
        self, *, ref: str = "", name: str = "", command: str = "", limit: Optional[int] = None
    ) -> list[models.Verification]:
        """Answers of commands, newest first."""
        query = {"ref": ref, "name": name, "command": command, "limit": limit}
        return self._list(models.Verification, "verifications", ask("GET", *self._at("verifications"), query=query))

    def standing(self) -> list[models.Standing]:
        """The verifications that are wanted of every checkpoint."""
        return self._list(models.Standing, "standing", ask("GET", *self._at("standing")))

    def tasks(self) -> list[models.Task]:
        """The newest to-do list."""
        return self._list(models.Task, "tasks", ask("GET", *self._at("tasks")))

    def set_tasks(self, tasks: Iterable[Union[models.Task, dict]]) -> models.Reaction:
        """Replaces the to-do list. A task has an id, a title and a status."""
        body = {"tasks": [encode(t) for t in tasks]}
        return self._call(models.Reaction, ask("PUT", *self._at("tasks"), body=body))

    def effects(self, since: str = "") -> list[models.Effect]:
        """What was done outside since a checkpoint, which no restore can undo."""
        return self._list(models.Effect, "effects", ask("GET", *self._at("effects"), query={"since": since}))

    def approve(self, effect: str) -> models.Effect:
        """Lets a call that the policy stopped pass once."""
        return self._call(models.Effect, ask("POST", *self._at("effects", effect, "approve")))

    def state(self, ref: str = "latest") -> models.State:
        """What the agent held at a checkpoint: tasks, calls, its conversation."""
        return self._call(models.State, ask("GET", *self._at("state"), query={"ref": ref}))

    def conversation(self, ref: str = "latest") -> bytes:
        """That conversation, as the agent wrote it."""
        return (self._send(ask("GET", *self._at("conversation"), query={"ref": ref}))).content

    def resume(self, ref: str = "", *, dir: str = "", look: bool = False) -> models.Resumption:
        """Makes a fork of the conversation that ends at a checkpoint. look: writes nothing."""
        body = present({"ref": ref, "dir": dir, "look": look})
        return self._call(models.Resumption, ask("POST", *self._at("resume"), body=body))

    def proof(self, ref: str = "latest") -> models.Proof:
        """Our tree id beside that of the stock engine."""
        return self._call(models.Proof, ask("GET", *self._at("proof"), query={"ref": ref}))

    def request_deletion(self, refs: Iterable[str], why: str = "") -> models.Deletion:
        """Asks for the deletion of checkpoints. It is done when the grace ends."""
        workspace = (self._at())[1]
        body = present({"workspace": workspace, "refs": list(refs), "why": why})
        return self._call(models.Deletion, ask("POST", "deletions", body=body))


def _between(from_ref: str, to_ref: str, paths: Paths) -> dict[str, Any]:
    return {"from": from_ref, "to": to_ref, "path": [paths] if isinstance(paths, (str, bytes)) else list(paths)}
