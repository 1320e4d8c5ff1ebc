// The lines of the graph as paths: only of the rows that are in sight, and one path for
// each kind of line however many rows there are.
import type { Item, Strokes } from "./view.ts";

export interface Drawn {
  item: Item;
  top: number;
  height: number;
}

export interface Lanes {
  x: (lane: number) => number;
  bend: number; // the radius of a curve
}

export type LineKind = "main" | "left" | "fork" | "dots";
export type Paths = Record<LineKind, string>;

const replaced = 2; // a stroke of a line that was left behind

/** Dashes begin at multiples of this, so that they stand still while rows come and go. */
const period = 6;

interface Run {
  kind: LineKind;
  from: number;
  to: number;
}

export function paths(rows: readonly Drawn[], count: number, lanes: Lanes): Paths {
  const out: Paths = { main: "", left: "", fork: "", dots: "" };
  for (let k = 0; k < count; k++) {
    for (const r of runsOf(rows, k, lanes.bend)) {
      const from = r.kind === "main" || r.kind === "fork" ? r.from : Math.ceil(r.from / period) * period;
      if (r.to > from) out[r.kind] += `M${lanes.x(k)} ${from}V${r.to}`;
    }
  }
  for (const { item, top, height } of rows) curves(out, item, top + height / 2, count, lanes);
  return out;
}

const at = (s: Strokes, lane: number): number => s?.[lane] ?? 0;
const dotted = (x: Item) => x.kind === "now" || x.kind === "fold";

function kindOf(lane: number, stroke: number, x: Item): LineKind {
  if (stroke === replaced) return "left";
  if (lane > 0) return "fork";
  return dotted(x) && x.lane === lane ? "dots" : "main";
}

/** The vertical runs on one lane, neighbours of a kind as one. */
function runsOf(rows: readonly Drawn[], lane: number, bend: number): Run[] {
  const out: Run[] = [];
  const add = (kind: LineKind, from: number, to: number) => {
    const last = out[out.length - 1];
    if (last && last.kind === kind && last.to === from) last.to = to;
    else out.push({ kind, from, to });
  };
  for (const { item: x, top, height } of rows) {
    const middle = top + height / 2;
    const above = at(x.above, lane);
    const below = at(x.below, lane);
    const side = lane !== x.lane;
    const toNow = lane === 0 && !!x.hangs;
    if (above) add(toNow ? "dots" : kindOf(lane, above, x), top, side && x.joins?.includes(lane) ? middle - bend : middle);
    if (below) add(toNow && side ? "dots" : kindOf(lane, below, x), side && x.opens?.includes(lane) ? middle + bend : middle, top + height);
  }
  return out;
}

/** Where a line joins what it forked from, or is taken in. */
function curves(out: Paths, x: Item, middle: number, count: number, lanes: Lanes) {
  for (let k = x.lane + 1; k > 0 && k < count; k++) {
    const up = x.joins?.includes(k);
    if (!up && !x.opens?.includes(k)) continue;
    const kind: LineKind = at(x.joint, k) === replaced ? "left" : "fork";
    const to = up ? middle - lanes.bend : middle + lanes.bend;
    out[kind] += `M${lanes.x(x.lane)} ${middle}H${lanes.x(k) - lanes.bend}Q${lanes.x(k)} ${middle} ${lanes.x(k)} ${to}`;
  }
}
