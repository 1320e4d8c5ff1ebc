// Which checkpoint an effect belongs to, and where a task was completed. The lists do not
// say it; the timeline does, so it is walked back until all is found.
import { queryOptions } from "@tanstack/react-query";
import { ask } from "../../api/ask.ts";
import { pageSize } from "../../api/queries.ts";
import type { Checkpoint, Effect, Timeline } from "../../api/types.ts";

/** How many pages are read at most; what lies further back is told by its time. */
const mostPages = 10;

export async function walkBack(read: (before?: number) => Promise<Timeline>, enough: (seen: Checkpoint[]) => boolean): Promise<Checkpoint[]> {
  const seen: Checkpoint[] = [];
  let before: number | undefined;
  for (let n = 0; n < mostPages; n++) {
    const page = (await read(before)).checkpoints ?? [];
    seen.push(...page);
    before = page.at(-1)?.number;
    if (page.length === 0 || before === undefined || before <= 1 || enough(seen)) break;
  }
  return seen;
}

const pages = (ws: string, signal: AbortSignal) => (before?: number) =>
  ask<Timeline>("GET", `/v1/workspaces/${encodeURIComponent(ws)}/checkpoints`, { query: { limit: pageSize, before }, signal });

/** The checkpoints that hold these effects, by the ids of the effects. */
export const checkpointsOf = (ws: string, effects: readonly Effect[]) =>
  queryOptions({
    queryKey: ["ws", ws, "effect-checkpoints", effects.map((e) => e.id)],
    queryFn: async ({ signal }) => byEffect(await walkBack(pages(ws, signal), (seen) => byEffect(seen).size >= effects.length)),
    enabled: effects.length > 0,
  });

export function byEffect(seen: readonly Checkpoint[]): Map<string, Checkpoint> {
  const out = new Map<string, Checkpoint>();
  for (const c of seen) for (const e of c.effects ?? []) out.set(e.id, c);
  return out;
}

/** The newest checkpoints at which tasks were completed or failed, by title. */
export const taskCheckpoints = (ws: string, titles: readonly string[]) =>
  queryOptions({
    queryKey: ["ws", ws, "task-checkpoints", titles],
    queryFn: async ({ signal }) => {
      const found = (seen: Checkpoint[]) => byTask(seen);
      return found(await walkBack(pages(ws, signal), (seen) => titles.every((t) => found(seen).has(t))));
    },
    enabled: titles.length > 0,
  });

export function byTask(seen: readonly Checkpoint[]): Map<string, Checkpoint> {
  const out = new Map<string, Checkpoint>();
  for (const c of seen) {
    if (c.trigger !== "task") continue;
    const title = /^.*? (?:completed|failed): (.*)$/s.exec(c.intent ?? "")?.[1];
    if (title !== undefined && !out.has(title)) out.set(title, c);
  }
  return out;
}
