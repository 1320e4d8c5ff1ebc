// The rows of a plan that are drawn: words and counts come from the service, what is open is
// decided here.
import type { Failure, PlanRow, PlanSection, PlanView, Story } from "../../api/types.ts";
import { count, someNames, upper } from "../../words/number.ts";

/** As few paths as this are never folded: each has its line. */
export const flatMost = 8;

/** A row of a section, and where it is in it. */
export type Row = PlanRow & { at: number };

const isFlat = (s: PlanSection) => s.paths <= flatMost;

/** The rows that are seen: what is in a directory only where it is open. */
export function rowsOf(s: PlanSection, open: ReadonlySet<string>): Row[] {
  if (isFlat(s)) return leavesOf(s.rows).map((r, at) => ({ ...r, at, depth: 0 }));
  const out: Row[] = [];
  for (let i = 0; i < s.rows.length; i++) {
    const r = s.rows[i]!;
    out.push({ ...r, at: i });
    if (r.below > 0 && !open.has(r.path)) i += r.below;
  }
  return out;
}

/** Every directory that can be opened. */
export const dirsOf = (s: PlanSection): string[] => (isFlat(s) ? [] : s.rows.filter((r) => r.below > 0).map((r) => r.path));

export const leavesOf = (rows: readonly PlanRow[]): PlanRow[] => rows.filter((r) => r.below === 0);

/** What is known of a row; of a directory the names in it, if nothing else is. */
export function noteOf(s: PlanSection, r: Row): string {
  if (r.note || r.below === 0) return [r.note ?? "", r.detail ?? ""].filter((t) => t !== "").join(", ");
  const inside = s.rows.slice(r.at + 1, r.at + 1 + r.below).filter((x) => x.depth === r.depth + 1);
  return someNames(inside.map((x) => x.path.slice(r.path.length).replace(/\/.*/, "/")));
}

/** Deleted 1,132, brought back 30: without what was left. */
export function doneText(v: PlanView, failed: readonly Failure[]): string {
  const left = new Set(failed.map((f) => f.path));
  const n = (s: PlanSection) => {
    if (s.kind === "conflict") return v.counts.beside;
    if (s.kind === "keep") return v.counts.kept;
    return s.count - leavesOf(s.rows).filter((r) => left.has(r.path)).length;
  };
  const parts = v.sections.map((s) => [s.done, n(s)] as const).filter(([, n]) => n > 0);
  return parts.length > 0 ? upper(parts.map(([word, n]) => `${word} ${count(n)}`).join(", ")) : "No file had to change";
}

/** First your files are saved as checkpoint 18; undo brings them back. */
export const safetyText = (v: PlanView): string => `${v.safety.text}${v.safety.course ? `; ${v.safety.course} ${v.safety.brings}` : ""}.`;

export type Lines = ReadonlyMap<string, { plus: number; minus: number }>;

/** The lines of each file, from a story of the same changes; a plan that goes back turns them. */
export function linesOf(story: Story | undefined, back: boolean): Lines {
  const items = (story?.groups ?? []).flatMap((g) => g.items ?? []).filter((it) => (it.plus ?? 0) + (it.minus ?? 0) > 0 && !it.path.endsWith("/"));
  return new Map(items.map((it) => [it.path, back ? { plus: it.minus ?? 0, minus: it.plus ?? 0 } : { plus: it.plus ?? 0, minus: it.minus ?? 0 }]));
}
