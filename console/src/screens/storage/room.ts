// How much room there is, how fast it goes, and until when: pure, so that it can be tried.
import type { Drop, SpacePlan, WorkspaceSpace } from "../../api/types.ts";
import { bytes, several } from "../../words/number.ts";

/** Growth is looked at over so many days. */
export const span = 7;

/** growthOf is what checkpoints brought a day, on average since the first of the days looked at; undefined: none came. */
export function growthOf(all: readonly WorkspaceSpace[]): number | undefined {
  let perDay = 0;
  let seen = 0;
  for (const w of all) {
    const days = (w.days ?? []).slice(-span);
    const first = days.findIndex((n) => n > 0);
    if (first < 0) continue;
    seen += days.reduce((a, b) => a + b, 0);
    perDay += (w.brought ?? []).slice(-span).reduce((a, b) => a + b, 0) / (days.length - first);
  }
  return seen > 0 ? perDay : undefined;
}

export interface Reach {
  what: "budget" | "floor";
  days: number;
}

/** reachOf answers what is reached first at that pace, and in how many days. */
export function reachOf(p: SpacePlan, budget: number, perDay: number): Reach | undefined {
  if (perDay <= 0) return undefined;
  const floor: Reach = { what: "floor", days: Math.max(0, p.store.free - p.store.floor) / perDay };
  if (budget <= 0) return floor;
  const b: Reach = { what: "budget", days: Math.max(0, budget - p.store.bytes) / perDay };
  return b.days < floor.days ? b : floor;
}

/** in about 3 weeks: no more exact than it can be. */
export function about(days: number): string {
  if (days < 1) return "within a day";
  if (days < 14) return `in about ${several(Math.round(days), "day")}`;
  if (days < 60) return `in about ${several(Math.round(days / 7), "week")}`;
  if (days < 730) return `in about ${several(Math.round(days / 30), "month")}`;
  return "in years";
}

export interface Said {
  head: string;
  rest: string;
  bad: boolean;
}

/** The answer of the page. */
export function sentenceOf(p: SpacePlan, budget: number, growth: number | undefined): Said {
  const s = p.store;
  const of = budget > 0 ? ` of ${bytes(budget)}` : "";
  const grows = growth && growth >= 1 ? `It grows at most about ${bytes(growth)} a day.` : "";
  const reach = growth ? reachOf(p, budget, growth) : undefined;
  const goal = reach?.what === "budget" ? "the storage limit" : "the minimum free space";
  const until = !reach ? "" : reach.days >= 730 ? `At that pace ${goal} is years away.` : `At that pace ${goal} is reached ${about(reach.days)}.`;
  const disk = `The disk has ${bytes(s.free)} free; below ${bytes(s.floor)} nothing is saved.`;
  switch (p.need) {
    case "floor":
      return { head: "Too little free disk space: nothing is saved", rest: `${bytes(s.free)} are free and the minimum is ${bytes(s.floor)}. Checkpoints take ${bytes(s.bytes)}; a cleanup gives back about ${bytes(p.frees)}.`, bad: true };
    case "room":
      return { head: "The disk is nearly full", rest: [`Checkpoints take ${bytes(s.bytes)}${of}.`, disk, grows].filter(Boolean).join(" "), bad: true };
    case "budget":
      return { head: "The storage limit is reached", rest: [`Checkpoints take ${bytes(s.bytes)}${of}; the oldest go first.`, disk, grows].filter(Boolean).join(" "), bad: true };
  }
  return { head: `Checkpoints take ${bytes(s.bytes)}${of}`, rest: [disk, grows, until].filter(Boolean).join(" "), bad: false };
}

/** Drops by their reason, the most first. */
export function byReason(drops: readonly Drop[]): { why: string; count: number; bytes: number }[] {
  const sums = new Map<string, { why: string; count: number; bytes: number }>();
  for (const d of drops) {
    const s = sums.get(d.why) ?? { why: d.why, count: 0, bytes: 0 };
    s.count++;
    s.bytes += d.bytes;
    sums.set(d.why, s);
  }
  return [...sums.values()].sort((a, b) => b.count - a.count);
}

/** Checkpoints of each of the last thirty days, of all workspaces, today last. */
export function sumDays(all: readonly (readonly number[] | null)[]): number[] {
  const out = Array.from({ length: 30 }, () => 0);
  for (const days of all) days?.forEach((n, i) => (out[30 - days.length + i]! += n));
  return out;
}
