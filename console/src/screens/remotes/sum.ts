// What is uploaded of all workspaces, and what would be lost with this machine: pure, so that it can be tried.
import type { Remote, RemoteWorkspace, WorkspaceState } from "../../api/types.ts";
import { shown } from "../../words/escape.ts";
import { count, several, someNames } from "../../words/number.ts";
import { failedCheck, isUnavailable, remoteNames } from "../../words/remote.ts";
import { clock } from "../../words/time.ts";

/** How many checkpoints a remote has, of how many. */
export function shareOf(r: Remote, all: readonly WorkspaceState[]): { there: number; total: number } {
  const counts = new Map(all.map((w) => [w.id, w.count]));
  const total = (r.workspaces ?? []).reduce((n, w) => n + Math.max(counts.get(w.workspace) ?? w.newest, w.pending), 0);
  return { there: Math.max(0, total - r.pending), total };
}

export interface Loss {
  name: string;
  count: number;
}

/** What no remote has: of each workspace what the one that is farthest lacks, the most first. */
export function lossesOf(remotes: readonly Remote[], all: readonly WorkspaceState[]): Loss[] {
  const least = new Map<string, number>();
  for (const w of remotes.flatMap((r) => r.workspaces ?? [])) least.set(w.workspace, Math.min(least.get(w.workspace) ?? Infinity, w.pending));
  return all
    .map((w) => ({ name: w.name, count: w.latest ? (least.get(w.id) ?? w.count) : 0 }))
    .filter((l) => l.count > 0)
    .sort((a, b) => b.count - a.count || a.name.localeCompare(b.name));
}

export interface Said {
  head: string;
  rest: string;
}

/** A directory may be lost together with this machine: it counts only where there is nothing else. */
const isDirectory = (r: Remote) => r.url.startsWith("/");

/** The answer of the page: what is uploaded, and what would be lost with this machine. */
export function sentenceOf(remotes: readonly Remote[], all: readonly WorkspaceState[], now = new Date()): Said {
  const beyond = remotes.filter((r) => !isDirectory(r));
  const losses = lossesOf(beyond.length > 0 ? beyond : remotes, all);
  const ifLost = `If this machine${beyond.length > 0 ? "" : "’s disk"} is lost now, you lose`;
  const lost = losses.reduce((n, l) => n + l.count, 0);
  const total = all.reduce((n, w) => n + (w.latest ? w.count : 0), 0);
  const away = remotes.filter(isUnavailable);
  const since = away.map((r) => r.trouble!.since).sort()[0];
  const broken = remotes.filter(failedCheck);
  const gone = [
    since ? `${remoteNames(away)} ${away.length === 1 ? "has" : "have"} been unavailable since ${clock(since, now)}.` : "",
    broken.length > 0 ? `The last check of ${remoteNames(broken)} failed.` : "",
  ].filter(Boolean).join(" ");
  if (total === 0) return { head: "There are no checkpoints to upload yet", rest: gone };
  if (lost === 0) {
    const full = remotes.filter((r) => r.pending === 0);
    const to = full.length > 0 ? ` to ${remoteNames(full)}` : "";
    return { head: `${allAre(total)} uploaded${to}`, rest: [gone, `${ifLost} only what changed since the newest checkpoints.`].filter(Boolean).join(" ") };
  }
  const many = losses.length === 1 ? ` of ${shown(losses[0]!.name)}` : `: ${someNames(losses.map((l) => `${count(l.count)} of ${shown(l.name)}`))}`;
  if (lost >= total) return { head: "Nothing is uploaded yet", rest: [gone, `${ifLost} ${total === 1 ? "the only checkpoint" : `all ${count(total)} checkpoints`}.`].filter(Boolean).join(" ") };
  return {
    head: `${several(total - lost, "checkpoint")} ${total - lost === 1 ? "is" : "are"} uploaded, ${count(lost)} ${lost === 1 ? "is" : "are"} pending`,
    rest: [gone, `${ifLost} ${several(lost, "checkpoint")}${many}.`].filter(Boolean).join(" "),
  };
}

const allAre = (n: number) => (n === 1 ? "The only checkpoint is" : `All ${count(n)} checkpoints are`);

/** What waits stands first, the rest by name. */
export const inOrder = (list: readonly RemoteWorkspace[] | null): RemoteWorkspace[] => [...(list ?? [])].sort((a, b) => b.pending - a.pending || a.name.localeCompare(b.name, "en", { numeric: true }));
