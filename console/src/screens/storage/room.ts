// How much room there is, how fast it goes, and until when: pure, so that it can be tried.
import type { Checkpoint, Drop, SpacePlan } from "../../api/types.ts";
import { bytes, several } from "../../words/number.ts";

const day = 86_400_000;

/** Growth is looked at over so many days. */
export const span = 7;

export interface Growth {
  perDay: number;
  /** Not all moments of the days were read. */
  part: boolean;
}

/** growthOf counts what moments brought, without first ones: those come once. */
export function growthOf(recent: readonly { moments: readonly Checkpoint[]; cut: boolean }[], now: number): Growth | undefined {
  let perDay = 0;
  let seen = 0;
  for (const r of recent) {
    const later = r.moments.filter((c) => c.trigger !== "init" && c.trigger !== "fork");
    if (r.moments.length === 0) continue;
    seen += later.length;
    const oldest = Math.min(...r.moments.map((c) => new Date(c.time).getTime()));
    const days = Math.min(span, Math.max(1, (now - oldest) / day));
    perDay += later.reduce((n, c) => n + c.new_bytes, 0) / days;
  }
  return seen > 0 ? { perDay, part: recent.some((r) => r.cut) } : undefined;
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
export function sentenceOf(p: SpacePlan, budget: number, growth: Growth | undefined): Said {
  const s = p.store;
  const of = budget > 0 ? ` of ${bytes(budget)}` : "";
  const grows = growth && growth.perDay >= 1 ? `It grows at most about ${bytes(growth.perDay)} a day.` : "";
  const reach = growth ? reachOf(p, budget, growth.perDay) : undefined;
  const goal = reach?.what === "budget" ? "the budget" : "the floor of the disk";
  const until = !reach ? "" : reach.days >= 730 ? `At that pace ${goal} is years away.` : `At that pace ${goal} is reached ${about(reach.days)}.`;
  const disk = `The disk has ${bytes(s.free)} free; below ${bytes(s.floor)} nothing is saved.`;
  switch (p.need) {
    case "floor":
      return { head: "The disk is below its floor: nothing is saved", rest: `${bytes(s.free)} are free and the floor is ${bytes(s.floor)}. Moments take ${bytes(s.bytes)}; a tidy-up gives back about ${bytes(p.frees)}.`, bad: true };
    case "room":
      return { head: "The disk is near its floor", rest: [`Moments take ${bytes(s.bytes)}${of}.`, disk, grows].filter(Boolean).join(" "), bad: true };
    case "budget":
      return { head: "The store has used up its budget", rest: [`Moments take ${bytes(s.bytes)}${of}; the oldest go first.`, disk, grows].filter(Boolean).join(" "), bad: true };
  }
  return { head: `Moments take ${bytes(s.bytes)}${of}`, rest: [disk, grows, until].filter(Boolean).join(" "), bad: false };
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

/** Moments of each of the last thirty days, of all workspaces, today last. */
export function sumDays(all: readonly (readonly number[] | null)[]): number[] {
  const out = Array.from({ length: 30 }, () => 0);
  for (const days of all) days?.forEach((n, i) => (out[30 - days.length + i]! += n));
  return out;
}
