// What settings mean, in words; the sums of what is kept.
import type { Drop, KeptFor, Remote, SpacePlan, Status, Tracking, WorkspaceSpace } from "../../api/types.ts";
import { shown } from "../../words/escape.ts";
import { count, several } from "../../words/number.ts";
import { isUnavailable, remoteNames } from "../../words/remote.ts";

/** The answer: whether it is protected, and where its checkpoints are. */
export function answer(st: Status, server: boolean): string {
  const name = shown(st.workspace.name);
  if (st.store.free < st.store.floor) return `${name} is not protected: too little free disk space`;
  if (st.remotes?.length) return uploaded(name, st.remotes);
  if (st.backup?.url) return st.backup.trouble ? `${name} is protected, but its backup fails` : `${name} is protected and backed up`;
  return server ? `${name} is protected, on this server` : `${name} is protected, on this machine only`;
}

function uploaded(name: string, all: readonly Remote[]): string {
  const away = all.filter(isUnavailable);
  const least = Math.min(...all.map((r) => r.pending));
  if (away.length === all.length) return `${name} is protected, but ${remoteNames(away)} ${away.length === 1 ? "is" : "are"} unavailable`;
  if (least > 0) return `${name} is protected; ${several(least, "checkpoint")} ${least === 1 ? "is" : "are"} not uploaded yet`;
  return `${name} is protected and uploaded to ${remoteNames(all.filter((r) => r.pending === 0))}`;
}

/** How firmly a program that runs as you is kept from the store. */
export function levelText(level: string, remotes = false): { text: string; sure: boolean } {
  switch (level) {
    case "same-user":
      return { text: `A program that runs as you could delete the store${remotes ? ", here and at its remotes" : ""}.`, sure: false };
    case "separate-user":
      return { text: "The store belongs to another user; what runs as you cannot delete it.", sure: true };
    case "remote":
      return { text: "The store is on a server; what runs here cannot delete it.", sure: true };
    case "remote+lock":
      return { text: "A remote has it locked: for a while nobody can delete what was uploaded.", sure: true };
  }
  return { text: shown(level), sure: true };
}

export function trackingText(t: Tracking): string {
  if (t.mode === "scan") return `Every file is looked at, at each save${t.why ? `: ${shown(t.why)}` : ""}.`;
  const told = `Changes are told by ${shown(t.mode)}: ${several(t.events, "change")} so far`;
  const doubts = t.doubts > 0 ? `, ${several(t.doubts, "doubt")} looked into` : "";
  return `${told}${doubts}.`;
}

const day = 86_400e9;

/** 30 days, 36 hours; 0 is for ever. */
export function within(ns: number): string {
  if (ns <= 0) return "for ever";
  return ns % day === 0 ? several(ns / day, "day") : several(Math.floor(ns / 3_600e9), "hour");
}

const keptWords: Record<string, string> = {
  newest: "the newest", start: "the start", pinned: "pinned", "latest good": "the latest good", "fork base": "what forks were made from", "in use": "in use",
  "safety point": "saved before a restore", undo: "needed for undo", "last hour": "of the last hour", "last day": "of the last day", "last moments": "the last ones",
  "one an hour": "one an hour", "one a day": "one a day", "all are kept": "all are kept",
};

export const keptText = (k: KeptFor): string => keptWords[k.why] ?? shown(k.why);

export const dropsOf = (p: SpacePlan, ws: string): Drop[] => (p.drops ?? []).filter((d) => d.workspace === ws);

export const spaceOf = (p: SpacePlan, ws: string): WorkspaceSpace | undefined => (p.workspaces ?? []).find((w) => w.workspace === ws);

const needs: Record<string, string> = { budget: "the store is over its limit", room: "the disk is nearly full", floor: "there is too little free space, so nothing is saved" };

/** What the next cleanup does here, and why. */
export function tidyText(p: SpacePlan, ws: string): string {
  const n = dropsOf(p, ws).length;
  const why = p.need ? `, because ${needs[p.need] ?? shown(p.need)}` : "";
  return n === 0 ? "The next cleanup drops nothing here." : `The next cleanup drops ${several(n, "checkpoint")} here${why}.`;
}

/** The days as columns: a height from 0 to 1 for each. */
export function columns(days: readonly number[]): number[] {
  const top = Math.max(1, ...days);
  return days.map((n) => (n === 0 ? 0 : Math.max(0.12, n / top)));
}

export const daysText = (days: readonly number[]): string => `${count(days.reduce((a, b) => a + b, 0))} checkpoints in the last ${days.length} days, ${count(days.at(-1) ?? 0)} today`;
