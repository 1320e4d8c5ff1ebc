// The workspaces in their order: forks below what they forked from, ended ones at the end and
// folded; and how each of them stands.
import type { Remote, SpacePlan, Status, StoreState, WorkspaceState } from "../../api/types.ts";
import { shown } from "../../words/escape.ts";
import { bytes, count, several, someNames } from "../../words/number.ts";
import { failedCheck, isUnavailable, remoteNames } from "../../words/remote.ts";
import { clock } from "../../words/time.ts";

export type Row = { kind: "workspace"; ws: WorkspaceState; depth: number } | { kind: "ended"; n: number; open: boolean };

/** rowsOf lists workspaces as they come, which is the last used first. */
export function rowsOf(all: readonly WorkspaceState[], open: boolean): Row[] {
  const living = all.filter((w) => !w.ended);
  const ended = all.filter((w) => w.ended);
  const rows = nested(living);
  if (ended.length > 0) rows.push({ kind: "ended", n: ended.length, open });
  return open ? [...rows, ...nested(ended)] : rows;
}

function nested(list: readonly WorkspaceState[]): Row[] {
  const here = new Set(list.map((w) => w.id));
  const below = new Map<string, WorkspaceState[]>();
  for (const w of list) {
    const of = w.origin?.workspace;
    if (of && of !== w.id && here.has(of)) below.set(of, [...(below.get(of) ?? []), w]);
  }
  const out: Row[] = [];
  const put = (w: WorkspaceState, depth: number) => {
    if (!here.delete(w.id)) return;
    out.push({ kind: "workspace", ws: w, depth });
    for (const f of below.get(w.id) ?? []) put(f, depth + 1);
  };
  for (const w of list) if (!w.origin || !list.some((x) => x.id === w.origin!.workspace)) put(w, 0);
  for (const w of list) put(w, 0); // those that forked from each other
  return out;
}

export interface Stand {
  word: string;
  look: "ok" | "warn" | "off";
  why?: string; // a sentence, without the name of the workspace
}

/** How a workspace stands. Without room on the disk nothing new is kept in any of them. */
export function standOf(w: WorkspaceState, store?: StoreState): Stand {
  if (w.ended) return { word: "ended", look: "off", why: "is no longer protected" };
  const cut = w.interrupted;
  if (cut) {
    const why = `has a restore of ${cut.target} that was interrupted at ${count(cut.done)} of ${count(cut.total)}; all there was is in ${cut.safety}`;
    return { word: "restore interrupted", look: "warn", why };
  }
  if (w.gone) return { word: "directory gone", look: "off", why: "has lost its directory; its checkpoints are kept" };
  if (!w.latest) return { word: "no checkpoint yet", look: "warn", why: "has no checkpoint yet" };
  if (w.unprotected) return { word: "not protected", look: "warn", why: `is not protected: ${shown(w.unprotected.why)}` };
  if (store && store.free < store.floor) return { word: "not protected", look: "warn" };
  return { word: "protected", look: "ok" };
}

/** The sentence that is the answer, and what stands behind it. */
export function answerOf(all: readonly WorkspaceState[], store?: StoreState): { title: string; more: string } {
  const roots = all.filter((w) => !w.ended && !w.origin);
  const counted = roots.length > 0 ? roots : all.filter((w) => !w.ended);
  const fine = counted.filter((w) => standOf(w, store).look === "ok");
  const full = store && store.free < store.floor ? `The disk is down to ${bytes(store.free)} and the minimum is ${bytes(store.floor)}: no turn is kept until there is room.` : "";
  const troubles = all.filter((w) => !w.ended).flatMap((w) => {
    const { why } = standOf(w, store);
    return why ? [`${shown(w.name)} ${why}.`] : [];
  });
  const more = [full, ...troubles.slice(0, 3), troubles.length > 3 ? `${several(troubles.length - 3, "more workspace")} need a look.` : ""].filter(Boolean).join(" ");
  return { title: titleOf(counted, fine.length), more };
}

function titleOf(counted: readonly WorkspaceState[], fine: number): string {
  const n = counted.length;
  if (n === 0) return "No workspace is protected";
  if (n === 1) return `${shown(counted[0]!.name)} is ${fine === 1 ? "protected" : "not protected"}`;
  if (fine === n) return n === 2 ? "Both workspaces are protected" : `All ${count(n)} workspaces are protected`;
  return `${fine === 0 ? "None" : count(fine)} of ${count(n)} workspaces ${fine === 1 ? "is" : "are"} protected`;
}

/** A day with so many checkpoints fills the height, unless another had more. */
const busy = 20;

/** Bars of the checkpoints of each day, as one path. */
export function dayBars(days: readonly number[], width: number, height: number): string {
  const most = Math.max(busy, ...days);
  const each = width / Math.max(1, days.length);
  const wide = Math.max(1, each * 0.6).toFixed(1);
  const bar = (n: number, i: number) => `M${(i * each).toFixed(1)} ${height}v-${Math.max(2, (n / most) * height).toFixed(1)}h${wide}V${height}z`;
  return days.map((n, i) => (n > 0 ? bar(n, i) : "")).join("");
}

/** A budget of 0 is none. */
export const storeFits = (s: SpacePlan): boolean => s.budget <= 0 || s.store.bytes <= s.budget;

export const storeText = (s: SpacePlan): string => (s.budget > 0 ? `${bytes(s.store.bytes)} of ${bytes(s.budget)}` : `${bytes(s.store.bytes)}, no limit set`);

/** Whether the history is at another place, too: at remotes, or in git backups of the workspaces that were asked. */
export function elsewhereOf(known: readonly Status[], remotes: readonly Remote[], server: boolean, now = new Date()): { fine: boolean; text: string } {
  const without = known.filter((s) => !s.remotes?.length && !s.backup?.set);
  if (without.length === known.length && remotes.length === 0) return { fine: false, text: `none: the history is on this ${server ? "server" : "machine"} only` };
  const away = remotes.find(isUnavailable);
  if (away) return { fine: false, text: `${shown(away.name)} has been unavailable since ${clock(away.trouble!.since, now)}, ${several(away.pending, "checkpoint")} pending` };
  const broken = remotes.find(failedCheck);
  if (broken) return { fine: false, text: `the last check of ${shown(broken.name)} failed` };
  const open = remotes.find((r) => r.pending > 0 || !r.uploaded);
  if (open) return { fine: false, text: open.pending > 0 ? `${several(open.pending, "checkpoint")} not uploaded to ${shown(open.name)} yet` : `nothing is uploaded to ${shown(open.name)} yet` };
  if (without.length > 0) return { fine: false, text: `none for ${someNames(without.map((s) => shown(s.workspace.name)))}` };
  const late = known.find((s) => s.backup?.set && s.backup.trouble);
  if (late) return { fine: false, text: `the git backup of ${shown(late.workspace.name)} is ${several(late.backup!.behind, "checkpoint")} behind` };
  return { fine: true, text: remotes.length > 0 ? `all checkpoints are uploaded to ${remoteNames(remotes)}` : "all checkpoints are in a git backup" };
}
