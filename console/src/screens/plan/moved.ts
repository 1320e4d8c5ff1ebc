// What moved between two plans of one course, and which consents outlive that.
import type { Entry, Plan, Step } from "../../api/types.ts";

const face = (e?: Entry) => (e ? `${e.kind} ${e.mode} ${e.uid} ${e.gid} ${e.size} ${e.mod_time} ${e.object}` : "");
const said = (s: Step) => `${s.what}|${face(s.now)}|${face(s.then)}|${s.merge?.digest ?? ""}`;

function steps(p: Plan): Map<string, string> {
  const out = new Map<string, string>();
  for (const s of [...p.deletes, ...p.writes, ...p.merges]) out.set(s.path, said(s));
  for (const k of p.keeps) out.set(k.path, `keep ${k.why} ${k.side ?? ""}`);
  return out;
}

/** Paths of which the two plans do not say the same; those only in the old one apart. */
export function movedBetween(before: Plan, after: Plan): { marked: Set<string>; gone: string[] } {
  const old = steps(before);
  const now = steps(after);
  const marked = new Set<string>();
  for (const [path, text] of now) if (old.get(path) !== text) marked.add(path);
  return { marked, gone: [...old.keys()].filter((path) => !now.has(path)) };
}

const classesOf = (p: Plan) => new Set(p.obstacles.map((o) => o.class));
const asked = (p: Plan, word: string) => p.obstacles.filter((o) => o.class === word).map((o) => `${o.text}\n${(o.paths ?? []).join("\n")}`).join("\n");

/** The paths that one class of warnings is about. */
export const pathsOf = (p: Plan, word: string): string[] => p.obstacles.filter((o) => o.class === word).flatMap((o) => o.paths ?? []);

/** A word that was given counts for the new plan only if the same is asked of what did not move. */
export function stillGiven(before: Plan, after: Plan, accepted: ReadonlySet<string>): Set<string> {
  const { marked } = movedBetween(before, after);
  const same = (word: string) => classesOf(before).has(word) && asked(before, word) === asked(after, word) && !pathsOf(after, word).some((path) => marked.has(path));
  return new Set([...classesOf(after)].filter((word) => accepted.has(word) && same(word)));
}
