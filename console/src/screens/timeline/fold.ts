// What becomes one row: a checkpoint, a run of quiet ones, a line that was left behind and
// folded, a fork. The rules are those of the terminal's timeline.
import type { Checkpoint, Finding, Pin, Turn, WorkspaceState } from "../../api/types.ts";
import { changedFiles, type Goals } from "../../words/checkpoint.ts";
import { mostLanes, type Twig } from "./lanes.ts";

/** So many quiet neighbours are folded. */
const quietRun = 3;

/** A fork as a lane of its origin. */
export interface ForkLine {
  state: WorkspaceState;
  adopted: readonly string[]; // checkpoints of the origin that took it in
}

/** One row before it is drawn. */
export interface Rung {
  kind: "checkpoint" | "quiet" | "left" | "fork";
  at: number; // the first of its checkpoints, newest first; of a fork: of what it forked from
  n: number; // how many
  fork?: ForkLine;
  more?: number; // forks of the same checkpoint that have no row; told above the first that has
  parent: number; // as in Twig
}

export interface Told {
  checkpoints: readonly Checkpoint[]; // newest first
  findings: ReadonlyMap<string, Finding>;
  pins: readonly Pin[];
  forks: readonly ForkLine[];
  open: ReadonlySet<string>; // folds that somebody opened, by foldKey
  leftFolded: boolean;
}

export const foldKey = (c: Checkpoint): string => `fold-${c.number}`;

/** So many checkpoints are one step. */
const step = 1000;

/** Makes rungs of checkpoints. */
export function* folding(t: Told): Generator<void, Rung[]> {
  const own = standing(t);
  const behind = t.leftFolded ? behindOf(t.checkpoints) : undefined;
  yield;
  const cs = t.checkpoints;
  const out: Rung[] = [];
  const take = (kind: Rung["kind"], at: number, n: number) => out.push({ kind, at, n, parent: -1 });
  let since = 0;
  for (let i = 0; i < cs.length; ) {
    let end = i;
    let kind: Rung["kind"] = "quiet";
    if (behind?.has(cs[i]!.id)) {
      kind = "left";
      while (end < cs.length && behind.has(cs[end]!.id)) end++;
    } else {
      while (end < cs.length && !own.has(cs[end]!.id) && !behind?.has(cs[end]!.id) && quiet(cs, end, t.findings)) end++;
    }
    const least = kind === "left" ? 2 : quietRun;
    if (end - i >= least && !t.open.has(foldKey(cs[i]!))) {
      take(kind, i, end - i);
      i = end;
    } else {
      const stop = Math.max(end, i + 1);
      for (; i < stop; i++) take("checkpoint", i, 1);
    }
    if (i - since >= step) {
      since = i;
      yield;
    }
  }
  return out;
}

/** Checkpoints that have a row of their own: something else forked from them, or points at them. */
function standing(t: Told): Set<string> {
  const own = new Set<string>();
  const cs = t.checkpoints;
  cs.forEach((c, i) => {
    if (i === 0 || cs[i - 1]!.parent !== c.id) own.add(c.id);
    if (c.parent && i + 1 < cs.length && cs[i + 1]!.id !== c.parent) own.add(c.parent);
    if (c.return) own.add(c.return.target).add(c.return.before);
  });
  for (const p of t.pins) own.add(p.checkpoint);
  for (const f of t.forks) if (f.state.origin) own.add(f.state.origin.checkpoint);
  return own;
}

/** The checkpoints that do not lie on the way to the newest one. Where that way leaves what is
 *  known, nothing is said. */
export function behindOf(cs: readonly Checkpoint[]): Set<string> {
  const behind = new Set<string>();
  let next = cs[0]?.id;
  let passed: string[] = [];
  for (const c of cs) {
    if (c.id !== next) {
      passed.push(c.id);
      continue;
    }
    for (const id of passed) behind.add(id);
    passed = [];
    next = c.parent;
  }
  return behind;
}

const loud = new Set(["init", "return", "fork", "safety", "complete"]);

/** The intent of an auto-checkpoint that could not wait for rest. */
const stillMoving = "while files went on changing";

/** Whether a checkpoint says nothing that somebody would look for. */
function quiet(cs: readonly Checkpoint[], i: number, found: ReadonlyMap<string, Finding>): boolean {
  const c = cs[i]!;
  if (c.effects?.length || c.return || c.coverage.grade === "partial" || (c.turn && heavyTurn(c.turn)) || loud.has(c.trigger)) return false;
  const f = found.get(c.id);
  if ((c.intent && c.intent !== stillMoving && !leadsOn(cs, i)) || news(f)) return false;
  return changedFiles(c) === 0 || (c.trigger === "quiet" && plainEdits(c, f)) || !!f?.gist?.moving;
}

const around = new Set(["packages", "settings", "database", "machine"]);

/** Whether files were only written: nothing went, and nothing around the source changed. */
const plainEdits = (c: Checkpoint, f?: Finding): boolean => c.changed.deleted === 0 && (f?.gist?.points ?? []).every((p) => !around.has(p.theme));

/** Whether something was found out that was not so at the checkpoint before. */
function news(f?: Finding): boolean {
  return !!f?.answers?.some((a) => a.was || a.verdict === "running") || !!f?.gist?.flags?.length;
}

/** Whether a checkpoint was taken before a turn and is nothing beside the checkpoint of that turn,
 *  which comes right after it. */
function leadsOn(cs: readonly Checkpoint[], i: number): boolean {
  const c = cs[i]!;
  if (c.trigger !== "prompt" || !c.turn?.id || i === 0) return false;
  const next = cs[i - 1]!.turn;
  return next?.id === c.turn.id && next.session === c.turn.session;
}

const heavyTurn = (t: Turn) => !!t.risk || !!t.contested?.length || !!t.running || !!t.failed || !!t.late;

/** grown sets what each rung forked from. A parent that is not known is taken for the checkpoint
 *  right before, as after a cleanup, unless it is known to be an older one. */
export function grown(rungs: Rung[], cs: readonly Checkpoint[], goals: Goals) {
  const at = new Map<string, number>();
  rungs.forEach((r, i) => {
    for (let k = 0; k < r.n; k++) at.set(cs[r.at + k]!.id, i);
  });
  rungs.forEach((r, i) => {
    const c = cs[r.at + r.n - 1]!;
    const row = c.parent ? at.get(c.parent) : undefined;
    if (row !== undefined && row > i) r.parent = row;
    else if (i === rungs.length - 1 && (!c.parent || c.trigger === "fork")) r.parent = -1;
    else if (wentFar(c) && goals.has(c.parent!)) r.parent = rungs.length;
    else r.parent = i + 1;
  });
}

/** Whether a checkpoint forked from the one it went to. */
export const wentFar = (c: Checkpoint): boolean => !!c.return && c.return.target === c.parent;

/** So many forks of one checkpoint have a row. */
const forksShown = mostLanes - 1;

/** Those that came back first, and then the newest. */
export function forkOrder(a: ForkLine, b: ForkLine): number {
  const back = Number(b.adopted.length > 0) - Number(a.adopted.length > 0);
  return back || Date.parse(b.state.latest!.time) - Date.parse(a.state.latest!.time);
}

/** withForks puts the rows of forks above the checkpoints they forked from. */
export function withForks(rungs: Rung[], cs: readonly Checkpoint[], forks: readonly ForkLine[]): Rung[] {
  if (forks.length === 0) return rungs;
  const by = new Map<string, ForkLine[]>();
  for (const f of forks) {
    const id = f.state.origin?.checkpoint;
    if (id && f.state.latest) by.set(id, [...(by.get(id) ?? []), f]);
  }
  const place = new Array<number>(rungs.length + 1);
  const out: Rung[] = [];
  const home: [Rung, number][] = []; // rows of forks, and the rung they forked from
  rungs.forEach((r, i) => {
    const mine: ForkLine[] = [];
    for (let k = 0; k < r.n; k++) mine.push(...(by.get(cs[r.at + k]!.id) ?? []));
    mine.sort(forkOrder);
    mine.slice(0, forksShown).forEach((fork, k) => {
      const x: Rung = { kind: "fork", at: r.at, n: 0, fork, parent: -1, more: k === 0 ? Math.max(0, mine.length - forksShown) : 0 };
      home.push([x, i]);
      out.push(x);
    });
    place[i] = out.push(r) - 1;
  });
  place[rungs.length] = out.length;
  for (const r of rungs) if (r.parent >= 0) r.parent = place[r.parent]!;
  for (const [x, i] of home) x.parent = place[i]!;
  return out;
}

/** The rungs as the graph sees them, and the row of the newest checkpoint. */
export function twigsOf(rungs: readonly Rung[], cs: readonly Checkpoint[]): { twigs: Twig[]; tip: number } {
  const adopters = new Map<string, number>();
  for (const r of rungs) for (const id of r.fork?.adopted ?? []) adopters.set(id, -1);
  rungs.forEach((r, i) => {
    if (!r.fork && adopters.has(cs[r.at]!.id)) adopters.set(cs[r.at]!.id, i);
  });
  const twigs = rungs.map((r, i) => {
    const t: Twig = { parent: r.parent, into: -1, fork: !!r.fork };
    for (const id of r.fork?.adopted ?? []) {
      const row = adopters.get(id)!;
      if (row >= 0 && row < i) t.into = row;
    }
    return t;
  });
  return { twigs, tip: Math.max(0, rungs.findIndex((r) => !r.fork)) };
}
