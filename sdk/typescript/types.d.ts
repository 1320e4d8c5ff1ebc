// Made by sdk/typescript/generate.mjs from api/openapi.yaml. Do not edit.

export interface About {
  api: number;
  /** The directory whose store it looks after. */
  home: string;
  /** What let the asker in. */
  key?: AboutKey;
  /** Of the key; absent on a machine of one's own. */
  namespace?: string;
  pid: number;
  /** What the asker may do, by the x-power of routes. Absent: everything. */
  powers?: string[];
  /** When the executable was made; tells builds of one version apart. Nanoseconds since 1970. */
  stamp: number;
  /** RFC 3339. */
  started: string;
  version: string;
}

export interface AboutKey {
  kind: string;
  name: string;
  /** Ids that it is good for; none: all. */
  workspaces: string[];
}

export interface Actor {
  /** The id of the key. */
  key?: string;
  /** The kind of the key; empty: who owns the server. */
  kind: string;
  name?: string;
}

export interface Answer {
  as?: number;
  bisect?: boolean;
  claim?: boolean;
  name: string;
  verdict: string;
  was?: string;
}

export interface ApplyBody {
  /** Classes of obstacles that are consented to before they are seen. */
  accept?: string[];
  /** restore, undo, redo, adopt, finish or unwind. Empty: restore. */
  course?: string;
  /** With the course undo: discard the unsaved edits instead of the last recorded change. */
  edits?: boolean;
  /** The fork to adopt. */
  fork?: string;
  /** Also replace repositories that are there. */
  git?: boolean;
  /** Of the checkpoint of the restore, made by the asker, cp_ and a UUID, so that asking again adds nothing. Empty: made here. */
  id?: string;
  /** Below the root of the workspace. None: everything. */
  paths?: string[];
  /** The bytes of all paths, when one of them is not UTF-8. */
  paths_raw?: string[];
  /** The checkpoint gone to, or the item that undo takes back. Empty: the newest one. */
  ref?: string;
  /** With the course undo: take back all turns of this session, named by the beginning of its id, by its agent, or as last. */
  session?: string;
}

export interface AttestBody {
  /** The command was run to find a border. It does not decide which checkpoint is good. */
  bisect?: boolean;
  /** The agent that says so, with claim. On a server the key's name is added to it, or is used alone. */
  by?: string;
  /** An agent says so; nobody saw it. On a server every key but an operator's reports claims, whatever this says. */
  claim?: boolean;
  /** What was run. */
  command?: string;
  exit?: number;
  /** Empty: made of the command. */
  name?: string;
  /** The end of what it printed. */
  output?: string;
  /** The checkpoint it is about. Empty: the newest. */
  ref?: string;
  /** RFC 3339. */
  started?: string;
  /** Nanoseconds. */
  took?: number;
  /** Empty: told by exit. */
  verdict?: string;
  /** On which files: live, fork or elsewhere. Empty: live. */
  where?: string;
  /** Why it could not run. */
  why?: string;
}

export interface AuditEntry {
  actor: Actor;
  /** Over the entry before it and this one. */
  hash: string;
  prev: string;
  seq: number;
  /** What it was done to. */
  subject: string;
  /** RFC 3339. */
  time: string;
  /** What was done. */
  verb: string;
}

export interface AuditProof {
  /** Signed heads that were compared. */
  anchors: number;
  /** The first entry that does not fit. 0: all do. */
  broken: number;
  entries: number;
  head: string;
  /** The key that anchors are signed with. */
  public: string;
  why?: string;
}

export interface Backup {
  /** Checkpoints that are not there. */
  behind: number;
  branch: string;
  /** RFC 3339. */
  created: string;
  /** The only one that is spoken to. */
  host?: HostKey;
  /** What of the newest is left out, by reason. */
  left: LeftOut[];
  /** What the remote must let in, for writing. */
  public?: string;
  /** The newest that is there for sure: the branch was read back. */
  pushed?: BackupPoint;
  /** False: nothing is set; host tells what the host says of itself. */
  set: boolean;
  trouble?: BackupTrouble;
  url: string;
  workspace: string;
}

export interface BackupBody {
  /** The key of the host or its fingerprint. Without one nothing is set, and the answer tells what the host says of itself. */
  host?: string;
  /** Where the checkpoints go: git@host:path, or ssh://git@host/path. */
  url: string;
}

export interface BackupPoint {
  /** RFC 3339. */
  at: string;
  checkpoint: string;
  commit: string;
  number: number;
}

export interface BackupTrouble {
  /** RFC 3339. */
  at: string;
  hint?: string;
  kind: string;
  /** RFC 3339. */
  next?: string;
  /** RFC 3339. */
  since: string;
  tries: number;
  what: string;
}

export interface Blame {
  checkpoint: Checkpoint;
  lines: BlameLine[] | null;
  moments: Checkpoint[] | null;
  path: string;
  why?: string;
}

export interface BlameLine {
  number: number;
  text: string;
}

export interface Call {
  command?: string;
  destructive?: boolean;
  failed?: boolean;
  id?: string;
  input?: unknown;
  kind: string;
  open_world?: boolean;
  output?: string;
  paths?: string[] | null;
  read_only?: boolean;
  server?: string;
  tool: string;
  unfinished?: boolean;
}

export interface CellValue {
  /** none, null, integer, real, text or blob; none: the column is not on this side. */
  kind: string;
  /** Characters that were left out. */
  more?: number;
  /** Short; likely secrets are masked. Of a blob: how many bytes. */
  text: string;
}

export interface Change {
  after?: Entry;
  before?: Entry;
  path: string;
  /** The bytes of path, when they are not UTF-8. In base64. */
  path_raw?: string;
  what: string;
}

export interface ChangeHookBody {
  /** Any time: it gets nothing. Absent: it is enabled. RFC 3339. */
  disabled?: string;
  /** Types of events. None: all, under their first names. */
  types?: string[];
  /** Where messages go. https. */
  url: string;
}

export interface Checkpoint {
  bytes: number;
  changed: Counts;
  /** Two checkpoints are equal when these are. */
  content: string;
  coverage: Coverage;
  dirs: number;
  effects?: Effect[] | null;
  files: number;
  id: string;
  intent?: string;
  /** Of files that are new or have other bytes. */
  new_bytes: number;
  /** For people; never given twice. */
  number: number;
  parent?: string;
  policy?: Policy;
  return?: Return;
  /** RFC 3339. */
  time: string;
  tree: string;
  /** Triggers are added, never changed. */
  trigger: string;
  turn?: Turn;
  workspace: string;
}

export interface Comparison {
  changes: Change[] | null;
  /** Absent before the first. */
  from?: Checkpoint;
  /** Of now. */
  gaps?: Gap[] | null;
  /** Asks for the part behind this one. Absent: there is none. */
  next?: string;
  /** Absent when it is now. */
  to?: Checkpoint;
}

export interface Conversation {
  agent: string;
  bytes: number;
  complete: boolean;
  missing?: string;
  path: string;
  secrets?: string[] | null;
  segments: Segment[] | null;
  session: string;
  turn?: string;
  version?: string;
}

export interface Counts {
  added: number;
  deleted: number;
  edited: number;
}

export interface Coverage {
  gaps?: Gap[] | null;
  /** complete or partial. */
  grade: string;
}

export interface CrossCheck {
  /** RFC 3339. */
  at: string;
  files: number;
  missed?: string[] | null;
}

export interface Danger {
  class: string;
  text: string;
}

export interface Deletion {
  /** RFC 3339. */
  asked: string;
  checkpoints: string[];
  /** RFC 3339. */
  done?: string;
  /** When it will be done, unless it is cancelled before. RFC 3339. */
  due: string;
  id: string;
  /** Why it was refused. */
  note?: string;
  /** waiting, canceled, done or refused. */
  state: string;
  why?: string;
  workspace: string;
}

export interface DeletionBody {
  /** What is to go. */
  refs: string[];
  /** For people, and for the audit log. */
  why?: string;
  /** The id of the workspace. */
  workspace: string;
}

export interface Delivery {
  /** The message, in base64; told of one, not in lists. In base64. */
  body?: string;
  /** RFC 3339. */
  created: string;
  /** The seq of the event. */
  event: number;
  /** The webhook-id of the message. */
  id: string;
  /** RFC 3339. */
  next?: string;
  /** waiting, delivered or dead. */
  state: string;
  tries: Try[];
  type: string;
  webhook: string;
}

export interface Drill {
  /** RFC 3339. */
  at: string;
  number: number;
  verdict: string;
  why?: string;
}

export interface Drop {
  bytes: number;
  checkpoint: string;
  named: boolean;
  number: number;
  /** RFC 3339. */
  time: string;
  why: string;
  workspace: string;
}

export interface Effect {
  agent?: string;
  call?: string;
  id: string;
  kind?: string;
  outcome?: string;
  session?: string;
  target?: string;
  text: string;
  /** RFC 3339. */
  time: string;
}

export interface EffectList {
  effects: Effect[];
}

export interface Entry {
  extra?: Extra;
  gid: number;
  /** Kinds are added, never changed. */
  kind: string;
  /** Nanoseconds since 1970. */
  mod_time: number;
  /** Permission bits with setuid, setgid and sticky. */
  mode: number;
  name: string;
  /** The bytes of name, when they are not UTF-8. In base64. */
  name_raw?: string;
  /** The address of the bytes, of the link's text, or of the directory. */
  object: string;
  size: number;
  sum?: Summary;
  uid: number;
}

export interface EntryList {
  entries: Entry[];
}

export interface Estimate {
  bytes: number;
  danger: Danger[] | null;
  dirs: number;
  files: number;
  floor: number;
  free: number;
  gaps: Gap[] | null;
  heaviest?: string;
  /** The bytes of heaviest, when they are not UTF-8. In base64. */
  heaviest_raw?: string;
  root: string;
  /** The bytes of root, when they are not UTF-8. In base64. */
  root_raw?: string;
  share?: number;
}

export interface Event {
  data: EventData;
  id: string;
  /** Rises without end; a gap means nothing. */
  seq: number;
  /** RFC 3339. */
  time: string;
  /** Types are added, never changed. */
  type: string;
}

export interface EventData {
  answer?: string;
  /** Where it can be asked for. */
  api_url?: string;
  audit_head?: string;
  by?: string;
  bytes?: number;
  checkpoint?: string;
  claim?: boolean;
  /** Of what the event is about. */
  count?: number;
  coverage?: string;
  /** Cut when it is long. */
  intent?: string;
  name?: string;
  namespace: string;
  number?: number;
  parent?: string;
  tree?: string;
  trigger?: string;
  /** What is to blame. */
  why?: string;
  workspace?: string;
}

export interface Extra {
  group?: string;
  holes?: Hole[] | null;
  xattrs?: Record<string, string>;
}

export interface Fact {
  after?: string;
  before?: string;
  direct?: boolean;
  group?: string;
  kind: string;
  name: string;
  path: string;
  what: string;
}

export interface Failure {
  path: string;
  /** The bytes of path, when they are not UTF-8. In base64. */
  path_raw?: string;
  why: string;
}

export interface Finding {
  answers?: Answer[] | null;
  changed?: number;
  gist?: Gist;
  good?: boolean;
}

export interface Flag {
  kind: string;
  why: string;
}

export interface ForgetBody {
  /** What to forget. The newest checkpoint and pinned ones stay. */
  refs: string[];
}

export interface ForkBody {
  /** From the root of the machine that answers. It does not exist, or is empty. A server makes one by name when there is none. */
  dir?: string;
  /** The bytes of dir, when they are not UTF-8. In base64. */
  dir_raw?: string;
  /** Empty: the directory's own. */
  name?: string;
  /** The bytes of name, when they are not UTF-8. In base64. */
  name_raw?: string;
  /** The checkpoint it grows from. */
  ref?: string;
  /** It protects nothing; who asked for it removes it. */
  throwaway?: boolean;
}

export interface ForkList {
  forks: WorkspaceState[];
}

export interface ForkResult {
  /** The first of the fork; its parent is the checkpoint it was forked from. */
  checkpoint: Checkpoint;
  /** Files that share their blocks. */
  cloned: number;
  /** Files that were written. */
  copied: number;
  origin: Checkpoint;
  warnings: Warning[];
  workspace: Workspace;
}

export interface Gap {
  detail?: string;
  path: string;
  /** The bytes of path, when they are not UTF-8. In base64. */
  path_raw?: string;
  /** Reasons are added, never changed. */
  reason: string;
}

export interface Gist {
  counts: StoryCounts;
  flags?: Flag[] | null;
  head?: string;
  lead: string;
  moving?: boolean;
  points: Point[] | null;
  unread?: number;
  v: number;
}

export interface GitHead {
  /** Absent: no branch is checked out. */
  branch?: string;
  /** The first seven digits. Absent: no commit yet, or not readable. */
  commit?: string;
}

export interface GitLeft {
  /** In which it was there; 0: it is not known which. */
  moment: number;
  now: GitHead;
  /** Of the repository. */
  path: string;
  then: GitHead;
}

export interface Group {
  bytes: number;
  files: number;
  items: Item[] | null;
  minus: number;
  plus: number;
  theme: string;
}

export interface Hit {
  checkpoint: Checkpoint;
  finding: Finding;
  text: string;
  where: string;
}

export interface HitList {
  hits: Hit[];
}

export interface HoldBody {
  /** The name of the hold. */
  name: string;
  /** What to hold. */
  ref: string;
}

export interface Holder {
  command: string;
  /** The bytes of command, when they are not UTF-8. In base64. */
  command_raw?: string;
  path: string;
  /** The bytes of path, when they are not UTF-8. In base64. */
  path_raw?: string;
  pid: number;
}

export interface Hole {
  length: number;
  offset: number;
}

export interface HookBody {
  /** v1: a shared secret; v1a: a pair of keys. Empty: v1. */
  scheme?: string;
  /** Types of events. None: all, under their first names. */
  types?: string[];
  /** Where messages go. https. */
  url: string;
}

export interface HostKey {
  key: string;
  kind: string;
  print: string;
}

export interface Hunk {
  new_lines: number;
  new_start: number;
  old_lines: number;
  old_start: number;
}

export interface InitBody {
  /** Classes of danger that were consented to. */
  accept?: string[] | null;
  /** From the root of the machine that answers. A server makes one by name when there is none. */
  dir?: string;
  /** The bytes of dir, when they are not UTF-8. In base64. */
  dir_raw?: string;
  /** What verifications may see of the caller's environment, as NAME=VALUE. */
  env?: string[] | null;
  /** What a directory with a known mark is: copy or moved. Where a workspace was whose directory was deleted or replaced: continue its history, or new. Empty: refuse and say so. */
  mark?: string;
  /** Empty: the directory's own. */
  name?: string;
  /** The bytes of name, when they are not UTF-8. In base64. */
  name_raw?: string;
}

export interface Interruption {
  course: string;
  done: number;
  id: string;
  /** The number of the checkpoint that has everything from before. */
  safety: number;
  /** RFC 3339. */
  since: string;
  /** The number of the checkpoint gone to. */
  target: number;
  total: number;
}

export interface Item {
  bytes: number;
  files: number;
  from?: string;
  minus?: number;
  note?: string;
  path: string;
  plus?: number;
  what: string;
}

export interface Keep {
  detail?: string;
  /** A directory ends in / and stands for everything below it. */
  path: string;
  /** The bytes of path, when they are not UTF-8. In base64. */
  path_raw?: string;
  /** Where the other version is put, beside it. */
  side?: string;
  /** The bytes of side, when they are not UTF-8. In base64. */
  side_raw?: string;
  /** That version. */
  then?: Entry;
  /** Reasons are added, never changed. */
  why: string;
}

export interface KeptEdits {
  moments?: number[] | null;
  unsaved: number;
}

export interface KeptFor {
  always: boolean;
  count: number;
  why: string;
}

export interface Key {
  /** RFC 3339. */
  created: string;
  /** RFC 3339. */
  expires?: string;
  id: string;
  /** Kinds are added, never changed. */
  kind: string;
  name: string;
  /** RFC 3339. */
  revoked?: string;
  /** Its last four characters. */
  tail: string;
  /** About when it last let somebody in. RFC 3339. */
  used?: string;
  /** Ids that it is good for; none: all. */
  workspaces: string[];
}

export interface KeyBody {
  /** Absent: never. RFC 3339. */
  expires?: string;
  /** agent, reader, operator, admin or maintainer. */
  kind: string;
  /** For people: whose it is, or what for. */
  name?: string;
  /** Ids of the workspaces that it is good for. None: all. */
  workspaces?: string[];
}

export interface LeftOut {
  count: number;
  named?: string[] | null;
  reason: string;
}

export interface Limits {
  gone_after: number;
  /** Nanoseconds between a request to delete and the deletion. */
  grace: number;
  /** Bytes of the tree of one checkpoint. */
  moment: number;
  /** Requests of one key. */
  per_second: number;
  /** Restores of one agent key in an hour. */
  restore_hour: number;
  /** Bytes of all history. */
  store: number;
  /** Nanoseconds that checkpoints are kept. */
  within: number;
  /** Live ones. */
  workspaces: number;
}

export interface LimitsBody {
  /** Nanoseconds after which no checkpoint is kept, except pins, legal holds, the newest one and the bases of forks. 0: never. */
  gone_after?: number;
  /** Nanoseconds between a request to delete and the deletion. */
  grace?: number;
  /** Bytes of the tree of one checkpoint. */
  moment?: number;
  /** Requests of one key. */
  per_second?: number;
  /** Restores of one agent key in an hour. */
  restore_hour?: number;
  /** Bytes of all history. */
  store?: number;
  /** Nanoseconds that checkpoints are kept. */
  within?: number;
  /** Live ones. */
  workspaces?: number;
}

export interface LostRoot {
  root: string;
  /** Another directory is in its place, and not empty. */
  there: boolean;
}

export interface Mention {
  checkpoint: Checkpoint;
  facts: Fact[] | null;
}

export interface MentionList {
  mentions: Mention[];
}

export interface Merge {
  /** The text that both began with. */
  base: string;
  /** Of the text that is written. */
  digest: string;
  /** The first line of yours. */
  first: number;
  hunks?: Hunk[] | null;
  /** Places that change as planned. */
  theirs: number;
  /** The one that is brought in. */
  want: string;
  /** Places that stay as they are now. */
  yours: number;
}

export interface Namespace {
  /** RFC 3339. */
  created: string;
  /** The workspace of who names none. */
  default: string;
  /** Nobody gets in any more. RFC 3339. */
  ended?: string;
  id: string;
  limits: Limits;
  /** Directories of the server's machine that workspaces may lie in, beside its own. */
  roots: string[];
}

export interface NewKey {
  key: Key;
  /** Told once, and stored nowhere. */
  secret: string;
}

export interface NewWebhook {
  /** What signatures are checked with; told once, if it is shared. */
  secret: string;
  webhook: Webhook;
}

export interface Obstacle {
  /** The word for accept. Classes are added, never changed. */
  class: string;
  /** Never cut. */
  paths?: string[] | null;
  /** The bytes of all paths, when one of them is not UTF-8. */
  paths_raw?: string[];
  text: string;
}

export interface Origin {
  checkpoint: string;
  number: number;
  workspace: string;
}

export interface PageAuditEntry {
  data: AuditEntry[];
  /** Where the list goes on. Empty: there is no more. */
  next_cursor: string;
}

export interface PageDeletion {
  data: Deletion[];
  /** Where the list goes on. Empty: there is no more. */
  next_cursor: string;
}

export interface PageDelivery {
  data: Delivery[];
  /** Where the list goes on. Empty: there is no more. */
  next_cursor: string;
}

export interface PageEvent {
  data: Event[];
  /** Where the list goes on. Empty: there is no more. */
  next_cursor: string;
}

export interface PageKey {
  data: Key[];
  /** Where the list goes on. Empty: there is no more. */
  next_cursor: string;
}

export interface PageSchedule {
  data: Schedule[];
  /** Where the list goes on. Empty: there is no more. */
  next_cursor: string;
}

export interface PageSnapshot {
  data: Snapshot[];
  /** Where the list goes on. Empty: there is no more. */
  next_cursor: string;
}

export interface PageWebhook {
  data: Webhook[];
  /** Where the list goes on. Empty: there is no more. */
  next_cursor: string;
}

export interface Pin {
  checkpoint: string;
  name: string;
  number: number;
  /** RFC 3339. */
  time: string;
}

export interface PinBody {
  /** What to pin. */
  ref: string;
}

export interface Plan {
  also?: number[];
  /** To be written. */
  bytes: number;
  /** Courses are added, never changed. */
  course: string;
  deletes: Step[];
  /** Of everything that would be done, and of what it would be done to. */
  digest: string;
  edits?: KeptEdits;
  /** What was done outside; no restore can undo it. */
  effects: Effect[];
  /** What the steps mean, from now to then. Absent: not known. */
  facts?: Fact[];
  /** That are there now. */
  files: number;
  /** The one to adopt. */
  fork?: Workspace;
  /** Repositories that stay where they are, though the files go elsewhere. */
  git?: GitLeft[];
  holders: Holder[];
  keeps: Keep[];
  /** The directory of the workspace was deleted or replaced; it is created again or taken over. */
  lost?: LostRoot;
  merges: Step[];
  next?: number;
  /** What must be accepted before it is done. */
  obstacles: Obstacle[];
  /** Absent: everything. */
  paths?: string[];
  /** The bytes of all paths, when one of them is not UTF-8. */
  paths_raw?: string[];
  safety: Safety;
  /** The checkpoint gone to; for undo and redo the item. */
  target: Checkpoint | null;
  /** Directories whose time alone is put back. */
  times: Step[];
  /** Agents in the middle of a turn here, but for the one that asks. */
  working?: Worker[];
  workspace: string;
  writes: Step[];
}

export interface PlanBody {
  /** The process that asks on this machine. A turn that it runs in is no reason to ask. */
  asker?: number;
  /** restore, undo, redo, adopt, finish or unwind. */
  course: string;
  /** With the course undo: discard the unsaved edits instead of the last recorded change. */
  edits?: boolean;
  /** The fork to adopt. */
  fork?: string;
  /** The checkpoint that the hunks were compared with. */
  from?: string;
  /** Also replace repositories that are there. */
  git?: boolean;
  /** With the course undo, a ref and one path: take back these hunks of the diff between from and ref. */
  hunks?: Hunk[];
  /** Below the root of the workspace. None: everything. */
  paths?: string[];
  /** The bytes of all paths, when one of them is not UTF-8. */
  paths_raw?: string[];
  /** The checkpoint gone to, or the item that undo takes back. Empty: the newest one. */
  ref?: string;
  /** With the course undo: take back all turns of this session, named by the beginning of its id, by its agent, or as last. */
  session?: string;
}

export interface Point {
  minus?: number;
  plus?: number;
  text: string;
  theme: string;
}

export interface Policy {
  exclude?: string[] | null;
  gitignore?: boolean;
  max_new_file?: number;
}

export interface Problem {
  /** What lies below, one line each. */
  cause?: string;
  /** In base64. */
  cause_raw?: string;
  /** The kind: the only thing to branch on. Kinds are added, never changed. */
  code: string;
  /** What happened, with its cause. */
  detail: string;
  /** What to do next. */
  hint?: string;
  /** In base64. */
  hint_raw?: string;
  /** Commands, or calls, that lead on. */
  next_steps?: string[];
  /** Of a restore that has obstacles: what it would do. */
  plan?: Plan;
  /** The id of the request, to ask a person with. */
  request_id?: string;
  /** The same request may work later. */
  retryable: boolean;
  /** Whether anything was changed. */
  safe?: string;
  status: number;
  /** The kind in words; the same for all of one kind. */
  title: string;
  /** Where the kind is explained. */
  type: string;
  /** What happened. */
  what: string;
  /** In base64. */
  what_raw?: string;
}

export interface Proof {
  by: string;
  checkpoint: Checkpoint;
  equal: boolean;
  ours: string;
  special: string[] | null;
  stock: string;
}

export interface PurgeBody {
  /** Bytes to remove, in base64: every stored file that contains one of them goes. Not together with paths. */
  contents?: string[];
  /** Paths below the root to remove, with everything below them. */
  paths?: string[];
}

export interface PurgePlan {
  beyond: string[] | null;
  bytes: number;
  checkpoints: number;
  gaps: Gap[] | null;
  live: string[] | null;
  more: number;
  records: number;
  versions: number;
  workspaces: PurgeScope[] | null;
}

export interface PurgeReport {
  bytes: number;
  left: string[] | null;
  plan: PurgePlan;
  searched: number;
  sweep: SweepReport;
}

export interface PurgeScope {
  checkpoints: number;
  name: string;
  workspace: string;
}

export interface Reaction {
  checkpoint?: Checkpoint;
  effects?: Effect[] | null;
  later?: boolean;
  note?: string;
  warnings?: Warning[] | null;
  workspace?: string;
}

export interface RebuildReport {
  checkpoints: number;
  pins: number;
  tombstones: number;
  workspaces: number;
}

export interface RestoreBody {
  /** Classes of obstacles that were consented to. */
  accept?: string[];
  /** As in the plan. */
  asker?: number;
  /** As in the plan. */
  course: string;
  /** Of the plan that was seen, or its first eight characters with or without a dash. */
  digest: string;
  /** As in the plan. */
  edits?: boolean;
  /** As in the plan. */
  fork?: string;
  /** As in the plan. */
  from?: string;
  /** As in the plan. */
  git?: boolean;
  /** As in the plan. */
  hunks?: Hunk[];
  /** Of the checkpoint of the restore, made by the asker, cp_ and a UUID, so that asking again adds nothing. Empty: made here. */
  id?: string;
  /** As in the plan. */
  paths?: string[];
  /** The bytes of all paths, when one of them is not UTF-8. */
  paths_raw?: string[];
  /** As in the plan. */
  ref?: string;
  /** As in the plan. */
  session?: string;
}

export interface RestoreResult {
  /** The state now. */
  checkpoint: Checkpoint;
  deleted: number;
  /** Paths that were left; with one of them it is done in part. */
  failed: Failure[];
  /** Repositories that stay where they were. */
  git?: GitLeft[];
  /** Processes that still hold what was replaced. */
  holders?: Holder[];
  kept: number;
  merged: number;
  /** Every written file was read again and is as the plan wanted it. False: this is not known. */
  read_back: boolean;
  /** The state before. */
  safety: Checkpoint;
  target: Checkpoint;
  warnings: Warning[];
  written: number;
}

export interface RestoreSnapshotBody {
  /** Classes of warnings that are accepted before they are seen. Needed only for what the safety snapshot does not hold, such as uncaptured. */
  accept?: string[];
  /** Of the checkpoint of the restore, made by the asker, cp_ and a UUID, so that asking again adds nothing. Empty: made here. */
  id?: string;
  /** Below the root of the workspace. None: everything. */
  paths?: string[];
}

export interface Restored {
  /** All there is now. */
  current_snapshot_id: string;
  /** Files that were not there then. */
  files_deleted: number;
  /** Files that could not be changed; then it is done in part. */
  files_left: number;
  /** Files that were written. */
  files_restored: number;
  /** All there was before. */
  safety_snapshot_id: string;
  /** What was gone back to. */
  snapshot_id: string;
}

export interface ResumeBody {
  /** Where it goes on. Empty: where the agent worked. */
  dir?: string;
  /** The bytes of dir, when they are not UTF-8. In base64. */
  dir_raw?: string;
  /** Write nothing. */
  look?: boolean;
  /** The checkpoint it goes on from. Empty: the newest of an agent. */
  ref?: string;
}

export interface Resumption {
  agent: string;
  checkpoint: Checkpoint;
  command: string[] | null;
  dir: string;
  effects: Effect[] | null;
  exact: boolean;
  next?: Task;
  note: string;
  session: string;
  taken?: string;
  tasks: Task[] | null;
  why?: string;
}

export interface Return {
  also?: string[] | null;
  /** The checkpoint that holds all there was. */
  before: string;
  course: string;
  deleted: number;
  /** Paths that were left, because they moved on. */
  failed?: Failure[] | null;
  hunks?: Hunk[] | null;
  kept?: number;
  merged?: number;
  paths?: string[] | null;
  /** The bytes of all paths, when one of them is not UTF-8. */
  paths_raw?: string[];
  /** As in the plan. */
  target: string;
  written: number;
}

export interface RowChange {
  /** Absent of a deleted row. */
  after?: CellValue[] | null;
  /** In the order of the columns; absent of an added row. */
  before?: CellValue[] | null;
  /** Of an edited row: the columns that differ, from 0 on. */
  cells?: number[] | null;
  what: string;
}

export interface RowsDiff {
  /** Absent before the first. */
  from?: Checkpoint;
  /** Tables that are equal. */
  same: number;
  /** Those that differ or could not be compared, or the one that was asked for. */
  tables: TableRows[];
  /** Absent when it is now. */
  to?: Checkpoint;
  /** Nothing could be compared, and why. */
  why?: string;
}

export interface Run {
  /** RFC 3339. */
  at: string;
  err?: string;
  /** Nanoseconds. */
  took: number;
  /** What came of it, in words. */
  what: string;
}

export interface Safety {
  number: number;
  /** Nothing changed since it was taken. */
  there: boolean;
}

export interface SaveBody {
  /** Nanoseconds. A capture that takes longer seals what it has first. */
  budget?: number;
  /** Made by the asker, cp_ and a UUID, so that asking again adds nothing. Empty: made here. */
  id?: string;
  /** Add no checkpoint when no file changed. */
  if_changed?: boolean;
  /** Why this checkpoint is worth recording. */
  intent?: string;
  /** Pin it under this name. */
  pin?: string;
  trigger?: string;
}

export interface SaveResult {
  checkpoint: Checkpoint;
  /** Files were new. */
  created: boolean;
  /** What was sealed first, when the budget ran out. */
  partial?: Checkpoint;
  /** A checkpoint was added; without one it is the latest. */
  recorded: boolean;
  warnings: Warning[] | null;
  workspace: Workspace;
}

export interface Schedule {
  /** RFC 3339. */
  created: string;
  /** Five fields, in UTC. */
  cron: string;
  id: string;
  /** Nanoseconds. */
  jitter: number;
  last?: Run;
  /** Runs that nobody was there for. */
  missed: number;
  /** RFC 3339. */
  next: string;
  work: string;
  workspace?: string;
}

export interface ScheduleBody {
  /** Five fields, in UTC. */
  cron: string;
  /** Nanoseconds; each run begins up to so much later. */
  jitter?: number;
  /** save, retain or drill. */
  work: string;
  /** For checkpoints. Empty: the default one. */
  workspace?: string;
}

export interface ScrubBody {
  /** The part of all file bytes to read, from 0 (structure only) to 1. */
  share?: number;
}

export interface ScrubReport {
  bytes: number;
  checkpoints: number;
  failed: string[] | null;
  objects: number;
}

export interface Segment {
  bytes: number;
  object: string;
}

export interface Signal {
  agent: string;
  call?: Call;
  dir: string;
  failed?: string;
  hears?: boolean;
  id: string;
  kind: string;
  machine?: boolean;
  message?: string;
  pid?: number;
  prompt?: string;
  reason?: string;
  running?: number;
  session: string;
  subagent?: string;
  tasks?: Task[] | null;
  /** RFC 3339. */
  time: string;
  transcript?: string;
  turn?: string;
  version?: string;
}

export interface Snapshot {
  /** Nothing is missing. */
  complete: boolean;
  /** RFC 3339. */
  created_at: string;
  files: number;
  /** Why this checkpoint was worth recording. */
  label: string;
  /** For people; never given twice. */
  number: number;
  /** Of the whole tree. */
  size_bytes: number;
  snapshot_id: string;
  workspace_id: string;
}

export interface SnapshotBody {
  /** Why this checkpoint is worth recording. */
  label?: string;
  /** Made by the asker, cp_ and a UUID, so that asking again adds nothing. Empty: made here. */
  snapshot_id?: string;
  /** Empty: the default one of the namespace. */
  workspace_id?: string;
}

export interface SpacePlan {
  budget: number;
  drops: Drop[] | null;
  frees: number;
  garbage: number;
  last?: TidyUp;
  need?: string;
  store: StoreState;
  workspaces: WorkspaceSpace[] | null;
}

export interface Spoken {
  conversation: Conversation;
  /** Oldest first; likely secrets are masked. */
  lines: SpokenLine[];
}

export interface SpokenLine {
  text: string;
  /** Which tool an agent calls, or which one answers. */
  tool?: string;
  /** you, agent, tool or note. */
  who: string;
}

export interface Standing {
  command: string;
  name: string;
}

export interface StandingList {
  standing: Standing[];
}

export interface State {
  calls: Call[] | null;
  checkpoint: Checkpoint;
  conversation?: Conversation;
  tasks: Task[] | null;
}

export interface Status {
  answers?: Answer[] | null;
  backup?: Backup;
  count: number;
  drill?: Drill;
  good?: Checkpoint;
  latest?: Checkpoint;
  now: Counts;
  protection: string;
  saving?: boolean;
  store: StoreState;
  tracking: Tracking;
  workspace: Workspace;
}

export interface Step {
  /** What it does to the content, such as rows of a table. Absent: not known, or bytes only. */
  means?: string;
  merge?: Merge;
  /** What is there; absent: nothing. */
  now?: Entry;
  path: string;
  /** The bytes of path, when they are not UTF-8. In base64. */
  path_raw?: string;
  /** What it becomes; absent: nothing. */
  then?: Entry;
  /** The database it belongs to; its files are replaced as one. */
  unit?: string;
  /** The bytes of unit, when they are not UTF-8. In base64. */
  unit_raw?: string;
  /** added is brought back. */
  what: string;
}

export interface StoreState {
  bytes: number;
  floor: number;
  free: number;
}

export interface Story {
  counts: StoryCounts;
  elsewhere?: number;
  facts: Fact[] | null;
  flags: Flag[] | null;
  from?: Checkpoint;
  gist: Gist;
  groups: Group[] | null;
  to?: Checkpoint;
  unread: Unread[] | null;
}

export interface StoryCounts {
  added: number;
  deleted: number;
  edited: number;
  minus: number;
  moded: number;
  plus: number;
  renamed: number;
  retyped: number;
  timed: number;
}

export interface Subagent {
  name?: string;
  task?: string;
}

export interface Summary {
  bytes: number;
  dirs: number;
  files: number;
  max_time: number;
  symlinks: number;
}

export interface SweepReport {
  after: number;
  before: number;
  /** Most extra bytes while it ran. */
  peak: number;
  /** Nanoseconds. */
  took: number;
}

export interface TableColumn {
  /** Rows are paired by it. */
  key?: boolean;
  name: string;
  /** It was added or deleted; absent: it is on both sides. */
  what?: string;
}

export interface TableRows {
  added: number;
  /** Of the table that was asked for. */
  columns: TableColumn[];
  /** Columns that the database makes of others; they are not compared. */
  computed?: string[];
  deleted: number;
  edited: number;
  /** Rows that do not differ. */
  equal: number;
  name: string;
  /** Of the table that was asked for: deleted, edited, then added ones, each by key. */
  rows: RowChange[];
  /** More columns, which are compared only. */
  unlisted?: number;
  /** The table was added, deleted or edited; absent: it is equal. */
  what?: string;
  /** Not all of it could be compared, and why; the counts are of what was. */
  why?: string;
}

export interface Task {
  id: string;
  status: string;
  title: string;
}

export interface TaskCount {
  done: number;
  failed?: number;
  next?: string;
  total: number;
}

export interface TaskList {
  tasks: Task[];
}

export interface ThinReport {
  forgotten: number;
  over?: number;
  sweep: SweepReport;
}

export interface TidyUp {
  /** RFC 3339. */
  at: string;
  forgotten: number;
  gave: number;
  took: number;
}

export interface Timeline {
  /** Newest first. */
  checkpoints: Checkpoint[] | null;
  findings: Record<string, Finding>;
  good?: Checkpoint;
  pins: Pin[] | null;
  /** Of the whole timeline. */
  total: number;
  workspace: Workspace;
}

export interface Tombstone {
  /** RFC 3339. */
  at: string;
  id: string;
  number: number;
  parent?: string;
  /** RFC 3339. */
  time: string;
}

export interface TombstoneList {
  tombstones: Tombstone[];
}

export interface Tracking {
  check?: CrossCheck;
  doubts: number;
  events: number;
  mode: string;
  unseen: number;
  why?: string;
}

export interface Try {
  /** RFC 3339. */
  at: string;
  /** Of the answer; absent: there was none. */
  status?: number;
  /** Nanoseconds. */
  took: number;
  why?: string;
}

export interface Turn {
  agent: string;
  /** RFC 3339. */
  began?: string;
  calls?: number;
  command?: string;
  contested?: string[] | null;
  dir?: string;
  failed?: string;
  id?: string;
  late?: number;
  machine?: boolean;
  paths?: string[] | null;
  prompt?: string;
  risk?: string;
  running?: number;
  session: string;
  subagents?: Subagent[] | null;
  tasks?: TaskCount;
  version?: string;
  words?: string;
}

export interface Unread {
  path: string;
  reader: string;
  why: string;
}

export interface Usage {
  /** Of the store. */
  bytes: number;
  checkpoints: number;
  limits: Limits;
  namespace: string;
  workspaces: number;
}

export interface Verification {
  bisect?: boolean;
  by: string;
  checkpoint: string;
  claim?: boolean;
  command: string;
  content: string;
  exit: number;
  id: string;
  name: string;
  number: number;
  output?: string;
  score?: string;
  /** RFC 3339. */
  started: string;
  took: number;
  verdict: string;
  where: string;
  why?: string;
  workspace: string;
  wrote?: string[] | null;
}

export interface VerificationList {
  verifications: Verification[];
}

export interface Warning {
  code: string;
  text: string;
}

export interface Webhook {
  /** RFC 3339. */
  created: string;
  /** RFC 3339. */
  disabled?: string;
  id: string;
  /** Of scheme v1a: the key to check with. */
  public?: string;
  /** Until a day after that the old secret signs too. RFC 3339. */
  rotated?: string;
  scheme: string;
  /** None: all, under their first names. */
  types: string[];
  url: string;
  /** It is disabled. */
  why?: string;
}

export interface Worker {
  agent: string;
  session: string;
  /** RFC 3339. */
  since: string;
}

export interface Workspace {
  /** RFC 3339. */
  created: string;
  dev: number;
  /** RFC 3339. */
  ended?: string;
  id: string;
  ino: number;
  /** A restore that was interrupted; told by locate and status. */
  interrupted?: Interruption;
  name: string;
  /** The bytes of name, when they are not UTF-8. In base64. */
  name_raw?: string;
  /** Of a fork: what it forked from. */
  origin?: Origin;
  root: string;
  /** The bytes of root, when they are not UTF-8. In base64. */
  root_raw?: string;
  stale?: string;
}

export interface WorkspaceList {
  workspaces: WorkspaceState[];
}

export interface WorkspaceSpace {
  brought: number[] | null;
  closed?: string;
  days: number[] | null;
  gone_after: number;
  kept: KeptFor[] | null;
  within: number;
  workspace: string;
}

export interface WorkspaceState {
  count: number;
  /** RFC 3339. */
  created: string;
  dev: number;
  /** RFC 3339. */
  ended?: string;
  /** Its directory is not there. */
  gone: boolean;
  id: string;
  ino: number;
  interrupted?: Interruption;
  latest?: Checkpoint;
  name: string;
  /** The bytes of name, when they are not UTF-8. In base64. */
  name_raw?: string;
  origin?: Origin;
  root: string;
  /** The bytes of root, when they are not UTF-8. In base64. */
  root_raw?: string;
  stale?: string;
}
