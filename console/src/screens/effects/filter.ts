// Which effects are shown: by kind, by agent, and by words.
import type { Effect } from "../../api/types.ts";

export interface Wanted {
  kind: string; // empty: any
  agent: string;
  words: string;
}

export const any: Wanted = { kind: "", agent: "", words: "" };

export const newestFirst = (all: readonly Effect[]): Effect[] => [...all].sort((a, b) => b.time.localeCompare(a.time) || b.id.localeCompare(a.id, "en", { numeric: true }));

export function matching(all: readonly Effect[], w: Wanted): Effect[] {
  const words = w.words.toLowerCase().split(/\s+/).filter((s) => s !== "");
  return all.filter((e) => {
    if (w.kind && kindOf(e) !== w.kind) return false;
    if (w.agent && (e.agent ?? "") !== w.agent) return false;
    const text = `${e.id} ${e.text} ${e.target ?? ""} ${e.kind ?? ""}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

export const kindOf = (e: Effect): string => e.kind || "other";

/** Counts by a name, the most first. */
export function counted(names: readonly string[]): [string, number][] {
  const n = new Map<string, number>();
  for (const name of names) n.set(name, (n.get(name) ?? 0) + 1);
  return [...n].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
}
