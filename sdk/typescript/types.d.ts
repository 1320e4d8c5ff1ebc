// Made by sdk/typescript/generate.mjs from api/openapi.yaml. Do not edit.

export interface About {
  /** The major version of the HTTP API. */
  api: number;
  /** The directory that contains the store. */
  home: string;
  /** The API key of this request. Absent on a daemon. */
  key?: AboutKey;
  /** The API key's namespace. Absent on a daemon. */
  namespace?: string;
  /** The process ID. */
  pid: number;
  /** The permissions that the API key's role has, as in `x-power` of each operation. Absent on a daemon, where everything is permitted. */
  powers?: string[];
  /** The build time of the executable, in nanoseconds since 1970. It differs between two builds of one version. */
  stamp: number;
  /** The time at which the process started. RFC 3339. */
  started: string;
  /** The version of Retake. */
  version: string;
}

export interface AboutKey {
  /** The key's role. */
  kind: string;
  /** The key's name. */
  name: string;
  /** The IDs of the workspaces that the key may access. Empty means all of them. */
  workspaces: string[];
}

export interface AccessBody {
  /** The URL of an S3 service. Empty means Amazon's. */
  endpoint?: string;
  /** Lines of known_hosts with the SSH host keys to accept. */
  known_hosts?: string;
  /** A private SSH key in PEM, without a passphrase. */
  private_key?: string;
  /** The region of the bucket. */
  region?: string;
  /** The secret key or the password. */
  secret?: string;
  /** The access key, the account or the user. */
  user?: string;
}

export interface Actor {
  /** The API key's ID. */
  key?: string;
  /** The API key's role. Empty if the server's owner did it on the server's machine. */
  kind: string;
  /** The API key's name. */
  name?: string;
}

export interface Answer {
  /** The number of a checkpoint with the same files whose result is used here. Absent if the check ran at this checkpoint. */
  as?: number;
  /** If true, the check ran during a bisect and does not decide whether the checkpoint is good. */
  bisect?: boolean;
  /** If true, an agent reported the result and Retake did not see the check run. */
  claim?: boolean;
  /** The check's name. */
  name: string;
  /** The result: passed, failed, could-not-run, changed (files changed while it ran) or running. */
  verdict: string;
  /** The result at the checkpoint before, if it differs. */
  was?: string;
}

export interface ApplyBody {
  /** The classes of warnings that you accept in advance. */
  accept?: string[];
  /** What to do: restore, undo, redo, adopt, finish or unwind (the last two for an interrupted restore). Empty means restore. */
  course?: string;
  /** With undo: discard the unsaved edits instead of the last recorded change. */
  edits?: boolean;
  /** With adopt: the ID of the fork. */
  fork?: string;
  /** If true, existing git repositories are replaced, too. */
  git?: boolean;
  /** Your own ID for the new checkpoint, cp_ and a UUID, so that you can retry safely. Empty means that Retake creates one. */
  id?: string;
  /** Limit the operation to these paths, relative to the workspace's root. Empty means everything. */
  paths?: string[];
  /** The exact bytes of all paths, if one of them is not valid UTF-8. */
  paths_raw?: string[];
  /** The checkpoint to restore. For undo, the checkpoint to undo, or a range such as 3..5. Empty means the newest one. */
  ref?: string;
  /** With undo: undo all turns of this session. Name it by the start of its ID, by its agent, or as last. */
  session?: string;
  /** The directory to write files to that the checkpoint saved from outside the workspace. Empty means where they were. */
  to?: string;
}

export interface ApproveBody {
  /** Your process ID on this machine. A process that an agent started can't approve. */
  asker?: number;
}

export interface AttachBody {
  /** What the remote asks for. It is stored for the daemon alone and never returned. */
  access?: AccessBody;
  /** If true, no files are written: only the timeline arrives. */
  browse?: boolean;
  /** A directory for its files, empty or missing. Empty means where they were. */
  dir?: string;
  /** The recovery key that opens the copy. */
  recovery_key: string;
  /** Where the copy is, as for a remote. */
  url: string;
  /** The name or the ID of the workspace. Empty means the only one. */
  workspace_name?: string;
}

export interface AttestBody {
  /** If true, the command ran during a bisect and does not decide which checkpoint is good. */
  bisect?: boolean;
  /** The agent that reports the result, with claim. A server adds the API key's name. */
  by?: string;
  /** If true, an agent reports the result and Retake did not see the check run. A server sets it for every key that is not an operator key. */
  claim?: boolean;
  /** The command that ran. */
  command?: string;
  /** The exit code. */
  exit?: number;
  /** The check's name. Empty means that it is derived from the command. */
  name?: string;
  /** The end of the output. */
  output?: string;
  /** The checkpoint that was checked, as a ref. Empty means the newest one. */
  ref?: string;
  /** The time at which the command started. RFC 3339. */
  started?: string;
  /** How long the command ran, in nanoseconds. */
  took?: number;
  /** The result: passed, failed or could-not-run. Empty means that exit decides. */
  verdict?: string;
  /** Where it ran: live (the workspace), fork (a temporary fork at the workspace's path) or elsewhere. Empty means live. */
  where?: string;
  /** Why the command could not run. */
  why?: string;
}

export interface AuditEntry {
  /** Who did it. */
  actor: Actor;
  /** The network address of the client. Absent if the server did it, or in entries of older versions. */
  address?: string;
  /** A hash of the entry before and of this one. */
  hash: string;
  /** The hash of the entry before. */
  prev: string;
  /** The ID of the request, as in the header X-Request-Id. Absent if there was none. */
  request?: string;
  /** The number of the entry. */
  seq: number;
  /** What it was done to. */
  subject: string;
  /** The time of the action. RFC 3339. */
  time: string;
  /** What was done. */
  verb: string;
}

export interface AuditProof {
  /** The number of signed anchors that were compared. */
  anchors: number;
  /** The number of the first entry that does not match. 0 means that all entries match. */
  broken: number;
  /** The number of entries that were read. */
  entries: number;
  /** The hash of the newest entry. */
  head: string;
  /** The number of newest anchors outside of the database that were compared: one of the server's file, one of its bucket. */
  outside: number;
  /** The public key that anchors are signed with. */
  public: string;
  /** What does not match. */
  why?: string;
}

export interface BackgroundTask {
  /** The time of the last failure. RFC 3339. */
  at?: string;
  /** The last failure. */
  error?: string;
  /** If true, the latest run failed. */
  failing: boolean;
  /** How often it failed since the service started. */
  failures: number;
  /** The task's name. */
  name: string;
  /** How often it ran since the service started. */
  runs: number;
}

export interface Backup {
  /** The number of checkpoints that have not been pushed. */
  behind: number;
  /** The branch on the remote. */
  branch: string;
  /** The time at which the backup was set. RFC 3339. */
  created: string;
  /** The SSH host key of the remote. Retake connects to no other. Absent if the remote has no host. */
  host?: HostKey;
  /** The files of the newest checkpoint that are not pushed, by reason. */
  left: LeftOut[];
  /** The public SSH key to register with the remote, with write access. */
  public?: string;
  /** The newest checkpoint that is confirmed on the remote: Retake read the branch back. */
  pushed?: BackupPoint;
  /** If false, nothing was set, and `host` is the key that the host presented. Confirm it in a second request. */
  set: boolean;
  /** Why the newest checkpoints have not been pushed. Absent if there is no problem. */
  trouble?: BackupTrouble;
  /** The URL of the git remote. */
  url: string;
  /** The workspace's ID. */
  workspace: string;
}

export interface BackupBody {
  /** The host key or its fingerprint. Without it nothing is set, and the response contains the key that the host presented. */
  host?: string;
  /** The URL of the git remote: git@host:path or ssh://git@host/path. */
  url: string;
}

export interface BackupPoint {
  /** The time at which it was pushed. RFC 3339. */
  at: string;
  /** The checkpoint's ID. */
  checkpoint: string;
  /** The commit on the remote. */
  commit: string;
  /** The checkpoint's number. */
  number: number;
}

export interface BackupTrouble {
  /** The time of the last attempt. RFC 3339. */
  at: string;
  /** What to do next. */
  hint?: string;
  /** The error code, as in Problem. */
  kind: string;
  /** The time of the next attempt. Absent if Retake does not retry until something changes. RFC 3339. */
  next?: string;
  /** The time of the first failed attempt. RFC 3339. */
  since: string;
  /** The number of failed attempts. */
  tries: number;
  /** What happened. */
  what: string;
}

export interface Blame {
  /** The checkpoint whose file is shown. */
  checkpoint: Checkpoint;
  /** The lines of the file. */
  lines: BlameLine[] | null;
  /** The checkpoints that `lines` refers to, newest first. */
  moments: Checkpoint[] | null;
  /** The path of the file. */
  path: string;
  /** Why there are no lines: the file is binary or too long. */
  why?: string;
}

export interface BlameLine {
  /** The number of the checkpoint that wrote the line. */
  number: number;
  /** The text of the line. */
  text: string;
}

export interface Cadence {
  /** The five cron fields, separated by one space. */
  cron: string;
  /** The next three times. */
  next: string[];
  /** The line in words. Empty if there are none. */
  words: string;
}

export interface Call {
  /** The shell command. */
  command?: string;
  /** Whether the MCP server says that the tool can destroy something. Absent if it says nothing. */
  destructive?: boolean;
  /** If true, the tool reported a failure. */
  failed?: boolean;
  /** The agent's ID for the call. */
  id?: string;
  /** The arguments of the tool, as the agent sent them. */
  input?: unknown;
  /** What the tool does: shell, write, read, mcp or other. */
  kind: string;
  /** Whether the MCP server says that the tool reaches outside systems. Absent if it says nothing. */
  open_world?: boolean;
  /** What the tool returned. */
  output?: string;
  /** The files that the tool writes. */
  paths?: string[] | null;
  /** Whether the MCP server says that the tool changes nothing. Absent if it says nothing. */
  read_only?: boolean;
  /** The name of the MCP server. */
  server?: string;
  /** The tool's name, as the agent calls it. */
  tool: string;
  /** If true, the call was interrupted or continues in the background, so its result is not known. */
  unfinished?: boolean;
}

export interface CellValue {
  /** The type of the value: none, null, integer, real, text or blob. `none` means that the column is missing on this side. */
  kind: string;
  /** The number of characters that were left out. */
  more?: number;
  /** The value, shortened. Likely secrets are masked. For a blob, its size in bytes. */
  text: string;
}

export interface Change {
  /** The path's entry in the later snapshot. Absent if it was deleted. */
  after?: Entry;
  /** The path's entry in the earlier snapshot. Absent if it was added. */
  before?: Entry;
  /** The path, relative to the workspace's root. */
  path: string;
  /** The exact bytes of `path`, if they are not valid UTF-8. In base64. */
  path_raw?: string;
  /** The type of change: added, deleted, edited, retyped, moded (mode, owner or extended attributes only) or timed (modification time only). */
  what: string;
}

export interface ChangeHookBody {
  /** Set any time to disable the webhook. Leave it out to enable the webhook. RFC 3339. */
  disabled?: string;
  /** Another name for types. Send one of the two. */
  events?: string[];
  /** The event types to send. Empty means all, without the snapshot.* aliases. */
  types?: string[];
  /** The URL that receives the events. It must use https. */
  url: string;
}

export interface Checkpoint {
  /** The size of all files in the snapshot, in bytes. */
  bytes: number;
  /** How many paths differ from the parent. */
  changed: Counts;
  /** An ID of the files' content. Two checkpoints with the same content ID have the same files. */
  content: string;
  /** What the snapshot contains, and which paths it lacks. */
  coverage: Coverage;
  /** The number of directories in the snapshot. */
  dirs: number;
  /** External actions since the checkpoint before, such as a push. No restore can undo them. */
  effects?: Effect[] | null;
  /** The number of files in the snapshot. */
  files: number;
  /** The checkpoint's ID: `cp_` and a UUID. */
  id: string;
  /** The checkpoint's message. */
  intent?: string;
  /** The ID of the API key that took the checkpoint. Absent without a key, and for checkpoints of older versions. */
  key?: string;
  /** The size of the files that are new or have new content, in bytes. */
  new_bytes: number;
  /** The checkpoint's number, for people. A number is never used twice in a workspace. */
  number: number;
  /** The ID of the checkpoint before. Absent for the first one. */
  parent?: string;
  /** What the user's settings leave out of the snapshot. */
  policy?: Policy;
  /** Files outside the workspace that the call after this checkpoint could destroy, and whether they are saved. */
  rescues?: Rescue[] | null;
  /** The restore, undo, redo or adopt that created the checkpoint. */
  return?: Return;
  /** The time at which the checkpoint was taken. RFC 3339. */
  time: string;
  /** The object ID of the snapshot's root directory. */
  tree: string;
  /** Why the checkpoint was taken, such as init, manual, prompt, turn, risk, safety, return or quiet (an auto-checkpoint). New triggers may be added. */
  trigger: string;
  /** The agent's turn that led to the checkpoint. */
  turn?: Turn;
  /** The workspace's ID. */
  workspace: string;
}

export interface Comparison {
  /** The paths that differ, in path order. */
  changes: Change[] | null;
  /** The earlier checkpoint. Absent when the later one has no parent. */
  from?: Checkpoint;
  /** Paths that could not be read in the current files. Only when you compare with now. */
  gaps?: Gap[] | null;
  /** The same as next_cursor, for `after`. Deprecated. */
  next?: string;
  /** Pass it as `cursor` to get the next page. Absent on the last page. */
  next_cursor?: string;
  /** The later checkpoint. Absent when you compare with the current files. */
  to?: Checkpoint;
}

export interface Conversation {
  /** The agent's name, such as `claude-code`. */
  agent: string;
  /** The size of the conversation, in bytes. */
  bytes: number;
  /** If true, the conversation ends with the agent's last message. */
  complete: boolean;
  /** Why the conversation is not complete. */
  missing?: string;
  /** The file in which the agent keeps the conversation. */
  path: string;
  /** The types of likely secrets in the conversation. */
  secrets?: string[] | null;
  /** The stored parts of the conversation, one for each turn. */
  segments: Segment[] | null;
  /** The agent's ID for the session. */
  session: string;
  /** The agent's ID for the turn. */
  turn?: string;
  /** The agent's version. */
  version?: string;
}

export interface Counts {
  /** The number of added paths. */
  added: number;
  /** The number of deleted paths. */
  deleted: number;
  /** The number of edited paths. */
  edited: number;
}

export interface Coverage {
  /** The paths that the snapshot lacks, with the reason. The list is never shortened. */
  gaps?: Gap[] | null;
  /** Either complete or partial. */
  grade: string;
}

export interface CrossCheck {
  /** The time of the comparison. RFC 3339. */
  at: string;
  /** The number of files that were compared. */
  files: number;
  /** Changed files that the watcher did not report. If there are any, the watcher is not reliable here. */
  missed?: string[] | null;
}

export interface DamageState {
  /** The numbers of the damaged checkpoints. */
  checkpoints: number[] | null;
  /** The number of damaged paths, counted once for each checkpoint. */
  paths: number;
}

export interface DamagedPath {
  /** The checkpoint's number. Absent if the whole history cannot be read. */
  number?: number;
  /** The path. Absent if the whole checkpoint cannot be read. */
  path?: string;
  /** If true, it is part of the saved conversation, not of the files. */
  state?: boolean;
  /** The workspace's ID. */
  workspace: string;
}

export interface Danger {
  /** The name to pass in `accept`: home, system, giant or nested. */
  class: string;
  /** The reason, for people. */
  text: string;
}

export interface Deletion {
  /** The time of the request. RFC 3339. */
  asked: string;
  /** The IDs of the checkpoints to delete. */
  checkpoints: string[];
  /** The time at which they were deleted. RFC 3339. */
  done?: string;
  /** The end of the grace period. Until then you can cancel the request. RFC 3339. */
  due: string;
  /** The request's ID: `del_` and a UUID. */
  id: string;
  /** Why the deletion was refused. */
  note?: string;
  /** The state: waiting, canceled, done or refused. */
  state: string;
  /** The reason that was given for the request. */
  why?: string;
  /** The workspace's ID. */
  workspace: string;
}

export interface DeletionBody {
  /** The checkpoints to delete, as refs. */
  refs: string[];
  /** The reason, for people and for the audit log. */
  why?: string;
  /** The workspace's ID. */
  workspace: string;
}

export interface Delivery {
  /** The request body, in base64. Only if you ask for one delivery. In base64. */
  body?: string;
  /** The time at which the message was created. RFC 3339. */
  created: string;
  /** The `seq` of the event. */
  event: number;
  /** The message's ID, sent as the `webhook-id` header. */
  id: string;
  /** The time of the next attempt. Absent if there is none. RFC 3339. */
  next?: string;
  /** The state: waiting, delivered or dead (all attempts failed). */
  state: string;
  /** The attempts so far, oldest first. */
  tries: Try[];
  /** The type of the event. */
  type: string;
  /** The webhook's ID. */
  webhook: string;
}

export interface Drill {
  /** The time of the test. RFC 3339. */
  at: string;
  /** The number of the checkpoint. */
  number: number;
  /** The result: passed, failed, could-not-run, changed or running. */
  verdict: string;
  /** Why the test did not pass. */
  why?: string;
}

export interface Drop {
  /** About how much disk space it frees, in bytes. */
  bytes: number;
  /** The checkpoint's ID. */
  checkpoint: string;
  /** If true, it would be kept for the whole retention period if there were enough disk space. */
  named: boolean;
  /** The checkpoint's number. */
  number: number;
  /** The time at which the checkpoint was taken. RFC 3339. */
  time: string;
  /** Why it is deleted: age, budget (the storage limit), room or floor (the minimum free space). */
  why: string;
  /** The workspace's ID. */
  workspace: string;
}

export interface Effect {
  /** The agent's name. */
  agent?: string;
  /** The agent's ID for the tool call. */
  call?: string;
  /** A short ID for people, such as `e1`. */
  id: string;
  /** The type of action, such as push or mail. */
  kind?: string;
  /** How it ended: done, failed (nothing was done), unknown, or stopped by your policy (nothing was done). Absent in checkpoints of older versions. */
  outcome?: string;
  /** The ID of the same action from before the files were restored, which this one does once more. */
  repeats?: string;
  /** The agent's ID for the session. */
  session?: string;
  /** Where it went, such as `origin main`. */
  target?: string;
  /** What was run or called. Secrets are masked. */
  text: string;
  /** The time of the action. RFC 3339. */
  time: string;
}

export interface EffectList {
  /** The external actions. */
  effects: Effect[];
  /** Pass it as cursor to get the next page. Absent on the last page. */
  next_cursor?: string;
}

export interface Entry {
  /** Attributes that few entries have, such as extended attributes. */
  extra?: Extra;
  /** The numeric group ID. */
  gid: number;
  /** The type of the entry: file, dir, symlink, fifo or socket. New types may be added. */
  kind: string;
  /** The modification time, in nanoseconds since 1970. */
  mod_time: number;
  /** The permission bits, with setuid, setgid and sticky, as a decimal number. */
  mode: number;
  /** The name in its directory. */
  name: string;
  /** The exact bytes of `name`, if they are not valid UTF-8. In base64. */
  name_raw?: string;
  /** The object ID of the content, of the link's target text, or of the directory. */
  object: string;
  /** The size in bytes of a file or of a link's target text. Otherwise 0. */
  size: number;
  /** The totals of a directory. */
  sum?: Summary;
  /** The numeric user ID. */
  uid: number;
}

export interface EntryList {
  /** The entries, by name. */
  entries: Entry[];
  /** Pass it as cursor to get the next page. Absent on the last page. */
  next_cursor?: string;
}

export interface Estimate {
  /** The size of all files, in bytes. */
  bytes: number;
  /** Reasons to ask first. Pass their classes in `accept` to protect the directory anyway. */
  danger: Danger[] | null;
  /** The number of directories. */
  dirs: number;
  /** The number of files. */
  files: number;
  /** The minimum free space on the store's disk, in bytes. */
  floor: number;
  /** The free space on the store's disk, in bytes. */
  free: number;
  /** Paths that would be left out, with the reason. */
  gaps: Gap[] | null;
  /** The subdirectory that contains the most files. */
  heaviest?: string;
  /** The exact bytes of `heaviest`, if they are not valid UTF-8. In base64. */
  heaviest_raw?: string;
  /** The absolute path of the directory. */
  root: string;
  /** The exact bytes of `root`, if they are not valid UTF-8. In base64. */
  root_raw?: string;
  /** The share of all files that are in `heaviest`, from 0 to 1. */
  share?: number;
}

export interface Event {
  /** IDs to look up, and what a person wants to read at once. File contents are not included. */
  data: EventData;
  /** The event's ID. */
  id: string;
  /** The number of the event. Numbers increase and may have gaps. */
  seq: number;
  /** The time of the event. RFC 3339. */
  time: string;
  /** The type of event, such as checkpoint.created or workspace.restored. New types may be added. */
  type: string;
}

export interface EventData {
  /** The agent whose turn the checkpoint is of. */
  agent?: string;
  /** The check result. */
  answer?: string;
  /** The URL at which you can get the object. */
  api_url?: string;
  /** The hash of the newest entry in the audit log. */
  audit_head?: string;
  /** Who reported the check result. */
  by?: string;
  /** The size of the snapshot, in bytes. With namespace.nearly_full, the bytes that are taken. */
  bytes?: number;
  /** The checkpoint's ID. */
  checkpoint?: string;
  /** If true, an agent reported the check result and Retake did not see the check run. */
  claim?: boolean;
  /** How many objects the event is about, such as external actions or deleted checkpoints. */
  count?: number;
  /** Either complete or partial. */
  coverage?: string;
  /** The checkpoint's message, shortened if it is long. */
  intent?: string;
  /** The ID of the API key whose share is nearly full. Absent if it is the share of a workspace, or the store. */
  key?: string;
  /** The storage limit or the share that is nearly full, in bytes. */
  limit?: number;
  /** The name of the check, the schedule or the backup. */
  name?: string;
  /** The namespace. Empty on a daemon. */
  namespace: string;
  /** The checkpoint's number. */
  number?: number;
  /** The ID of the checkpoint before. */
  parent?: string;
  /** How much of the storage limit or of the share is taken. */
  percent?: number;
  /** The ID of the checkpoint that has what was there before a restore. */
  safety?: string;
  /** The snapshot that was taken or, with workspace.restored, the one that was restored. */
  snapshot_id?: string;
  /** The ID of the checkpoint that was restored. */
  target?: string;
  /** The object ID of the snapshot's root directory. */
  tree?: string;
  /** Why the checkpoint was taken. */
  trigger?: string;
  /** The cause of a failure. */
  why?: string;
  /** The workspace's ID. */
  workspace?: string;
}

export interface Extra {
  /** Entries with the same value are hard links to one file. */
  group?: string;
  /** The ranges of a sparse file that take no disk space. */
  holes?: Hole[] | null;
  /** Extended attributes that belong to the file: `user.*`, access control lists and capabilities. The values are base64. */
  xattrs?: Record<string, string>;
}

export interface Fact {
  /** The value after the change, such as a version or a row count. */
  after?: string;
  /** The value before the change. */
  before?: string;
  /** If true, a package was asked for by name, or a port belongs to a program of this workspace. */
  direct?: boolean;
  /** A context for `name`: the package registry, or the path of the database. */
  group?: string;
  /** The type of fact, such as package, env, setting, table, rows, port or git. New types may be added. */
  kind: string;
  /** The name of what changed, such as a package, a key or a table. Never a secret value. */
  name: string;
  /** The path that shows the change. Paths outside the workspace begin with `/`. */
  path: string;
  /** The type of change: added, deleted or edited. */
  what: string;
}

export interface Failure {
  /** The path, relative to the workspace's root. */
  path: string;
  /** The exact bytes of `path`, if they are not valid UTF-8. In base64. */
  path_raw?: string;
  /** The reason, for people. */
  why: string;
}

export interface FileWritten {
  /** True if there was no file at this path. */
  created: boolean;
  /** The permission bits of the file. */
  mode: number;
  /** The size of the file, in bytes. */
  size: number;
}

export interface Finding {
  /** The check results, by name. */
  answers?: Answer[] | null;
  /** The number of files that the checkpoint changed. For the first one, the number of files that it contains. */
  changed?: number;
  /** The number of paths whose stored bytes cannot be read, as last checked. */
  damaged?: number;
  /** A short summary of what changed. */
  gist?: Gist;
  /** If true, the checkpoint is complete and all checks passed. */
  good?: boolean;
}

export interface Flag {
  /** The type of flag, such as mismatch (the agent's words and the changed files differ). */
  kind: string;
  /** The reason, for people. */
  why: string;
}

export interface ForgetBody {
  /** The checkpoints to delete, as refs. The newest checkpoint and pinned ones can't be deleted. */
  refs: string[];
}

export interface ForkBody {
  /** The warnings that you accept: setuid, for files that run with the rights of their owner. */
  accept?: string[];
  /** The absolute path of the new directory, on the machine that answers. It must not exist or must be empty. A server creates one by name if you leave it out. */
  dir?: string;
  /** The exact bytes of dir, if they are not valid UTF-8. In base64. */
  dir_raw?: string;
  /** The workspace's name. Empty means the directory's name. */
  name?: string;
  /** The exact bytes of name, if they are not valid UTF-8. In base64. */
  name_raw?: string;
  /** The checkpoint to fork, as a ref. */
  ref?: string;
  /** If true, the fork is temporary and protects nothing. You remove it yourself. */
  throwaway?: boolean;
}

export interface ForkList {
  /** The forks. */
  forks: WorkspaceState[];
  /** Pass it as cursor to get the next page. Absent on the last page. */
  next_cursor?: string;
}

export interface ForkResult {
  /** The fork's first checkpoint. Its parent is the checkpoint that was forked. */
  checkpoint: Checkpoint;
  /** The number of files that were cloned and share their disk blocks (copy-on-write). */
  cloned: number;
  /** The number of files that were written. */
  copied: number;
  /** The checkpoint that was forked. */
  origin: Checkpoint;
  /** Problems that did not prevent the fork. */
  warnings: Warning[];
  /** The new workspace. */
  workspace: Workspace;
}

export interface Fullness {
  /** The bytes that are taken. */
  bytes: number;
  /** The API key whose share it is. */
  key?: string;
  /** The storage limit or the share, in bytes. */
  limit: number;
  /** How much of it is taken. */
  percent: number;
  /** The workspace whose share it is. Without a workspace and a key it is the store. */
  workspace?: string;
}

export interface Gap {
  /** More about the reason, for people. */
  detail?: string;
  /** The path, relative to the workspace's root. A directory ends in `/` and includes everything below it. */
  path: string;
  /** The exact bytes of `path`, if they are not valid UTF-8. In base64. */
  path_raw?: string;
  /** Why the path is missing, such as unreadable, torn (changed while being read), mount, excluded or purged. New reasons may be added. */
  reason: string;
}

export interface Gist {
  /** The number of changed files and lines. */
  counts: StoryCounts;
  /** Marks that need attention. */
  flags?: Flag[] | null;
  /** The git commit that was checked out. */
  head?: string;
  /** The most important change in one or two words, such as `auth.ts` or `npm +12`. */
  lead: string;
  /** If true, only files changed that change all the time, such as logs and caches. */
  moving?: boolean;
  /** The most important changes. */
  points: Point[] | null;
  /** The number of files whose changes could not be explained by meaning. */
  unread?: number;
  /** The version of the rules that created the summary. */
  v: number;
}

export interface GitHead {
  /** The branch. Absent if no branch is checked out. */
  branch?: string;
  /** The first seven digits of the commit. Absent if there is no commit yet or it can't be read. */
  commit?: string;
}

export interface GitLeft {
  /** The number of a checkpoint that contains the repository at `then`. 0 means that none is known. */
  moment: number;
  /** What the repository has checked out now. */
  now: GitHead;
  /** The path of the repository. */
  path: string;
  /** What the repository had checked out at the checkpoint. */
  then: GitHead;
}

export interface Group {
  /** The bytes that were added, minus the bytes that were removed. */
  bytes: number;
  /** The number of changed files. */
  files: number;
  /** The changed paths. Their file counts add up to `files`. */
  items: Item[] | null;
  /** The number of removed lines. */
  minus: number;
  /** The number of added lines. */
  plus: number;
  /** What the files are: deleted, packages, settings, database, source, build, git, moving (logs and caches) or machine (outside the workspace). */
  theme: string;
}

export interface Hit {
  /** The checkpoint. */
  checkpoint: Checkpoint;
  /** What is known about the checkpoint. */
  finding: Finding;
  /** The text that matches. */
  text: string;
  /** Where the text was found: intent, prompt, words, path or fact. */
  where: string;
}

export interface HitList {
  /** The matches. */
  hits: Hit[];
  /** Pass it as cursor to get the next page. Absent on the last page. */
  next_cursor?: string;
}

export interface HoldBody {
  /** The hold's name. */
  name: string;
  /** The checkpoint to hold, as a ref. */
  ref: string;
}

export interface Holder {
  /** The process's command. */
  command: string;
  /** The exact bytes of `command`, if they are not valid UTF-8. In base64. */
  command_raw?: string;
  /** The file that is open. */
  path: string;
  /** The exact bytes of `path`, if they are not valid UTF-8. In base64. */
  path_raw?: string;
  /** The process ID. */
  pid: number;
}

export interface Hole {
  /** The length of the range, in bytes. */
  length: number;
  /** The start of the range, in bytes. */
  offset: number;
}

export interface HookBody {
  /** Another name for types. Send one of the two. */
  events?: string[];
  /** The namespace of your API key. Another one is refused. */
  namespace?: string;
  /** How messages are signed: v1 (a shared secret) or v1a (a key pair). Empty means v1. */
  scheme?: string;
  /** The event types to send. Empty means all, without the snapshot.* aliases. */
  types?: string[];
  /** The URL that receives the events. It must use https. */
  url: string;
  /** Send only events of this workspace. Empty means all. */
  workspace_id?: string;
}

export interface HostKey {
  /** The public key in base64, as in `known_hosts`. */
  key: string;
  /** The key type, such as `ssh-ed25519`. */
  kind: string;
  /** The fingerprint: `SHA256:` and base64. */
  print: string;
}

export interface Hunk {
  /** The number of lines after the change. */
  new_lines: number;
  /** The first line after the change. */
  new_start: number;
  /** The number of lines before the change. */
  old_lines: number;
  /** The first line before the change. */
  old_start: number;
}

export interface InitBody {
  /** The classes of dangers that you accept: home, system, giant or nested. */
  accept?: string[] | null;
  /** If true, nobody asked for it: smaller directories count as giant, and after a second the first checkpoint continues in the background. */
  automatic?: boolean;
  /** The absolute path of the directory, on the machine that answers. A server creates one by name if it is empty. */
  dir?: string;
  /** The exact bytes of dir, if they are not valid UTF-8. In base64. */
  dir_raw?: string;
  /** Environment variables that checks may use, as NAME=VALUE. */
  env?: string[] | null;
  /** If the directory belongs to a known workspace: copy or moved. If a workspace at this path was deleted or replaced: continue (its history) or new. Empty means that Retake refuses and explains the choice. */
  mark?: string;
  /** The workspace's name. Empty means the directory's name. */
  name?: string;
  /** The exact bytes of name, if they are not valid UTF-8. In base64. */
  name_raw?: string;
}

export interface Interruption {
  /** What the restore did: restore, undo, redo or adopt. */
  course: string;
  /** The number of paths that were changed before it stopped. */
  done: number;
  /** The ID of the interrupted restore. */
  id: string;
  /** The number of the safety checkpoint, which contains the files from before the restore. */
  safety: number;
  /** The time at which the restore started. RFC 3339. */
  since: string;
  /** The number of the checkpoint to restore. */
  target: number;
  /** The number of paths that the restore changes in all. */
  total: number;
}

export interface Item {
  /** The bytes that were added, minus the bytes that were removed. */
  bytes: number;
  /** The number of changed files. */
  files: number;
  /** The path before a rename. */
  from?: string;
  /** The number of removed lines. */
  minus?: number;
  /** A remark, such as binary, lock file or build output. */
  note?: string;
  /** The path, relative to the workspace's root. A directory ends in `/`. */
  path: string;
  /** The number of added lines. */
  plus?: number;
  /** The type of change: added, deleted, edited, renamed, retyped, moded or timed. */
  what: string;
}

export interface Keep {
  /** More about the reason, for people. */
  detail?: string;
  /** The path, relative to the workspace's root. A directory ends in `/` and includes everything below it. */
  path: string;
  /** The exact bytes of `path`, if they are not valid UTF-8. In base64. */
  path_raw?: string;
  /** Where the other version of the file is written, next to it. */
  side?: string;
  /** The exact bytes of `side`, if they are not valid UTF-8. In base64. */
  side_raw?: string;
  /** The other version of the file. */
  then?: Entry;
  /** Why the path is left as is: git, volatile, changed, conflict, uncaptured, unheld, occupied or overlap. New reasons may be added. */
  why: string;
}

export interface KeptEdits {
  /** The numbers of auto-checkpoints that contain edits, newest first. */
  moments?: number[] | null;
  /** The number of paths that changed since the newest checkpoint. */
  unsaved: number;
}

export interface KeptFor {
  /** If true, the rule applies however little disk space is left. */
  always: boolean;
  /** The number of checkpoints. */
  count: number;
  /** The rule, for people, such as pinned, start or newest. */
  why: string;
}

export interface Key {
  /** The time at which the key was created. RFC 3339. */
  created: string;
  /** The time at which the key expires. Absent means never. RFC 3339. */
  expires?: string;
  /** The key's ID: `key_` and a UUID. It is not a secret. */
  id: string;
  /** The key's role: agent, reader, operator, admin, maintainer or provisioner. New roles may be added. */
  kind: string;
  /** The key's name. */
  name: string;
  /** The time at which the key was revoked. Absent if it was not. RFC 3339. */
  revoked?: string;
  /** The last four characters of the key, to recognize it. */
  tail: string;
  /** About when the key was last used. Absent if it never was. RFC 3339. */
  used?: string;
  /** The IDs of the workspaces that the key may access. Empty means all of them. */
  workspaces: string[];
}

export interface KeyBody {
  /** The time at which the key expires. Absent means never. RFC 3339. */
  expires?: string;
  /** The role: agent, reader, operator, admin or maintainer. */
  kind: string;
  /** A name for people, such as the key's owner or purpose. */
  name?: string;
  /** The IDs of the workspaces that the key may access. Empty means all of them. */
  workspaces?: string[];
}

export interface KeyUsage {
  /** The size of the new and changed files in these checkpoints, in bytes. The store takes less: it stores equal content once, and compresses. */
  bytes: number;
  /** The key's ID. */
  key: string;
  /** The key's name. */
  name: string;
  /** The key's role. */
  role: string;
}

export interface LeftOut {
  /** The number of paths. A directory counts as one. */
  count: number;
  /** Some of the paths. */
  named?: string[] | null;
  /** Why they are not pushed: secret, too-big, name, special, ignored, git or mark. */
  reason: string;
}

export interface Limits {
  /** The age after which checkpoints are deleted even if a rule keeps them, in nanoseconds. Pins, legal holds, the newest one and fork bases are kept. 0 means never. */
  gone_after: number;
  /** The same as gone_after, as a text such as 90d. */
  gone_after_text?: string;
  /** The grace period between a request to delete and the deletion, in nanoseconds. */
  grace: number;
  /** The same as grace, as a text such as 7d. */
  grace_text?: string;
  /** The percentage of store that one agent key may add while there are others. 0 means no limit. */
  key_share: number;
  /** The largest snapshot that one checkpoint may have, in bytes. */
  moment: number;
  /** The requests per second of one API key. */
  per_second: number;
  /** The restores per hour of one agent key. */
  restore_hour: number;
  /** The storage limit of the whole history, in bytes. */
  store: number;
  /** How long checkpoints are kept at least, in nanoseconds. */
  within: number;
  /** The same as within, as a text such as 30d. */
  within_text?: string;
  /** The percentage of store that one workspace may take while there are others. 0 means no limit. */
  workspace_share: number;
  /** The number of workspaces, not counting those whose protection ended. */
  workspaces: number;
}

export interface LimitsBody {
  /** The age after which checkpoints are deleted even if a rule keeps them, in nanoseconds. Pins, legal holds, the newest one and fork bases are kept. 0 means never. */
  gone_after?: number;
  /** The same as gone_after, as a text such as 90d. Send one of the two. */
  gone_after_text?: string;
  /** The grace period between a request to delete and the deletion, in nanoseconds. */
  grace?: number;
  /** The same as grace, as a text such as 7d. Send one of the two. */
  grace_text?: string;
  /** The percentage of store that one agent key may add while there are others. 0 means no limit. */
  key_share?: number;
  /** The largest snapshot that one checkpoint may have, in bytes. */
  moment?: number;
  /** The requests per second of one API key. */
  per_second?: number;
  /** The restores per hour of one agent key. */
  restore_hour?: number;
  /** The storage limit of the whole history, in bytes. */
  store?: number;
  /** How long checkpoints are kept at least, in nanoseconds. */
  within?: number;
  /** The same as within, as a text such as 30d, 12w or 36h. Send one of the two. */
  within_text?: string;
  /** The percentage of store that one workspace may take while there are others. 0 means no limit. */
  workspace_share?: number;
  /** The number of workspaces, not counting those whose protection ended. */
  workspaces?: number;
}

export interface LostRoot {
  /** The absolute path of the root directory. */
  root: string;
  /** If true, another directory is at that path and is not empty. */
  there: boolean;
}

export interface Mention {
  /** The checkpoint. */
  checkpoint: Checkpoint;
  /** The facts that changed in it. */
  facts: Fact[] | null;
}

export interface MentionList {
  /** The checkpoints. */
  mentions: Mention[];
  /** Pass it as cursor to get the next page. Absent on the last page. */
  next_cursor?: string;
}

export interface Merge {
  /** The object ID of the version that both sides started from. */
  base: string;
  /** The digest of the merged text. */
  digest: string;
  /** The first line that stays as it is now. */
  first: number;
  /** The parts of the change to undo. Absent means the whole change. */
  hunks?: Hunk[] | null;
  /** The number of places that change as planned. */
  theirs: number;
  /** The object ID of the version that is merged in. */
  want: string;
  /** The number of places that stay as they are now. */
  yours: number;
}

export interface Namespace {
  /** The time at which the namespace was created. RFC 3339. */
  created: string;
  /** The namespace whose provisioner key created it. Absent if the server's owner did. */
  creator?: string;
  /** The ID of the workspace that requests without a workspace use. */
  default: string;
  /** The time at which the namespace was closed. Absent while it is open. RFC 3339. */
  ended?: string;
  /** The ETag of the limits. Send it in `If-Match` when you change them. */
  etag?: string;
  /** The namespace's name. */
  id: string;
  /** The limits of the namespace. */
  limits: Limits;
  /** Directories on the server's machine that workspaces may be in, in addition to the namespace's own. */
  roots: string[];
}

export interface NamespaceBody {
  /** The namespace's name: lowercase letters, digits and dashes. */
  id: string;
  /** Its limits. Those that are absent have the server's defaults. */
  limits?: LimitsBody;
  /** The URL of a first webhook, which receives all events. Empty means none. */
  webhook?: string;
}

export interface NamespaceKeyBody {
  /** The time at which the key expires. Absent means never. RFC 3339. */
  expires?: string;
  /** The role: agent, reader, operator, admin or maintainer. */
  kind: string;
  /** A name for people, such as the key's owner or purpose. */
  name?: string;
}

export interface NewKey {
  /** The API key. */
  key: Key;
  /** The secret to send with requests. It is shown only once and is not stored. */
  secret: string;
}

export interface NewNamespace {
  /** One API key for each role, with their secrets. */
  keys: NewKey[] | null;
  /** The namespace. */
  namespace: Namespace;
  /** The webhook, if one was requested. */
  webhook?: NewWebhook;
}

export interface NewWebhook {
  /** What the receiver verifies signatures with. A shared secret is shown only once. */
  secret: string;
  /** The webhook. */
  webhook: Webhook;
}

export interface NotArrived {
  /** What to do. */
  hint?: string;
  /** If true, it was left out on purpose. */
  want?: boolean;
  /** A path, or the name of a program. */
  what: string;
  /** Why it did not arrive. */
  why: string;
}

export interface Obstacle {
  /** The name to pass in `accept`, such as changed, mass-delete, held or uncaptured. New classes may be added. */
  class: string;
  /** The paths that the warning is about. The list is never shortened. */
  paths?: string[] | null;
  /** The exact bytes of all `paths`, if one of them is not valid UTF-8. */
  paths_raw?: string[];
  /** The warning, for people. */
  text: string;
}

export interface Operation {
  /** The time at which the operation began. RFC 3339. */
  created: string;
  /** The time at which the operation ended. Absent while it runs. RFC 3339. */
  ended?: string;
  /** The operation's ID. */
  id: string;
  /** What it does, as the ID of an operation in this description, such as `restore`. */
  kind: string;
  /** Why the operation failed or was canceled. */
  problem?: Problem;
  /** How far the operation is. */
  progress: Progress;
  /** The body that the request would have returned. Its schema is that of `kind`. Absent in lists. */
  result?: unknown;
  /** running, succeeded, failed or canceled. */
  status: string;
}

export interface Origin {
  /** The checkpoint's ID. */
  checkpoint: string;
  /** The checkpoint's number. */
  number: number;
  /** The ID of the workspace that was forked. */
  workspace: string;
}

export interface PageAuditEntry {
  /** The results on this page. */
  data: AuditEntry[];
  /** Pass it as cursor to get the next page. Empty on the last page. */
  next_cursor: string;
}

export interface PageDeletion {
  /** The results on this page. */
  data: Deletion[];
  /** Pass it as cursor to get the next page. Empty on the last page. */
  next_cursor: string;
}

export interface PageDelivery {
  /** The results on this page. */
  data: Delivery[];
  /** Pass it as cursor to get the next page. Empty on the last page. */
  next_cursor: string;
}

export interface PageEvent {
  /** The results on this page. */
  data: Event[];
  /** Pass it as cursor to get the next page. Empty on the last page. */
  next_cursor: string;
}

export interface PageKey {
  /** The results on this page. */
  data: Key[];
  /** Pass it as cursor to get the next page. Empty on the last page. */
  next_cursor: string;
}

export interface PageNamespace {
  /** The results on this page. */
  data: Namespace[];
  /** Pass it as cursor to get the next page. Empty on the last page. */
  next_cursor: string;
}

export interface PageOperation {
  /** The results on this page. */
  data: Operation[];
  /** Pass it as cursor to get the next page. Empty on the last page. */
  next_cursor: string;
}

export interface PageSchedule {
  /** The results on this page. */
  data: Schedule[];
  /** Pass it as cursor to get the next page. Empty on the last page. */
  next_cursor: string;
}

export interface PageSnapshot {
  /** The results on this page. */
  data: Snapshot[];
  /** Pass it as cursor to get the next page. Empty on the last page. */
  next_cursor: string;
}

export interface PageWebhook {
  /** The results on this page. */
  data: Webhook[];
  /** Pass it as cursor to get the next page. Empty on the last page. */
  next_cursor: string;
}

export interface Pin {
  /** The checkpoint's ID. */
  checkpoint: string;
  /** The pin's name. You can use it as a ref. Names of legal holds begin with `hold:`. */
  name: string;
  /** The checkpoint's number. */
  number: number;
  /** The time at which the pin was created. RFC 3339. */
  time: string;
}

export interface PinBody {
  /** The checkpoint to pin, as a ref. */
  ref: string;
}

export interface Plan {
  /** The numbers of older checkpoints that the same undo takes back, newest first. */
  also?: number[];
  /** The number of bytes to write. */
  bytes: number;
  /** What the plan does: restore, undo, redo, adopt, finish or unwind. New values may be added. */
  course: string;
  /** The paths to delete. */
  deletes: Step[];
  /** An ID of the plan and of the files that it applies to. Pass it to apply exactly this plan. */
  digest: string;
  /** Edits that an undo keeps. Absent if there are none. */
  edits?: KeptEdits;
  /** External actions since the checkpoint. They can't be undone. */
  effects: Effect[];
  /** What the plan changes by meaning. Absent if that is not known. */
  facts?: Fact[];
  /** The number of files that the workspace contains now. */
  files: number;
  /** The fork to adopt. */
  fork?: Workspace;
  /** Git repositories that are left as is, although other files go back. */
  git?: GitLeft[];
  /** Processes that have files open that the plan replaces. */
  holders: Holder[];
  /** Paths that differ and that are left as is, with the reason. */
  keeps: Keep[];
  /** Set if the workspace's root directory was deleted or replaced. */
  lost?: LostRoot;
  /** The text files to merge, because they changed on both sides. */
  merges: Step[];
  /** The number of the checkpoint to undo instead, if nothing of this one is left to undo. */
  next?: number;
  /** The warnings. Pass their classes in `accept` to apply the plan. */
  obstacles: Obstacle[];
  /** The plans for the other workspaces that the same turn worked in. Absent without spread. The digest covers them. */
  others?: Plan[];
  /** The paths that the plan is limited to. Absent means everything. */
  paths?: string[];
  /** The exact bytes of all `paths`, if one of them is not valid UTF-8. */
  paths_raw?: string[];
  /** The safety checkpoint, which contains your current files. */
  safety: Safety;
  /** The checkpoint to restore. For undo and redo, the checkpoint to undo or redo. */
  target: Checkpoint | null;
  /** Directories of which only the modification time is restored. */
  times: Step[];
  /** The directory outside the workspace that files are brought back to; all paths of the plan are relative to it. Absent for a restore of the workspace. */
  to?: string;
  /** Agents that are in the middle of a turn here, except the one that asks. */
  working?: Worker[];
  /** The workspace's ID. */
  workspace: string;
  /** The paths to bring back or change. */
  writes: Step[];
}

export interface PlanAsk {
  /** The name to pass in `accept`. */
  class: string;
  /** What accepting it means, such as delete 2 files. */
  deed: string;
  /** The warnings, for people. */
  text: string;
}

export interface PlanBody {
  /** Your process ID on this machine. Retake does not warn about the agent turn that it runs in. */
  asker?: number;
  /** What to do: restore, undo, redo, adopt, finish or unwind (the last two for an interrupted restore). */
  course: string;
  /** With undo: discard the unsaved edits instead of the last recorded change. */
  edits?: boolean;
  /** With adopt: the ID of the fork. */
  fork?: string;
  /** The checkpoint that the hunks were compared with, as a ref. */
  from?: string;
  /** If true, existing git repositories are replaced, too. */
  git?: boolean;
  /** With undo, a ref and one path: undo only these hunks of the diff between from and ref. */
  hunks?: Hunk[];
  /** Limit the operation to these paths, relative to the workspace's root. Empty means everything. Absolute paths are files outside the workspace that the checkpoint saved. */
  paths?: string[];
  /** The exact bytes of all paths, if one of them is not valid UTF-8. */
  paths_raw?: string[];
  /** The checkpoint to restore. For undo, the checkpoint to undo, or a range such as 3..5. Empty means the newest one. */
  ref?: string;
  /** With undo: undo all turns of this session. Name it by the start of its ID, by its agent, or as last. */
  session?: string;
  /** With undo and redo: also in the other workspaces on this machine that the same turn worked in. The plan lists them as others. */
  spread?: boolean;
  /** The directory to write files to that the checkpoint saved from outside the workspace. Empty means where they were. */
  to?: string;
}

export interface PlanCompare {
  /** If true, the plan leads from the later state to the earlier one. */
  back: boolean;
  /** The earlier checkpoint, as a ref. */
  from: string;
  /** The later checkpoint, as a ref. Absent means the current files. */
  to?: string;
  /** The ID of the workspace to compare in. */
  workspace: string;
}

export interface PlanCounts {
  /** The number of other versions that are written next to a file that stays. */
  beside: number;
  /** The number of paths to bring back. */
  brought: number;
  /** The size of the files to bring back, in bytes. */
  brought_bytes: number;
  /** The number of paths to change, without merges. */
  changed: number;
  /** The number of paths to delete. */
  deleted: number;
  /** The size of the files to delete, in bytes. */
  deleted_bytes: number;
  /** The number of paths that are left as is. */
  kept: number;
  /** The number of files to merge. */
  merged: number;
}

export interface PlanRow {
  /** The number of following rows that are in this directory. 0 means that it is a path. */
  below: number;
  /** The size, in bytes. */
  bytes: number;
  /** The number of paths that it stands for. */
  count: number;
  /** The number of directories among the rows that it is in. */
  depth: number;
  /** More about why it is left as is. */
  detail?: string;
  /** What is known about it. */
  note?: string;
  /** The path, relative to the workspace's root. A directory ends in `/`. */
  path: string;
  /** The exact bytes of `path`, if they are not valid UTF-8. In base64. */
  path_raw?: string;
  /** What happens to it, as in the plan. Absent for a directory with rows. */
  what?: string;
  /** If true, the directory itself is brought back or deleted. */
  whole?: boolean;
  /** Why it is left as is, as in the plan. */
  why?: string;
}

export interface PlanSafety {
  /** What that course does. */
  brings?: string;
  /** The course that undoes the plan: undo or redo. Absent if there is none. */
  course?: string;
  /** How the current files are kept. */
  text: string;
}

export interface PlanSection {
  /** The count in words. */
  about: string;
  /** The number of paths, as in `counts`. */
  count: number;
  /** The title after the plan was applied, such as brought back. */
  done: string;
  /** What happens: delete, bring, change, merge, conflict or keep. New kinds may be added. */
  kind: string;
  /** The number of paths with all directories. */
  paths: number;
  /** The paths, folded by directory. */
  rows: PlanRow[];
  /** The title, such as Bring back. */
  title: string;
}

export interface PlanView {
  /** What the plan does, such as Restore 14. */
  action: string;
  /** What applying it does, such as Restore 14 and delete 2 files. */
  apply: string;
  /** What has to be confirmed. */
  asks: PlanAsk[];
  /** Why the plan changes no existing file, and what it writes instead. Absent if it changes files. */
  beside?: string;
  /** Where its changes can be compared line by line. Absent if that is not possible. */
  compare?: PlanCompare;
  /** The numbers of paths. */
  counts: PlanCounts;
  /** What the plan does while it is applied, such as Restoring 14. */
  doing: string;
  /** What the plan did after it was applied, such as Restored 14. */
  done: string;
  /** The edits that an undo keeps. Absent if there are none. */
  edits?: string;
  /** Where the plan leads, as the number of a checkpoint or the name of a fork. */
  goal: string;
  /** How much would change, or why nothing would. */
  headline: string;
  /** If true, there is nothing to do. */
  idle: boolean;
  /** The counts with their verbs, such as delete 2. */
  numbers: string[];
  /** The question to ask before the plan is applied. */
  question: string;
  /** What keeps the current files. */
  safety: PlanSafety;
  /** The paths, by what happens to them. Empty sections are left out. */
  sections: PlanSection[];
  /** That nothing has been changed yet. Empty if there is nothing to do. */
  untouched: string;
}

export interface Point {
  /** The number of removed lines. */
  minus?: number;
  /** The number of added lines. */
  plus?: number;
  /** The change, such as `src/auth.ts` or `npm +12 packages`. */
  text: string;
  /** What the change is about: deleted, packages, settings, database, source, build, git, moving or machine. */
  theme: string;
}

export interface Policy {
  /** Patterns to leave out, in the form of `.gitignore`. */
  exclude?: string[] | null;
  /** If true, files that git ignores are left out. */
  gitignore?: boolean;
  /** New files above this size are left out, in bytes. 0 means no limit. */
  max_new_file?: number;
}

export interface Problem {
  /** The warnings that you did not accept. Send them in accept to go ahead. */
  accept?: string[];
  /** The underlying error. */
  cause?: string;
  /** The exact bytes of cause, if they are not valid UTF-8. In base64. */
  cause_raw?: string;
  /** The error code, such as not_found, forbidden or stale_plan. Programs should decide by this field only. New codes may be added. */
  code: string;
  /** What happened, with its cause. */
  detail: string;
  /** What to do next. */
  hint?: string;
  /** The exact bytes of hint, if they are not valid UTF-8. In base64. */
  hint_raw?: string;
  /** The code of the version before: several codes have one kind. Do not use it in new programs. */
  kind?: string;
  /** Commands or requests to try next. */
  next_steps?: string[];
  /** What a restore would do whose warnings you have not accepted. */
  plan?: Plan;
  /** The request's ID, to include when you ask for support. */
  request_id?: string;
  /** If true, the same request may succeed later. */
  retryable: boolean;
  /** Whether anything was changed. */
  safe?: string;
  /** The HTTP status code. */
  status: number;
  /** The error code in words. It is the same for all errors with one code. */
  title: string;
  /** A URL that explains the error code. */
  type: string;
  /** What happened. */
  what: string;
  /** The exact bytes of what, if they are not valid UTF-8. In base64. */
  what_raw?: string;
}

export interface Progress {
  /** The number of bytes so far. */
  bytes: number;
  /** The number of files so far. */
  files: number;
  /** The number of files in all. 0 while it is not known. */
  total: number;
}

export interface Proof {
  /** The program that computed the stock engine's ID. */
  by: string;
  /** The checkpoint. */
  checkpoint: Checkpoint;
  /** If true, the two IDs are equal. */
  equal: boolean;
  /** The tree ID that Retake computed. */
  ours: string;
  /** Entries that the stock format can't represent. */
  special: string[] | null;
  /** The tree ID that the stock engine computed. */
  stock: string;
}

export interface PurgeBody {
  /** Bytes to remove, each in base64. Every stored file that contains one of them is removed. Don't send it together with paths. */
  contents?: string[];
  /** Paths to remove, relative to the workspace's root, with everything below them. */
  paths?: string[];
}

export interface PurgePlan {
  /** Copies that a purge does not reach, for people. */
  beyond: string[] | null;
  /** The size of the stored files to remove, in bytes. */
  bytes: number;
  /** The number of checkpoints that contain some of it. */
  checkpoints: number;
  /** The paths to remove, at most fifty. After the purge, checkpoints list them as gaps. */
  gaps: Gap[] | null;
  /** Files in the workspace that still contain it. The next save stores them again. */
  live: string[] | null;
  /** The number of further paths that `gaps` does not list. */
  more: number;
  /** The number of stored texts in which it is masked, such as messages, prompts, conversations and check output. */
  records: number;
  /** The number of different stored files to remove. */
  versions: number;
  /** The workspaces that are affected, including forks. */
  workspaces: PurgeScope[] | null;
}

export interface PurgeReport {
  /** The number of bytes that the search read. */
  bytes: number;
  /** Copies that can still be read, for people. Empty means that nothing is left. */
  left: string[] | null;
  /** What was removed. */
  plan: PurgePlan;
  /** The number of stored pieces and files that the search read. */
  searched: number;
  /** The disk space that was freed. */
  sweep: SweepReport;
}

export interface PurgeScope {
  /** The number of checkpoints that change. */
  checkpoints: number;
  /** The workspace's name. */
  name: string;
  /** The workspace's ID. */
  workspace: string;
}

export interface Reaction {
  /** The checkpoint that contains the files at the time of the event. */
  checkpoint?: Checkpoint;
  /** The external actions that were recorded. */
  effects?: Effect[] | null;
  /** If true, Retake does the work after this response. */
  later?: boolean;
  /** A note to show to the agent, such as that a turn was undone. */
  note?: string;
  /** Your policy stops the call: do not run it. */
  stop?: Stop;
  /** Problems that did not prevent the work. */
  warnings?: Warning[] | null;
  /** The workspace's ID. Absent if the directory is not protected; then nothing was done. */
  workspace?: string;
}

export interface RebuildReport {
  /** The number of checkpoints. */
  checkpoints: number;
  /** The number of pins. */
  pins: number;
  /** The number of tombstones. */
  tombstones: number;
  /** The number of workspaces. */
  workspaces: number;
}

export interface Receipt {
  /** The size of the files that were written. */
  bytes: number;
  /** The number of checkpoints that arrived. */
  checkpoints: number;
  /** How to continue the conversation. Absent if no agent worked there or it can't be continued. */
  conversation?: Resumption;
  /** The number of files that were written. Each byte was checked. */
  files: number;
  /** If true, older checkpoints are still at the remote only, and arrive in the background. */
  later?: boolean;
  /** The machine that uploaded it. */
  machine: string;
  /** What did not arrive or does not work here. */
  missing: NotArrived[] | null;
  /** The newest checkpoint that arrived. */
  newest: Checkpoint;
  /** The to-do list of the agent. */
  tasks?: Task[] | null;
  /** The URL of the remote. */
  url: string;
  /** The workspace. */
  workspace: Workspace;
}

export interface Remote {
  /** The last time that something was read back. Absent if that was never done. */
  check?: RemoteCheck;
  /** The time at which the remote was added. RFC 3339. */
  created: string;
  /** The number of stored objects that are damaged in the store and missing in the copy. */
  damaged?: number;
  /** If true, somebody confirmed that the recovery key is kept elsewhere. */
  key_confirmed?: boolean;
  /** If true, only the listed workspaces are uploaded. */
  limited?: boolean;
  /** The name of the remote. */
  name: string;
  /** The number of checkpoints that have not been uploaded. */
  pending: number;
  /** What the remote promises. */
  protection: RemoteProtection;
  /** The bytes that were uploaded since the remote was added. */
  sent: number;
  /** The time at which what nobody needs was last removed from the copy. RFC 3339. */
  swept?: string;
  /** Why the newest checkpoints have not been uploaded. Absent if there is no problem. */
  trouble?: BackupTrouble;
  /** The time at which everything was uploaded. Absent if that never was. RFC 3339. */
  uploaded?: string;
  /** The URL of the remote. */
  url: string;
  /** How far each workspace is. */
  workspaces: RemoteWorkspace[] | null;
}

export interface RemoteBody {
  /** What the remote asks for. It is stored for the daemon alone and never returned. */
  access?: AccessBody;
  /** A name for the remote: small letters, digits and dashes. Empty means the name of its bucket, host or directory. */
  name?: string;
  /** If true, a new copy begins there, beside one that this store uploaded before. */
  new_copy?: boolean;
  /** The most bytes to upload in a second. 0 means no limit. */
  rate?: number;
  /** Where it is: /path, s3://bucket/prefix, gs://bucket/prefix, azure://container/prefix, sftp://user@host/path or webdav://host/path. */
  url: string;
  /** The IDs of the workspaces to upload. Empty means all, also later ones. */
  workspaces?: string[];
}

export interface RemoteCheck {
  /** The time of the check. RFC 3339. */
  at: string;
  /** The number of bytes of file content that were read. */
  bytes: number;
  /** The number of checkpoints that were read. */
  checkpoints: number;
  /** What could not be read or does not match. */
  failed: string[] | null;
  /** The number of files and directories that were read. */
  objects: number;
}

export interface RemoteCheckBody {
  /** The name of the remote. */
  name: string;
  /** The share of all file content to read, from 0 (structure only) to 1. */
  share?: number;
}

export interface RemoteList {
  /** The remotes, by name. */
  remotes: Remote[];
}

export interface RemoteProtection {
  /** For so many days nobody can delete what was uploaded. Absent if it is not locked. */
  locked_days?: number;
  /** If true, it refuses to replace what it has. */
  refuses: boolean;
  /** If true, it keeps what is deleted as an older version. */
  versioned?: boolean;
}

export interface RemoteWorkspace {
  /** The name of the workspace. */
  name: string;
  /** The number of its newest checkpoint. */
  newest: number;
  /** The number of its checkpoints that have not been uploaded. */
  pending: number;
  /** The number of the newest checkpoint that the remote has for sure. 0 means none. */
  uploaded: number;
  /** The workspace's ID. */
  workspace: string;
}

export interface Rescue {
  /** The size of the saved files, in bytes. */
  bytes: number;
  /** The number of the other workspace's checkpoint that has the files. */
  checkpoint?: number;
  /** The number of names. */
  count: number;
  /** The absolute path of the directory that the names are in. Empty if only the running command knows it. */
  dir: string;
  /** The number of saved files. */
  files: number;
  /** The names in the directory that the call could destroy, the first 20 of them. */
  names: string[] | null;
  /** Why nothing of it is saved, or not all. Absent if everything is saved. */
  not_saved?: string;
  /** The object ID of the saved directory, which has these names only. Absent if nothing is saved here. */
  tree?: string;
  /** The ID of the workspace that the files are in, if it is another one. */
  workspace?: string;
}

export interface RestoreBody {
  /** The classes of warnings that you accept. */
  accept?: string[];
  /** The value that you sent for the plan. */
  asker?: number;
  /** The value that you sent for the plan. */
  course: string;
  /** The plan's digest, or its first eight characters with or without a dash. */
  digest: string;
  /** The value that you sent for the plan. */
  edits?: boolean;
  /** The value that you sent for the plan. */
  fork?: string;
  /** The value that you sent for the plan. */
  from?: string;
  /** The value that you sent for the plan. */
  git?: boolean;
  /** The value that you sent for the plan. */
  hunks?: Hunk[];
  /** Your own ID for the new checkpoint, cp_ and a UUID, so that you can retry safely. Empty means that Retake creates one. */
  id?: string;
  /** The value that you sent for the plan. */
  paths?: string[];
  /** The exact bytes of all paths, if one of them is not valid UTF-8. */
  paths_raw?: string[];
  /** The value that you sent for the plan. */
  ref?: string;
  /** The value that you sent for the plan. */
  session?: string;
  /** The value that you sent for the plan. */
  spread?: boolean;
  /** The value that you sent for the plan. */
  to?: string;
}

export interface RestoreResult {
  /** The checkpoint after the restore. */
  checkpoint: Checkpoint;
  /** The number of deleted paths. */
  deleted: number;
  /** The paths that could not be changed, with the reason. They are left as is. */
  failed: Failure[];
  /** Git repositories that were left as is. */
  git?: GitLeft[];
  /** Processes that still have the replaced files open. */
  holders?: Holder[];
  /** The number of paths that differ and were left as is. */
  kept: number;
  /** The number of merged files. */
  merged: number;
  /** The results in the other workspaces of the turn, in the order of the plan. */
  others?: RestoreResult[];
  /** If true, every written file was read again and matches the plan. */
  read_back: boolean;
  /** The safety checkpoint, which contains the files from before the restore. */
  safety: Checkpoint;
  /** The checkpoint that was restored. */
  target: Checkpoint;
  /** Problems that did not prevent the restore. */
  warnings: Warning[];
  /** The number of written paths. */
  written: number;
}

export interface RestoreSnapshotBody {
  /** The classes of warnings that you accept in advance. Needed only for what the safety snapshot does not contain, such as uncaptured. */
  accept?: string[];
  /** Your own ID for the new checkpoint, cp_ and a UUID, so that you can retry safely. Empty means that Retake creates one. */
  id?: string;
  /** Limit the operation to these paths, relative to the workspace's root. Empty means everything. */
  paths?: string[];
}

export interface Restored {
  /** The ID of the snapshot after the restore. */
  current_snapshot_id: string;
  /** The number of files that were deleted because the snapshot does not contain them. */
  files_deleted: number;
  /** The number of files that could not be changed. If it is not 0, the restore was done in part. */
  files_left: number;
  /** The number of files that were written. */
  files_restored: number;
  /** The ID of the safety snapshot, which contains the files from before. */
  safety_snapshot_id: string;
  /** The ID of the snapshot that was restored. */
  snapshot_id: string;
}

export interface ResumeBody {
  /** The directory to continue in. Empty means the directory that the agent worked in. */
  dir?: string;
  /** The exact bytes of dir, if they are not valid UTF-8. In base64. */
  dir_raw?: string;
  /** If true, nothing is written: a preview. */
  look?: boolean;
  /** The checkpoint to continue from, as a ref. Empty means the newest one of an agent. */
  ref?: string;
}

export interface Resumption {
  /** The agent's name. */
  agent: string;
  /** The checkpoint. */
  checkpoint: Checkpoint;
  /** The command that continues the conversation, with its arguments. */
  command: string[] | null;
  /** The directory to run the command in. */
  dir: string;
  /** The external actions that can't be undone. */
  effects: Effect[] | null;
  /** If true, the conversation ends at that turn. Otherwise it contains everything that was said. */
  exact: boolean;
  /** The first open task. */
  next?: Task;
  /** The note for the agent. */
  note: string;
  /** The ID of the new session, or of the original one if no fork was created. */
  session: string;
  /** The turn that was undone since and that the conversation still contains. */
  taken?: string;
  /** The to-do list at the checkpoint. */
  tasks: Task[] | null;
  /** Why the conversation does not end at that turn, or why there is no command. */
  why?: string;
}

export interface Return {
  /** The IDs of older checkpoints that the same undo took back. */
  also?: string[] | null;
  /** The ID of the safety checkpoint, which contains the files from before. */
  before: string;
  /** What was done: restore, undo, redo, adopt, finish or unwind. */
  course: string;
  /** The number of deleted paths. */
  deleted: number;
  /** The paths that could not be changed, with the reason. */
  failed?: Failure[] | null;
  /** The parts of one file's change that were undone. Absent means the whole change. */
  hunks?: Hunk[] | null;
  /** The number of paths that differ and were left as is. */
  kept?: number;
  /** The number of merged files. */
  merged?: number;
  /** The paths that it was limited to. Absent means everything. */
  paths?: string[] | null;
  /** The exact bytes of all `paths`, if one of them is not valid UTF-8. */
  paths_raw?: string[];
  /** The ID of the checkpoint that was restored, undone or redone. */
  target: string;
  /** The number of written paths. */
  written: number;
}

export interface RowChange {
  /** The values after the change, in column order. Absent for a deleted row. */
  after?: CellValue[] | null;
  /** The values before the change, in column order. Absent for an added row. */
  before?: CellValue[] | null;
  /** The columns that differ in an edited row, counted from 0. */
  cells?: number[] | null;
  /** The type of change: added, deleted or edited. */
  what: string;
}

export interface RowFlag {
  /** How grave it is: mismatch, warning or note. */
  tone: string;
  /** The reason. */
  why?: string;
  /** The word, such as risky. */
  word: string;
}

export interface RowPlace {
  /** The strokes that go on to the next row, by lane. Missing lanes are empty. */
  below?: number[];
  /** If true, no line is drawn to the row's parent, because no lane was free. */
  detached?: boolean;
  /** The lanes that end at this row. */
  joins?: number[];
  /** The strokes that end or begin at this row, by lane. */
  joint?: number[];
  /** The lane of the row. */
  lane: number;
  /** The lanes that begin at this row. */
  opens?: number[];
  /** If true, a restore left the row's line behind. */
  replaced?: boolean;
  /** The strokes that pass the row, by lane. */
  through?: number[];
}

export interface RowsDiff {
  /** The earlier checkpoint. Absent when the later one has no parent. */
  from?: Checkpoint;
  /** The number of tables without differences. */
  same: number;
  /** The tables that differ or could not be compared, or the table that you asked for. */
  tables: TableRows[];
  /** The later checkpoint. Absent when you compare with the current files. */
  to?: Checkpoint;
  /** Why nothing could be compared. */
  why?: string;
}

export interface Run {
  /** The time at which the run started. RFC 3339. */
  at: string;
  /** The error, if the run failed. */
  err?: string;
  /** How long it took, in nanoseconds. */
  took: number;
  /** The result, for people. */
  what: string;
}

export interface Safety {
  /** The number that the safety checkpoint has or will get. */
  number: number;
  /** If true, the checkpoint exists already, because nothing changed since. */
  there: boolean;
}

export interface SaveBody {
  /** A time limit in nanoseconds. If the save takes longer, a partial checkpoint is saved first. */
  budget?: number;
  /** Your own ID for the new checkpoint, cp_ and a UUID, so that you can retry safely. Empty means that Retake creates one. */
  id?: string;
  /** If true, no checkpoint is added when no file changed. */
  if_changed?: boolean;
  /** The checkpoint's message. */
  intent?: string;
  /** Pin the checkpoint under this name. */
  pin?: string;
  /** Why the checkpoint is taken. Empty means manual. */
  trigger?: string;
}

export interface SaveResult {
  /** The new checkpoint, or the latest one if `recorded` is false. */
  checkpoint: Checkpoint;
  /** If true, files differ from the checkpoint before. */
  created: boolean;
  /** The partial checkpoint that was saved first because `budget` ran out. */
  partial?: Checkpoint;
  /** If true, a checkpoint was added. */
  recorded: boolean;
  /** Problems that did not prevent the save. */
  warnings: Warning[] | null;
  /** The workspace. */
  workspace: Workspace;
}

export interface Schedule {
  /** The time at which the schedule was created. RFC 3339. */
  created: string;
  /** When it runs: five cron fields, in UTC. */
  cron: string;
  /** The schedule's ID: `sch_` and a UUID. */
  id: string;
  /** Each run starts up to this much later, in nanoseconds. */
  jitter: number;
  /** The last run. Absent if there was none. */
  last?: Run;
  /** The number of runs that were missed, for example while the server was down. */
  missed: number;
  /** The time of the next run. RFC 3339. */
  next: string;
  /** What it does: save, retain or drill. */
  work: string;
  /** The ID of the workspace to save. */
  workspace?: string;
}

export interface ScheduleBody {
  /** When to run: five cron fields, in UTC. */
  cron: string;
  /** Start each run up to this much later, in nanoseconds. */
  jitter?: number;
  /** What to do: save (a checkpoint, if files changed), retain (delete what retention no longer keeps) or drill (read stored data back). */
  work: string;
  /** The ID of the workspace to save. Empty means the namespace's default workspace. */
  workspace?: string;
}

export interface ScrubBody {
  /** Read everything, look for damaged content in the live workspaces, and store it again. */
  repair?: boolean;
  /** The share of all file content to read, from 0 (structure only) to 1. */
  share?: number;
}

export interface ScrubReport {
  /** The number of bytes that were read. */
  bytes: number;
  /** The number of checkpoints that were read. */
  checkpoints: number;
  /** The same as `failed`, as workspace, checkpoint and path. */
  damaged?: DamagedPath[] | null;
  /** What could not be read or did not match, for people. Empty means that all is well. */
  failed: string[] | null;
  /** The number of stored objects that were read. */
  objects: number;
  /** What could not be read before a repair and can be read now. */
  repaired?: DamagedPath[] | null;
}

export interface Segment {
  /** The size of the part, in bytes. */
  bytes: number;
  /** The object ID of the part. */
  object: string;
}

export interface Signal {
  /** The agent's name, such as `claude-code`. */
  agent: string;
  /** The tool call, for the events call and called. */
  call?: Call;
  /** If true, the agent can ask its user whether a call may run. */
  can_ask?: boolean;
  /** The directory that the agent works in. */
  dir: string;
  /** The error that ended the turn. */
  failed?: string;
  /** If true, the agent shows the response to its model. */
  hears?: boolean;
  /** The event's ID: `sg_` and a UUID. An event with a known ID does nothing. */
  id: string;
  /** If true, the turn began in another workspace, and works in this one, too. Retake sets it itself. */
  joined?: boolean;
  /** The type of event: session-start, prompt, call, called, tasks, turn-end, compact, sub-start, sub-end or session-end. */
  kind: string;
  /** If true, a program wrote the prompt. */
  machine?: boolean;
  /** The agent's last message in the turn. */
  message?: string;
  /** The agent's process ID, if it runs on this machine. */
  pid?: number;
  /** The prompt that starts the turn. */
  prompt?: string;
  /** Why the session started or ended: startup, resume, fork, clear or logout. */
  reason?: string;
  /** The number of background jobs that still run at the end of the turn. */
  running?: number;
  /** The agent's ID for the session. */
  session: string;
  /** The agent's ID for the subagent. */
  subagent?: string;
  /** The whole to-do list. */
  tasks?: Task[] | null;
  /** The time of the event. RFC 3339. */
  time: string;
  /** The file that the agent writes the conversation to. */
  transcript?: string;
  /** The agent's ID for the turn. */
  turn?: string;
  /** The agent's version. */
  version?: string;
}

export interface Snapshot {
  /** If true, the snapshot lacks nothing. */
  complete: boolean;
  /** The time at which the snapshot was taken. RFC 3339. */
  created_at: string;
  /** The number of files in the snapshot. */
  files: number;
  /** The checkpoint's message. */
  label: string;
  /** The checkpoint's number, for people. A number is never used twice in a workspace. */
  number: number;
  /** The size of all files in the snapshot, in bytes. */
  size_bytes: number;
  /** The snapshot's ID: cp_ and a UUID. */
  snapshot_id: string;
  /** The workspace's ID. */
  workspace_id: string;
}

export interface SnapshotBody {
  /** The checkpoint's message. */
  label?: string;
  /** Your own ID for the new checkpoint, cp_ and a UUID, so that you can retry safely. Empty means that Retake creates one. */
  snapshot_id?: string;
  /** The workspace's ID. Empty means the namespace's default workspace. */
  workspace_id?: string;
}

export interface SpacePlan {
  /** The storage limit, in bytes. 0 means no limit. */
  budget: number;
  /** The checkpoints to delete, oldest first. The list is never shortened. */
  drops: Drop[] | null;
  /** About how much disk space the cleanup frees, in bytes, including `garbage`. */
  frees: number;
  /** About how much no checkpoint needs already, in bytes. */
  garbage: number;
  /** The last cleanup. */
  last?: TidyUp;
  /** Why checkpoints are deleted that are not too old: budget, room or floor. Absent if there is no need. */
  need?: string;
  /** The disk space of the store. */
  store: StoreState;
  /** The checkpoints of each workspace. */
  workspaces: WorkspaceSpace[] | null;
}

export interface Spoken {
  /** The conversation that the lines are from. */
  conversation: Conversation;
  /** The messages, oldest first. Likely secrets are masked. */
  lines: SpokenLine[];
}

export interface SpokenLine {
  /** The text. Likely secrets are masked. */
  text: string;
  /** The tool that the agent calls, or the tool that returned the text. */
  tool?: string;
  /** Who wrote it: you, agent, tool or note. */
  who: string;
}

export interface Standing {
  /** The shell command. */
  command: string;
  /** The check's name. */
  name: string;
}

export interface StandingList {
  /** Pass it as cursor to get the next page. Absent on the last page. */
  next_cursor?: string;
  /** The checks. */
  standing: Standing[];
}

export interface State {
  /** The tool calls of the turn. */
  calls: Call[] | null;
  /** The checkpoint. */
  checkpoint: Checkpoint;
  /** The conversation. Absent if Retake does not have it. */
  conversation?: Conversation;
  /** The to-do list. */
  tasks: Task[] | null;
}

export interface Status {
  /** The check results of the latest checkpoint. */
  answers?: Answer[] | null;
  /** Background tasks that failed since the service started. Absent if none did. */
  background?: BackgroundTask[] | null;
  /** The state of the backup. Absent if none is set. */
  backup?: Backup;
  /** The number of checkpoints. */
  count: number;
  /** What cannot be read back from the store. Absent if no damage is known. */
  damage?: DamageState;
  /** The last test restore of a good checkpoint. */
  drill?: Drill;
  /** The newest good checkpoint: complete, and all checks passed. */
  good?: Checkpoint;
  /** The newest checkpoint. */
  latest?: Checkpoint;
  /** What changed since the newest checkpoint. */
  now: Counts;
  /** How the store is separated from the agent: same-user, separate-user, remote or remote+lock. */
  protection: string;
  /** The remotes that get this workspace. Absent if there are none. */
  remotes?: Remote[] | null;
  /** If true, a save is running, and `now` is not known. */
  saving?: boolean;
  /** The disk space of the store. */
  store: StoreState;
  /** How Retake notices changed files. */
  tracking: Tracking;
  /** The workspace. */
  workspace: Workspace;
}

export interface Step {
  /** What it does to the content, such as `users 20 → 500 rows`. Absent if that is not known. */
  means?: string;
  /** How the file is merged. */
  merge?: Merge;
  /** The current file. Absent if there is none. */
  now?: Entry;
  /** The path, relative to the workspace's root. */
  path: string;
  /** The exact bytes of `path`, if they are not valid UTF-8. In base64. */
  path_raw?: string;
  /** The file after the restore. Absent if it is deleted. */
  then?: Entry;
  /** The database that the file belongs to. All files of a database are replaced together. */
  unit?: string;
  /** The exact bytes of `unit`, if they are not valid UTF-8. In base64. */
  unit_raw?: string;
  /** The type of change: added (brought back), deleted, edited, retyped, moded or timed. */
  what: string;
}

export interface Stop {
  /** What can't be taken back: force-push, publish, deploy, delete, not-saved or repeat. */
  class: string;
  /** The ID of the external action, with which a person can approve it. Absent if the agent asks its user itself. */
  id?: string;
  /** The answer: ask (the agent asks its user) or deny. */
  policy: string;
  /** The reason, for the agent and its user. */
  text: string;
}

export interface StoreState {
  /** The size of the store, in bytes. */
  bytes: number;
  /** The minimum free space, in bytes. Below it, saves are refused. */
  floor: number;
  /** The free space on the store's disk, in bytes. */
  free: number;
}

export interface Story {
  /** The number of changed files and lines. */
  counts: StoryCounts;
  /** The number of changes on the machine that don't belong to the workspace. They are in `facts` only if you set `machine`. */
  elsewhere?: number;
  /** The changes by meaning, such as packages, settings and database tables. */
  facts: Fact[] | null;
  /** Marks that need attention. */
  flags: Flag[] | null;
  /** The earlier checkpoint. Absent when the later one has no parent. */
  from?: Checkpoint;
  /** A short summary. */
  gist: Gist;
  /** The changed files in groups, the most important first. */
  groups: Group[] | null;
  /** The later checkpoint. Absent when you compare with the current files. */
  to?: Checkpoint;
  /** Files whose changes could not be explained by meaning, with the reason. */
  unread: Unread[] | null;
}

export interface StoryCounts {
  /** The number of added files. */
  added: number;
  /** The number of deleted files. */
  deleted: number;
  /** The number of edited files. */
  edited: number;
  /** The number of removed lines, lock files not included. */
  minus: number;
  /** The number of files of which only mode, owner or extended attributes changed. */
  moded: number;
  /** The number of added lines, lock files not included. */
  plus: number;
  /** The number of renamed files. */
  renamed: number;
  /** The number of paths that changed their type, such as from file to link. */
  retyped: number;
  /** The number of files of which only the modification time changed. */
  timed: number;
}

export interface Subagent {
  /** The subagent's type, such as Explore. */
  name?: string;
  /** What the subagent was asked to do. Likely secrets are masked. */
  task?: string;
}

export interface Summary {
  /** The size of the files, in bytes. */
  bytes: number;
  /** The number of directories, including this one. */
  dirs: number;
  /** The number of files. */
  files: number;
  /** The newest modification time below the directory, in nanoseconds since 1970. */
  max_time: number;
  /** The number of symbolic links. */
  symlinks: number;
}

export interface SweepReport {
  /** The size of the store after it, in bytes. */
  after: number;
  /** The size of the store before it, in bytes. */
  before: number;
  /** The most extra disk space that was used while it ran, in bytes. */
  peak: number;
  /** How long it took, in nanoseconds. */
  took: number;
}

export interface SyncBody {
  /** The name of the remote. Empty means all. */
  name?: string;
  /** The number of a checkpoint of that workspace. It is enough that one remote has it. */
  number?: number;
  /** The ID of a workspace: only remotes that get it. Empty means all remotes. */
  workspace?: string;
}

export interface TableColumn {
  /** If true, rows are matched by this column. */
  key?: boolean;
  /** The column's name. */
  name: string;
  /** Either added or deleted. Absent if the column is on both sides. */
  what?: string;
}

export interface TableRows {
  /** The number of added rows. */
  added: number;
  /** The columns of the table that you asked for. */
  columns: TableColumn[];
  /** Columns that the database computes. They are not compared. */
  computed?: string[];
  /** The number of deleted rows. */
  deleted: number;
  /** The number of edited rows. */
  edited: number;
  /** The number of rows without differences. */
  equal: number;
  /** The table's name. */
  name: string;
  /** The rows of the table that you asked for: deleted, edited, then added ones, each in key order. */
  rows: RowChange[];
  /** The number of further columns, which are compared but not listed. */
  unlisted?: number;
  /** Whether the table was added, deleted or edited. Absent if it is the same. */
  what?: string;
  /** Why a part of the table could not be compared. The counts include only what was compared. */
  why?: string;
}

export interface Task {
  /** The task's ID in its list. */
  id: string;
  /** The state: pending, in-progress, completed, failed or skipped. */
  status: string;
  /** What to do. */
  title: string;
}

export interface TaskCount {
  /** The number of completed tasks. */
  done: number;
  /** The number of failed tasks. */
  failed?: number;
  /** The first task that is not done. */
  next?: string;
  /** The number of tasks. */
  total: number;
}

export interface TaskList {
  /** The tasks, in order. */
  tasks: Task[];
}

export interface ThinReport {
  /** The number of deleted checkpoints. */
  forgotten: number;
  /** By how much the store is still above its storage limit, in bytes. What must be kept takes more. */
  over?: number;
  /** The disk space that was freed. */
  sweep: SweepReport;
}

export interface TidyUp {
  /** The time of the cleanup. RFC 3339. */
  at: string;
  /** The number of checkpoints that were deleted since the cleanup before. */
  forgotten: number;
  /** The disk space that was freed, in bytes. */
  gave: number;
  /** How long it took, in nanoseconds. */
  took: number;
}

export interface Timeline {
  /** The checkpoints, newest first. */
  checkpoints: Checkpoint[] | null;
  /** What is known about each checkpoint, by checkpoint ID: a summary, check results, whether it is good. */
  findings: Record<string, Finding>;
  /** The newest good checkpoint, whether it is on this page or not. */
  good?: Checkpoint;
  /** Pass it as `cursor` to get the next page. Absent on the last page. */
  next_cursor?: string;
  /** The pins of the workspace. */
  pins: Pin[] | null;
  /** The number of checkpoints in the whole timeline. */
  total: number;
  /** How far the workspace is uploaded. Absent if it has no remote. */
  upload?: Upload;
  /** The workspace. */
  workspace: Workspace;
}

export interface TimelineRow {
  /** More about what a folded row contains. */
  about?: string;
  /** If true, the fork was adopted. */
  adopted?: boolean;
  /** The results of checks, worst first. */
  answers?: Answer[];
  /** The number of the checkpoint that this one is compared with, if known. */
  base?: number;
  /** What changed since the newest checkpoint, in a row of kind now. Absent while it is not known. */
  changed?: Counts;
  /** The checkpoint, in a row of kind checkpoint. */
  checkpoint?: Checkpoint;
  /** How many checkpoints a folded row contains, or how many forks a row of kind more stands for. */
  count?: number;
  /** If true, the points are only counts, because nobody looked into the files yet. */
  counted?: boolean;
  /** The number of changed files. For the first checkpoint, the number of files in it. */
  files: number;
  /** The number of the oldest checkpoint in a folded row. */
  first?: number;
  /** What to know before trusting the checkpoint, worst first. */
  flags?: RowFlag[];
  /** The fork, in a row of kind fork. */
  fork?: WorkspaceState;
  /** If true, the checkpoint is good. */
  good?: boolean;
  /** If true, the points say more than the title. */
  heavy?: boolean;
  /** The rows that a folded row stands for. */
  inside?: TimelineRow[];
  /** A name of the row that stays the same. Pass the key of a folded row in `open` to open it. */
  key: string;
  /** What the row stands for: now, checkpoint, quiet, replaced, fork or more. */
  kind: string;
  /** What changed, in one or two words. */
  lead?: string;
  /** If true, the files are at this checkpoint. */
  newest?: boolean;
  /** The checkpoint's number. In a folded row, the number of the newest checkpoint in it. */
  number?: number;
  /** The names of the checkpoint's pins. */
  pins?: string[];
  /** The row's place in the graph. */
  place: RowPlace;
  /** What changed, most important first. */
  points?: Point[];
  /** The checkpoint's time. In a folded row, the time of the oldest checkpoint in it. RFC 3339. */
  time?: string;
  /** The title. It is not escaped. */
  title: string;
  /** In a folded row, the time of the newest checkpoint in it. RFC 3339. */
  until?: string;
  /** Who did it, such as claude or you. */
  who?: string;
  /** If true, somebody wrote the title. Otherwise it is made from facts. */
  written?: boolean;
}

export interface TimelineView {
  /** If true, a check was run on at least one checkpoint. */
  checked?: boolean;
  /** The newest good checkpoint, whether it is in this part or not. */
  good?: Checkpoint;
  /** The number of lanes of the graph. */
  lanes: number;
  /** The number of the checkpoint that the files are at, if known. */
  newest?: number;
  /** How the store is protected, if `now` was asked for. */
  protection?: string;
  /** The rows, newest first. */
  rows: TimelineRow[];
  /** The number of checkpoints that the rows stand for. */
  shown: number;
  /** The number of checkpoints in the whole timeline. */
  total: number;
  /** If true, no checkpoint in between is left out, and the rows form a graph. */
  tree?: boolean;
  /** How far the workspace is uploaded. Absent if it has no remote. */
  upload?: Upload;
  /** The workspace. */
  workspace: Workspace;
}

export interface Tombstone {
  /** The time at which it was deleted. RFC 3339. */
  at: string;
  /** The deleted checkpoint's ID. */
  id: string;
  /** The deleted checkpoint's number. It is never used again. */
  number: number;
  /** The ID of the checkpoint before it. */
  parent?: string;
  /** The time at which the checkpoint had been taken. RFC 3339. */
  time: string;
}

export interface TombstoneList {
  /** A tombstone for each deleted checkpoint. */
  tombstones: Tombstone[];
}

export interface Tracking {
  /** The last comparison of all files with what the watcher reported. */
  check?: CrossCheck;
  /** How often the watcher could not be trusted, so that Retake checked every file. */
  doubts: number;
  /** The number of changes that the watcher reported since it started. */
  events: number;
  /** The watcher: fanotify, inotify, or scan (every file is checked). */
  mode: string;
  /** The number of processes that Retake can't inspect for memory-mapped files. */
  unseen: number;
  /** Why a better mode is not used, or why the next save checks every file. */
  why?: string;
}

export interface Try {
  /** The time of the attempt. RFC 3339. */
  at: string;
  /** The HTTP status of the receiver. Absent if it did not respond. */
  status?: number;
  /** How long it took, in nanoseconds. */
  took: number;
  /** Why the attempt failed. */
  why?: string;
}

export interface Turn {
  /** The agent's name, such as `claude-code`. */
  agent: string;
  /** The time at which the turn started, as the agent reported it. RFC 3339. */
  began?: string;
  /** The number of tool calls so far. */
  calls?: number;
  /** The risky command that the checkpoint was taken before. */
  command?: string;
  /** Other sessions that worked at the same time, such as `codex 0f3a`. */
  contested?: string[] | null;
  /** The directory that the agent was started in, relative to the workspace's root. */
  dir?: string;
  /** The error that ended the turn. */
  failed?: string;
  /** The agent's ID for the turn. */
  id?: string;
  /** The time between the event and the reading of the files, in nanoseconds. */
  late?: number;
  /** If true, a program wrote the prompt. */
  machine?: boolean;
  /** The files that the agent's file tools wrote so far, relative to the workspace's root. */
  paths?: string[] | null;
  /** The prompt. */
  prompt?: string;
  /** Why the command is risky. */
  risk?: string;
  /** The number of background jobs that were still running, so that files could still change. */
  running?: number;
  /** The agent's ID for the session. */
  session: string;
  /** The agents that this agent started. */
  subagents?: Subagent[] | null;
  /** The to-do list in numbers. */
  tasks?: TaskCount;
  /** The agent's version. */
  version?: string;
  /** The start of the agent's last message. Likely secrets are masked. */
  words?: string;
}

export interface Unprotected {
  /** What to do about it, one step per line. */
  hint?: string;
  /** The reason. */
  why: string;
}

export interface Unread {
  /** The path of the file. */
  path: string;
  /** The reader that tried. */
  reader: string;
  /** The reason, for people. */
  why: string;
}

export interface Upload {
  /** If true, the last upload failed. */
  failing?: boolean;
  /** The name of the remote. */
  remote: string;
  /** The newest checkpoint that was uploaded. Those before it were, too. */
  through: number;
}

export interface Usage {
  /** The size of the store, in bytes. */
  bytes: number;
  /** The number of checkpoints. */
  checkpoints: number;
  /** The ten API keys that added most. A key that is not an admin key sees only itself. */
  largest_keys: KeyUsage[] | null;
  /** The ten workspaces whose checkpoints added most. */
  largest_workspaces: WorkspaceUsage[] | null;
  /** The limits of the namespace. */
  limits: Limits;
  /** The namespace's name. */
  namespace: string;
  /** The store and the shares that are nearly full. Empty while none is. */
  nearly_full: Fullness[] | null;
  /** The number of workspaces. */
  workspaces: number;
}

export interface Verification {
  /** If true, the check ran during a bisect and does not decide whether a checkpoint is good. */
  bisect?: boolean;
  /** Who reported the result: `retake` if Retake ran the check, else a person or an agent. */
  by: string;
  /** The checkpoint's ID. */
  checkpoint: string;
  /** If true, an agent reported the result and Retake did not see the check run. */
  claim?: boolean;
  /** The command that ran. */
  command: string;
  /** The content ID of the files. The result also applies to other checkpoints with the same content ID. */
  content: string;
  /** The exit code. */
  exit: number;
  /** The ID of the result: `vf_` and a UUID. */
  id: string;
  /** The check's name. */
  name: string;
  /** The checkpoint's number. */
  number: number;
  /** The end of the output. Likely secrets are masked. Only if you ask for one checkpoint. */
  output?: string;
  /** What the test runner counted, such as `14 of 212 failed`. */
  score?: string;
  /** The time at which the command started. RFC 3339. */
  started: string;
  /** How long the command ran, in nanoseconds. */
  took: number;
  /** The result: passed, failed, could-not-run, changed (files changed while it ran) or running. */
  verdict: string;
  /** Where the command ran: live (the workspace), fork (a temporary fork at the workspace's path) or elsewhere. */
  where: string;
  /** Why it could not run, or which files changed. */
  why?: string;
  /** The workspace's ID. */
  workspace: string;
  /** Files that the command left in the workspace. */
  wrote?: string[] | null;
}

export interface VerificationList {
  /** Pass it as cursor to get the next page. Absent on the last page. */
  next_cursor?: string;
  /** The results. */
  verifications: Verification[];
}

export interface ViewedPlan {
  /** The plan. */
  plan: Plan;
  /** The plan in words. */
  view: PlanView;
}

export interface Warning {
  /** The type of problem, for programs. */
  code: string;
  /** The problem, for people. */
  text: string;
}

export interface Webhook {
  /** The time at which the webhook was created. RFC 3339. */
  created: string;
  /** The time at which the webhook was disabled. Absent while it is enabled. RFC 3339. */
  disabled?: string;
  /** The webhook's ETag. Send it in `If-Match` when you change the webhook. */
  etag?: string;
  /** The webhook's ID: `wh_` and a UUID. */
  id: string;
  /** The public key to verify signatures with. Only with the scheme v1a. */
  public?: string;
  /** The time at which the secret was last replaced. For one day after that, messages are signed with both secrets. RFC 3339. */
  rotated?: string;
  /** How messages are signed: v1 (a shared secret) or v1a (a key pair). */
  scheme: string;
  /** The event types to send. Empty means all, without the snapshot.* aliases. */
  types: string[];
  /** The URL that receives the events. */
  url: string;
  /** Why the webhook is disabled. */
  why?: string;
  /** The only workspace whose events are sent. Absent means all. */
  workspace_id?: string;
}

export interface Worker {
  /** The agent's name. */
  agent: string;
  /** The agent's ID for the session. */
  session: string;
  /** The time at which the turn started. RFC 3339. */
  since: string;
}

export interface Workspace {
  /** The time at which the workspace was created. RFC 3339. */
  created: string;
  /** The device number of the root directory. */
  dev: number;
  /** The time at which protection ended. Absent while the directory is protected. The history is kept. RFC 3339. */
  ended?: string;
  /** The workspace's ID: `ws_` and a UUID. */
  id: string;
  /** The inode number of the root directory. */
  ino: number;
  /** A restore that stopped halfway. Only `locate` and `status` report it. */
  interrupted?: Interruption;
  /** The workspace's name. */
  name: string;
  /** The exact bytes of `name`, if they are not valid UTF-8. In base64. */
  name_raw?: string;
  /** The checkpoint that a fork was created from. Absent if it is not a fork. */
  origin?: Origin;
  /** The absolute path of the root directory. */
  root: string;
  /** The exact bytes of `root`, if they are not valid UTF-8. In base64. */
  root_raw?: string;
  /** Why the newest checkpoints may be missing from lists. Only `locate` reports it. */
  stale?: string;
  /** Why no checkpoint can be taken now. Absent if one can. Only `locate`, `status`, lists of workspaces and the timeline view report it. */
  unprotected?: Unprotected;
}

export interface WorkspaceList {
  /** Pass it as cursor to get the next page. Absent on the last page. */
  next_cursor?: string;
  /** The workspaces. */
  workspaces: WorkspaceState[];
}

export interface WorkspaceSpace {
  /** The bytes that the checkpoints of each of the last thirty days added, today last. First checkpoints are not included. */
  brought: number[] | null;
  /** Why nothing of this workspace is deleted at present. */
  closed?: string;
  /** The number of checkpoints of each of the last thirty days, today last. */
  days: number[] | null;
  /** The age after which checkpoints are deleted even if a rule keeps them, in nanoseconds. Pins, the newest one, fork bases and checkpoints in use are kept. 0 means never. */
  gone_after: number;
  /** How many checkpoints each rule keeps. */
  kept: KeptFor[] | null;
  /** How long checkpoints are kept at least, in nanoseconds. Only days on which you work count. 0 means forever. */
  within: number;
  /** The workspace's ID. */
  workspace: string;
}

export interface WorkspaceState {
  /** The number of checkpoints. */
  count: number;
  /** The time at which the workspace was created. RFC 3339. */
  created: string;
  /** The device number of the root directory. */
  dev: number;
  /** The time at which protection ended. Absent while the directory is protected. The history is kept. RFC 3339. */
  ended?: string;
  /** If true, the root directory does not exist. */
  gone: boolean;
  /** The workspace's ID: `ws_` and a UUID. */
  id: string;
  /** The inode number of the root directory. */
  ino: number;
  /** A restore that stopped halfway. Lists don't report it. */
  interrupted?: Interruption;
  /** The newest checkpoint. */
  latest?: Checkpoint;
  /** The workspace's name. */
  name: string;
  /** The exact bytes of `name`, if they are not valid UTF-8. In base64. */
  name_raw?: string;
  /** The checkpoint that a fork was created from. Absent if it is not a fork. */
  origin?: Origin;
  /** The absolute path of the root directory. */
  root: string;
  /** The exact bytes of `root`, if they are not valid UTF-8. In base64. */
  root_raw?: string;
  /** Why the newest checkpoints may be missing. Lists don't report it. */
  stale?: string;
  /** Why no checkpoint can be taken now. Only `locate`, `status`, lists of workspaces and the timeline view report it. */
  unprotected?: Unprotected;
}

export interface WorkspaceUsage {
  /** The size of the new and changed files in these checkpoints, in bytes. The store takes less: it stores equal content once, and compresses. */
  bytes: number;
  /** The workspace's name. */
  name: string;
  /** The workspace's ID. */
  workspace: string;
}
