# Made by sdk/typescript/generate.mjs from api/openapi.yaml. Do not edit.
"""What the server answers. Fields that are not known here are left out."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Optional

Raw = bytes  # a name that no field has


@dataclass(kw_only=True)
class About:
    api: int  # The major version of the HTTP API.
    home: str  # The directory that contains the store.
    key: Optional[AboutKey] = None  # The API key of this request. Absent on a daemon.
    namespace: Optional[str] = None  # The API key's namespace. Absent on a daemon.
    pid: int  # The process ID.
    powers: list[str] = field(default_factory=list)  # The permissions that the API key's role has, as in `x-power` of each operation. Absent on a daemon, where everything is permitted.
    stamp: int  # The build time of the executable, in nanoseconds since 1970. It differs between two builds of one version.
    started: datetime  # The time at which the process started.
    version: str  # The version of Retake.


@dataclass(kw_only=True)
class AboutKey:
    kind: str  # The key's role.
    name: str  # The key's name.
    workspaces: list[str] = field(default_factory=list)  # The IDs of the workspaces that the key may access. Empty means all of them.


@dataclass(kw_only=True)
class Actor:
    key: Optional[str] = None  # The API key's ID.
    kind: str  # The API key's role. Empty if the server's owner did it on the server's machine.
    name: Optional[str] = None  # The API key's name.


@dataclass(kw_only=True)
class Answer:
    as_: Optional[int] = None  # The number of a checkpoint with the same files whose result is used here. Absent if the check ran at this checkpoint.
    bisect: Optional[bool] = None  # If true, the check ran during a bisect and does not decide whether the checkpoint is good.
    claim: Optional[bool] = None  # If true, an agent reported the result and Retake did not see the check run.
    name: str  # The check's name.
    verdict: str  # The result: passed, failed, could-not-run, changed (files changed while it ran) or running.
    was: Optional[str] = None  # The result at the checkpoint before, if it differs.


@dataclass(kw_only=True)
class AuditEntry:
    actor: Actor  # Who did it.
    address: Optional[str] = None  # The network address of the client. Absent if the server did it, or in entries of older versions.
    hash: str  # A hash of the entry before and of this one.
    prev: str  # The hash of the entry before.
    request: Optional[str] = None  # The ID of the request, as in the header X-Request-Id. Absent if there was none.
    seq: int  # The number of the entry.
    subject: str  # What it was done to.
    time: datetime  # The time of the action.
    verb: str  # What was done.


@dataclass(kw_only=True)
class AuditProof:
    anchors: int  # The number of signed anchors that were compared.
    broken: int  # The number of the first entry that does not match. 0 means that all entries match.
    entries: int  # The number of entries that were read.
    head: str  # The hash of the newest entry.
    outside: int  # The number of newest anchors outside of the database that were compared: one of the server's file, one of its bucket.
    public: str  # The public key that anchors are signed with.
    why: Optional[str] = None  # What does not match.


@dataclass(kw_only=True)
class BackgroundTask:
    at: Optional[datetime] = None  # The time of the last failure.
    error: Optional[str] = None  # The last failure.
    failing: bool  # If true, the latest run failed.
    failures: int  # How often it failed since the service started.
    name: str  # The task's name.
    runs: int  # How often it ran since the service started.


@dataclass(kw_only=True)
class Backup:
    behind: int  # The number of checkpoints that have not been pushed.
    branch: str  # The branch on the remote.
    created: datetime  # The time at which the backup was set.
    host: Optional[HostKey] = None  # The SSH host key of the remote. Retake connects to no other. Absent if the remote has no host.
    left: list[LeftOut] = field(default_factory=list)  # The files of the newest checkpoint that are not pushed, by reason.
    public: Optional[str] = None  # The public SSH key to register with the remote, with write access.
    pushed: Optional[BackupPoint] = None  # The newest checkpoint that is confirmed on the remote: Retake read the branch back.
    set: bool  # If false, nothing was set, and `host` is the key that the host presented. Confirm it in a second request.
    trouble: Optional[BackupTrouble] = None  # Why the newest checkpoints have not been pushed. Absent if there is no problem.
    url: str  # The URL of the git remote.
    workspace: str  # The workspace's ID.


@dataclass(kw_only=True)
class BackupPoint:
    at: datetime  # The time at which it was pushed.
    checkpoint: str  # The checkpoint's ID.
    commit: str  # The commit on the remote.
    number: int  # The checkpoint's number.


@dataclass(kw_only=True)
class BackupTrouble:
    at: datetime  # The time of the last attempt.
    hint: Optional[str] = None  # What to do next.
    kind: str  # The error code, as in Problem.
    next: Optional[datetime] = None  # The time of the next attempt. Absent if Retake does not retry until something changes.
    since: datetime  # The time of the first failed attempt.
    tries: int  # The number of failed attempts.
    what: str  # What happened.


@dataclass(kw_only=True)
class Blame:
    checkpoint: Checkpoint  # The checkpoint whose file is shown.
    lines: list[BlameLine] = field(default_factory=list)  # The lines of the file.
    moments: list[Checkpoint] = field(default_factory=list)  # The checkpoints that `lines` refers to, newest first.
    path: str  # The path of the file.
    why: Optional[str] = None  # Why there are no lines: the file is binary or too long.


@dataclass(kw_only=True)
class BlameLine:
    number: int  # The number of the checkpoint that wrote the line.
    text: str  # The text of the line.


@dataclass(kw_only=True)
class Cadence:
    cron: str  # The five cron fields, separated by one space.
    next: list[datetime] = field(default_factory=list)  # The next three times.
    words: str  # The line in words. Empty if there are none.


@dataclass(kw_only=True)
class Call:
    command: Optional[str] = None  # The shell command.
    destructive: Optional[bool] = None  # Whether the MCP server says that the tool can destroy something. Absent if it says nothing.
    failed: Optional[bool] = None  # If true, the tool reported a failure.
    id: Optional[str] = None  # The agent's ID for the call.
    input: Any = None  # The arguments of the tool, as the agent sent them.
    kind: str  # What the tool does: shell, write, read, mcp or other.
    open_world: Optional[bool] = None  # Whether the MCP server says that the tool reaches outside systems. Absent if it says nothing.
    output: Optional[str] = None  # What the tool returned.
    paths: list[str] = field(default_factory=list)  # The files that the tool writes.
    read_only: Optional[bool] = None  # Whether the MCP server says that the tool changes nothing. Absent if it says nothing.
    server: Optional[str] = None  # The name of the MCP server.
    tool: str  # The tool's name, as the agent calls it.
    unfinished: Optional[bool] = None  # If true, the call was interrupted or continues in the background, so its result is not known.


@dataclass(kw_only=True)
class CellValue:
    kind: str  # The type of the value: none, null, integer, real, text or blob. `none` means that the column is missing on this side.
    more: Optional[int] = None  # The number of characters that were left out.
    text: str  # The value, shortened. Likely secrets are masked. For a blob, its size in bytes.


@dataclass(kw_only=True)
class Change:
    after: Optional[Entry] = None  # The path's entry in the later snapshot. Absent if it was deleted.
    before: Optional[Entry] = None  # The path's entry in the earlier snapshot. Absent if it was added.
    path: str  # The path, relative to the workspace's root.
    path_raw: Optional[Raw] = None  # The exact bytes of `path`, if they are not valid UTF-8.
    what: str  # The type of change: added, deleted, edited, retyped, moded (mode, owner or extended attributes only) or timed (modification time only).


@dataclass(kw_only=True)
class Checkpoint:
    bytes: int  # The size of all files in the snapshot, in bytes.
    changed: Counts  # How many paths differ from the parent.
    content: str  # An ID of the files' content. Two checkpoints with the same content ID have the same files.
    coverage: Coverage  # What the snapshot contains, and which paths it lacks.
    dirs: int  # The number of directories in the snapshot.
    effects: list[Effect] = field(default_factory=list)  # External actions since the checkpoint before, such as a push. No restore can undo them.
    files: int  # The number of files in the snapshot.
    id: str  # The checkpoint's ID: `cp_` and a UUID.
    intent: Optional[str] = None  # The checkpoint's message.
    key: Optional[str] = None  # The ID of the API key that took the checkpoint. Absent without a key, and for checkpoints of older versions.
    new_bytes: int  # The size of the files that are new or have new content, in bytes.
    number: int  # The checkpoint's number, for people. A number is never used twice in a workspace.
    parent: Optional[str] = None  # The ID of the checkpoint before. Absent for the first one.
    policy: Optional[Policy] = None  # What the user's settings leave out of the snapshot.
    rescues: list[Rescue] = field(default_factory=list)  # Files outside the workspace that the call after this checkpoint could destroy, and whether they are saved.
    return_: Optional[Return] = None  # The restore, undo, redo or adopt that created the checkpoint.
    time: datetime  # The time at which the checkpoint was taken.
    tree: str  # The object ID of the snapshot's root directory.
    trigger: str  # Why the checkpoint was taken, such as init, manual, prompt, turn, risk, safety, return or quiet (an auto-checkpoint). New triggers may be added.
    turn: Optional[Turn] = None  # The agent's turn that led to the checkpoint.
    workspace: str  # The workspace's ID.


@dataclass(kw_only=True)
class Comparison:
    changes: list[Change] = field(default_factory=list)  # The paths that differ, in path order.
    from_: Optional[Checkpoint] = None  # The earlier checkpoint. Absent when the later one has no parent.
    gaps: list[Gap] = field(default_factory=list)  # Paths that could not be read in the current files. Only when you compare with now.
    next: Optional[str] = None  # The same as next_cursor, for `after`. Deprecated.
    next_cursor: Optional[str] = None  # Pass it as `cursor` to get the next page. Absent on the last page.
    to: Optional[Checkpoint] = None  # The later checkpoint. Absent when you compare with the current files.


@dataclass(kw_only=True)
class Conversation:
    agent: str  # The agent's name, such as `claude-code`.
    bytes: int  # The size of the conversation, in bytes.
    complete: bool  # If true, the conversation ends with the agent's last message.
    missing: Optional[str] = None  # Why the conversation is not complete.
    path: str  # The file in which the agent keeps the conversation.
    secrets: list[str] = field(default_factory=list)  # The types of likely secrets in the conversation.
    segments: list[Segment] = field(default_factory=list)  # The stored parts of the conversation, one for each turn.
    session: str  # The agent's ID for the session.
    turn: Optional[str] = None  # The agent's ID for the turn.
    version: Optional[str] = None  # The agent's version.


@dataclass(kw_only=True)
class Counts:
    added: int  # The number of added paths.
    deleted: int  # The number of deleted paths.
    edited: int  # The number of edited paths.


@dataclass(kw_only=True)
class Coverage:
    gaps: list[Gap] = field(default_factory=list)  # The paths that the snapshot lacks, with the reason. The list is never shortened.
    grade: str  # Either complete or partial.


@dataclass(kw_only=True)
class CrossCheck:
    at: datetime  # The time of the comparison.
    files: int  # The number of files that were compared.
    missed: list[str] = field(default_factory=list)  # Changed files that the watcher did not report. If there are any, the watcher is not reliable here.


@dataclass(kw_only=True)
class DamageState:
    checkpoints: list[int] = field(default_factory=list)  # The numbers of the damaged checkpoints.
    paths: int  # The number of damaged paths, counted once for each checkpoint.


@dataclass(kw_only=True)
class DamagedPath:
    number: Optional[int] = None  # The checkpoint's number. Absent if the whole history cannot be read.
    path: Optional[str] = None  # The path. Absent if the whole checkpoint cannot be read.
    state: Optional[bool] = None  # If true, it is part of the saved conversation, not of the files.
    workspace: str  # The workspace's ID.


@dataclass(kw_only=True)
class Danger:
    class_: str  # The name to pass in `accept`: home, system, giant or nested.
    text: str  # The reason, for people.


@dataclass(kw_only=True)
class Deletion:
    asked: datetime  # The time of the request.
    checkpoints: list[str] = field(default_factory=list)  # The IDs of the checkpoints to delete.
    done: Optional[datetime] = None  # The time at which they were deleted.
    due: datetime  # The end of the grace period. Until then you can cancel the request.
    id: str  # The request's ID: `del_` and a UUID.
    note: Optional[str] = None  # Why the deletion was refused.
    state: str  # The state: waiting, canceled, done or refused.
    why: Optional[str] = None  # The reason that was given for the request.
    workspace: str  # The workspace's ID.


@dataclass(kw_only=True)
class Delivery:
    body: Optional[Raw] = None  # The request body. Only if you ask for one delivery.
    created: datetime  # The time at which the message was created.
    event: int  # The `seq` of the event.
    id: str  # The message's ID, sent as the `webhook-id` header.
    next: Optional[datetime] = None  # The time of the next attempt. Absent if there is none.
    state: str  # The state: waiting, delivered or dead (all attempts failed).
    tries: list[Try] = field(default_factory=list)  # The attempts so far, oldest first.
    type: str  # The type of the event.
    webhook: str  # The webhook's ID.


@dataclass(kw_only=True)
class Drill:
    at: datetime  # The time of the test.
    number: int  # The number of the checkpoint.
    verdict: str  # The result: passed, failed, could-not-run, changed or running.
    why: Optional[str] = None  # Why the test did not pass.


@dataclass(kw_only=True)
class Drop:
    bytes: int  # About how much disk space it frees, in bytes.
    checkpoint: str  # The checkpoint's ID.
    named: bool  # If true, it would be kept for the whole retention period if there were enough disk space.
    number: int  # The checkpoint's number.
    time: datetime  # The time at which the checkpoint was taken.
    why: str  # Why it is deleted: age, budget (the storage limit), room or floor (the minimum free space).
    workspace: str  # The workspace's ID.


@dataclass(kw_only=True)
class Effect:
    agent: Optional[str] = None  # The agent's name.
    call: Optional[str] = None  # The agent's ID for the tool call.
    id: str  # A short ID for people, such as `e1`.
    kind: Optional[str] = None  # The type of action, such as push or mail.
    outcome: Optional[str] = None  # How it ended: done, failed (nothing was done), unknown, or stopped by your policy (nothing was done). Absent in checkpoints of older versions.
    repeats: Optional[str] = None  # The ID of the same action from before the files were restored, which this one does once more.
    session: Optional[str] = None  # The agent's ID for the session.
    target: Optional[str] = None  # Where it went, such as `origin main`.
    text: str  # What was run or called. Secrets are masked.
    time: datetime  # The time of the action.


@dataclass(kw_only=True)
class Entry:
    extra: Optional[Extra] = None  # Attributes that few entries have, such as extended attributes.
    gid: int  # The numeric group ID.
    kind: str  # The type of the entry: file, dir, symlink, fifo or socket. New types may be added.
    mod_time: int  # The modification time, in nanoseconds since 1970.
    mode: int  # The permission bits, with setuid, setgid and sticky, as a decimal number.
    name: str  # The name in its directory.
    name_raw: Optional[Raw] = None  # The exact bytes of `name`, if they are not valid UTF-8.
    object: str  # The object ID of the content, of the link's target text, or of the directory.
    size: int  # The size in bytes of a file or of a link's target text. Otherwise 0.
    sum: Optional[Summary] = None  # The totals of a directory.
    uid: int  # The numeric user ID.


@dataclass(kw_only=True)
class Estimate:
    bytes: int  # The size of all files, in bytes.
    danger: list[Danger] = field(default_factory=list)  # Reasons to ask first. Pass their classes in `accept` to protect the directory anyway.
    dirs: int  # The number of directories.
    files: int  # The number of files.
    floor: int  # The minimum free space on the store's disk, in bytes.
    free: int  # The free space on the store's disk, in bytes.
    gaps: list[Gap] = field(default_factory=list)  # Paths that would be left out, with the reason.
    heaviest: Optional[str] = None  # The subdirectory that contains the most files.
    heaviest_raw: Optional[Raw] = None  # The exact bytes of `heaviest`, if they are not valid UTF-8.
    root: str  # The absolute path of the directory.
    root_raw: Optional[Raw] = None  # The exact bytes of `root`, if they are not valid UTF-8.
    share: Optional[float] = None  # The share of all files that are in `heaviest`, from 0 to 1.


@dataclass(kw_only=True)
class Event:
    data: EventData  # IDs to look up, and what a person wants to read at once. File contents are not included.
    id: str  # The event's ID.
    seq: int  # The number of the event. Numbers increase and may have gaps.
    time: datetime  # The time of the event.
    type: str  # The type of event, such as checkpoint.created or workspace.restored. New types may be added.


@dataclass(kw_only=True)
class EventData:
    agent: Optional[str] = None  # The agent whose turn the checkpoint is of.
    answer: Optional[str] = None  # The check result.
    api_url: Optional[str] = None  # The URL at which you can get the object.
    audit_head: Optional[str] = None  # The hash of the newest entry in the audit log.
    by: Optional[str] = None  # Who reported the check result.
    bytes: Optional[int] = None  # The size of the snapshot, in bytes. With namespace.nearly_full, the bytes that are taken.
    checkpoint: Optional[str] = None  # The checkpoint's ID.
    claim: Optional[bool] = None  # If true, an agent reported the check result and Retake did not see the check run.
    count: Optional[int] = None  # How many objects the event is about, such as external actions or deleted checkpoints.
    coverage: Optional[str] = None  # Either complete or partial.
    intent: Optional[str] = None  # The checkpoint's message, shortened if it is long.
    key: Optional[str] = None  # The ID of the API key whose share is nearly full. Absent if it is the share of a workspace, or the store.
    limit: Optional[int] = None  # The storage limit or the share that is nearly full, in bytes.
    name: Optional[str] = None  # The name of the check, the schedule or the backup.
    namespace: str  # The namespace. Empty on a daemon.
    number: Optional[int] = None  # The checkpoint's number.
    parent: Optional[str] = None  # The ID of the checkpoint before.
    percent: Optional[int] = None  # How much of the storage limit or of the share is taken.
    safety: Optional[str] = None  # The ID of the checkpoint that has what was there before a restore.
    snapshot_id: Optional[str] = None  # The snapshot that was taken or, with workspace.restored, the one that was restored.
    target: Optional[str] = None  # The ID of the checkpoint that was restored.
    tree: Optional[str] = None  # The object ID of the snapshot's root directory.
    trigger: Optional[str] = None  # Why the checkpoint was taken.
    why: Optional[str] = None  # The cause of a failure.
    workspace: Optional[str] = None  # The workspace's ID.


@dataclass(kw_only=True)
class Extra:
    group: Optional[str] = None  # Entries with the same value are hard links to one file.
    holes: list[Hole] = field(default_factory=list)  # The ranges of a sparse file that take no disk space.
    xattrs: dict[str, Raw] = field(default_factory=dict)  # Extended attributes that belong to the file: `user.*`, access control lists and capabilities. The values are base64.


@dataclass(kw_only=True)
class Fact:
    after: Optional[str] = None  # The value after the change, such as a version or a row count.
    before: Optional[str] = None  # The value before the change.
    direct: Optional[bool] = None  # If true, a package was asked for by name, or a port belongs to a program of this workspace.
    group: Optional[str] = None  # A context for `name`: the package registry, or the path of the database.
    kind: str  # The type of fact, such as package, env, setting, table, rows, port or git. New types may be added.
    name: str  # The name of what changed, such as a package, a key or a table. Never a secret value.
    path: str  # The path that shows the change. Paths outside the workspace begin with `/`.
    what: str  # The type of change: added, deleted or edited.


@dataclass(kw_only=True)
class Failure:
    path: str  # The path, relative to the workspace's root.
    path_raw: Optional[Raw] = None  # The exact bytes of `path`, if they are not valid UTF-8.
    why: str  # The reason, for people.


@dataclass(kw_only=True)
class FileWritten:
    created: bool  # True if there was no file at this path.
    mode: int  # The permission bits of the file.
    size: int  # The size of the file, in bytes.


@dataclass(kw_only=True)
class Finding:
    answers: list[Answer] = field(default_factory=list)  # The check results, by name.
    changed: Optional[int] = None  # The number of files that the checkpoint changed. For the first one, the number of files that it contains.
    damaged: Optional[int] = None  # The number of paths whose stored bytes cannot be read, as last checked.
    gist: Optional[Gist] = None  # A short summary of what changed.
    good: Optional[bool] = None  # If true, the checkpoint is complete and all checks passed.


@dataclass(kw_only=True)
class Flag:
    kind: str  # The type of flag, such as mismatch (the agent's words and the changed files differ).
    why: str  # The reason, for people.


@dataclass(kw_only=True)
class ForkResult:
    checkpoint: Checkpoint  # The fork's first checkpoint. Its parent is the checkpoint that was forked.
    cloned: int  # The number of files that were cloned and share their disk blocks (copy-on-write).
    copied: int  # The number of files that were written.
    origin: Checkpoint  # The checkpoint that was forked.
    warnings: list[Warning] = field(default_factory=list)  # Problems that did not prevent the fork.
    workspace: Workspace  # The new workspace.


@dataclass(kw_only=True)
class Fullness:
    bytes: int  # The bytes that are taken.
    key: Optional[str] = None  # The API key whose share it is.
    limit: int  # The storage limit or the share, in bytes.
    percent: int  # How much of it is taken.
    workspace: Optional[str] = None  # The workspace whose share it is. Without a workspace and a key it is the store.


@dataclass(kw_only=True)
class Gap:
    detail: Optional[str] = None  # More about the reason, for people.
    path: str  # The path, relative to the workspace's root. A directory ends in `/` and includes everything below it.
    path_raw: Optional[Raw] = None  # The exact bytes of `path`, if they are not valid UTF-8.
    reason: str  # Why the path is missing, such as unreadable, torn (changed while being read), mount, excluded or purged. New reasons may be added.


@dataclass(kw_only=True)
class Gist:
    counts: StoryCounts  # The number of changed files and lines.
    flags: list[Flag] = field(default_factory=list)  # Marks that need attention.
    head: Optional[str] = None  # The git commit that was checked out.
    lead: str  # The most important change in one or two words, such as `auth.ts` or `npm +12`.
    moving: Optional[bool] = None  # If true, only files changed that change all the time, such as logs and caches.
    points: list[Point] = field(default_factory=list)  # The most important changes.
    unread: Optional[int] = None  # The number of files whose changes could not be explained by meaning.
    v: int  # The version of the rules that created the summary.


@dataclass(kw_only=True)
class GitHead:
    branch: Optional[str] = None  # The branch. Absent if no branch is checked out.
    commit: Optional[str] = None  # The first seven digits of the commit. Absent if there is no commit yet or it can't be read.


@dataclass(kw_only=True)
class GitLeft:
    moment: int  # The number of a checkpoint that contains the repository at `then`. 0 means that none is known.
    now: GitHead  # What the repository has checked out now.
    path: str  # The path of the repository.
    then: GitHead  # What the repository had checked out at the checkpoint.


@dataclass(kw_only=True)
class Group:
    bytes: int  # The bytes that were added, minus the bytes that were removed.
    files: int  # The number of changed files.
    items: list[Item] = field(default_factory=list)  # The changed paths. Their file counts add up to `files`.
    minus: int  # The number of removed lines.
    plus: int  # The number of added lines.
    theme: str  # What the files are: deleted, packages, settings, database, source, build, git, moving (logs and caches) or machine (outside the workspace).


@dataclass(kw_only=True)
class Hit:
    checkpoint: Checkpoint  # The checkpoint.
    finding: Finding  # What is known about the checkpoint.
    text: str  # The text that matches.
    where: str  # Where the text was found: intent, prompt, words, path or fact.


@dataclass(kw_only=True)
class Holder:
    command: str  # The process's command.
    command_raw: Optional[Raw] = None  # The exact bytes of `command`, if they are not valid UTF-8.
    path: str  # The file that is open.
    path_raw: Optional[Raw] = None  # The exact bytes of `path`, if they are not valid UTF-8.
    pid: int  # The process ID.


@dataclass(kw_only=True)
class Hole:
    length: int  # The length of the range, in bytes.
    offset: int  # The start of the range, in bytes.


@dataclass(kw_only=True)
class HostKey:
    key: str  # The public key in base64, as in `known_hosts`.
    kind: str  # The key type, such as `ssh-ed25519`.
    print: str  # The fingerprint: `SHA256:` and base64.


@dataclass(kw_only=True)
class Hunk:
    new_lines: int  # The number of lines after the change.
    new_start: int  # The first line after the change.
    old_lines: int  # The number of lines before the change.
    old_start: int  # The first line before the change.


@dataclass(kw_only=True)
class Interruption:
    course: str  # What the restore did: restore, undo, redo or adopt.
    done: int  # The number of paths that were changed before it stopped.
    id: str  # The ID of the interrupted restore.
    safety: int  # The number of the safety checkpoint, which contains the files from before the restore.
    since: datetime  # The time at which the restore started.
    target: int  # The number of the checkpoint to restore.
    total: int  # The number of paths that the restore changes in all.


@dataclass(kw_only=True)
class Item:
    bytes: int  # The bytes that were added, minus the bytes that were removed.
    files: int  # The number of changed files.
    from_: Optional[str] = None  # The path before a rename.
    minus: Optional[int] = None  # The number of removed lines.
    note: Optional[str] = None  # A remark, such as binary, lock file or build output.
    path: str  # The path, relative to the workspace's root. A directory ends in `/`.
    plus: Optional[int] = None  # The number of added lines.
    what: str  # The type of change: added, deleted, edited, renamed, retyped, moded or timed.


@dataclass(kw_only=True)
class Keep:
    detail: Optional[str] = None  # More about the reason, for people.
    path: str  # The path, relative to the workspace's root. A directory ends in `/` and includes everything below it.
    path_raw: Optional[Raw] = None  # The exact bytes of `path`, if they are not valid UTF-8.
    side: Optional[str] = None  # Where the other version of the file is written, next to it.
    side_raw: Optional[Raw] = None  # The exact bytes of `side`, if they are not valid UTF-8.
    then: Optional[Entry] = None  # The other version of the file.
    why: str  # Why the path is left as is: git, volatile, changed, conflict, uncaptured, unheld, occupied or overlap. New reasons may be added.


@dataclass(kw_only=True)
class KeptEdits:
    moments: list[int] = field(default_factory=list)  # The numbers of auto-checkpoints that contain edits, newest first.
    unsaved: int  # The number of paths that changed since the newest checkpoint.


@dataclass(kw_only=True)
class KeptFor:
    always: bool  # If true, the rule applies however little disk space is left.
    count: int  # The number of checkpoints.
    why: str  # The rule, for people, such as pinned, start or newest.


@dataclass(kw_only=True)
class Key:
    created: datetime  # The time at which the key was created.
    expires: Optional[datetime] = None  # The time at which the key expires. Absent means never.
    id: str  # The key's ID: `key_` and a UUID. It is not a secret.
    kind: str  # The key's role: agent, reader, operator, admin, maintainer or provisioner. New roles may be added.
    name: str  # The key's name.
    revoked: Optional[datetime] = None  # The time at which the key was revoked. Absent if it was not.
    tail: str  # The last four characters of the key, to recognize it.
    used: Optional[datetime] = None  # About when the key was last used. Absent if it never was.
    workspaces: list[str] = field(default_factory=list)  # The IDs of the workspaces that the key may access. Empty means all of them.


@dataclass(kw_only=True)
class KeyUsage:
    bytes: int  # The size of the new and changed files in these checkpoints, in bytes. The store takes less: it stores equal content once, and compresses.
    key: str  # The key's ID.
    name: str  # The key's name.
    role: str  # The key's role.


@dataclass(kw_only=True)
class LeftOut:
    count: int  # The number of paths. A directory counts as one.
    named: list[str] = field(default_factory=list)  # Some of the paths.
    reason: str  # Why they are not pushed: secret, too-big, name, special, ignored, git or mark.


@dataclass(kw_only=True)
class Limits:
    gone_after: int  # The age after which checkpoints are deleted even if a rule keeps them, in nanoseconds. Pins, legal holds, the newest one and fork bases are kept. 0 means never.
    gone_after_text: Optional[str] = None  # The same as gone_after, as a text such as 90d.
    grace: int  # The grace period between a request to delete and the deletion, in nanoseconds.
    grace_text: Optional[str] = None  # The same as grace, as a text such as 7d.
    key_share: int  # The percentage of store that one agent key may add while there are others. 0 means no limit.
    moment: int  # The largest snapshot that one checkpoint may have, in bytes.
    per_second: int  # The requests per second of one API key.
    restore_hour: int  # The restores per hour of one agent key.
    store: int  # The storage limit of the whole history, in bytes.
    within: int  # How long checkpoints are kept at least, in nanoseconds.
    within_text: Optional[str] = None  # The same as within, as a text such as 30d.
    workspace_share: int  # The percentage of store that one workspace may take while there are others. 0 means no limit.
    workspaces: int  # The number of workspaces, not counting those whose protection ended.


@dataclass(kw_only=True)
class LostRoot:
    root: str  # The absolute path of the root directory.
    there: bool  # If true, another directory is at that path and is not empty.


@dataclass(kw_only=True)
class Mention:
    checkpoint: Checkpoint  # The checkpoint.
    facts: list[Fact] = field(default_factory=list)  # The facts that changed in it.


@dataclass(kw_only=True)
class Merge:
    base: str  # The object ID of the version that both sides started from.
    digest: str  # The digest of the merged text.
    first: int  # The first line that stays as it is now.
    hunks: list[Hunk] = field(default_factory=list)  # The parts of the change to undo. Absent means the whole change.
    theirs: int  # The number of places that change as planned.
    want: str  # The object ID of the version that is merged in.
    yours: int  # The number of places that stay as they are now.


@dataclass(kw_only=True)
class Namespace:
    created: datetime  # The time at which the namespace was created.
    creator: Optional[str] = None  # The namespace whose provisioner key created it. Absent if the server's owner did.
    default: str  # The ID of the workspace that requests without a workspace use.
    ended: Optional[datetime] = None  # The time at which the namespace was closed. Absent while it is open.
    etag: Optional[str] = None  # The ETag of the limits. Send it in `If-Match` when you change them.
    id: str  # The namespace's name.
    limits: Limits  # The limits of the namespace.
    roots: list[str] = field(default_factory=list)  # Directories on the server's machine that workspaces may be in, in addition to the namespace's own.


@dataclass(kw_only=True)
class NewKey:
    key: Key  # The API key.
    secret: str  # The secret to send with requests. It is shown only once and is not stored.


@dataclass(kw_only=True)
class NewNamespace:
    keys: list[NewKey] = field(default_factory=list)  # One API key for each role, with their secrets.
    namespace: Namespace  # The namespace.
    webhook: Optional[NewWebhook] = None  # The webhook, if one was requested.


@dataclass(kw_only=True)
class NewWebhook:
    secret: str  # What the receiver verifies signatures with. A shared secret is shown only once.
    webhook: Webhook  # The webhook.


@dataclass(kw_only=True)
class NotArrived:
    hint: Optional[str] = None  # What to do.
    want: Optional[bool] = None  # If true, it was left out on purpose.
    what: str  # A path, or the name of a program.
    why: str  # Why it did not arrive.


@dataclass(kw_only=True)
class Obstacle:
    class_: str  # The name to pass in `accept`, such as changed, mass-delete, held or uncaptured. New classes may be added.
    paths: list[str] = field(default_factory=list)  # The paths that the warning is about. The list is never shortened.
    paths_raw: list[Raw] = field(default_factory=list)  # The exact bytes of all `paths`, if one of them is not valid UTF-8.
    text: str  # The warning, for people.


@dataclass(kw_only=True)
class Operation:
    created: datetime  # The time at which the operation began.
    ended: Optional[datetime] = None  # The time at which the operation ended. Absent while it runs.
    id: str  # The operation's ID.
    kind: str  # What it does, as the ID of an operation in this description, such as `restore`.
    problem: Optional[Problem] = None  # Why the operation failed or was canceled.
    progress: Progress  # How far the operation is.
    result: Any = None  # The body that the request would have returned. Its schema is that of `kind`. Absent in lists.
    status: str  # running, succeeded, failed or canceled.


@dataclass(kw_only=True)
class Origin:
    checkpoint: str  # The checkpoint's ID.
    number: int  # The checkpoint's number.
    workspace: str  # The ID of the workspace that was forked.


@dataclass(kw_only=True)
class Pin:
    checkpoint: str  # The checkpoint's ID.
    name: str  # The pin's name. You can use it as a ref. Names of legal holds begin with `hold:`.
    number: int  # The checkpoint's number.
    time: datetime  # The time at which the pin was created.


@dataclass(kw_only=True)
class Plan:
    also: list[int] = field(default_factory=list)  # The numbers of older checkpoints that the same undo takes back, newest first.
    bytes: int  # The number of bytes to write.
    course: str  # What the plan does: restore, undo, redo, adopt, finish or unwind. New values may be added.
    deletes: list[Step] = field(default_factory=list)  # The paths to delete.
    digest: str  # An ID of the plan and of the files that it applies to. Pass it to apply exactly this plan.
    edits: Optional[KeptEdits] = None  # Edits that an undo keeps. Absent if there are none.
    effects: list[Effect] = field(default_factory=list)  # External actions since the checkpoint. They can't be undone.
    facts: list[Fact] = field(default_factory=list)  # What the plan changes by meaning. Absent if that is not known.
    files: int  # The number of files that the workspace contains now.
    fork: Optional[Workspace] = None  # The fork to adopt.
    git: list[GitLeft] = field(default_factory=list)  # Git repositories that are left as is, although other files go back.
    holders: list[Holder] = field(default_factory=list)  # Processes that have files open that the plan replaces.
    keeps: list[Keep] = field(default_factory=list)  # Paths that differ and that are left as is, with the reason.
    lost: Optional[LostRoot] = None  # Set if the workspace's root directory was deleted or replaced.
    merges: list[Step] = field(default_factory=list)  # The text files to merge, because they changed on both sides.
    next: Optional[int] = None  # The number of the checkpoint to undo instead, if nothing of this one is left to undo.
    obstacles: list[Obstacle] = field(default_factory=list)  # The warnings. Pass their classes in `accept` to apply the plan.
    others: list[Plan] = field(default_factory=list)  # The plans for the other workspaces that the same turn worked in. Absent without spread. The digest covers them.
    paths: list[str] = field(default_factory=list)  # The paths that the plan is limited to. Absent means everything.
    paths_raw: list[Raw] = field(default_factory=list)  # The exact bytes of all `paths`, if one of them is not valid UTF-8.
    safety: Safety  # The safety checkpoint, which contains your current files.
    target: Optional[Checkpoint] = None  # The checkpoint to restore. For undo and redo, the checkpoint to undo or redo.
    times: list[Step] = field(default_factory=list)  # Directories of which only the modification time is restored.
    to: Optional[str] = None  # The directory outside the workspace that files are brought back to; all paths of the plan are relative to it. Absent for a restore of the workspace.
    working: list[Worker] = field(default_factory=list)  # Agents that are in the middle of a turn here, except the one that asks.
    workspace: str  # The workspace's ID.
    writes: list[Step] = field(default_factory=list)  # The paths to bring back or change.


@dataclass(kw_only=True)
class PlanAsk:
    class_: str  # The name to pass in `accept`.
    deed: str  # What accepting it means, such as delete 2 files.
    text: str  # The warnings, for people.


@dataclass(kw_only=True)
class PlanCompare:
    back: bool  # If true, the plan leads from the later state to the earlier one.
    from_: str  # The earlier checkpoint, as a ref.
    to: Optional[str] = None  # The later checkpoint, as a ref. Absent means the current files.
    workspace: str  # The ID of the workspace to compare in.


@dataclass(kw_only=True)
class PlanCounts:
    beside: int  # The number of other versions that are written next to a file that stays.
    brought: int  # The number of paths to bring back.
    brought_bytes: int  # The size of the files to bring back, in bytes.
    changed: int  # The number of paths to change, without merges.
    deleted: int  # The number of paths to delete.
    deleted_bytes: int  # The size of the files to delete, in bytes.
    kept: int  # The number of paths that are left as is.
    merged: int  # The number of files to merge.


@dataclass(kw_only=True)
class PlanRow:
    below: int  # The number of following rows that are in this directory. 0 means that it is a path.
    bytes: int  # The size, in bytes.
    count: int  # The number of paths that it stands for.
    depth: int  # The number of directories among the rows that it is in.
    detail: Optional[str] = None  # More about why it is left as is.
    note: Optional[str] = None  # What is known about it.
    path: str  # The path, relative to the workspace's root. A directory ends in `/`.
    path_raw: Optional[Raw] = None  # The exact bytes of `path`, if they are not valid UTF-8.
    what: Optional[str] = None  # What happens to it, as in the plan. Absent for a directory with rows.
    whole: Optional[bool] = None  # If true, the directory itself is brought back or deleted.
    why: Optional[str] = None  # Why it is left as is, as in the plan.


@dataclass(kw_only=True)
class PlanSafety:
    brings: Optional[str] = None  # What that course does.
    course: Optional[str] = None  # The course that undoes the plan: undo or redo. Absent if there is none.
    text: str  # How the current files are kept.


@dataclass(kw_only=True)
class PlanSection:
    about: str  # The count in words.
    count: int  # The number of paths, as in `counts`.
    done: str  # The title after the plan was applied, such as brought back.
    kind: str  # What happens: delete, bring, change, merge, conflict or keep. New kinds may be added.
    paths: int  # The number of paths with all directories.
    rows: list[PlanRow] = field(default_factory=list)  # The paths, folded by directory.
    title: str  # The title, such as Bring back.


@dataclass(kw_only=True)
class PlanView:
    action: str  # What the plan does, such as Restore 14.
    apply: str  # What applying it does, such as Restore 14 and delete 2 files.
    asks: list[PlanAsk] = field(default_factory=list)  # What has to be confirmed.
    beside: Optional[str] = None  # Why the plan changes no existing file, and what it writes instead. Absent if it changes files.
    compare: Optional[PlanCompare] = None  # Where its changes can be compared line by line. Absent if that is not possible.
    counts: PlanCounts  # The numbers of paths.
    doing: str  # What the plan does while it is applied, such as Restoring 14.
    done: str  # What the plan did after it was applied, such as Restored 14.
    edits: Optional[str] = None  # The edits that an undo keeps. Absent if there are none.
    goal: str  # Where the plan leads, as the number of a checkpoint or the name of a fork.
    headline: str  # How much would change, or why nothing would.
    idle: bool  # If true, there is nothing to do.
    numbers: list[str] = field(default_factory=list)  # The counts with their verbs, such as delete 2.
    question: str  # The question to ask before the plan is applied.
    safety: PlanSafety  # What keeps the current files.
    sections: list[PlanSection] = field(default_factory=list)  # The paths, by what happens to them. Empty sections are left out.
    untouched: str  # That nothing has been changed yet. Empty if there is nothing to do.


@dataclass(kw_only=True)
class Point:
    minus: Optional[int] = None  # The number of removed lines.
    plus: Optional[int] = None  # The number of added lines.
    text: str  # The change, such as `src/auth.ts` or `npm +12 packages`.
    theme: str  # What the change is about: deleted, packages, settings, database, source, build, git, moving or machine.


@dataclass(kw_only=True)
class Policy:
    exclude: list[str] = field(default_factory=list)  # Patterns to leave out, in the form of `.gitignore`.
    gitignore: Optional[bool] = None  # If true, files that git ignores are left out.
    max_new_file: Optional[int] = None  # New files above this size are left out, in bytes. 0 means no limit.


@dataclass(kw_only=True)
class Problem:
    accept: list[str] = field(default_factory=list)  # The warnings that you did not accept. Send them in accept to go ahead.
    cause: Optional[str] = None  # The underlying error.
    cause_raw: Optional[Raw] = None  # The exact bytes of cause, if they are not valid UTF-8.
    code: str  # The error code, such as not_found, forbidden or stale_plan. Programs should decide by this field only. New codes may be added.
    detail: str  # What happened, with its cause.
    hint: Optional[str] = None  # What to do next.
    hint_raw: Optional[Raw] = None  # The exact bytes of hint, if they are not valid UTF-8.
    kind: Optional[str] = None  # The code of the version before: several codes have one kind. Do not use it in new programs.
    next_steps: list[str] = field(default_factory=list)  # Commands or requests to try next.
    plan: Optional[Plan] = None  # What a restore would do whose warnings you have not accepted.
    request_id: Optional[str] = None  # The request's ID, to include when you ask for support.
    retryable: bool  # If true, the same request may succeed later.
    safe: Optional[str] = None  # Whether anything was changed.
    status: int  # The HTTP status code.
    title: str  # The error code in words. It is the same for all errors with one code.
    type: str  # A URL that explains the error code.
    what: str  # What happened.
    what_raw: Optional[Raw] = None  # The exact bytes of what, if they are not valid UTF-8.


@dataclass(kw_only=True)
class Progress:
    bytes: int  # The number of bytes so far.
    files: int  # The number of files so far.
    total: int  # The number of files in all. 0 while it is not known.


@dataclass(kw_only=True)
class Proof:
    by: str  # The program that computed the stock engine's ID.
    checkpoint: Checkpoint  # The checkpoint.
    equal: bool  # If true, the two IDs are equal.
    ours: str  # The tree ID that Retake computed.
    special: list[str] = field(default_factory=list)  # Entries that the stock format can't represent.
    stock: str  # The tree ID that the stock engine computed.


@dataclass(kw_only=True)
class PurgePlan:
    beyond: list[str] = field(default_factory=list)  # Copies that a purge does not reach, for people.
    bytes: int  # The size of the stored files to remove, in bytes.
    checkpoints: int  # The number of checkpoints that contain some of it.
    gaps: list[Gap] = field(default_factory=list)  # The paths to remove, at most fifty. After the purge, checkpoints list them as gaps.
    live: list[str] = field(default_factory=list)  # Files in the workspace that still contain it. The next save stores them again.
    more: int  # The number of further paths that `gaps` does not list.
    records: int  # The number of stored texts in which it is masked, such as messages, prompts, conversations and check output.
    versions: int  # The number of different stored files to remove.
    workspaces: list[PurgeScope] = field(default_factory=list)  # The workspaces that are affected, including forks.


@dataclass(kw_only=True)
class PurgeReport:
    bytes: int  # The number of bytes that the search read.
    left: list[str] = field(default_factory=list)  # Copies that can still be read, for people. Empty means that nothing is left.
    plan: PurgePlan  # What was removed.
    searched: int  # The number of stored pieces and files that the search read.
    sweep: SweepReport  # The disk space that was freed.


@dataclass(kw_only=True)
class PurgeScope:
    checkpoints: int  # The number of checkpoints that change.
    name: str  # The workspace's name.
    workspace: str  # The workspace's ID.


@dataclass(kw_only=True)
class Reaction:
    checkpoint: Optional[Checkpoint] = None  # The checkpoint that contains the files at the time of the event.
    effects: list[Effect] = field(default_factory=list)  # The external actions that were recorded.
    later: Optional[bool] = None  # If true, Retake does the work after this response.
    note: Optional[str] = None  # A note to show to the agent, such as that a turn was undone.
    stop: Optional[Stop] = None  # Your policy stops the call: do not run it.
    warnings: list[Warning] = field(default_factory=list)  # Problems that did not prevent the work.
    workspace: Optional[str] = None  # The workspace's ID. Absent if the directory is not protected; then nothing was done.


@dataclass(kw_only=True)
class RebuildReport:
    checkpoints: int  # The number of checkpoints.
    pins: int  # The number of pins.
    tombstones: int  # The number of tombstones.
    workspaces: int  # The number of workspaces.


@dataclass(kw_only=True)
class Receipt:
    bytes: int  # The size of the files that were written.
    checkpoints: int  # The number of checkpoints that arrived.
    conversation: Optional[Resumption] = None  # How to continue the conversation. Absent if no agent worked there or it can't be continued.
    files: int  # The number of files that were written. Each byte was checked.
    later: Optional[bool] = None  # If true, older checkpoints are still at the remote only, and arrive in the background.
    machine: str  # The machine that uploaded it.
    missing: list[NotArrived] = field(default_factory=list)  # What did not arrive or does not work here.
    newest: Checkpoint  # The newest checkpoint that arrived.
    tasks: list[Task] = field(default_factory=list)  # The to-do list of the agent.
    url: str  # The URL of the remote.
    workspace: Workspace  # The workspace.


@dataclass(kw_only=True)
class Remote:
    check: Optional[RemoteCheck] = None  # The last time that something was read back. Absent if that was never done.
    created: datetime  # The time at which the remote was added.
    damaged: Optional[int] = None  # The number of stored objects that are damaged in the store and missing in the copy.
    key_confirmed: Optional[bool] = None  # If true, somebody confirmed that the recovery key is kept elsewhere.
    limited: Optional[bool] = None  # If true, only the listed workspaces are uploaded.
    name: str  # The name of the remote.
    pending: int  # The number of checkpoints that have not been uploaded.
    protection: RemoteProtection  # What the remote promises.
    sent: int  # The bytes that were uploaded since the remote was added.
    swept: Optional[datetime] = None  # The time at which what nobody needs was last removed from the copy.
    trouble: Optional[BackupTrouble] = None  # Why the newest checkpoints have not been uploaded. Absent if there is no problem.
    uploaded: Optional[datetime] = None  # The time at which everything was uploaded. Absent if that never was.
    url: str  # The URL of the remote.
    workspaces: list[RemoteWorkspace] = field(default_factory=list)  # How far each workspace is.


@dataclass(kw_only=True)
class RemoteCheck:
    at: datetime  # The time of the check.
    bytes: int  # The number of bytes of file content that were read.
    checkpoints: int  # The number of checkpoints that were read.
    failed: list[str] = field(default_factory=list)  # What could not be read or does not match.
    objects: int  # The number of files and directories that were read.


@dataclass(kw_only=True)
class RemoteProtection:
    locked_days: Optional[int] = None  # For so many days nobody can delete what was uploaded. Absent if it is not locked.
    refuses: bool  # If true, it refuses to replace what it has.
    versioned: Optional[bool] = None  # If true, it keeps what is deleted as an older version.


@dataclass(kw_only=True)
class RemoteWorkspace:
    name: str  # The name of the workspace.
    newest: int  # The number of its newest checkpoint.
    pending: int  # The number of its checkpoints that have not been uploaded.
    uploaded: int  # The number of the newest checkpoint that the remote has for sure. 0 means none.
    workspace: str  # The workspace's ID.


@dataclass(kw_only=True)
class Rescue:
    bytes: int  # The size of the saved files, in bytes.
    checkpoint: Optional[int] = None  # The number of the other workspace's checkpoint that has the files.
    count: int  # The number of names.
    dir: str  # The absolute path of the directory that the names are in. Empty if only the running command knows it.
    files: int  # The number of saved files.
    names: list[str] = field(default_factory=list)  # The names in the directory that the call could destroy, the first 20 of them.
    not_saved: Optional[str] = None  # Why nothing of it is saved, or not all. Absent if everything is saved.
    tree: Optional[str] = None  # The object ID of the saved directory, which has these names only. Absent if nothing is saved here.
    workspace: Optional[str] = None  # The ID of the workspace that the files are in, if it is another one.


@dataclass(kw_only=True)
class RestoreResult:
    checkpoint: Checkpoint  # The checkpoint after the restore.
    deleted: int  # The number of deleted paths.
    failed: list[Failure] = field(default_factory=list)  # The paths that could not be changed, with the reason. They are left as is.
    git: list[GitLeft] = field(default_factory=list)  # Git repositories that were left as is.
    holders: list[Holder] = field(default_factory=list)  # Processes that still have the replaced files open.
    kept: int  # The number of paths that differ and were left as is.
    merged: int  # The number of merged files.
    others: list[RestoreResult] = field(default_factory=list)  # The results in the other workspaces of the turn, in the order of the plan.
    read_back: bool  # If true, every written file was read again and matches the plan.
    safety: Checkpoint  # The safety checkpoint, which contains the files from before the restore.
    target: Checkpoint  # The checkpoint that was restored.
    warnings: list[Warning] = field(default_factory=list)  # Problems that did not prevent the restore.
    written: int  # The number of written paths.


@dataclass(kw_only=True)
class Restored:
    current_snapshot_id: str  # The ID of the snapshot after the restore.
    files_deleted: int  # The number of files that were deleted because the snapshot does not contain them.
    files_left: int  # The number of files that could not be changed. If it is not 0, the restore was done in part.
    files_restored: int  # The number of files that were written.
    safety_snapshot_id: str  # The ID of the safety snapshot, which contains the files from before.
    snapshot_id: str  # The ID of the snapshot that was restored.


@dataclass(kw_only=True)
class Resumption:
    agent: str  # The agent's name.
    checkpoint: Checkpoint  # The checkpoint.
    command: list[str] = field(default_factory=list)  # The command that continues the conversation, with its arguments.
    dir: str  # The directory to run the command in.
    effects: list[Effect] = field(default_factory=list)  # The external actions that can't be undone.
    exact: bool  # If true, the conversation ends at that turn. Otherwise it contains everything that was said.
    next: Optional[Task] = None  # The first open task.
    note: str  # The note for the agent.
    session: str  # The ID of the new session, or of the original one if no fork was created.
    taken: Optional[str] = None  # The turn that was undone since and that the conversation still contains.
    tasks: list[Task] = field(default_factory=list)  # The to-do list at the checkpoint.
    why: Optional[str] = None  # Why the conversation does not end at that turn, or why there is no command.


@dataclass(kw_only=True)
class Return:
    also: list[str] = field(default_factory=list)  # The IDs of older checkpoints that the same undo took back.
    before: str  # The ID of the safety checkpoint, which contains the files from before.
    course: str  # What was done: restore, undo, redo, adopt, finish or unwind.
    deleted: int  # The number of deleted paths.
    failed: list[Failure] = field(default_factory=list)  # The paths that could not be changed, with the reason.
    hunks: list[Hunk] = field(default_factory=list)  # The parts of one file's change that were undone. Absent means the whole change.
    kept: Optional[int] = None  # The number of paths that differ and were left as is.
    merged: Optional[int] = None  # The number of merged files.
    paths: list[str] = field(default_factory=list)  # The paths that it was limited to. Absent means everything.
    paths_raw: list[Raw] = field(default_factory=list)  # The exact bytes of all `paths`, if one of them is not valid UTF-8.
    target: str  # The ID of the checkpoint that was restored, undone or redone.
    written: int  # The number of written paths.


@dataclass(kw_only=True)
class RowChange:
    after: list[CellValue] = field(default_factory=list)  # The values after the change, in column order. Absent for a deleted row.
    before: list[CellValue] = field(default_factory=list)  # The values before the change, in column order. Absent for an added row.
    cells: list[int] = field(default_factory=list)  # The columns that differ in an edited row, counted from 0.
    what: str  # The type of change: added, deleted or edited.


@dataclass(kw_only=True)
class RowFlag:
    tone: str  # How grave it is: mismatch, warning or note.
    why: Optional[str] = None  # The reason.
    word: str  # The word, such as risky.


@dataclass(kw_only=True)
class RowPlace:
    below: list[int] = field(default_factory=list)  # The strokes that go on to the next row, by lane. Missing lanes are empty.
    detached: Optional[bool] = None  # If true, no line is drawn to the row's parent, because no lane was free.
    joins: list[int] = field(default_factory=list)  # The lanes that end at this row.
    joint: list[int] = field(default_factory=list)  # The strokes that end or begin at this row, by lane.
    lane: int  # The lane of the row.
    opens: list[int] = field(default_factory=list)  # The lanes that begin at this row.
    replaced: Optional[bool] = None  # If true, a restore left the row's line behind.
    through: list[int] = field(default_factory=list)  # The strokes that pass the row, by lane.


@dataclass(kw_only=True)
class RowsDiff:
    from_: Optional[Checkpoint] = None  # The earlier checkpoint. Absent when the later one has no parent.
    same: int  # The number of tables without differences.
    tables: list[TableRows] = field(default_factory=list)  # The tables that differ or could not be compared, or the table that you asked for.
    to: Optional[Checkpoint] = None  # The later checkpoint. Absent when you compare with the current files.
    why: Optional[str] = None  # Why nothing could be compared.


@dataclass(kw_only=True)
class Run:
    at: datetime  # The time at which the run started.
    err: Optional[str] = None  # The error, if the run failed.
    took: int  # How long it took, in nanoseconds.
    what: str  # The result, for people.


@dataclass(kw_only=True)
class Safety:
    number: int  # The number that the safety checkpoint has or will get.
    there: bool  # If true, the checkpoint exists already, because nothing changed since.


@dataclass(kw_only=True)
class SaveResult:
    checkpoint: Checkpoint  # The new checkpoint, or the latest one if `recorded` is false.
    created: bool  # If true, files differ from the checkpoint before.
    partial: Optional[Checkpoint] = None  # The partial checkpoint that was saved first because `budget` ran out.
    recorded: bool  # If true, a checkpoint was added.
    warnings: list[Warning] = field(default_factory=list)  # Problems that did not prevent the save.
    workspace: Workspace  # The workspace.


@dataclass(kw_only=True)
class Schedule:
    created: datetime  # The time at which the schedule was created.
    cron: str  # When it runs: five cron fields, in UTC.
    id: str  # The schedule's ID: `sch_` and a UUID.
    jitter: int  # Each run starts up to this much later, in nanoseconds.
    last: Optional[Run] = None  # The last run. Absent if there was none.
    missed: int  # The number of runs that were missed, for example while the server was down.
    next: datetime  # The time of the next run.
    work: str  # What it does: save, retain or drill.
    workspace: Optional[str] = None  # The ID of the workspace to save.


@dataclass(kw_only=True)
class ScrubReport:
    bytes: int  # The number of bytes that were read.
    checkpoints: int  # The number of checkpoints that were read.
    damaged: list[DamagedPath] = field(default_factory=list)  # The same as `failed`, as workspace, checkpoint and path.
    failed: list[str] = field(default_factory=list)  # What could not be read or did not match, for people. Empty means that all is well.
    objects: int  # The number of stored objects that were read.
    repaired: list[DamagedPath] = field(default_factory=list)  # What could not be read before a repair and can be read now.


@dataclass(kw_only=True)
class Segment:
    bytes: int  # The size of the part, in bytes.
    object: str  # The object ID of the part.


@dataclass(kw_only=True)
class Signal:
    agent: str  # The agent's name, such as `claude-code`.
    call: Optional[Call] = None  # The tool call, for the events call and called.
    can_ask: Optional[bool] = None  # If true, the agent can ask its user whether a call may run.
    dir: str  # The directory that the agent works in.
    failed: Optional[str] = None  # The error that ended the turn.
    hears: Optional[bool] = None  # If true, the agent shows the response to its model.
    id: str  # The event's ID: `sg_` and a UUID. An event with a known ID does nothing.
    joined: Optional[bool] = None  # If true, the turn began in another workspace, and works in this one, too. Retake sets it itself.
    kind: str  # The type of event: session-start, prompt, call, called, tasks, turn-end, compact, sub-start, sub-end or session-end.
    machine: Optional[bool] = None  # If true, a program wrote the prompt.
    message: Optional[str] = None  # The agent's last message in the turn.
    pid: Optional[int] = None  # The agent's process ID, if it runs on this machine.
    prompt: Optional[str] = None  # The prompt that starts the turn.
    reason: Optional[str] = None  # Why the session started or ended: startup, resume, fork, clear or logout.
    running: Optional[int] = None  # The number of background jobs that still run at the end of the turn.
    session: str  # The agent's ID for the session.
    subagent: Optional[str] = None  # The agent's ID for the subagent.
    tasks: list[Task] = field(default_factory=list)  # The whole to-do list.
    time: datetime  # The time of the event.
    transcript: Optional[str] = None  # The file that the agent writes the conversation to.
    turn: Optional[str] = None  # The agent's ID for the turn.
    version: Optional[str] = None  # The agent's version.


@dataclass(kw_only=True)
class Snapshot:
    complete: bool  # If true, the snapshot lacks nothing.
    created_at: datetime  # The time at which the snapshot was taken.
    files: int  # The number of files in the snapshot.
    label: str  # The checkpoint's message.
    number: int  # The checkpoint's number, for people. A number is never used twice in a workspace.
    size_bytes: int  # The size of all files in the snapshot, in bytes.
    snapshot_id: str  # The snapshot's ID: cp_ and a UUID.
    workspace_id: str  # The workspace's ID.


@dataclass(kw_only=True)
class SpacePlan:
    budget: int  # The storage limit, in bytes. 0 means no limit.
    drops: list[Drop] = field(default_factory=list)  # The checkpoints to delete, oldest first. The list is never shortened.
    frees: int  # About how much disk space the cleanup frees, in bytes, including `garbage`.
    garbage: int  # About how much no checkpoint needs already, in bytes.
    last: Optional[TidyUp] = None  # The last cleanup.
    need: Optional[str] = None  # Why checkpoints are deleted that are not too old: budget, room or floor. Absent if there is no need.
    store: StoreState  # The disk space of the store.
    workspaces: list[WorkspaceSpace] = field(default_factory=list)  # The checkpoints of each workspace.


@dataclass(kw_only=True)
class Spoken:
    conversation: Conversation  # The conversation that the lines are from.
    lines: list[SpokenLine] = field(default_factory=list)  # The messages, oldest first. Likely secrets are masked.


@dataclass(kw_only=True)
class SpokenLine:
    text: str  # The text. Likely secrets are masked.
    tool: Optional[str] = None  # The tool that the agent calls, or the tool that returned the text.
    who: str  # Who wrote it: you, agent, tool or note.


@dataclass(kw_only=True)
class Standing:
    command: str  # The shell command.
    name: str  # The check's name.


@dataclass(kw_only=True)
class State:
    calls: list[Call] = field(default_factory=list)  # The tool calls of the turn.
    checkpoint: Checkpoint  # The checkpoint.
    conversation: Optional[Conversation] = None  # The conversation. Absent if Retake does not have it.
    tasks: list[Task] = field(default_factory=list)  # The to-do list.


@dataclass(kw_only=True)
class Status:
    answers: list[Answer] = field(default_factory=list)  # The check results of the latest checkpoint.
    background: list[BackgroundTask] = field(default_factory=list)  # Background tasks that failed since the service started. Absent if none did.
    backup: Optional[Backup] = None  # The state of the backup. Absent if none is set.
    count: int  # The number of checkpoints.
    damage: Optional[DamageState] = None  # What cannot be read back from the store. Absent if no damage is known.
    drill: Optional[Drill] = None  # The last test restore of a good checkpoint.
    good: Optional[Checkpoint] = None  # The newest good checkpoint: complete, and all checks passed.
    latest: Optional[Checkpoint] = None  # The newest checkpoint.
    now: Counts  # What changed since the newest checkpoint.
    protection: str  # How the store is separated from the agent: same-user, separate-user, remote or remote+lock.
    remotes: list[Remote] = field(default_factory=list)  # The remotes that get this workspace. Absent if there are none.
    saving: Optional[bool] = None  # If true, a save is running, and `now` is not known.
    store: StoreState  # The disk space of the store.
    tracking: Tracking  # How Retake notices changed files.
    workspace: Workspace  # The workspace.


@dataclass(kw_only=True)
class Step:
    means: Optional[str] = None  # What it does to the content, such as `users 20 → 500 rows`. Absent if that is not known.
    merge: Optional[Merge] = None  # How the file is merged.
    now: Optional[Entry] = None  # The current file. Absent if there is none.
    path: str  # The path, relative to the workspace's root.
    path_raw: Optional[Raw] = None  # The exact bytes of `path`, if they are not valid UTF-8.
    then: Optional[Entry] = None  # The file after the restore. Absent if it is deleted.
    unit: Optional[str] = None  # The database that the file belongs to. All files of a database are replaced together.
    unit_raw: Optional[Raw] = None  # The exact bytes of `unit`, if they are not valid UTF-8.
    what: str  # The type of change: added (brought back), deleted, edited, retyped, moded or timed.


@dataclass(kw_only=True)
class Stop:
    class_: str  # What can't be taken back: force-push, publish, deploy, delete, not-saved or repeat.
    id: Optional[str] = None  # The ID of the external action, with which a person can approve it. Absent if the agent asks its user itself.
    policy: str  # The answer: ask (the agent asks its user) or deny.
    text: str  # The reason, for the agent and its user.


@dataclass(kw_only=True)
class StoreState:
    bytes: int  # The size of the store, in bytes.
    floor: int  # The minimum free space, in bytes. Below it, saves are refused.
    free: int  # The free space on the store's disk, in bytes.


@dataclass(kw_only=True)
class Story:
    counts: StoryCounts  # The number of changed files and lines.
    elsewhere: Optional[int] = None  # The number of changes on the machine that don't belong to the workspace. They are in `facts` only if you set `machine`.
    facts: list[Fact] = field(default_factory=list)  # The changes by meaning, such as packages, settings and database tables.
    flags: list[Flag] = field(default_factory=list)  # Marks that need attention.
    from_: Optional[Checkpoint] = None  # The earlier checkpoint. Absent when the later one has no parent.
    gist: Gist  # A short summary.
    groups: list[Group] = field(default_factory=list)  # The changed files in groups, the most important first.
    to: Optional[Checkpoint] = None  # The later checkpoint. Absent when you compare with the current files.
    unread: list[Unread] = field(default_factory=list)  # Files whose changes could not be explained by meaning, with the reason.


@dataclass(kw_only=True)
class StoryCounts:
    added: int  # The number of added files.
    deleted: int  # The number of deleted files.
    edited: int  # The number of edited files.
    minus: int  # The number of removed lines, lock files not included.
    moded: int  # The number of files of which only mode, owner or extended attributes changed.
    plus: int  # The number of added lines, lock files not included.
    renamed: int  # The number of renamed files.
    retyped: int  # The number of paths that changed their type, such as from file to link.
    timed: int  # The number of files of which only the modification time changed.


@dataclass(kw_only=True)
class Subagent:
    name: Optional[str] = None  # The subagent's type, such as Explore.
    task: Optional[str] = None  # What the subagent was asked to do. Likely secrets are masked.


@dataclass(kw_only=True)
class Summary:
    bytes: int  # The size of the files, in bytes.
    dirs: int  # The number of directories, including this one.
    files: int  # The number of files.
    max_time: int  # The newest modification time below the directory, in nanoseconds since 1970.
    symlinks: int  # The number of symbolic links.


@dataclass(kw_only=True)
class SweepReport:
    after: int  # The size of the store after it, in bytes.
    before: int  # The size of the store before it, in bytes.
    peak: int  # The most extra disk space that was used while it ran, in bytes.
    took: int  # How long it took, in nanoseconds.


@dataclass(kw_only=True)
class TableColumn:
    key: Optional[bool] = None  # If true, rows are matched by this column.
    name: str  # The column's name.
    what: Optional[str] = None  # Either added or deleted. Absent if the column is on both sides.


@dataclass(kw_only=True)
class TableRows:
    added: int  # The number of added rows.
    columns: list[TableColumn] = field(default_factory=list)  # The columns of the table that you asked for.
    computed: list[str] = field(default_factory=list)  # Columns that the database computes. They are not compared.
    deleted: int  # The number of deleted rows.
    edited: int  # The number of edited rows.
    equal: int  # The number of rows without differences.
    name: str  # The table's name.
    rows: list[RowChange] = field(default_factory=list)  # The rows of the table that you asked for: deleted, edited, then added ones, each in key order.
    unlisted: Optional[int] = None  # The number of further columns, which are compared but not listed.
    what: Optional[str] = None  # Whether the table was added, deleted or edited. Absent if it is the same.
    why: Optional[str] = None  # Why a part of the table could not be compared. The counts include only what was compared.


@dataclass(kw_only=True)
class Task:
    id: str  # The task's ID in its list.
    status: str  # The state: pending, in-progress, completed, failed or skipped.
    title: str  # What to do.


@dataclass(kw_only=True)
class TaskCount:
    done: int  # The number of completed tasks.
    failed: Optional[int] = None  # The number of failed tasks.
    next: Optional[str] = None  # The first task that is not done.
    total: int  # The number of tasks.


@dataclass(kw_only=True)
class ThinReport:
    forgotten: int  # The number of deleted checkpoints.
    over: Optional[int] = None  # By how much the store is still above its storage limit, in bytes. What must be kept takes more.
    sweep: SweepReport  # The disk space that was freed.


@dataclass(kw_only=True)
class TidyUp:
    at: datetime  # The time of the cleanup.
    forgotten: int  # The number of checkpoints that were deleted since the cleanup before.
    gave: int  # The disk space that was freed, in bytes.
    took: int  # How long it took, in nanoseconds.


@dataclass(kw_only=True)
class Timeline:
    checkpoints: list[Checkpoint] = field(default_factory=list)  # The checkpoints, newest first.
    findings: dict[str, Finding] = field(default_factory=dict)  # What is known about each checkpoint, by checkpoint ID: a summary, check results, whether it is good.
    good: Optional[Checkpoint] = None  # The newest good checkpoint, whether it is on this page or not.
    next_cursor: Optional[str] = None  # Pass it as `cursor` to get the next page. Absent on the last page.
    pins: list[Pin] = field(default_factory=list)  # The pins of the workspace.
    total: int  # The number of checkpoints in the whole timeline.
    upload: Optional[Upload] = None  # How far the workspace is uploaded. Absent if it has no remote.
    workspace: Workspace  # The workspace.


@dataclass(kw_only=True)
class TimelineRow:
    about: Optional[str] = None  # More about what a folded row contains.
    adopted: Optional[bool] = None  # If true, the fork was adopted.
    answers: list[Answer] = field(default_factory=list)  # The results of checks, worst first.
    base: Optional[int] = None  # The number of the checkpoint that this one is compared with, if known.
    changed: Optional[Counts] = None  # What changed since the newest checkpoint, in a row of kind now. Absent while it is not known.
    checkpoint: Optional[Checkpoint] = None  # The checkpoint, in a row of kind checkpoint.
    count: Optional[int] = None  # How many checkpoints a folded row contains, or how many forks a row of kind more stands for.
    counted: Optional[bool] = None  # If true, the points are only counts, because nobody looked into the files yet.
    files: int  # The number of changed files. For the first checkpoint, the number of files in it.
    first: Optional[int] = None  # The number of the oldest checkpoint in a folded row.
    flags: list[RowFlag] = field(default_factory=list)  # What to know before trusting the checkpoint, worst first.
    fork: Optional[WorkspaceState] = None  # The fork, in a row of kind fork.
    good: Optional[bool] = None  # If true, the checkpoint is good.
    heavy: Optional[bool] = None  # If true, the points say more than the title.
    inside: list[TimelineRow] = field(default_factory=list)  # The rows that a folded row stands for.
    key: str  # A name of the row that stays the same. Pass the key of a folded row in `open` to open it.
    kind: str  # What the row stands for: now, checkpoint, quiet, replaced, fork or more.
    lead: Optional[str] = None  # What changed, in one or two words.
    newest: Optional[bool] = None  # If true, the files are at this checkpoint.
    number: Optional[int] = None  # The checkpoint's number. In a folded row, the number of the newest checkpoint in it.
    pins: list[str] = field(default_factory=list)  # The names of the checkpoint's pins.
    place: RowPlace  # The row's place in the graph.
    points: list[Point] = field(default_factory=list)  # What changed, most important first.
    time: Optional[datetime] = None  # The checkpoint's time. In a folded row, the time of the oldest checkpoint in it.
    title: str  # The title. It is not escaped.
    until: Optional[datetime] = None  # In a folded row, the time of the newest checkpoint in it.
    who: Optional[str] = None  # Who did it, such as claude or you.
    written: Optional[bool] = None  # If true, somebody wrote the title. Otherwise it is made from facts.


@dataclass(kw_only=True)
class TimelineView:
    checked: Optional[bool] = None  # If true, a check was run on at least one checkpoint.
    good: Optional[Checkpoint] = None  # The newest good checkpoint, whether it is in this part or not.
    lanes: int  # The number of lanes of the graph.
    newest: Optional[int] = None  # The number of the checkpoint that the files are at, if known.
    protection: Optional[str] = None  # How the store is protected, if `now` was asked for.
    rows: list[TimelineRow] = field(default_factory=list)  # The rows, newest first.
    shown: int  # The number of checkpoints that the rows stand for.
    total: int  # The number of checkpoints in the whole timeline.
    tree: Optional[bool] = None  # If true, no checkpoint in between is left out, and the rows form a graph.
    upload: Optional[Upload] = None  # How far the workspace is uploaded. Absent if it has no remote.
    workspace: Workspace  # The workspace.


@dataclass(kw_only=True)
class Tombstone:
    at: datetime  # The time at which it was deleted.
    id: str  # The deleted checkpoint's ID.
    number: int  # The deleted checkpoint's number. It is never used again.
    parent: Optional[str] = None  # The ID of the checkpoint before it.
    time: datetime  # The time at which the checkpoint had been taken.


@dataclass(kw_only=True)
class Tracking:
    check: Optional[CrossCheck] = None  # The last comparison of all files with what the watcher reported.
    doubts: int  # How often the watcher could not be trusted, so that Retake checked every file.
    events: int  # The number of changes that the watcher reported since it started.
    mode: str  # The watcher: fanotify, inotify, or scan (every file is checked).
    unseen: int  # The number of processes that Retake can't inspect for memory-mapped files.
    why: Optional[str] = None  # Why a better mode is not used, or why the next save checks every file.


@dataclass(kw_only=True)
class Try:
    at: datetime  # The time of the attempt.
    status: Optional[int] = None  # The HTTP status of the receiver. Absent if it did not respond.
    took: int  # How long it took, in nanoseconds.
    why: Optional[str] = None  # Why the attempt failed.


@dataclass(kw_only=True)
class Turn:
    agent: str  # The agent's name, such as `claude-code`.
    began: Optional[datetime] = None  # The time at which the turn started, as the agent reported it.
    calls: Optional[int] = None  # The number of tool calls so far.
    command: Optional[str] = None  # The risky command that the checkpoint was taken before.
    contested: list[str] = field(default_factory=list)  # Other sessions that worked at the same time, such as `codex 0f3a`.
    dir: Optional[str] = None  # The directory that the agent was started in, relative to the workspace's root.
    failed: Optional[str] = None  # The error that ended the turn.
    id: Optional[str] = None  # The agent's ID for the turn.
    late: Optional[int] = None  # The time between the event and the reading of the files, in nanoseconds.
    machine: Optional[bool] = None  # If true, a program wrote the prompt.
    paths: list[str] = field(default_factory=list)  # The files that the agent's file tools wrote so far, relative to the workspace's root.
    prompt: Optional[str] = None  # The prompt.
    risk: Optional[str] = None  # Why the command is risky.
    running: Optional[int] = None  # The number of background jobs that were still running, so that files could still change.
    session: str  # The agent's ID for the session.
    subagents: list[Subagent] = field(default_factory=list)  # The agents that this agent started.
    tasks: Optional[TaskCount] = None  # The to-do list in numbers.
    version: Optional[str] = None  # The agent's version.
    words: Optional[str] = None  # The start of the agent's last message. Likely secrets are masked.


@dataclass(kw_only=True)
class Unprotected:
    hint: Optional[str] = None  # What to do about it, one step per line.
    why: str  # The reason.


@dataclass(kw_only=True)
class Unread:
    path: str  # The path of the file.
    reader: str  # The reader that tried.
    why: str  # The reason, for people.


@dataclass(kw_only=True)
class Upload:
    failing: Optional[bool] = None  # If true, the last upload failed.
    remote: str  # The name of the remote.
    through: int  # The newest checkpoint that was uploaded. Those before it were, too.


@dataclass(kw_only=True)
class Usage:
    bytes: int  # The size of the store, in bytes.
    checkpoints: int  # The number of checkpoints.
    largest_keys: list[KeyUsage] = field(default_factory=list)  # The ten API keys that added most. A key that is not an admin key sees only itself.
    largest_workspaces: list[WorkspaceUsage] = field(default_factory=list)  # The ten workspaces whose checkpoints added most.
    limits: Limits  # The limits of the namespace.
    namespace: str  # The namespace's name.
    nearly_full: list[Fullness] = field(default_factory=list)  # The store and the shares that are nearly full. Empty while none is.
    workspaces: int  # The number of workspaces.


@dataclass(kw_only=True)
class Verification:
    bisect: Optional[bool] = None  # If true, the check ran during a bisect and does not decide whether a checkpoint is good.
    by: str  # Who reported the result: `retake` if Retake ran the check, else a person or an agent.
    checkpoint: str  # The checkpoint's ID.
    claim: Optional[bool] = None  # If true, an agent reported the result and Retake did not see the check run.
    command: str  # The command that ran.
    content: str  # The content ID of the files. The result also applies to other checkpoints with the same content ID.
    exit: int  # The exit code.
    id: str  # The ID of the result: `vf_` and a UUID.
    name: str  # The check's name.
    number: int  # The checkpoint's number.
    output: Optional[str] = None  # The end of the output. Likely secrets are masked. Only if you ask for one checkpoint.
    score: Optional[str] = None  # What the test runner counted, such as `14 of 212 failed`.
    started: datetime  # The time at which the command started.
    took: int  # How long the command ran, in nanoseconds.
    verdict: str  # The result: passed, failed, could-not-run, changed (files changed while it ran) or running.
    where: str  # Where the command ran: live (the workspace), fork (a temporary fork at the workspace's path) or elsewhere.
    why: Optional[str] = None  # Why it could not run, or which files changed.
    workspace: str  # The workspace's ID.
    wrote: list[str] = field(default_factory=list)  # Files that the command left in the workspace.


@dataclass(kw_only=True)
class ViewedPlan:
    plan: Plan  # The plan.
    view: PlanView  # The plan in words.


@dataclass(kw_only=True)
class Warning:
    code: str  # The type of problem, for programs.
    text: str  # The problem, for people.


@dataclass(kw_only=True)
class Webhook:
    created: datetime  # The time at which the webhook was created.
    disabled: Optional[datetime] = None  # The time at which the webhook was disabled. Absent while it is enabled.
    etag: Optional[str] = None  # The webhook's ETag. Send it in `If-Match` when you change the webhook.
    id: str  # The webhook's ID: `wh_` and a UUID.
    public: Optional[str] = None  # The public key to verify signatures with. Only with the scheme v1a.
    rotated: Optional[datetime] = None  # The time at which the secret was last replaced. For one day after that, messages are signed with both secrets.
    scheme: str  # How messages are signed: v1 (a shared secret) or v1a (a key pair).
    types: list[str] = field(default_factory=list)  # The event types to send. Empty means all, without the snapshot.* aliases.
    url: str  # The URL that receives the events.
    why: Optional[str] = None  # Why the webhook is disabled.
    workspace_id: Optional[str] = None  # The only workspace whose events are sent. Absent means all.


@dataclass(kw_only=True)
class Worker:
    agent: str  # The agent's name.
    session: str  # The agent's ID for the session.
    since: datetime  # The time at which the turn started.


@dataclass(kw_only=True)
class Workspace:
    created: datetime  # The time at which the workspace was created.
    dev: int  # The device number of the root directory.
    ended: Optional[datetime] = None  # The time at which protection ended. Absent while the directory is protected. The history is kept.
    id: str  # The workspace's ID: `ws_` and a UUID.
    ino: int  # The inode number of the root directory.
    interrupted: Optional[Interruption] = None  # A restore that stopped halfway. Only `locate` and `status` report it.
    name: str  # The workspace's name.
    name_raw: Optional[Raw] = None  # The exact bytes of `name`, if they are not valid UTF-8.
    origin: Optional[Origin] = None  # The checkpoint that a fork was created from. Absent if it is not a fork.
    root: str  # The absolute path of the root directory.
    root_raw: Optional[Raw] = None  # The exact bytes of `root`, if they are not valid UTF-8.
    stale: Optional[str] = None  # Why the newest checkpoints may be missing from lists. Only `locate` reports it.
    unprotected: Optional[Unprotected] = None  # Why no checkpoint can be taken now. Absent if one can. Only `locate`, `status`, lists of workspaces and the timeline view report it.


@dataclass(kw_only=True)
class WorkspaceSpace:
    brought: list[int] = field(default_factory=list)  # The bytes that the checkpoints of each of the last thirty days added, today last. First checkpoints are not included.
    closed: Optional[str] = None  # Why nothing of this workspace is deleted at present.
    days: list[int] = field(default_factory=list)  # The number of checkpoints of each of the last thirty days, today last.
    gone_after: int  # The age after which checkpoints are deleted even if a rule keeps them, in nanoseconds. Pins, the newest one, fork bases and checkpoints in use are kept. 0 means never.
    kept: list[KeptFor] = field(default_factory=list)  # How many checkpoints each rule keeps.
    within: int  # How long checkpoints are kept at least, in nanoseconds. Only days on which you work count. 0 means forever.
    workspace: str  # The workspace's ID.


@dataclass(kw_only=True)
class WorkspaceState:
    count: int  # The number of checkpoints.
    created: datetime  # The time at which the workspace was created.
    dev: int  # The device number of the root directory.
    ended: Optional[datetime] = None  # The time at which protection ended. Absent while the directory is protected. The history is kept.
    gone: bool  # If true, the root directory does not exist.
    id: str  # The workspace's ID: `ws_` and a UUID.
    ino: int  # The inode number of the root directory.
    interrupted: Optional[Interruption] = None  # A restore that stopped halfway. Lists don't report it.
    latest: Optional[Checkpoint] = None  # The newest checkpoint.
    name: str  # The workspace's name.
    name_raw: Optional[Raw] = None  # The exact bytes of `name`, if they are not valid UTF-8.
    origin: Optional[Origin] = None  # The checkpoint that a fork was created from. Absent if it is not a fork.
    root: str  # The absolute path of the root directory.
    root_raw: Optional[Raw] = None  # The exact bytes of `root`, if they are not valid UTF-8.
    stale: Optional[str] = None  # Why the newest checkpoints may be missing. Lists don't report it.
    unprotected: Optional[Unprotected] = None  # Why no checkpoint can be taken now. Only `locate`, `status`, lists of workspaces and the timeline view report it.


@dataclass(kw_only=True)
class WorkspaceUsage:
    bytes: int  # The size of the new and changed files in these checkpoints, in bytes. The store takes less: it stores equal content once, and compresses.
    name: str  # The workspace's name.
    workspace: str  # The workspace's ID.


__all__ = [
    "About",
    "AboutKey",
    "Actor",
    "Answer",
    "AuditEntry",
    "AuditProof",
    "BackgroundTask",
    "Backup",
    "BackupPoint",
    "BackupTrouble",
    "Blame",
    "BlameLine",
    "Cadence",
    "Call",
    "CellValue",
    "Change",
    "Checkpoint",
    "Comparison",
    "Conversation",
    "Counts",
    "Coverage",
    "CrossCheck",
    "DamageState",
    "DamagedPath",
    "Danger",
    "Deletion",
    "Delivery",
    "Drill",
    "Drop",
    "Effect",
    "Entry",
    "Estimate",
    "Event",
    "EventData",
    "Extra",
    "Fact",
    "Failure",
    "FileWritten",
    "Finding",
    "Flag",
    "ForkResult",
    "Fullness",
    "Gap",
    "Gist",
    "GitHead",
    "GitLeft",
    "Group",
    "Hit",
    "Holder",
    "Hole",
    "HostKey",
    "Hunk",
    "Interruption",
    "Item",
    "Keep",
    "KeptEdits",
    "KeptFor",
    "Key",
    "KeyUsage",
    "LeftOut",
    "Limits",
    "LostRoot",
    "Mention",
    "Merge",
    "Namespace",
    "NewKey",
    "NewNamespace",
    "NewWebhook",
    "NotArrived",
    "Obstacle",
    "Operation",
    "Origin",
    "Pin",
    "Plan",
    "PlanAsk",
    "PlanCompare",
    "PlanCounts",
    "PlanRow",
    "PlanSafety",
    "PlanSection",
    "PlanView",
    "Point",
    "Policy",
    "Problem",
    "Progress",
    "Proof",
    "PurgePlan",
    "PurgeReport",
    "PurgeScope",
    "Reaction",
    "RebuildReport",
    "Receipt",
    "Remote",
    "RemoteCheck",
    "RemoteProtection",
    "RemoteWorkspace",
    "Rescue",
    "RestoreResult",
    "Restored",
    "Resumption",
    "Return",
    "RowChange",
    "RowFlag",
    "RowPlace",
    "RowsDiff",
    "Run",
    "Safety",
    "SaveResult",
    "Schedule",
    "ScrubReport",
    "Segment",
    "Signal",
    "Snapshot",
    "SpacePlan",
    "Spoken",
    "SpokenLine",
    "Standing",
    "State",
    "Status",
    "Step",
    "Stop",
    "StoreState",
    "Story",
    "StoryCounts",
    "Subagent",
    "Summary",
    "SweepReport",
    "TableColumn",
    "TableRows",
    "Task",
    "TaskCount",
    "ThinReport",
    "TidyUp",
    "Timeline",
    "TimelineRow",
    "TimelineView",
    "Tombstone",
    "Tracking",
    "Try",
    "Turn",
    "Unprotected",
    "Unread",
    "Upload",
    "Usage",
    "Verification",
    "ViewedPlan",
    "Warning",
    "Webhook",
    "Worker",
    "Workspace",
    "WorkspaceSpace",
    "WorkspaceState",
    "WorkspaceUsage",
]
