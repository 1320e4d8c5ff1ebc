// The limits of a namespace, in the units that people set them in.
import type { Limits, LimitsBody } from "../../api/types.ts";
import { bytes, count } from "../../words/number.ts";
import { span } from "./words.ts";

// The numbers: the durations among them are there as texts, too.
export type LimitName = Exclude<keyof Limits, `${string}_text`>;

export interface Limit {
  name: LimitName;
  text: string;
  what: string;
  unit: string;
  size: number; // of one unit
  least?: number;
  most?: number;
  bounded?: boolean; // 0, for no bound, is not allowed
  say: (n: number) => string;
}

const day = 86_400e9;
const gb = 1e9;
const percent = (n: number) => orAll(n, (p) => `${p} %`);
const orAll = (n: number, say: (n: number) => string) => (n <= 0 ? "no bound" : say(n));

/** All limits, in the order in which they are told. */
export const limits: Limit[] = [
  { name: "store", text: "All checkpoints", what: "bytes of the whole namespace; the oldest go first", unit: "GB", size: gb, say: (n) => orAll(n, bytes) },
  { name: "workspace_share", text: "One workspace", what: "of all checkpoints, while there are others", unit: "%", size: 1, most: 100, say: percent },
  { name: "key_share", text: "One agent key", what: "of what is added to all checkpoints, while there are others", unit: "%", size: 1, most: 100, say: percent },
  { name: "workspaces", text: "Workspaces", what: "that are live", unit: "", size: 1, say: (n) => orAll(n, count) },
  { name: "within", text: "Checkpoints are kept", what: "then they go; pins, holds and what undo needs stay", unit: "days", size: day, say: span },
  { name: "moment", text: "One checkpoint", what: "the files of one checkpoint, and an archive, inflated", unit: "GB", size: gb, most: 34_359_738_368, bounded: true, say: (n) => orAll(n, bytes) },
  { name: "per_second", text: "Requests", what: "a second with one key", unit: "a second", size: 1, say: (n) => orAll(n, count) },
  { name: "restore_hour", text: "Restores and forks", what: "an hour with one agent key", unit: "an hour", size: 1, say: (n) => orAll(n, count) },
  { name: "grace", text: "Deletions wait", what: "and can be cancelled until then", unit: "days", size: day, least: 7 * day, say: span },
];

/** The number in its field; no more digits than people set. */
export const fieldOf = (l: Limit, n: number): string => String(Math.round((n / l.size) * 1000) / 1000);

/** What was changed, in the units of the API; a text of what is wrong instead, if something is. */
export function changesOf(now: Limits, fields: Partial<Record<LimitName, string>>): LimitsBody | string {
  const out: LimitsBody = {};
  for (const l of limits) {
    const text = fields[l.name]?.trim();
    if (text === undefined || text === fieldOf(l, now[l.name])) continue;
    const v = Number(text);
    if (text === "" || !Number.isFinite(v) || v < 0) return `${l.text}: a number, 0 for no bound.`;
    const n = Math.round(v * l.size);
    if (l.least !== undefined && n < l.least) return `${l.text}: at least ${l.say(l.least)}.`;
    if (l.most !== undefined && (n > l.most || (n === 0 && l.bounded))) return `${l.text}: at most ${l.say(l.most)}.`;
    if (n !== now[l.name]) out[l.name] = n;
  }
  return out;
}

/** Whether checkpoints go because of the change that would stay without it. */
export function drops(now: Limits, c: LimitsBody): boolean {
  const less = (was: number, is?: number) => is !== undefined && is > 0 && (was <= 0 || is < was);
  return less(now.within, c.within) || less(now.store, c.store);
}

export const changeWords = (now: Limits, c: LimitsBody): string[] =>
  limits.filter((l) => c[l.name] !== undefined).map((l) => `${l.text}: ${l.say(c[l.name]!)} instead of ${l.say(now[l.name])}`);
