// Words for what a server keeps: kinds of keys, acts of the audit log, reasons.
import type { Actor, Key, WorkspaceState } from "../../api/types.ts";
import { shown } from "../../words/escape.ts";
import { duration, several } from "../../words/number.ts";

const day = 86_400_000;

export const kinds = ["agent", "reader", "operator", "admin", "maintainer"] as const;

/** What each role may do. */
export const kindWords: Record<string, string> = {
  agent: "create checkpoints, read, restore, fork",
  reader: "read only",
  operator: "agent, plus: protect workspaces, pin, legal holds",
  admin: "read, API keys, webhooks, schedules, deletion requests",
  maintainer: "read, clean up, verify and rebuild the store",
};

/** The same, for a column. */
export const kindShort: Record<string, string> = {
  agent: "save, restore",
  reader: "read",
  operator: "protect, pin, hold",
  admin: "keys, webhooks",
  maintainer: "clean up, verify",
};

/** The kind that has a power, for who lacks it. */
export const kindFor: Record<string, string> = {
  see: "reader",
  record: "agent",
  return: "agent",
  decide: "operator",
  administer: "admin",
  erase: "admin",
  maintain: "maintainer",
};

/** All types of events that a webhook can ask for. */
export const eventTypes = [
  "checkpoint.created",
  "checkpoint.verified",
  "checkpoint.expired",
  "workspace.restored",
  "workspace.forked",
  "effect.recorded",
  "retention.ran",
  "backup.failed",
  "schedule.missed",
  "namespace.nearly_full",
  "snapshot.created",
  "snapshot.restored",
] as const;

/** created, verified: the types of a webhook, short; what does not fit is counted. */
export function typesWords(types: readonly string[]): string {
  if (types.length === 0) return "all";
  const short = types.map((t) => shown(t.startsWith("snapshot.") ? t : (t.split(".")[1] ?? t)));
  return short.length <= 2 ? short.join(", ") : `${short[0]} and ${several(short.length - 1, "other")}`;
}

/** How long, of nanoseconds: 30 days, 12 hours, for ever. */
export function span(ns: number): string {
  if (ns <= 0) return "for ever";
  const d = ns / 1e6 / day;
  return Number.isInteger(d) ? several(d, "day") : several(Math.round(ns / 3.6e12), "hour");
}

/** Others' words as a sentence of ours. */
export function sentence(s: string): string {
  const t = shown(s.trim());
  const begun = /^[a-z]+[ ,;]/.test(t) ? t[0]!.toUpperCase() + t.slice(1) : t; // a host or a command stays as it is
  return t === "" ? "" : begun + (/[.:!?]$/.test(t) ? "" : ".");
}

/** 5 ms, 0.2 s: of how long an answer took. */
export const took = (ns: number): string => (ns < 1e8 ? `${Math.max(1, Math.round(ns / 1e6))} ms` : duration(ns));

/** A key that ends within a week is worth a word. */
export function soonEnds(k: Key, now: number): boolean {
  if (k.revoked || !k.expires) return false;
  const left = new Date(k.expires).getTime() - now;
  return left > 0 && left <= 7 * day;
}

export const liveKey = (k: Key, now: number): boolean => !k.revoked && (!k.expires || new Date(k.expires).getTime() > now);

/** The names of things by id; of what is not known, the end of its id. */
export type Names = ReadonlyMap<string, string>;

export const short = (id: string): string => {
  const at = id.indexOf("_");
  return shown(at > 0 && id.length > 20 ? `${id.slice(0, at)}…${id.slice(-6)}` : id);
};

export const nameOf = (names: Names, id: string): string => names.get(id) ?? short(id);

export const namesOf = (all: readonly WorkspaceState[]): Map<string, string> => new Map(all.map((w) => [w.id, shown(w.name)]));

export const who = (a: Actor): string => {
  const name = a.name ? shown(a.name) : "";
  if (!a.key) return name && name !== "server" ? `the server, ${name}` : "the server";
  if (!name) return `${shown(a.kind)} key`;
  return name.includes(a.kind) ? `${name} key` : `${name}, ${shown(a.kind)} key`;
};

const acts: Record<string, string> = {
  "append checkpoint": "kept",
  "bury checkpoint": "forgotten",
  "set pins": "pins changed",
  "reset catalog": "catalog made again",
  "put workspace": "workspace changed",
  "put verification": "check result recorded",
  "put anchor": "log signed",
  "put password": "store sealed",
  "add key": "key made",
  "revoke key": "key revoked",
  "add namespace": "namespace made",
  "change namespace": "namespace changed",
  "add webhook": "webhook added",
  "change webhook": "webhook changed",
  "drop webhook": "webhook dropped",
  "add schedule": "schedule added",
  "change schedule": "schedule changed",
  "drop schedule": "schedule dropped",
  "ask for deletion": "deletion asked for",
  "cancel deletion": "deletion taken back",
  "finish deletion": "deletion done",
  "refuse deletion": "deletion refused",
  hold: "held",
  "release hold": "hold ended",
};

/** What an act was, with its subject named: shopfront 22 kept, key “ci” revoked. */
export function actWords(verb: string, subject: string, names: Names): { what: string; about: string } {
  const what = acts[verb] ?? shown(verb);
  const known = names.get(subject);
  if (subject.startsWith("cp_")) return { what: `${known ?? "a checkpoint"} ${what}`, about: known ? "" : short(subject) };
  if (verb === "put anchor") return { what, about: "" };
  return { what, about: known ?? short(subject) };
}

export const dropWords: Record<string, string> = {
  age: "too old",
  budget: "over the storage limit",
  room: "disk nearly full",
  floor: "too little free space",
};

/** What a schedule does. */
export const workWords: Record<string, string> = {
  save: "takes a checkpoint when files changed",
  retain: "drops what is too old",
  drill: "reads a share of the bytes back",
};

/** Why something is not sent with a backup. */
export const leaveWords: Record<string, string> = {
  secret: "likely secret",
  "too-big": "over 50 MB",
  name: "that git refuses",
  special: "neither file nor link",
  ignored: "by ignore files",
  git: "of git itself",
  mark: "of ours",
};
