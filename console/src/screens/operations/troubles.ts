// What the menu counts beside its parts: what fails is red, what waits is not.
import { useQueries, useQuery } from "@tanstack/react-query";
import { backupOf, deletions, newestOf, schedules, webhooks } from "../../api/office.ts";
import type { Backup, WorkspaceState } from "../../api/types.ts";
import { useOffice } from "./office.tsx";
import { healthOf, type Health } from "./hooks/health.ts";

export interface Trouble {
  n: number;
  bad: boolean;
  words: string;
}

/** How every webhook does. */
export function useHealth() {
  const { may } = useOffice();
  const on = may("administer");
  const hooks = useQuery({ ...webhooks, enabled: on });
  const newest = useQueries({ queries: (hooks.data ?? []).map((h) => ({ ...newestOf(h.id), enabled: on })) });
  const now = Date.now();
  const all = (hooks.data ?? []).map((hook, i): { hook: typeof hook; health: Health; known: boolean } => ({
    hook,
    health: healthOf(hook, newest[i]?.data ?? [], now),
    known: !!newest[i]?.data,
  }));
  return { all, hooks, settled: hooks.isSuccess && newest.every((q) => !q.isPending) };
}

/** So many workspaces are asked for their backup, each by itself: on the page of backups, and for the menu. */
export const backupsAsked = 100;
const menuAsks = 20;

export function useBackups(most = backupsAsked) {
  const { workspaces: list, live } = useOffice();
  const asked = live.slice(0, most);
  const got = useQueries({ queries: asked.map((w) => backupOf(w.id)) });
  const all: { ws: WorkspaceState; backup: Backup | null | undefined; error: unknown }[] = asked.map((ws, i) => ({ ws, backup: got[i]?.data, error: got[i]?.error }));
  return { all, left: live.length - asked.length, settled: !!list.data && got.every((q) => !q.isPending), list };
}

export function useTroubles(): Record<string, Trouble> {
  const { may } = useOffice();
  const { all } = useHealth();
  const runs = useQuery({ ...schedules, enabled: may("administer") });
  const asked = useQuery({ ...deletions, enabled: may("erase") });
  const backups = useBackups(menuAsks);
  const failing = all.filter((x) => x.health.state === "retrying").length;
  const wrong = (runs.data ?? []).filter((s) => s.last?.err).length;
  const waiting = (asked.data ?? []).filter((d) => d.state === "waiting").length;
  const stuck = backups.all.filter((b) => b.backup?.trouble).length;
  return {
    hooks: { n: failing, bad: true, words: "failing" },
    schedules: { n: wrong, bad: true, words: "went wrong" },
    deletions: { n: waiting, bad: false, words: "waiting" },
    backup: { n: stuck, bad: true, words: "failing" },
  };
}
