# Made by sdk/typescript/generate.mjs from api/openapi.yaml. Do not edit.
"""What the server answers. Fields that are not known here are left out."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Optional

Raw = bytes  # a name that no field has


@dataclass(kw_only=True)
class About:
    api: int
    home: str  # The directory whose store it looks after.
    key: Optional[AboutKey] = None  # What let the asker in.
    namespace: Optional[str] = None  # Of the key; absent on a machine of one's own.
    pid: int
    powers: list[str] = field(default_factory=list)  # What the asker may do, by the x-power of routes. Absent: everything.
    stamp: int  # When the executable was made; tells builds of one version apart. Nanoseconds since 1970.
    started: datetime
    version: str


@dataclass(kw_only=True)
class AboutKey:
    kind: str
    name: str
    workspaces: list[str] = field(default_factory=list)  # Ids that it is good for; none: all.


@dataclass(kw_only=True)
class Actor:
    key: Optional[str] = None  # The id of the key.
    kind: str  # The kind of the key; empty: who owns the server.
    name: Optional[str] = None


@dataclass(kw_only=True)
class Answer:
    as_: Optional[int] = None
    bisect: Optional[bool] = None
    claim: Optional[bool] = None
    name: str
    verdict: str
    was: Optional[str] = None


@dataclass(kw_only=True)
class AuditEntry:
    actor: Actor
    hash: str  # Over the entry before it and this one.
    prev: str
    seq: int
    subject: str  # What it was done to.
    time: datetime
    verb: str  # What was done.


@dataclass(kw_only=True)
class AuditProof:
    anchors: int  # Signed heads that were compared.
    broken: int  # The first entry that does not fit. 0: all do.
    entries: int
    head: str
    public: str  # The key that anchors are signed with.
    why: Optional[str] = None


@dataclass(kw_only=True)
class Backup:
    behind: int  # Checkpoints that are not there.
    branch: str
    created: datetime
    host: Optional[HostKey] = None  # The only one that is spoken to.
    left: list[LeftOut] = field(default_factory=list)  # What of the newest is left out, by reason.
    public: Optional[str] = None  # What the remote must let in, for writing.
    pushed: Optional[BackupPoint] = None  # The newest that is there for sure: the branch was read back.
    set: bool  # False: nothing is set; host tells what the host says of itself.
    trouble: Optional[BackupTrouble] = None
    url: str
    workspace: str


@dataclass(kw_only=True)
class BackupPoint:
    at: datetime
    checkpoint: str
    commit: str
    number: int


@dataclass(kw_only=True)
class BackupTrouble:
    at: datetime
    hint: Optional[str] = None
    kind: str
    next: Optional[datetime] = None
    since: datetime
    tries: int
    what: str


@dataclass(kw_only=True)
class Blame:
    checkpoint: Checkpoint
    lines: list[BlameLine] = field(default_factory=list)
    moments: list[Checkpoint] = field(default_factory=list)
    path: str
    why: Optional[str] = None


@dataclass(kw_only=True)
class BlameLine:
    number: int
    text: str


@dataclass(kw_only=True)
class Call:
    command: Optional[str] = None
    destructive: Optional[bool] = None
    failed: Optional[bool] = None
    id: Optional[str] = None
    input: Any = None
    kind: str
    open_world: Optional[bool] = None
    output: Optional[str] = None
    paths: list[str] = field(default_factory=list)
    read_only: Optional[bool] = None
    server: Optional[str] = None
    tool: str
    unfinished: Optional[bool] = None


@dataclass(kw_only=True)
class CellValue:
    kind: str  # none, null, integer, real, text or blob; none: the column is not on this side.
    more: Optional[int] = None  # Characters that were left out.
    text: str  # Short; likely secrets are masked. Of a blob: how many bytes.


@dataclass(kw_only=True)
class Change:
    after: Optional[Entry] = None
    before: Optional[Entry] = None
    path: str
    path_raw: Optional[Raw] = None  # The bytes of path, when they are not UTF-8.
    what: str


@dataclass(kw_only=True)
class Checkpoint:
    bytes: int
    changed: Counts
    content: str  # Two checkpoints are equal when these are.
    coverage: Coverage
    dirs: int
    effects: list[Effect] = field(default_factory=list)
    files: int
    id: str
    intent: Optional[str] = None
    new_bytes: int  # Of files that are new or have other bytes.
    number: int  # For people; never given twice.
    parent: Optional[str] = None
    policy: Optional[Policy] = None
    return_: Optional[Return] = None
    time: datetime
    tree: str
    trigger: str  # Triggers are added, never changed.
    turn: Optional[Turn] = None
    workspace: str


@dataclass(kw_only=True)
class Comparison:
    changes: list[Change] = field(default_factory=list)
    from_: Optional[Checkpoint] = None  # Absent before the first.
    gaps: list[Gap] = field(default_factory=list)  # Of now.
    next: Optional[str] = None  # Asks for the part behind this one. Absent: there is none.
    to: Optional[Checkpoint] = None  # Absent when it is now.


@dataclass(kw_only=True)
class Conversation:
    agent: str
    bytes: int
    complete: bool
    missing: Optional[str] = None
    path: str
    secrets: list[str] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)
    session: str
    turn: Optional[str] = None
    version: Optional[str] = None


@dataclass(kw_only=True)
class Counts:
    added: int
    deleted: int
    edited: int


@dataclass(kw_only=True)
class Coverage:
    gaps: list[Gap] = field(default_factory=list)
    grade: str  # complete or partial.


@dataclass(kw_only=True)
class CrossCheck:
    at: datetime
    files: int
    missed: list[str] = field(default_factory=list)


@dataclass(kw_only=True)
class Danger:
    class_: str
    text: str


@dataclass(kw_only=True)
class Deletion:
    asked: datetime
    checkpoints: list[str] = field(default_factory=list)
    done: Optional[datetime] = None
    due: datetime  # When it will be done, unless it is cancelled before.
    id: str
    note: Optional[str] = None  # Why it was refused.
    state: str  # waiting, canceled, done or refused.
    why: Optional[str] = None
    workspace: str


@dataclass(kw_only=True)
class Delivery:
    body: Optional[Raw] = None  # The message; told of one, not in lists.
    created: datetime
    event: int  # The seq of the event.
    id: str  # The webhook-id of the message.
    next: Optional[datetime] = None
    state: str  # waiting, delivered or dead.
    tries: list[Try] = field(default_factory=list)
    type: str
    webhook: str


@dataclass(kw_only=True)
class Drill:
    at: datetime
    number: int
    verdict: str
    why: Optional[str] = None


@dataclass(kw_only=True)
class Drop:
    bytes: int
    checkpoint: str
    named: bool
    number: int
    time: datetime
    why: str
    workspace: str


@dataclass(kw_only=True)
class Effect:
    agent: Optional[str] = None
    call: Optional[str] = None
    id: str
    kind: Optional[str] = None
    outcome: Optional[str] = None
    session: Optional[str] = None
    target: Optional[str] = None
    text: str
    time: datetime


@dataclass(kw_only=True)
class Entry:
    extra: Optional[Extra] = None
    gid: int
    kind: str  # Kinds are added, never changed.
    mod_time: int  # Nanoseconds since 1970.
    mode: int  # Permission bits with setuid, setgid and sticky.
    name: str
    name_raw: Optional[Raw] = None  # The bytes of name, when they are not UTF-8.
    object: str  # The address of the bytes, of the link's text, or of the directory.
    size: int
    sum: Optional[Summary] = None
    uid: int


@dataclass(kw_only=True)
class Estimate:
    bytes: int
    danger: list[Danger] = field(default_factory=list)
    dirs: int
    files: int
    floor: int
    free: int
    gaps: list[Gap] = field(default_factory=list)
    heaviest: Optional[str] = None
    heaviest_raw: Optional[Raw] = None  # The bytes of heaviest, when they are not UTF-8.
    root: str
    root_raw: Optional[Raw] = None  # The bytes of root, when they are not UTF-8.
    share: Optional[float] = None


@dataclass(kw_only=True)
class Event:
    data: EventData
    id: str
    seq: int  # Rises without end; a gap means nothing.
    time: datetime
    type: str  # Types are added, never changed.


@dataclass(kw_only=True)
class EventData:
    answer: Optional[str] = None
    api_url: Optional[str] = None  # Where it can be asked for.
    audit_head: Optional[str] = None
    by: Optional[str] = None
    bytes: Optional[int] = None
    checkpoint: Optional[str] = None
    claim: Optional[bool] = None
    count: Optional[int] = None  # Of what the event is about.
    coverage: Optional[str] = None
    intent: Optional[str] = None  # Cut when it is long.
    name: Optional[str] = None
    namespace: str
    number: Optional[int] = None
    parent: Optional[str] = None
    tree: Optional[str] = None
    trigger: Optional[str] = None
    why: Optional[str] = None  # What is to blame.
    workspace: Optional[str] = None


@dataclass(kw_only=True)
class Extra:
    group: Optional[str] = None
    holes: list[Hole] = field(default_factory=list)
    xattrs: dict[str, Raw] = field(default_factory=dict)


@dataclass(kw_only=True)
class Fact:
    after: Optional[str] = None
    before: Optional[str] = None
    direct: Optional[bool] = None
    group: Optional[str] = None
    kind: str
    name: str
    path: str
    what: str


@dataclass(kw_only=True)
class Failure:
    path: str
    path_raw: Optional[Raw] = None  # The bytes of path, when they are not UTF-8.
    why: str


@dataclass(kw_only=True)
class Finding:
    answers: list[Answer] = field(default_factory=list)
    changed: Optional[int] = None
    gist: Optional[Gist] = None
    good: Optional[bool] = None


@dataclass(kw_only=True)
class Flag:
    kind: str
    why: str


@dataclass(kw_only=True)
class ForkResult:
    checkpoint: Checkpoint  # The first of the fork; its parent is the checkpoint it was forked from.
    cloned: int  # Files that share their blocks.
    copied: int  # Files that were written.
    origin: Checkpoint
    warnings: list[Warning] = field(default_factory=list)
    workspace: Workspace


@dataclass(kw_only=True)
class Gap:
    detail: Optional[str] = None
    path: str
    path_raw: Optional[Raw] = None  # The bytes of path, when they are not UTF-8.
    reason: str  # Reasons are added, never changed.


@dataclass(kw_only=True)
class Gist:
    counts: StoryCounts
    flags: list[Flag] = field(default_factory=list)
    head: Optional[str] = None
    lead: str
    moving: Optional[bool] = None
    points: list[Point] = field(default_factory=list)
    unread: Optional[int] = None
    v: int


@dataclass(kw_only=True)
class GitHead:
    branch: Optional[str] = None  # Absent: no branch is checked out.
    commit: Optional[str] = None  # The first seven digits. Absent: no commit yet, or not readable.


@dataclass(kw_only=True)
class GitLeft:
    moment: int  # In which it was there; 0: it is not known which.
    now: GitHead
    path: str  # Of the repository.
    then: GitHead


@dataclass(kw_only=True)
class Group:
    bytes: int
    files: int
    items: list[Item] = field(default_factory=list)
    minus: int
    plus: int
    theme: str


@dataclass(kw_only=True)
class Hit:
    checkpoint: Checkpoint
    finding: Finding
    text: str
    where: str


@dataclass(kw_only=True)
class Holder:
    command: str
    command_raw: Optional[Raw] = None  # The bytes of command, when they are not UTF-8.
    path: str
    path_raw: Optional[Raw] = None  # The bytes of path, when they are not UTF-8.
    pid: int


@dataclass(kw_only=True)
class Hole:
    length: int
    offset: int


@dataclass(kw_only=True)
class HostKey:
    key: str
    kind: str
    print: str


@dataclass(kw_only=True)
class Hunk:
    new_lines: int
    new_start: int
    old_lines: int
    old_start: int


@dataclass(kw_only=True)
class Interruption:
    course: str
    done: int
    id: str
    safety: int  # The number of the checkpoint that has everything from before.
    since: datetime
    target: int  # The number of the checkpoint gone to.
    total: int


@dataclass(kw_only=True)
class Item:
    bytes: int
    files: int
    from_: Optional[str] = None
    minus: Optional[int] = None
    note: Optional[str] = None
    path: str
    plus: Optional[int] = None
    what: str


@dataclass(kw_only=True)
class Keep:
    detail: Optional[str] = None
    path: str  # A directory ends in / and stands for everything below it.
    path_raw: Optional[Raw] = None  # The bytes of path, when they are not UTF-8.
    side: Optional[str] = None  # Where the other version is put, beside it.
    side_raw: Optional[Raw] = None  # The bytes of side, when they are not UTF-8.
    then: Optional[Entry] = None  # That version.
    why: str  # Reasons are added, never changed.


@dataclass(kw_only=True)
class KeptEdits:
    moments: list[int] = field(default_factory=list)
    unsaved: int


@dataclass(kw_only=True)
class KeptFor:
    always: bool
    count: int
    why: str


@dataclass(kw_only=True)
class Key:
    created: datetime
    expires: Optional[datetime] = None
    id: str
    kind: str  # Kinds are added, never changed.
    name: str
    revoked: Optional[datetime] = None
    tail: str  # Its last four characters.
    used: Optional[datetime] = None  # About when it last let somebody in.
    workspaces: list[str] = field(default_factory=list)  # Ids that it is good for; none: all.


@dataclass(kw_only=True)
class LeftOut:
    count: int
    named: list[str] = field(default_factory=list)
    reason: str


@dataclass(kw_only=True)
class Limits:
    gone_after: int
    grace: int  # Nanoseconds between a request to delete and the deletion.
    moment: int  # Bytes of the tree of one checkpoint.
    per_second: int  # Requests of one key.
    restore_hour: int  # Restores of one agent key in an hour.
    store: int  # Bytes of all history.
    within: int  # Nanoseconds that checkpoints are kept.
    workspaces: int  # Live ones.


@dataclass(kw_only=True)
class LostRoot:
    root: str
    there: bool  # Another directory is in its place, and not empty.


@dataclass(kw_only=True)
class Mention:
    checkpoint: Checkpoint
    facts: list[Fact] = field(default_factory=list)


@dataclass(kw_only=True)
class Merge:
    base: str  # The text that both began with.
    digest: str  # Of the text that is written.
    first: int  # The first line of yours.
    hunks: list[Hunk] = field(default_factory=list)
    theirs: int  # Places that change as planned.
    want: str  # The one that is brought in.
    yours: int  # Places that stay as they are now.


@dataclass(kw_only=True)
class Namespace:
    created: datetime
    default: str  # The workspace of who names none.
    ended: Optional[datetime] = None  # Nobody gets in any more.
    id: str
    limits: Limits
    roots: list[str] = field(default_factory=list)  # Directories of the server's machine that workspaces may lie in, beside its own.


@dataclass(kw_only=True)
class NewKey:
    key: Key
    secret: str  # Told once, and stored nowhere.


@dataclass(kw_only=True)
class NewWebhook:
    secret: str  # What signatures are checked with; told once, if it is shared.
    webhook: Webhook


@dataclass(kw_only=True)
class Obstacle:
    class_: str  # The word for accept. Classes are added, never changed.
    paths: list[str] = field(default_factory=list)  # Never cut.
    paths_raw: list[Raw] = field(default_factory=list)  # The bytes of all paths, when one of them is not UTF-8.
    text: str


@dataclass(kw_only=True)
class Origin:
    checkpoint: str
    number: int
    workspace: str


@dataclass(kw_only=True)
class Pin:
    checkpoint: str
    name: str
    number: int
    time: datetime


@dataclass(kw_only=True)
class Plan:
    also: list[int] = field(default_factory=list)
    bytes: int  # To be written.
    course: str  # Courses are added, never changed.
    deletes: list[Step] = field(default_factory=list)
    digest: str  # Of everything that would be done, and of what it would be done to.
    edits: Optional[KeptEdits] = None
    effects: list[Effect] = field(default_factory=list)  # What was done outside; no restore can undo it.
    facts: list[Fact] = field(default_factory=list)  # What the steps mean, from now to then. Absent: not known.
    files: int  # That are there now.
    fork: Optional[Workspace] = None  # The one to adopt.
    git: list[GitLeft] = field(default_factory=list)  # Repositories that stay where they are, though the files go elsewhere.
    holders: list[Holder] = field(default_factory=list)
    keeps: list[Keep] = field(default_factory=list)
    lost: Optional[LostRoot] = None  # The directory of the workspace was deleted or replaced; it is created again or taken over.
    merges: list[Step] = field(default_factory=list)
    next: Optional[int] = None
    obstacles: list[Obstacle] = field(default_factory=list)  # What must be accepted before it is done.
    paths: list[str] = field(default_factory=list)  # Absent: everything.
    paths_raw: list[Raw] = field(default_factory=list)  # The bytes of all paths, when one of them is not UTF-8.
    safety: Safety
    target: Optional[Checkpoint] = None  # The checkpoint gone to; for undo and redo the item.
    times: list[Step] = field(default_factory=list)  # Directories whose time alone is put back.
    working: list[Worker] = field(default_factory=list)  # Agents in the middle of a turn here, but for the one that asks.
    workspace: str
    writes: list[Step] = field(default_factory=list)


@dataclass(kw_only=True)
class Point:
    minus: Optional[int] = None
    plus: Optional[int] = None
    text: str
    theme: str


@dataclass(kw_only=True)
class Policy:
    exclude: list[str] = field(default_factory=list)
    gitignore: Optional[bool] = None
    max_new_file: Optional[int] = None


@dataclass(kw_only=True)
class Proof:
    by: str
    checkpoint: Checkpoint
    equal: bool
    ours: str
    special: list[str] = field(default_factory=list)
    stock: str


@dataclass(kw_only=True)
class PurgePlan:
    beyond: list[str] = field(default_factory=list)
    bytes: int
    checkpoints: int
    gaps: list[Gap] = field(default_factory=list)
    live: list[str] = field(default_factory=list)
    more: int
    records: int
    versions: int
    workspaces: list[PurgeScope] = field(default_factory=list)


@dataclass(kw_only=True)
class PurgeReport:
    bytes: int
    left: list[str] = field(default_factory=list)
    plan: PurgePlan
    searched: int
    sweep: SweepReport


@dataclass(kw_only=True)
class PurgeScope:
    checkpoints: int
    name: str
    workspace: str


@dataclass(kw_only=True)
class Reaction:
    checkpoint: Optional[Checkpoint] = None
    effects: list[Effect] = field(default_factory=list)
    later: Optional[bool] = None
    note: Optional[str] = None
    warnings: list[Warning] = field(default_factory=list)
    workspace: Optional[str] = None


@dataclass(kw_only=True)
class RebuildReport:
    checkpoints: int
    pins: int
    tombstones: int
    workspaces: int


@dataclass(kw_only=True)
class RestoreResult:
    checkpoint: Checkpoint  # The state now.
    deleted: int
    failed: list[Failure] = field(default_factory=list)  # Paths that were left; with one of them it is done in part.
    git: list[GitLeft] = field(default_factory=list)  # Repositories that stay where they were.
    holders: list[Holder] = field(default_factory=list)  # Processes that still hold what was replaced.
    kept: int
    merged: int
    read_back: bool  # Every written file was read again and is as the plan wanted it. False: this is not known.
    safety: Checkpoint  # The state before.
    target: Checkpoint
    warnings: list[Warning] = field(default_factory=list)
    written: int


@dataclass(kw_only=True)
class Restored:
    current_snapshot_id: str  # All there is now.
    files_deleted: int  # Files that were not there then.
    files_left: int  # Files that could not be changed; then it is done in part.
    files_restored: int  # Files that were written.
    safety_snapshot_id: str  # All there was before.
    snapshot_id: str  # What was gone back to.


@dataclass(kw_only=True)
class Resumption:
    agent: str
    checkpoint: Checkpoint
    command: list[str] = field(default_factory=list)
    dir: str
    effects: list[Effect] = field(default_factory=list)
    exact: bool
    next: Optional[Task] = None
    note: str
    session: str
    taken: Optional[str] = None
    tasks: list[Task] = field(default_factory=list)
    why: Optional[str] = None


@dataclass(kw_only=True)
class Return:
    also: list[str] = field(default_factory=list)
    before: str  # The checkpoint that holds all there was.
    course: str
    deleted: int
    failed: list[Failure] = field(default_factory=list)  # Paths that were left, because they moved on.
    hunks: list[Hunk] = field(default_factory=list)
    kept: Optional[int] = None
    merged: Optional[int] = None
    paths: list[str] = field(default_factory=list)
    paths_raw: list[Raw] = field(default_factory=list)  # The bytes of all paths, when one of them is not UTF-8.
    target: str  # As in the plan.
    written: int


@dataclass(kw_only=True)
class RowChange:
    after: list[CellValue] = field(default_factory=list)  # Absent of a deleted row.
    before: list[CellValue] = field(default_factory=list)  # In the order of the columns; absent of an added row.
    cells: list[int] = field(default_factory=list)  # Of an edited row: the columns that differ, from 0 on.
    what: str


@dataclass(kw_only=True)
class RowsDiff:
    from_: Optional[Checkpoint] = None  # Absent before the first.
    same: int  # Tables that are equal.
    tables: list[TableRows] = field(default_factory=list)  # Those that differ or could not be compared, or the one that was asked for.
    to: Optional[Checkpoint] = None  # Absent when it is now.
    why: Optional[str] = None  # Nothing could be compared, and why.


@dataclass(kw_only=True)
class Run:
    at: datetime
    err: Optional[str] = None
    took: int  # Nanoseconds.
    what: str  # What came of it, in words.


@dataclass(kw_only=True)
class Safety:
    number: int
    there: bool  # Nothing changed since it was taken.


@dataclass(kw_only=True)
class SaveResult:
    checkpoint: Checkpoint
    created: bool  # Files were new.
    partial: Optional[Checkpoint] = None  # What was sealed first, when the budget ran out.
    recorded: bool  # A checkpoint was added; without one it is the latest.
    warnings: list[Warning] = field(default_factory=list)
    workspace: Workspace


@dataclass(kw_only=True)
class Schedule:
    created: datetime
    cron: str  # Five fields, in UTC.
    id: str
    jitter: int  # Nanoseconds.
    last: Optional[Run] = None
    missed: int  # Runs that nobody was there for.
    next: datetime
    work: str
    workspace: Optional[str] = None


@dataclass(kw_only=True)
class ScrubReport:
    bytes: int
    checkpoints: int
    failed: list[str] = field(default_factory=list)
    objects: int


@dataclass(kw_only=True)
class Segment:
    bytes: int
    object: str


@dataclass(kw_only=True)
class Signal:
    agent: str
    call: Optional[Call] = None
    dir: str
    failed: Optional[str] = None
    hears: Optional[bool] = None
    id: str
    kind: str
    machine: Optional[bool] = None
    message: Optional[str] = None
    pid: Optional[int] = None
    prompt: Optional[str] = None
    reason: Optional[str] = None
    running: Optional[int] = None
    session: str
    subagent: Optional[str] = None
    tasks: list[Task] = field(default_factory=list)
    time: datetime
    transcript: Optional[str] = None
    turn: Optional[str] = None
    version: Optional[str] = None


@dataclass(kw_only=True)
class Snapshot:
    complete: bool  # Nothing is missing.
    created_at: datetime
    files: int
    label: str  # Why this checkpoint was worth recording.
    number: int  # For people; never given twice.
    size_bytes: int  # Of the whole tree.
    snapshot_id: str
    workspace_id: str


@dataclass(kw_only=True)
class SpacePlan:
    budget: int
    drops: list[Drop] = field(default_factory=list)
    frees: int
    garbage: int
    last: Optional[TidyUp] = None
    need: Optional[str] = None
    store: StoreState
    workspaces: list[WorkspaceSpace] = field(default_factory=list)


@dataclass(kw_only=True)
class Spoken:
    conversation: Conversation
    lines: list[SpokenLine] = field(default_factory=list)  # Oldest first; likely secrets are masked.


@dataclass(kw_only=True)
class SpokenLine:
    text: str
    tool: Optional[str] = None  # Which tool an agent calls, or which one answers.
    who: str  # you, agent, tool or note.


@dataclass(kw_only=True)
class Standing:
    command: str
    name: str


@dataclass(kw_only=True)
class State:
    calls: list[Call] = field(default_factory=list)
    checkpoint: Checkpoint
    conversation: Optional[Conversation] = None
    tasks: list[Task] = field(default_factory=list)


@dataclass(kw_only=True)
class Status:
    answers: list[Answer] = field(default_factory=list)
    backup: Optional[Backup] = None
    count: int
    drill: Optional[Drill] = None
    good: Optional[Checkpoint] = None
    latest: Optional[Checkpoint] = None
    now: Counts
    protection: str
    saving: Optional[bool] = None
    store: StoreState
    tracking: Tracking
    workspace: Workspace


@dataclass(kw_only=True)
class Step:
    means: Optional[str] = None  # What it does to the content, such as rows of a table. Absent: not known, or bytes only.
    merge: Optional[Merge] = None
    now: Optional[Entry] = None  # What is there; absent: nothing.
    path: str
    path_raw: Optional[Raw] = None  # The bytes of path, when they are not UTF-8.
    then: Optional[Entry] = None  # What it becomes; absent: nothing.
    unit: Optional[str] = None  # The database it belongs to; its files are replaced as one.
    unit_raw: Optional[Raw] = None  # The bytes of unit, when they are not UTF-8.
    what: str  # added is brought back.


@dataclass(kw_only=True)
class StoreState:
    bytes: int
    floor: int
    free: int


@dataclass(kw_only=True)
class Story:
    counts: StoryCounts
    elsewhere: Optional[int] = None
    facts: list[Fact] = field(default_factory=list)
    flags: list[Flag] = field(default_factory=list)
    from_: Optional[Checkpoint] = None
    gist: Gist
    groups: list[Group] = field(default_factory=list)
    to: Optional[Checkpoint] = None
    unread: list[Unread] = field(default_factory=list)


@dataclass(kw_only=True)
class StoryCounts:
    added: int
    deleted: int
    edited: int
    minus: int
    moded: int
    plus: int
    renamed: int
    retyped: int
    timed: int


@dataclass(kw_only=True)
class Subagent:
    name: Optional[str] = None
    task: Optional[str] = None


@dataclass(kw_only=True)
class Summary:
    bytes: int
    dirs: int
    files: int
    max_time: int
    symlinks: int


@dataclass(kw_only=True)
class SweepReport:
    after: int
    before: int
    peak: int  # Most extra bytes while it ran.
    took: int  # Nanoseconds.


@dataclass(kw_only=True)
class TableColumn:
    key: Optional[bool] = None  # Rows are paired by it.
    name: str
    what: Optional[str] = None  # It was added or deleted; absent: it is on both sides.


@dataclass(kw_only=True)
class TableRows:
    added: int
    columns: list[TableColumn] = field(default_factory=list)  # Of the table that was asked for.
    computed: list[str] = field(default_factory=list)  # Columns that the database makes of others; they are not compared.
    deleted: int
    edited: int
    equal: int  # Rows that do not differ.
    name: str
    rows: list[RowChange] = field(default_factory=list)  # Of the table that was asked for: deleted, edited, then added ones, each by key.
    unlisted: Optional[int] = None  # More columns, which are compared only.
    what: Optional[str] = None  # The table was added, deleted or edited; absent: it is equal.
    why: Optional[str] = None  # Not all of it could be compared, and why; the counts are of what was.


@dataclass(kw_only=True)
class Task:
    id: str
    status: str
    title: str


@dataclass(kw_only=True)
class TaskCount:
    done: int
    failed: Optional[int] = None
    next: Optional[str] = None
    total: int


@dataclass(kw_only=True)
class ThinReport:
    forgotten: int
    over: Optional[int] = None
    sweep: SweepReport


@dataclass(kw_only=True)
class TidyUp:
    at: datetime
    forgotten: int
    gave: int
    took: int


@dataclass(kw_only=True)
class Timeline:
    checkpoints: list[Checkpoint] = field(default_factory=list)  # Newest first.
    findings: dict[str, Finding] = field(default_factory=dict)
    good: Optional[Checkpoint] = None
    pins: list[Pin] = field(default_factory=list)
    total: int  # Of the whole timeline.
    workspace: Workspace


@dataclass(kw_only=True)
class Tombstone:
    at: datetime
    id: str
    number: int
    parent: Optional[str] = None
    time: datetime


@dataclass(kw_only=True)
class Tracking:
    check: Optional[CrossCheck] = None
    doubts: int
    events: int
    mode: str
    unseen: int
    why: Optional[str] = None


@dataclass(kw_only=True)
class Try:
    at: datetime
    status: Optional[int] = None  # Of the answer; absent: there was none.
    took: int  # Nanoseconds.
    why: Optional[str] = None


@dataclass(kw_only=True)
class Turn:
    agent: str
    began: Optional[datetime] = None
    calls: Optional[int] = None
    command: Optional[str] = None
    contested: list[str] = field(default_factory=list)
    dir: Optional[str] = None
    failed: Optional[str] = None
    id: Optional[str] = None
    late: Optional[int] = None
    machine: Optional[bool] = None
    paths: list[str] = field(default_factory=list)
    prompt: Optional[str] = None
    risk: Optional[str] = None
    running: Optional[int] = None
    session: str
    subagents: list[Subagent] = field(default_factory=list)
    tasks: Optional[TaskCount] = None
    version: Optional[str] = None
    words: Optional[str] = None


@dataclass(kw_only=True)
class Unread:
    path: str
    reader: str
    why: str


@dataclass(kw_only=True)
class Usage:
    bytes: int  # Of the store.
    checkpoints: int
    limits: Limits
    namespace: str
    workspaces: int


@dataclass(kw_only=True)
class Verification:
    bisect: Optional[bool] = None
    by: str
    checkpoint: str
    claim: Optional[bool] = None
    command: str
    content: str
    exit: int
    id: str
    name: str
    number: int
    output: Optional[str] = None
    score: Optional[str] = None
    started: datetime
    took: int
    verdict: str
    where: str
    why: Optional[str] = None
    workspace: str
    wrote: list[str] = field(default_factory=list)


@dataclass(kw_only=True)
class Warning:
    code: str
    text: str


@dataclass(kw_only=True)
class Webhook:
    created: datetime
    disabled: Optional[datetime] = None
    id: str
    public: Optional[str] = None  # Of scheme v1a: the key to check with.
    rotated: Optional[datetime] = None  # Until a day after that the old secret signs too.
    scheme: str
    types: list[str] = field(default_factory=list)  # None: all, under their first names.
    url: str
    why: Optional[str] = None  # It is disabled.


@dataclass(kw_only=True)
class Worker:
    agent: str
    session: str
    since: datetime


@dataclass(kw_only=True)
class Workspace:
    created: datetime
    dev: int
    ended: Optional[datetime] = None
    id: str
    ino: int
    interrupted: Optional[Interruption] = None  # A restore that was interrupted; told by locate and status.
    name: str
    name_raw: Optional[Raw] = None  # The bytes of name, when they are not UTF-8.
    origin: Optional[Origin] = None  # Of a fork: what it forked from.
    root: str
    root_raw: Optional[Raw] = None  # The bytes of root, when they are not UTF-8.
    stale: Optional[str] = None


@dataclass(kw_only=True)
class WorkspaceSpace:
    brought: list[int] = field(default_factory=list)
    closed: Optional[str] = None
    days: list[int] = field(default_factory=list)
    gone_after: int
    kept: list[KeptFor] = field(default_factory=list)
    within: int
    workspace: str


@dataclass(kw_only=True)
class WorkspaceState:
    count: int
    created: datetime
    dev: int
    ended: Optional[datetime] = None
    gone: bool  # Its directory is not there.
    id: str
    ino: int
    interrupted: Optional[Interruption] = None
    latest: Optional[Checkpoint] = None
    name: str
    name_raw: Optional[Raw] = None  # The bytes of name, when they are not UTF-8.
    origin: Optional[Origin] = None
    root: str
    root_raw: Optional[Raw] = None  # The bytes of root, when they are not UTF-8.
    stale: Optional[str] = None


__all__ = [
    "About",
    "AboutKey",
    "Actor",
    "Answer",
    "AuditEntry",
    "AuditProof",
    "Backup",
    "BackupPoint",
    "BackupTrouble",
    "Blame",
    "BlameLine",
    "Call",
    "CellValue",
    "Change",
    "Checkpoint",
    "Comparison",
    "Conversation",
    "Counts",
    "Coverage",
    "CrossCheck",
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
    "Finding",
    "Flag",
    "ForkResult",
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
    "LeftOut",
    "Limits",
    "LostRoot",
    "Mention",
    "Merge",
    "Namespace",
    "NewKey",
    "NewWebhook",
    "Obstacle",
    "Origin",
    "Pin",
    "Plan",
    "Point",
    "Policy",
    "Proof",
    "PurgePlan",
    "PurgeReport",
    "PurgeScope",
    "Reaction",
    "RebuildReport",
    "RestoreResult",
    "Restored",
    "Resumption",
    "Return",
    "RowChange",
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
    "Tombstone",
    "Tracking",
    "Try",
    "Turn",
    "Unread",
    "Usage",
    "Verification",
    "Warning",
    "Webhook",
    "Worker",
    "Workspace",
    "WorkspaceSpace",
    "WorkspaceState",
]
