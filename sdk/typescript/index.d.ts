// The calls. Answers are as they are on the wire: see types.d.ts.

import type {
  About,
  AttestBody,
  AuditEntry,
  AuditProof,
  Blame,
  Checkpoint,
  Comparison,
  Deletion,
  Delivery,
  Effect,
  Entry,
  Event,
  EventData,
  ForkResult,
  Hit,
  Key,
  LimitsBody,
  Mention,
  Namespace,
  NewKey,
  NewWebhook,
  Pin,
  Plan,
  Proof,
  Reaction,
  RebuildReport,
  RestoreResult,
  Resumption,
  RowsDiff,
  SaveResult,
  Schedule,
  ScrubReport,
  Signal,
  SpacePlan,
  Standing,
  State,
  Status,
  StoreState,
  Story,
  SweepReport,
  Task,
  ThinReport,
  Timeline,
  Usage,
  Verification,
  Webhook,
  Workspace,
  WorkspaceState,
} from "./types.js";

export type * from "./types.js";

/** A name below the root of a workspace; bytes when it is no text. */
export type Path = string | Uint8Array;
export type Paths = Path | Path[];
export type Time = string | Date;

export interface Options {
  /** The id of a workspace. Without one: the default one of the namespace. */
  workspace?: string;
  /** How often a request is sent again, ever later. 5 when it is not said. */
  retries?: number;
  /** Milliseconds for a whole answer. Streams have no end. */
  timeout?: number;
  /** What sends requests, for proxies and certificates. */
  fetch?: typeof globalThis.fetch;
  /** Ends everything that is under way. */
  signal?: AbortSignal;
}

export interface SaveOptions {
  /** Pins it under this name. */
  pin?: string;
  /** Adds no checkpoint when no file changed. */
  ifChanged?: boolean;
  trigger?: string;
  /** Nanoseconds. */
  budget?: number;
  /** Of the checkpoint: cp_ and a UUID of version 7, so that asking again adds nothing. */
  id?: string;
}

export interface Which {
  since?: Time;
  /** A number to go on below. */
  before?: number;
  good?: boolean;
  path?: Path;
  session?: string;
  limit?: number;
}

export interface Way {
  /** restore, undo, redo, adopt, finish or unwind. */
  course?: string;
  /** None: everything. */
  paths?: Paths;
  /** Also replaces repositories that are there. */
  git?: boolean;
  /** The fork to adopt. */
  fork?: string;
}

/** A server of Retake, as one key sees it. */
export class Retake {
  constructor(url: string | URL, key: string, options?: Options);
  /** The same server and key, for another workspace. */
  workspace(id: string): Retake;

  /** Takes a checkpoint. */
  save(intent?: string, options?: SaveOptions): Promise<Checkpoint>;
  /** Takes a checkpoint, and tells what else there is to say. */
  saveResult(intent?: string, options?: SaveOptions): Promise<SaveResult>;
  /** The timeline, newest first. It is fetched in parts of page as they are needed. */
  checkpoints(which?: Which & { page?: number }): AsyncGenerator<Checkpoint>;
  /** One part of the timeline, with the pins and what is known of each checkpoint. */
  timeline(which?: Which): Promise<Timeline>;
  /** The checkpoint that a ref names: an id, a number, a pin, latest. Without one, here and below, it is latest. */
  checkpoint(ref?: string): Promise<Checkpoint>;
  status(): Promise<Status>;
  /** Ends the protection; the history stays. */
  deinit(): Promise<Workspace>;
  /** What differs between two checkpoints. Without to: now. */
  diff(from?: string, to?: string, options?: { paths?: Paths }): Promise<Comparison>;
  /** What really changed between two checkpoints, by meaning. */
  story(from?: string, to?: string, options?: { paths?: Paths }): Promise<Story>;
  /** What differs between the rows of a SQLite database at two checkpoints. With a table its rows are listed, else those that differ are counted. */
  rows(path: Path, options?: { from?: string; to?: string; table?: string; what?: "deleted" | "edited" | "added"; skip?: number; limit?: number }): Promise<RowsDiff>;
  search(text: string, options?: { limit?: number }): Promise<Hit[]>;
  /** Which checkpoint wrote each line of a file. */
  blame(path: Path, options?: { ref?: string }): Promise<Blame>;
  /** The checkpoints in which a fact, such as a package, changed. */
  chronicle(kind: string, options?: { name?: string; limit?: number }): Promise<Mention[]>;
  /** The entries of a directory at a checkpoint. */
  entries(dir?: Path, options?: { ref?: string }): Promise<Entry[]>;
  /** The bytes of a file at a checkpoint, or the text of a link. */
  read(path: Path, options?: { ref?: string }): Promise<Uint8Array>;
  /** Writes a file of the workspace. It takes no checkpoint. mode is octal, such as "755". */
  writeFile(path: Path, content: Uint8Array, options?: { mode?: string }): Promise<FileWritten>;
  /** Removes a file or an empty directory of the workspace. It takes no checkpoint. */
  removeFile(path: Path): Promise<void>;
  /** A checkpoint as a tar archive, as it arrives. */
  archive(ref: string): AsyncGenerator<Uint8Array>;
  /** Says what going back would do, and touches nothing. */
  plan(ref?: string, way?: Way): Promise<Plan>;
  /** Does exactly the plan; when the files changed since, the error is moved. */
  apply(plan: Plan, options?: { accept?: string[]; git?: boolean }): Promise<RestoreResult>;
  /**
   * Plans and goes back in one call. What was there is in safety, whole; so changed, deleted and open files need no
   * confirmation unless accept says otherwise. With obstacles that are not in accept nothing is done: the error is
   * denied and has the plan. Paths that could not be changed are in failed.
   */
  restore(ref?: string, way?: Way & { accept?: string[] }): Promise<RestoreResult>;
  /** Creates a new workspace from a checkpoint. dir is one of the server, which makes one by the name when there is none. */
  fork(name: string, options?: { ref?: string; dir?: string; throwaway?: boolean }): Promise<ForkResult>;
  forks(): Promise<WorkspaceState[]>;
  /** All pins; holds are among them. */
  pins(): Promise<Pin[]>;
  pin(name: string, ref: string): Promise<Pin>;
  unpin(name: string): Promise<void>;
  /** Puts a legal hold on a checkpoint: nothing takes it until the hold ends. */
  hold(name: string, ref: string): Promise<Pin>;
  release(name: string): Promise<void>;
  /** Records what a command answered. */
  attest(command?: string, options?: Omit<AttestBody, "command">): Promise<Verification>;
  verifications(which?: { ref?: string; name?: string; command?: string; limit?: number }): Promise<Verification[]>;
  /** The verifications that are wanted of every checkpoint. */
  standing(): Promise<Standing[]>;
  tasks(): Promise<Task[]>;
  setTasks(tasks: Task[]): Promise<Reaction>;
  /** What was done outside since a checkpoint, which no restore can undo. */
  effects(since?: string): Promise<Effect[]>;
  /** Lets a call that the policy stopped pass once. */
  approve(effect: string): Promise<Effect>;
  /** What the agent held at a checkpoint: tasks, calls, its conversation. */
  state(ref?: string): Promise<State>;
  conversation(ref?: string): Promise<Uint8Array>;
  /** Makes a fork of the conversation that ends at a checkpoint. look: writes nothing. */
  resume(ref?: string, options?: { dir?: string; look?: boolean }): Promise<Resumption>;
  proof(ref?: string): Promise<Proof>;
  /** Asks for the deletion of checkpoints. It is done when the grace ends. */
  requestDeletion(refs: string[], options?: { why?: string }): Promise<Deletion>;

  about(): Promise<About>;
  /** The namespace that the key is of: its limits, its default workspace. */
  namespace(): Promise<Namespace>;
  usage(): Promise<Usage>;
  /** Changes limits; what is not named stays. 0 is no bound. With the etag of the namespace in ifMatch it fails with the code precondition_failed if others changed them since. */
  setLimits(limits: LimitsBody, options?: { ifMatch?: string }): Promise<Namespace>;
  workspaces(): Promise<WorkspaceState[]>;
  /** Makes a workspace and takes its first checkpoint. dir is one of the server, which makes one by the name when there is none. */
  init(name?: string, options?: { dir?: string; accept?: string[]; mark?: string }): Promise<SaveResult>;
  /** Makes a workspace of a tar archive, plain or packed. It is sent once: the server keeps no answer for it. */
  importArchive(archive: Uint8Array | Blob | ReadableStream<Uint8Array>, options?: { name?: string; intent?: string }): Promise<SaveResult>;
  keys(): Promise<Key[]>;
  /** Makes a key. Its secret is told once. */
  makeKey(kind: string, options?: { name?: string; workspaces?: string[]; expires?: Time }): Promise<NewKey>;
  revokeKey(id: string): Promise<Key>;
  webhooks(): Promise<Webhook[]>;
  /** Tells an address of events. The secret is told once; verifyWebhook takes it. */
  makeWebhook(url: string, options?: { types?: string[]; scheme?: "v1" | "v1a" }): Promise<NewWebhook>;
  /** Replaces address and types. With a time in disabled it gets nothing. With its etag in ifMatch it fails with the code precondition_failed if others changed it since. */
  changeWebhook(id: string, options: { url: string; types?: string[]; disabled?: Time; ifMatch?: string }): Promise<Webhook>;
  dropWebhook(id: string): Promise<void>;
  /** Makes a new secret; the old one signs too for a day. */
  rotateWebhook(id: string): Promise<NewWebhook>;
  /** Messages and their tries, newest first. */
  deliveries(which?: { webhook?: string; state?: string; limit?: number; page?: number }): AsyncGenerator<Delivery>;
  delivery(id: string): Promise<Delivery>;
  replay(id: string): Promise<Delivery>;
  /** What happened behind an event, oldest first, in one part. wait: how long for the first, such as 20s. */
  events(after?: number, options?: { limit?: number; wait?: string }): Promise<Event[]>;
  /**
   * What happens behind an event, without end; 0 is the beginning. A stream that breaks off is taken up again behind the
   * last event that was given.
   */
  follow(after?: number): AsyncGenerator<Event>;
  schedules(): Promise<Schedule[]>;
  /** Does save, retain or drill on a cadence: cron has five fields, in UTC. jitter is nanoseconds. */
  makeSchedule(work: string, cron: string, options?: { workspace?: string; jitter?: number }): Promise<Schedule>;
  dropSchedule(id: string): Promise<void>;
  /** Who did what, newest first. */
  audit(which?: { limit?: number; page?: number }): AsyncGenerator<AuditEntry>;
  /** Reads the whole audit log and every anchor. */
  checkAudit(): Promise<AuditProof>;
  deletions(): Promise<Deletion[]>;
  cancelDeletion(id: string): Promise<Deletion>;
  /** Tells what an agent does: a prompt, a call, the end of a turn. Its dir is one of the server. */
  observe(signal: Signal): Promise<Reaction>;
  /** Stored bytes by the address that an entry has. */
  stored(id: string): Promise<Uint8Array>;
  space(): Promise<StoreState>;
  /** What the next cleanup would drop; it drops nothing. */
  spacePlan(): Promise<SpacePlan>;
  /** Reads the store back: a share of all bytes, 0 to 1. */
  scrub(share?: number): Promise<ScrubReport>;
  sweep(): Promise<SweepReport>;
  thin(): Promise<ThinReport>;
  rebuild(): Promise<RebuildReport>;
}

/** What did not work, whether anything was changed, and what to do next. Branch on code; kinds are added, never changed. */
export class RetakeError extends Error {
  constructor(code: string, what: string, more?: object);
  code: string;
  what: string;
  safe: string;
  hint: string;
  nextSteps: string[];
  requestId: string;
  /** What lies below, as the server tells it. */
  below: string;
  status: number;
  /** The same request may work later. */
  retryable: boolean;
  /** Of a restore that has obstacles: what it would do. */
  plan: Plan | null;
}

/** What a webhook is told. */
export interface Message {
  type: string;
  timestamp: string;
  data: EventData;
}

/**
 * The message, when one of its signatures fits and it is not older than five minutes; else the error is denied. body is
 * what was received, byte for byte. A message may come twice: its webhook-id is the same then.
 */
export function verifyWebhook(
  secret: string,
  headers: Headers | Record<string, string>,
  body: string | Uint8Array,
  now?: number,
): Promise<Message>;
