// The graph beside the timeline, laid out as the terminal does it. The line that the files
// stand on has the first lane; one that was left behind, or a fork, has another one from
// its newest row down to the one it forked from, and crosses no row on the way. One that
// finds no such lane is loose. It works in steps, so that a long timeline never holds up
// the page: lines that do not touch each other are laid out one after the other.

/** How many lines stand beside each other. */
export const mostLanes = 3;

/** One row of a timeline as the graph sees it. */
export interface Twig {
  parent: number; // the row it forked from, further down; the count of rows: below what is known; -1: nothing
  into: number; // the row that took it in, further up; -1: none
  fork: boolean; // it is of a fork, and nobody left it
}

export type Stroke = 0 | 1 | 2; // nothing, a line, a line that was left behind
export const solid: Stroke = 1;
export const leftLine: Stroke = 2;

/** Where one row stands. Strokes are two bits a lane, joins and opens one. */
export interface Spot {
  lane: number;
  left: boolean; // its line was left behind
  loose: boolean; // no line is drawn to what it forked from: there was no lane left
  joins: number; // lanes that end here: what forked from this row
  opens: number; // lanes that begin here: what was taken in
  through: number; // what passes by
  joint: number; // what ends or begins here
  below: number; // what goes on to the next row
}

export const strokeAt = (strokes: number, lane: number): Stroke => ((strokes >> (2 * lane)) & 3) as Stroke;
export const stroked = (lane: number, s: Stroke): number => s << (2 * lane);
export const holds = (lanes: number, lane: number): boolean => (lanes & (1 << lane)) !== 0;

/** A run of rows that grew one from the other, newest first. */
class Strand {
  rows: number[] = [];
  target = -1; // the row it forked from; -1: none, or the count of rows: further down
  depth = 0; // 0 is the one that the files stand on
  parent?: Strand;
  taker?: Strand;
  whole = true; // it is drawn from its first row to its target
  lane = 0;
  constructor(
    readonly nth: number,
    public into: number,
    readonly fork: boolean,
  ) {}
  get top() {
    return this.into >= 0 ? this.into : this.rows[0]!;
  }
  get bottom() {
    return Math.max(this.target, this.rows[this.rows.length - 1]!);
  }
  get stroke(): Stroke {
    return this.depth > 0 && !this.fork ? leftLine : solid;
  }
}

interface Graph {
  twigs: readonly Twig[];
  lines: Strand[];
  of: (Strand | undefined)[]; // by row
  lanes: Uint8Array; // by row
  runs: [number, number, number][]; // of loose strands: lane, first and last row
}

/** So many rows are one step. */
const step = 1000;

export function* laying(twigs: readonly Twig[], tip: number): Generator<void, Spot[]> {
  const g: Graph = { twigs, lines: [], of: new Array(twigs.length), lanes: new Uint8Array(twigs.length), runs: [] };
  if (twigs.length === 0) return [];
  follow(g, tip);
  for (let i = 0; i < twigs.length; i++) {
    if (!g.of[i]) follow(g, i);
    if (i % step === step - 1) yield;
  }
  for (const side of bunches(g)) {
    for (let b = new Bunch(g, side); !b.place(); ) yield;
    yield;
  }
  return yield* spots(g);
}

/** layout does all of it at once. */
export function layout(twigs: readonly Twig[], tip: number): Spot[] {
  const steps = laying(twigs, tip);
  for (;;) {
    const s = steps.next();
    if (s.done) return s.value;
  }
}

/** follow makes the strand that begins at a row. */
function follow(g: Graph, from: number) {
  const x = new Strand(g.lines.length, g.twigs[from]!.into, g.twigs[from]!.fork);
  g.lines.push(x);
  for (let at = from; ; at = x.target) {
    x.rows.push(at);
    g.of[at] = x;
    x.target = g.twigs[at]!.parent;
    if (x.target < 0 || x.target >= g.twigs.length || g.of[x.target]) break;
  }
  if (g.lines.length === 1) {
    x.into = -1;
    return;
  }
  x.depth = 1;
  if (x.target >= 0 && x.target < g.twigs.length) {
    x.parent = g.of[x.target]!;
    x.depth = x.parent.depth + 1;
  }
  if (x.into < 0) return;
  x.taker = g.of[x.into];
  if (!x.taker || x.taker === x || x.into >= x.rows[0]!) {
    x.taker = undefined;
    x.into = -1;
  } else x.depth = Math.max(x.depth, x.taker.depth + 1);
}

/** bunches are the side lines that share rows, directly or by others. */
function bunches(g: Graph): Strand[][] {
  const side = g.lines.slice(1).sort((a, b) => a.top - b.top);
  const out: Strand[][] = [];
  let end = -1;
  for (const x of side) {
    if (x.top > end || out.length === 0) out.push([]);
    out[out.length - 1]!.push(x);
    end = Math.max(end, x.bottom);
  }
  return out;
}

const byDepth = (length: (x: Strand) => number) => (a: Strand, b: Strand) => a.depth - b.depth || length(a) - length(b);
const span = (x: Strand) => x.bottom - x.top;

/** Bunch gives lanes to the side lines that share rows. */
class Bunch {
  private readonly side: Strand[];
  private readonly first: number;
  private readonly size: number;
  private taken: (Strand | undefined)[][] = [];
  private runs: [number, number, number][] = [];

  constructor(
    private readonly g: Graph,
    side: Strand[],
  ) {
    this.first = side[0]!.top; // they come in this order
    const end = side.reduce((most, x) => Math.max(most, x.bottom), 0);
    this.size = Math.min(end, g.twigs.length - 1) - this.first + 1;
    this.side = side.sort((a, b) => a.nth - b.nth);
  }

  /** place gives lanes. When a row finds none because lines pass it on every lane, the
   *  longest of these gives way and all begins again. */
  place(): boolean {
    const short = this.side.toSorted(byDepth(span));
    this.clear();
    for (const x of short) x.whole = x.whole && this.wholeLane(x); // short ones are whole before long ones
    this.straighten();
    for (const x of short) if (!x.whole && !this.looseLanes(x)) return false;
    this.g.runs.push(...this.runs);
    return true;
  }

  /** straighten gives the lanes of whole lines again, the upper ones to the left, if they
   *  all have room that way. */
  private straighten() {
    const whole = this.side.filter((x) => x.whole);
    const lanes = whole.map((x) => x.lane);
    this.clear();
    for (const x of whole.toSorted(byDepth((y) => y.top))) {
      if (this.wholeLane(x)) continue;
      this.clear();
      whole.forEach((y, i) => this.take(y, lanes[i]!));
      return;
    }
  }

  private clear() {
    this.taken = Array.from({ length: mostLanes }, () => new Array<Strand | undefined>(this.size));
    this.runs = [];
  }

  /** wholeLane finds a lane for all of a line: to the right of what it forked from and of
   *  what took it in, so that no line turns back. */
  private wholeLane(x: Strand): boolean {
    let lane = 1;
    for (const other of [x.parent, x.taker]) {
      if (!other) continue;
      if (!other.whole) return false;
      lane = Math.max(lane, other.lane + 1);
    }
    for (; lane < mostLanes; lane++) {
      if (!this.free(lane, x.top, x.bottom)) continue;
      this.take(x, lane);
      return true;
    }
    return false;
  }

  private free(lane: number, top: number, bottom: number): boolean {
    const end = Math.min(bottom - this.first, this.size - 1);
    const here = this.taken[lane]!;
    for (let i = top - this.first; i <= end; i++) if (here[i]) return false;
    return true;
  }

  private take(x: Strand, lane: number) {
    x.lane = lane;
    this.taken[lane]!.fill(x, x.top - this.first, Math.min(x.bottom - this.first, this.size - 1) + 1);
    for (const row of x.rows) this.g.lanes[row] = lane;
  }

  /** looseLanes gives each run of neighbouring rows a lane of its own. */
  private looseLanes(x: Strand): boolean {
    for (let i = 0; i < x.rows.length; ) {
      let end = i + 1;
      while (end < x.rows.length && x.rows[end] === x.rows[end - 1]! + 1) end++;
      if (!this.looseRun(x, x.rows[i]!, x.rows[end - 1]!)) return false;
      i = end;
    }
    return true;
  }

  private looseRun(x: Strand, top: number, bottom: number): boolean {
    for (let lane = 1; lane < mostLanes; lane++) {
      if (!this.free(lane, top, bottom)) continue;
      this.taken[lane]!.fill(x, top - this.first, bottom - this.first + 1);
      this.g.lanes.fill(lane, top, bottom + 1);
      this.runs.push([lane, top, bottom]);
      return true;
    }
    let longest: Strand | undefined;
    for (let lane = 1; lane < mostLanes; lane++) {
      for (let row = top; row <= bottom; row++) {
        const y = this.taken[lane]![row - this.first];
        if (y?.whole && (!longest || span(y) > span(longest))) longest = y;
      }
    }
    longest!.whole = false; // only whole lines pass rows that are not theirs
    return false;
  }
}

/** spots tells each row what is drawn beside it. */
function* spots(g: Graph): Generator<void, Spot[]> {
  const out: Spot[] = new Array(g.twigs.length);
  for (let i = 0; i < out.length; i++) {
    const x = g.of[i]!;
    out[i] = { lane: g.lanes[i]!, left: x.stroke === leftLine, loose: !x.whole, joins: 0, opens: 0, through: 0, joint: 0, below: 0 };
    if (i % step === step - 1) yield;
  }
  let done = 0;
  for (const x of g.lines) {
    if (x.whole) drawWhole(g, out, x);
    done += x.bottom - x.top;
    if (done > step) {
      done = 0;
      yield;
    }
  }
  for (const [lane, top, bottom] of g.runs) {
    for (let row = top; row < bottom; row++) out[row]!.below |= stroked(lane, g.of[row]!.stroke);
  }
  return out;
}

function drawWhole(g: Graph, out: Spot[], x: Strand) {
  const stroke = stroked(x.lane, x.stroke);
  const end = Math.min(x.bottom, out.length);
  for (let row = x.top; row < end; row++) {
    const s = out[row]!;
    s.below |= stroke;
    if (row > x.top && g.of[row] !== x) s.through |= stroke;
  }
  if (x.parent) {
    const s = out[x.target]!;
    s.joins |= 1 << x.lane;
    s.joint |= stroke;
  }
  if (x.into >= 0) {
    const s = out[x.into]!;
    s.opens |= 1 << x.lane;
    s.joint |= stroked(x.lane, solid);
  }
}

/** How many lanes a layout has. */
export function lanesOf(spots: readonly Spot[]): number {
  let most = 1;
  for (const s of spots) {
    most = Math.max(most, s.lane + 1);
    for (let k = most; k < mostLanes; k++) if (strokeAt(s.below, k)) most = k + 1;
  }
  return most;
}
