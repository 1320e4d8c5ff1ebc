// What is asked of each fork: how its newest checkpoint was verified, and what it did.
import { useQueries, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { logOf, storyOf } from "../../api/queries.ts";
import type { WorkspaceState } from "../../api/types.ts";
import { adoptedAt, alive, type Known } from "./judge.ts";

/** More than so many are not looked into at once: each has its own timeline. */
export const lookedInto = 24;

export function useKnown(ws: string, forks: readonly WorkspaceState[]): Known[] {
  const home = useQuery(logOf(ws)).data?.checkpoints;
  const open = useMemo(() => forks.filter(alive).slice(0, lookedInto), [forks]);
  const logs = useQueries({ queries: open.map((f) => logOf(f.id, { limit: 1 })) });
  const stories = useQueries({ queries: open.map((f) => ({ ...storyOf(f.id, "start", f.latest?.id ?? "latest"), enabled: !!f.latest, retry: false })) });
  return forks.map((fork) => {
    const i = open.indexOf(fork);
    const log = i < 0 ? undefined : logs[i]?.data;
    const finding = fork.latest && log ? (log.findings[fork.latest.id] ?? {}) : undefined;
    return { fork, finding, story: i < 0 ? undefined : stories[i]?.data, adopted: adoptedAt(fork, home ?? []) };
  });
}
