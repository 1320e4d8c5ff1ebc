// The overview: bars by files changed on a logarithmic scale, coloured by how the checkpoints
// stand; sessions beneath, effects and now. Everything of one kind is one path.
import { standing } from "../../words/checkpoint.ts";
import type { Row } from "./rows.ts";

export const zooms = ["hour", "day", "week", "month", "year"] as const;
export type Zoom = (typeof zooms)[number];

const hourMs = 3_600_000;
export const spans: Record<Zoom, number> = { hour: hourMs, day: 24 * hourMs, week: 7 * 24 * hourMs, month: 31 * 24 * hourMs, year: 366 * 24 * hourMs };

export interface Window {
  from: number;
  to: number;
  broken?: boolean; // now is far behind its end
}

/** The shortest zoom in which there is enough to see. */
export function zoomFor(rows: readonly Row[], now: number): Zoom {
  const enough = rows[Math.min(11, rows.length - 1)];
  const age = enough ? now - Date.parse(enough.time) : 0;
  return zooms.find((z) => age <= spans[z]) ?? "year";
}

/** The checkpoints of a window, as a range of the list: newest first. */
export function rangeOf(rows: readonly Row[], w: Window): [number, number] {
  const after = (t: number) => {
    let a = 0;
    let b = rows.length;
    while (a < b) {
      const m = (a + b) >> 1;
      if (Date.parse(rows[m]!.time) > t) a = m + 1;
      else b = m;
    }
    return a;
  };
  return [after(w.to), after(w.from - 1)];
}

/** What is shown while nobody chose a zoom: the shortest that holds enough; when all of it
 *  came in a short time long ago, that time alone. */
export function firstWindow(rows: readonly Row[], now: number, chosen?: number): Window {
  const w = windowOf(rows, zoomFor(rows, now), now, chosen);
  const [a, b] = rangeOf(rows, w);
  if (b - a < 2 || w.to < now) return w;
  const first = Date.parse(rows[b - 1]!.time);
  const last = Date.parse(rows[a]!.time);
  const span = last - first;
  if (span >= (now - first) / 8) return w;
  return { from: first - span * 0.04, to: last + span * 0.1, broken: true };
}

/** What a zoom shows: so much time up to now, or around the chosen checkpoint when that is
 *  older; no more than there are rows. */
export function windowOf(rows: readonly Row[], zoom: Zoom, now: number, chosen?: number): Window {
  const span = spans[zoom];
  let to = now;
  if (chosen !== undefined && chosen < now - span) to = chosen + span / 2;
  let from = to - span;
  const [a, b] = rangeOf(rows, { from, to });
  if (b > a) from = Math.max(from, Date.parse(rows[b - 1]!.time));
  const room = Math.max((to - from) * 0.03, 1000);
  return { from: from - room, to: to + room };
}

export type BarKind = "good" | "failed" | "none";

export interface Bars {
  paths: Record<BarKind | "left", string>;
  agents: { agent: string; path: string }[];
  effects: number[]; // where
  count: number;
}

export interface Frame {
  width: number;
  top: number;
  base: number; // where bars stand
  sessions: number; // where the first bar of sessions stands
}

const barWidth = 3.5;
const gap = 1;
const tallest = Math.log10(50_000);

interface Bucket {
  files: number;
  kind: BarKind;
  left: boolean;
}

const graver: Record<BarKind, number> = { none: 0, good: 1, failed: 2 };

const kindOf = (r: Row): BarKind => (r.good ? "good" : standing(r) === "failed" ? "failed" : "none");

export function bars(rows: readonly Row[], behind: ReadonlySet<number>, w: Window, f: Frame): Bars {
  const [a, b] = rangeOf(rows, w);
  const x = (t: number) => ((t - w.from) / (w.to - w.from)) * f.width;
  const buckets = new Map<number, Bucket>();
  const spans = new Map<string, [number, number][]>(); // by agent
  const ends = new Map<string, [number, number]>(); // by session
  const effects: number[] = [];
  for (let i = b - 1; i >= a; i--) {
    const r = rows[i]!;
    const { turn, effects: outside } = r.checkpoint;
    const at = x(Date.parse(r.time));
    put(buckets, Math.floor(at / (barWidth + gap)), { files: r.files, kind: kindOf(r), left: behind.has(r.number) });
    if (turn) extend(spans, ends, turn.agent, turn.session, at, f.width / 14);
    for (const e of outside ?? []) effects.push(x(Date.parse(e.time)));
  }
  return { paths: barPaths(buckets, f), agents: sessionPaths(spans, f), effects: thinned(effects), count: b - a };
}

function put(buckets: Map<number, Bucket>, at: number, b: Bucket) {
  const there = buckets.get(at);
  if (!there) return void buckets.set(at, b);
  there.files = Math.max(there.files, b.files);
  if (graver[b.kind] > graver[there.kind]) there.kind = b.kind;
  there.left = there.left && b.left;
}

function extend(spans: Map<string, [number, number][]>, ends: Map<string, [number, number]>, agent: string, session: string, at: number, reach: number) {
  const open = ends.get(session);
  if (open && at - open[1] <= reach) {
    open[1] = at;
    return;
  }
  const fresh: [number, number] = [at - 3, at];
  ends.set(session, fresh);
  spans.set(agent, [...(spans.get(agent) ?? []), fresh]);
}

function barPaths(buckets: Map<number, Bucket>, f: Frame): Bars["paths"] {
  const out: Bars["paths"] = { good: "", failed: "", none: "", left: "" };
  for (const [at, b] of buckets) {
    const part = Math.min(1, Math.log10(b.files + 1) / tallest);
    const h = Math.round((6 + part * (f.base - f.top - 6)) * 2) / 2;
    out[b.left ? "left" : b.kind] += `M${at * (barWidth + gap)} ${f.base}v${-h}h${barWidth}v${h}z`;
  }
  return out;
}

/** So many agents have a bar of their own. */
const mostAgents = 3;

function sessionPaths(spans: Map<string, [number, number][]>, f: Frame): Bars["agents"] {
  const list = [...spans].sort((p, q) => q[1].length - p[1].length || (p[0] < q[0] ? -1 : 1)).slice(0, mostAgents);
  return list.map(([agent, runs], row) => {
    const y = f.sessions + row * 3.4;
    return { agent, path: runs.map(([from, to]) => `M${from.toFixed(1)} ${y}H${to.toFixed(1)}`).join("") };
  });
}

/** Effects that stand on each other are one sign. */
function thinned(at: number[]): number[] {
  const out: number[] = [];
  for (const x of at.toSorted((a, b) => a - b)) if (out.length === 0 || x - out[out.length - 1]! > 8) out.push(x);
  return out;
}

const second = 1000;
const minute = 60 * second;
const steps = [
  ...[1, 2, 5, 10, 15, 30].map((n) => n * second),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * minute),
  ...[1, 2, 3, 6, 12, 24, 48, 168, 336, 730, 2190].map((n) => n * hourMs),
];

/** Round times across a window, at most so many. */
export function ticks(w: Window, most: number): { at: number; unit: "second" | "minute" | "day" }[] {
  const span = w.to - w.from;
  const by = steps.find((s) => span / s <= most) ?? steps[steps.length - 1]!;
  const zone = new Date(w.from).getTimezoneOffset() * minute;
  const unit = by >= 24 * hourMs ? "day" : by >= minute ? "minute" : "second";
  const out: ReturnType<typeof ticks> = [];
  for (let t = Math.ceil((w.from - zone) / by) * by + zone; t < w.to; t += by) out.push({ at: t, unit });
  return out;
}

/** The checkpoint that is nearest to a time. */
export function nearest(rows: readonly Row[], at: number): Row | undefined {
  const [, i] = rangeOf(rows, { from: at, to: at });
  const newer = rows[i - 1];
  const older = rows[i];
  if (!newer || !older) return newer ?? older;
  return Date.parse(newer.time) - at < at - Date.parse(older.time) ? newer : older;
}
