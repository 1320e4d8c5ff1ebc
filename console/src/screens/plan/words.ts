// What a plan says of itself: its goal, its sums, the question, what consent means. The
// words and the way of counting are those of the terminal.
import type { Entry, Keep, Merge, Obstacle, Plan, RestoreResult, Step } from "../../api/types.ts";
import { shown } from "../../words/escape.ts";
import { count, several } from "../../words/number.ts";

export interface Wording {
  now: string;
  done: string;
  bring: string;
  brought: string;
  change: string;
  turned: string;
}

const restoring: Wording = { now: "Restore", done: "Restored", bring: "bring back", brought: "brought back", change: "change", turned: "changed" };
const wordings: Record<string, Wording> = {
  restore: restoring,
  undo: { ...restoring, now: "Undo", done: "Undid", change: "change back", turned: "changed back" },
  redo: { ...restoring, now: "Redo", done: "Redid" },
  adopt: { ...restoring, now: "Adopt", done: "Adopted", bring: "add", brought: "added" },
  finish: { ...restoring, now: "Finish restoring", done: "Finished restoring" },
  unwind: { ...restoring, now: "Take back the restore of", done: "Took back the restore of", change: "change back", turned: "changed back" },
};

export const wordsOf = (course: string): Wording => wordings[course] ?? restoring;

export const upper = (s: string): string => s.slice(0, 1).toUpperCase() + s.slice(1);

/** What a plan leads to: the number of a checkpoint, or the name of a fork. */
export function goalOf(p: Plan): string {
  if (p.course === "adopt" && p.fork) return shown(p.fork.name);
  const hunks = p.merges[0]?.merge?.hunks?.length ?? 0;
  if (p.target) return `${hunks > 0 ? `${several(hunks, "hunk")} of ` : ""}${p.target.number}`;
  return `the edits since ${p.safety.number - 1}`; // no checkpoint holds them yet
}

/** A digest as people read and say it: ab12-cd34. */
export const digestText = (digest: string): string => (digest.length < 8 ? digest : `${digest.slice(0, 4)}-${digest.slice(4, 8)}`);

export interface Tally {
  deleted: number;
  brought: number;
  changed: number; // with merges
  merged: number;
  beside: number; // other versions put beside what stays
  kept: number;
  deletedBytes: number;
  broughtBytes: number;
}

const isDir = (s: Step) => (s.then ?? s.now)?.kind === "dir";

/** Directories that come or go count only where there is nothing else: their files say it. */
export function countOf(steps: readonly Step[]): number {
  const files = steps.filter((s) => !(isDir(s) && (s.what === "added" || s.what === "deleted"))).length;
  return files || steps.length;
}

const weight = (e?: Entry) => (e?.kind === "file" ? e.size : 0);
const sum = (steps: readonly Step[], of: (s: Step) => Entry | undefined) => steps.reduce((n, s) => n + weight(of(s)), 0);

export const broughtOf = (p: Plan): Step[] => p.writes.filter((s) => s.what === "added");
export const changedOf = (p: Plan): Step[] => p.writes.filter((s) => s.what !== "added");

export function tallyOf(p: Plan, left: ReadonlySet<string> = new Set()): Tally {
  const stay = (steps: Step[]) => steps.filter((s) => !left.has(s.path));
  const deletes = stay(p.deletes);
  const brought = stay(broughtOf(p));
  const merged = stay(p.merges).length;
  const beside = p.keeps.filter((k) => k.why === "conflict" && k.side).length;
  return {
    deleted: countOf(deletes),
    brought: countOf(brought),
    changed: countOf(stay(changedOf(p))) + merged,
    merged,
    beside,
    kept: p.keeps.length,
    deletedBytes: sum(deletes, (s) => s.now),
    broughtBytes: sum(brought, (s) => s.then),
  };
}

/** Applying it would do nothing. What was interrupted must be ended even so. */
export function idle(p: Plan): boolean {
  if (p.course === "finish" || p.course === "unwind") return false;
  return p.writes.length + p.deletes.length + p.merges.length === 0 && !p.keeps.some((k) => k.side);
}

export function idleText(p: Plan): string {
  const to = goalOf(p);
  switch (p.course) {
    case "undo":
      return `Nothing of ${to} is left to undo.`;
    case "redo":
      return `All of ${to} is there again already.`;
    case "adopt":
      return `All that the fork ${to} changed is here already.`;
    default:
      return `The files are already as in ${to}.`;
  }
}

const joined = (parts: string[]) => (parts.length < 2 ? (parts[0] ?? "") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`);

/** Delete 1,132, bring back 30 and change 19 files? */
export function question(p: Plan): string {
  const w = wordsOf(p.course);
  const t = tallyOf(p);
  const parts: [string, number][] = [["delete", t.deleted], [w.bring, t.brought], [w.change, t.changed]];
  const told = parts.filter(([, n]) => n > 0);
  if (told.length > 0) {
    const last = told.at(-1)!;
    const noun = last[1] === 1 ? "file" : "files";
    return `${upper(joined(told.map(([word, n]) => `${word} ${count(n)}`)))} ${noun}?`;
  }
  if (t.beside > 0) return `Write ${several(t.beside, "new file")} beside yours?`;
  return `${w.now} ${goalOf(p)}? No file has to change any more.`;
}

/** What the first step goes on to: Continue: delete 25, put 2 beside. */
export function goOnLabel(p: Plan): string {
  const w = wordsOf(p.course);
  const t = tallyOf(p);
  const parts: [string, number, string?][] = [["delete", t.deleted], [w.bring, t.brought], [w.change, t.changed - t.merged], ["merge", t.merged], ["put", t.beside, "beside"]];
  const told = parts.filter(([, n]) => n > 0).map(([verb, n, after]) => `${verb} ${count(n)}${after ? ` ${after}` : ""}`);
  return told.length > 0 ? `Continue: ${told.join(", ")}` : "Continue";
}

/** All that a plan writes are other versions beside files that stay. */
export const onlyBeside = (p: Plan): boolean => p.writes.length + p.deletes.length + p.merges.length === 0 && tallyOf(p).beside > 0;

/** Why a plan changes no file that is there, and what it writes. */
export function besideText(p: Plan): string {
  const n = tallyOf(p).beside;
  const whose = p.course === "adopt" ? "the fork's versions" : "the other versions";
  return `No file that you have is changed: ${n === 1 ? "1 file was" : `${count(n)} files were`} changed on both sides. ${upper(n === 1 ? whose.replace("versions", "version") : whose)} ${n === 1 ? "is" : "are"} put beside yours as ${several(n, "new file")}.`;
}

/** The button of the second step repeats the deletions. */
export function deedLabel(p: Plan): string {
  const n = tallyOf(p).deleted;
  if (onlyBeside(p)) return `Put ${several(tallyOf(p).beside, "version")} of ${goalOf(p)} beside yours`;
  return `${wordsOf(p.course).now} ${goalOf(p)}${n > 0 ? ` and delete ${several(n, "file")}` : ""}`;
}

/** Deleted 1,132, brought back 30, changed 19. */
export function doneText(p: Plan, r: RestoreResult): string {
  const w = wordsOf(p.course);
  const t = tallyOf(p, new Set(r.failed.map((f) => f.path)));
  const parts: [string, number][] = [
    ["deleted", t.deleted], [w.brought, t.brought], [w.turned, t.changed - t.merged], ["merged", t.merged], ["put beside", t.beside], ["kept", t.kept - t.beside],
  ];
  const told = parts.filter(([, n]) => n > 0).map(([word, n]) => `${word} ${count(n)}`);
  return told.length > 0 ? upper(told.join(", ")) : "No file had to change";
}

/** What consent to an obstacle means, as a deed. */
export function deed(p: Plan, o: Obstacle): string {
  const paths = o.paths ?? [];
  const it = paths.length > 1 ? "them" : "it";
  switch (o.class) {
    case "mass-delete":
      return `Delete ${several(tallyOf(p).deleted, "file")}`;
    case "uncaptured":
      return `Continue, although ${some(paths, "something")} isn't saved in any checkpoint`;
    case "changed":
      return `Overwrite your ${paths.length > 1 ? "edits" : "edit"} of ${some(paths, "something")}`;
    case "partial":
      return `Go to ${goalOf(p)}, which is incomplete`;
    case "held":
      return `Replace ${some(paths, "something")} while programs hold ${it}`;
    case "database":
      return `Replace ${some(paths, "a database")} while a program has ${it} open`;
    case "space":
      return "Start with too little disk space";
    case "names":
      return `Write ${some(paths, "names")} though this disk takes several names for one`;
    case "setuid":
      return `Write ${some(paths, "files")}, run with the rights of the owner`;
  }
  return `Go on although ${shown(o.text.replace(/\.$/, ""))}`;
}

const some = (paths: readonly string[], none: string): string =>
  paths.length === 0 ? none : paths.length === 1 ? shown(paths[0]!) : several(paths.length, "path");

/** What an obstacle says, and that the safety checkpoint holds what would be lost. */
export function obstacleText(p: Plan, o: Obstacle): string {
  const plain = shown(o.text.replace(/\.$/, "")) + ".";
  const text = (o.paths ?? []).some((path) => o.text.startsWith(path)) ? plain : upper(plain); // a path keeps its letters
  const n = p.safety.number;
  if (o.class === "mass-delete") return `${text} Every one of them will be in checkpoint ${n}.`;
  if (o.class === "changed") return `${text} What is there now will be in checkpoint ${n}.`;
  return text;
}

/** A class asks once, for all its paths. */
export function classesOf(p: Plan): Obstacle[] {
  const out: Obstacle[] = [];
  for (const o of p.obstacles) {
    const have = out.find((x) => x.class === o.class);
    if (!have) out.push({ ...o, paths: [...(o.paths ?? [])] });
    else {
      have.paths = [...(have.paths ?? []), ...(o.paths ?? [])];
      have.text += ", and " + o.text;
    }
  }
  return out;
}

/** How many classes still lack a word. */
export const missing = (p: Plan, accepted: ReadonlySet<string>): number => classesOf(p).filter((o) => !accepted.has(o.class)).length;

export const missingText = (n: number): string => (n === 0 ? "" : n === 1 ? "1 more to confirm" : `${count(n)} more to confirm`);

const keepWords: Record<string, string> = {
  git: "a repository of its own",
  volatile: "always moving",
  changed: "changed since, so yours stays",
  conflict: "changed on both sides",
  uncaptured: "in no checkpoint, so it could not be given back",
  unheld: "not in that checkpoint",
  occupied: "it contains something that is left as is",
};

export function keepText(k: Keep): string {
  if (k.why === "conflict") return k.side ? `stays yours; the other is put at ${shown(k.side)}` : "changed on both sides, stays yours";
  const word = keepWords[k.why] ?? shown(k.why);
  return k.detail && k.detail !== word ? `${word}, ${shown(k.detail)}` : word;
}

/** Of a merge: its places come or go, your lines stay. */
export function mergeText(m: Merge | undefined, course: string): string {
  const goes = course === "undo" || course === "unwind";
  if (!m) return "lines of both sides, yours stay";
  const rest = "the rest of the file stays";
  const its = m.theirs === 1 ? `its place ${goes ? "goes" : "comes"}` : `its ${count(m.theirs)} places ${goes ? "go" : "come"}`;
  if (m.yours === 0) return `${its}, ${rest}`;
  return m.yours === 1 ? `${its}, your lines at ${m.first} stay` : `${its}, your lines in ${count(m.yours)} places from ${m.first} on stay`;
}
