// The list of a timeline: rows in their order, each with its place in the graph. It is made
// in steps, because a timeline may hold many thousands of checkpoints.
import type { Checkpoint, Effect, Finding, Workspace } from "../../api/types.ts";
import type { Goals } from "../../words/checkpoint.ts";
import { counting, groupOf, groupsOf, isOf, matches, wantsAll, type Census, type Grouping, type Wanted } from "./filter.ts";
import { behindOf, folding, grown, twigsOf, withForks, type ForkLine, type Rung, type Told } from "./fold.ts";
import { lanesOf, laying, solid, strokeAt, stroked, type Spot } from "./lanes.ts";
import { workOf } from "./work.ts";

/** Where the graph stands beside a row. */
export interface Place {
  lane: number; // -1: nothing stands here, lines only pass
  above: number; // strokes that come from the row above
  below: number; // strokes that go on
  joins: number;
  opens: number;
  joint: number;
}

interface Common extends Place {
  key: string;
  left?: boolean; // of a line that was left behind
  loose?: boolean;
  hangs?: boolean; // the first lane above it leads to now, and to no checkpoint
}

export type Item = Common &
  (
    | { kind: "now" }
    | { kind: "checkpoint"; c: Checkpoint; work?: string } // where the work of its turn is, when it is elsewhere
    | { kind: "quiet" | "left-fold"; run: readonly Checkpoint[] }
    | { kind: "fork"; fork: ForkLine }
    | { kind: "more"; n: number; origin: Checkpoint }
    | { kind: "effect"; effect: Effect; of: Checkpoint }
    | { kind: "head"; title: string; quoted: boolean; n: number; good: number; failed: number; first: string; last: string; shut: boolean }
    | { kind: "rest"; n: number } // checkpoints that are still being read
    | { kind: "end"; n: number } // checkpoints that are not read here
  );

export interface Input {
  checkpoints: readonly Checkpoint[];
  findings: ReadonlyMap<string, Finding>;
  told: Told;
  wanted: Wanted;
  group?: Grouping;
  shut: ReadonlySet<string>; // groups that are closed, by key
  workspace?: Workspace;
  names: ReadonlyMap<string, string>; // what else checkpoints went to: forks
  now: boolean; // something changed since the newest
  rest: number; // still to be read
  beyond: number; // never read here
}

export interface View {
  items: Item[];
  rows: Map<number, number>; // by the number of a checkpoint: where its item is
  lanes: number;
  goals: Goals;
  census: Census;
  matched: number;
  tree: boolean;
}

const line = stroked(0, solid);
const nowhere: Place = { lane: -1, above: 0, below: 0, joins: 0, opens: 0, joint: 0 };

/** So many rows are one step. */
const step = 1000;

export function* building(i: Input): Generator<void, View> {
  const goals = yield* naming(i);
  const census = yield* counting(i.checkpoints, i.findings);
  const tree = wantsAll(i.wanted) && !i.group;
  const list = new Listing(i);
  if (i.now && tree) list.now();
  let lanes = 1;
  if (tree) {
    let rungs = yield* folding(i.told);
    grown(rungs, i.checkpoints, goals);
    rungs = withForks(rungs, i.checkpoints, i.told.forks);
    yield;
    const { twigs, tip } = twigsOf(rungs, i.checkpoints);
    const spots = yield* laying(twigs, tip);
    lanes = lanesOf(spots);
    for (let k = 0; k < rungs.length; k++) {
      list.rung(rungs[k]!, spots[k]!);
      if (k % step === step - 1) yield;
    }
  } else yield* flat(i, list);
  list.end();
  return { items: list.items, rows: list.rows, lanes, goals, census, matched: list.matched, tree };
}

/** Names every checkpoint that is known, and what else checkpoints went to or forked from. */
function* naming(i: Input): Generator<void, Goals> {
  const goals = new Map(i.names);
  const from = i.workspace?.origin;
  if (from) goals.set(from.checkpoint, String(from.number));
  for (let k = 0; k < i.checkpoints.length; k++) {
    goals.set(i.checkpoints[k]!.id, String(i.checkpoints[k]!.number));
    if (k % step === step - 1) yield;
  }
  return goals;
}

/** build does all of it at once. */
export function build(i: Input): View {
  for (const steps = building(i); ; ) {
    const s = steps.next();
    if (s.done) return s.value;
  }
}

/** flat lists what was asked for, one below the other, in groups if they are wanted. */
function* flat(i: Input, list: Listing): Generator<void, void> {
  const behind = behindOf(i.checkpoints);
  const picked: Checkpoint[] = [];
  for (let k = 0; k < i.checkpoints.length; k++) {
    const c = i.checkpoints[k]!;
    if (matches(i.wanted, c, i.findings.get(c.id))) picked.push(c);
    if (k % step === step - 1) yield;
  }
  const runs = i.group ? groupsOf(i.group, picked) : slabs(picked.length);
  for (const [from, to] of runs) {
    const shut = i.group ? list.head(i.group, picked.slice(from, to)) : false;
    const last = i.group ? to : picked.length;
    for (let k = from; k < to; k++) if (!shut) list.flatCheckpoint(picked[k]!, behind.has(picked[k]!.id), k === last - 1);
    list.matched = to;
    yield;
  }
}

function slabs(n: number): [number, number][] {
  return Array.from({ length: Math.ceil(n / step) }, (_, i) => [i * step, Math.min((i + 1) * step, n)]);
}

/** Listing puts items one below the other, and hands lines on from row to row. */
class Listing {
  readonly items: Item[] = [];
  readonly rows = new Map<number, number>();
  matched = 0;
  private above = 0;
  private hanging = false;
  private byId?: Map<string, Checkpoint>;
  constructor(private readonly i: Input) {}

  now() {
    this.items.push({ ...nowhere, kind: "now", key: "now", lane: 0, below: line });
    this.above = line;
    this.hanging = true;
  }

  rung(r: Rung, s: Spot) {
    const cs = this.i.checkpoints;
    if (r.more) this.items.push({ ...nowhere, above: this.above, below: this.above, hangs: this.hanging, kind: "more", key: `more-${cs[r.at]!.id}`, n: r.more, origin: cs[r.at]! });
    const hangs = this.hanging;
    this.hanging &&= s.lane !== 0; // forks of the newest checkpoint stand above it
    const below = this.hanging ? s.below | line : s.below;
    const common = { lane: s.lane, above: this.above, below, joins: s.joins, opens: s.opens, joint: s.joint, left: s.left, loose: s.loose, hangs };
    this.above = below;
    if (r.kind === "checkpoint") this.checkpoint({ ...common, kind: "checkpoint", key: cs[r.at]!.id, c: cs[r.at]! });
    else if (r.kind === "fork") this.items.push({ ...common, kind: "fork", key: r.fork!.state.id, fork: r.fork! });
    else {
      const run = cs.slice(r.at, r.at + r.n);
      this.matched += r.n;
      for (const c of run) this.rows.set(c.number, this.items.length);
      this.items.push({ ...common, kind: r.kind === "left" ? "left-fold" : "quiet", key: `fold-${run[0]!.number}`, run });
    }
  }

  flatCheckpoint(c: Checkpoint, left: boolean, last: boolean) {
    this.checkpoint({ ...nowhere, lane: 0, above: this.above, below: last ? 0 : line, left, loose: left, kind: "checkpoint", key: c.id, c });
    this.above = last ? 0 : line;
  }

  private checkpoint(x: Item & { kind: "checkpoint" }) {
    this.matched++;
    this.rows.set(x.c.number, this.items.length);
    x.work = workOf(x.c, (id) => (this.byId ??= new Map(this.i.checkpoints.map((c) => [c.id, c]))).get(id));
    this.items.push(x);
    for (const effect of (x.c.effects ?? []).toReversed()) {
      const place = { lane: x.lane, above: x.below, below: x.below, joins: 0, opens: 0, joint: 0 };
      this.items.push({ ...place, kind: "effect", key: `${x.c.id}-${effect.id}`, effect, of: x.c, left: x.left });
    }
  }

  /** head begins a group, and tells whether it is shut. */
  head(g: Grouping, run: readonly Checkpoint[]): boolean {
    const named = run.find((c) => groupOf(g, c).key) ?? run[0]!;
    const { title, quoted } = groupOf(g, named);
    const key = `head-${run[run.length - 1]!.number}`; // it grows at its top
    const shut = this.i.shut.has(key);
    let good = 0;
    let failed = 0;
    for (const c of run) {
      if (isOf("good", c, this.i.findings.get(c.id))) good++;
      if (isOf("failed", c, this.i.findings.get(c.id))) failed++;
      if (shut) this.rows.set(c.number, this.items.length);
    }
    this.above = 0;
    this.items.push({ ...nowhere, kind: "head", key, title, quoted, n: run.length, good, failed, first: run[run.length - 1]!.time, last: run[0]!.time, shut });
    return shut;
  }

  end() {
    const { rest, beyond } = this.i;
    if (rest > 0) this.items.push({ ...nowhere, above: this.above, kind: "rest", key: "rest", n: rest });
    else if (beyond > 0) this.items.push({ ...nowhere, above: this.above, kind: "end", key: "end", n: beyond });
  }
}

/** Heights are fixed for each kind of row, so that any row can be placed without a look. */
export const heights = {
  wide: { checkpoint: 43, fork: 43, now: 36, effect: 28, quiet: 30, "left-fold": 30, more: 30, head: 34, rest: 43, end: 44 },
  phone: { checkpoint: 60, fork: 60, now: 44, effect: 44, quiet: 44, "left-fold": 44, more: 44, head: 44, rest: 60, end: 60 },
} as const;

export const heightOf = (x: Item, phone: boolean): number => heights[phone ? "phone" : "wide"][x.kind] * (x.kind === "rest" ? x.n : 1);

/** Whether anything comes from above on the lane of a row. */
export const cameFromAbove = (x: Place): boolean => x.lane >= 0 && strokeAt(x.above, x.lane) !== 0;
