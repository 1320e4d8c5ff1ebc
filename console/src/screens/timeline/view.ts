// The list of a timeline: rows in their order, each with its place in the graph. It is made
// in steps, because a timeline may hold many thousands of checkpoints.
import type { Effect, TimelineRow } from "../../api/types.ts";
import { counting, groupOf, groupsOf, isOf, matches, wantsAll, type Census, type Grouping, type Wanted } from "./filter.ts";
import { replacedIn, rowAt, within, type Row } from "./rows.ts";

/** What is drawn in each lane: 0 nothing, 1 a line, 2 a line that was left behind. */
export type Strokes = readonly number[] | undefined;

/** Where the graph stands beside a row. */
export interface Place {
  lane: number; // -1: nothing stands here, lines only pass
  above?: Strokes; // what comes from the row above
  below?: Strokes; // what goes on
  joins?: readonly number[]; // lanes that end here
  opens?: readonly number[]; // lanes that begin here
  joint?: Strokes; // what ends or begins here
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
    | { kind: "checkpoint"; row: Row }
    | { kind: "fold"; row: TimelineRow }
    | { kind: "fork"; row: TimelineRow }
    | { kind: "more"; row: TimelineRow }
    | { kind: "effect"; effect: Effect; of: Row }
    | { kind: "head"; title: string; quoted: boolean; n: number; good: number; failed: number; first: string; last: string; shut: boolean }
    | { kind: "rest"; n: number } // checkpoints that are still being read
    | { kind: "end"; n: number } // checkpoints that are not read here
  );

export interface Input {
  rows: readonly Row[]; // newest first
  graph: readonly TimelineRow[];
  lanes: number;
  wanted: Wanted;
  group?: Grouping;
  shut: ReadonlySet<string>; // groups that are closed, by key
  now: boolean; // something changed since the newest
  rest: number; // still to be read
  beyond: number; // never read here
}

export interface View {
  items: Item[];
  rows: Map<number, number>; // by the number of a checkpoint: where its item is
  lanes: number;
  census: Census;
  matched: number;
  tree: boolean;
}

const line: Strokes = [1];

/** So many rows are one step. */
const step = 1000;

export function* building(i: Input): Generator<void, View> {
  const census = yield* counting(i.rows);
  const tree = wantsAll(i.wanted) && !i.group;
  const list = new Listing(i);
  if (i.now && tree) list.now();
  if (tree) {
    for (let k = 0; k < i.graph.length; k++) {
      list.graphRow(i.graph[k]!);
      if (k % step === step - 1) yield;
    }
  } else yield* flat(i, list);
  list.end();
  return { items: list.items, rows: list.rows, lanes: tree ? i.lanes : 1, census, matched: list.matched, tree };
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
  const behind = replacedIn(i.rows, i.graph);
  const picked: Row[] = [];
  for (let k = 0; k < i.rows.length; k++) {
    if (matches(i.wanted, i.rows[k]!)) picked.push(i.rows[k]!);
    if (k % step === step - 1) yield;
  }
  const runs = i.group ? groupsOf(i.group, picked) : slabs(picked.length);
  for (const [from, to] of runs) {
    const shut = i.group ? list.head(i.group, picked.slice(from, to)) : false;
    const last = i.group ? to : picked.length;
    for (let k = from; k < to; k++) if (!shut) list.flatRow(picked[k]!, behind.has(picked[k]!.number), k === last - 1);
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
  private above: Strokes;
  private hanging = false;
  constructor(private readonly i: Input) {}

  now() {
    this.items.push({ kind: "now", key: "now", lane: 0, below: line });
    this.above = line;
    this.hanging = true;
  }

  /** graphRow puts a row of the graph. A checkpoint that came after its page was read is left out. */
  graphRow(g: TimelineRow) {
    const row = g.kind === "checkpoint" ? rowAt(this.i.rows, g.number) : undefined;
    if (g.kind === "now" || (g.kind === "checkpoint" && !row)) return;
    const p = g.place;
    const hangs = this.hanging;
    this.hanging &&= p.lane !== 0; // forks of the newest checkpoint stand above it
    const below = this.hanging ? [1, ...(p.below ?? []).slice(1)] : p.below;
    const common = { key: g.key, lane: p.lane, above: this.above, below, joins: p.joins, opens: p.opens, joint: p.joint, left: p.replaced, loose: p.detached, hangs };
    this.above = below;
    if (row) return this.checkpoint({ ...common, kind: "checkpoint", row });
    if (g.kind === "fork") return void this.items.push({ ...common, kind: "fork", row: g });
    if (g.kind === "more") return void this.items.push({ ...common, kind: "more", row: g });
    this.matched += g.count ?? 0;
    for (const r of within(this.i.rows, g)) this.rows.set(r.number, this.items.length);
    this.items.push({ ...common, kind: "fold", row: g });
  }

  flatRow(row: Row, left: boolean, last: boolean) {
    const below = last ? undefined : line;
    this.checkpoint({ kind: "checkpoint", key: row.key, lane: 0, above: this.above, below, left, loose: left, row });
    this.above = below;
  }

  private checkpoint(x: Item & { kind: "checkpoint" }) {
    this.matched++;
    this.rows.set(x.row.number, this.items.length);
    this.items.push(x);
    for (const effect of (x.row.checkpoint.effects ?? []).toReversed()) {
      this.items.push({ kind: "effect", key: `${x.key}-${effect.id}`, lane: x.lane, above: x.below, below: x.below, effect, of: x.row, left: x.left });
    }
  }

  /** head begins a group, and tells whether it is shut. */
  head(g: Grouping, run: readonly Row[]): boolean {
    const named = run.find((r) => groupOf(g, r).key) ?? run[0]!;
    const { title, quoted } = groupOf(g, named);
    const key = `head-${run[run.length - 1]!.number}`; // it grows at its top
    const shut = this.i.shut.has(key);
    let good = 0;
    let failed = 0;
    for (const r of run) {
      if (r.good) good++;
      if (isOf("failed", r)) failed++;
      if (shut) this.rows.set(r.number, this.items.length);
    }
    this.above = undefined;
    this.items.push({ kind: "head", key, lane: -1, title, quoted, n: run.length, good, failed, first: run[run.length - 1]!.time, last: run[0]!.time, shut });
    return shut;
  }

  end() {
    const { rest, beyond } = this.i;
    if (rest > 0) this.items.push({ lane: -1, above: this.above, kind: "rest", key: "rest", n: rest });
    else if (beyond > 0) this.items.push({ lane: -1, above: this.above, kind: "end", key: "end", n: beyond });
  }
}

/** Heights are fixed for each kind of row, so that any row can be placed without a look. */
export const heights = {
  wide: { checkpoint: 43, fork: 43, now: 36, effect: 28, fold: 30, more: 30, head: 34, rest: 43, end: 44 },
  phone: { checkpoint: 60, fork: 60, now: 44, effect: 44, fold: 44, more: 44, head: 44, rest: 60, end: 60 },
} as const;

export const heightOf = (x: Item, phone: boolean): number => heights[phone ? "phone" : "wide"][x.kind] * (x.kind === "rest" ? x.n : 1);
