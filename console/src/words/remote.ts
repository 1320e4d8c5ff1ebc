// How far a remote is, and what it promises, in the words of the terminal.
import type { Backup, Remote, RemoteProtection, Upload } from "../api/types.ts";
import { shown } from "./escape.ts";
import { several, someNames } from "./number.ts";

/** What a place promises. */
export function protectionText(p: RemoteProtection): string {
  if ((p.locked_days ?? 0) > 0) return `Nobody can delete there for ${several(p.locked_days!, "day")}.`;
  if (p.versioned) return "It keeps what is deleted as an older version.";
  if (p.refuses) return "It refuses to replace what it has; who has its keys can delete there.";
  return "Who can write there can also replace and delete.";
}

/** One failed try is no outage yet. */
export const isUnavailable = (r: Remote): boolean => (r.trouble?.tries ?? 0) > 1;

/** Whether the last check found something wrong with it. */
export const failedCheck = (r: Remote): boolean => (r.check?.failed?.length ?? 0) > 0;

/** Whether all of it is there and nothing is wrong. */
export const isComplete = (r: Remote): boolean => r.pending === 0 && !!r.uploaded && !isUnavailable(r) && !failedCheck(r);

/** The names of remotes, as text. */
export const remoteNames = (all: readonly Remote[]): string => someNames(all.map((r) => shown(r.name)));

/** Whether a checkpoint is at a remote; nothing if there is none. */
export function uploadText(number: number, u?: Upload): string {
  if (!u) return "";
  if (u.through >= number) return `uploaded to ${shown(u.remote)}`;
  return u.failing ? "not uploaded yet, the last try failed" : "not uploaded yet";
}

/** Where a checkpoint is beside this machine. */
export function elsewhere(number: number, upload?: Upload, backup?: Backup): string {
  const git = !backup?.set ? "" : backup.pushed && backup.pushed.number >= number ? `in the git backup at ${shown(backup.url)}` : "not in the git backup yet";
  return [uploadText(number, upload), git].filter(Boolean).join(", ") || "no remote";
}
