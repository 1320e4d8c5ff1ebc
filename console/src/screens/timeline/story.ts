// What a row says beside its title: flags with their reasons, and what really changed, in
// the order of the facts: deletions first.
import type { Answer, Checkpoint, Finding, Gap, Gist, Point } from "../../api/types.ts";
import type { Family } from "../../parts/marks.tsx";
import { shown } from "../../words/escape.ts";
import { changedFiles, standing } from "../../words/checkpoint.ts";
import { count, several } from "../../words/number.ts";
import { wentFar } from "./fold.ts";

export interface FlagWord {
  word: string;
  family: Family;
  why: string;
}

/** What a person must know of a checkpoint before they trust it, the gravest first. */
export function flagsOf(c: Checkpoint, f?: Finding): FlagWord[] {
  const out: FlagWord[] = [];
  for (const g of f?.gist?.flags ?? []) out.push({ word: shown(g.kind), family: "mismatch", why: shown(g.why) });
  const t = c.turn;
  if (t?.risk) out.push({ word: "risky", family: "risky", why: shown(t.risk) });
  if (c.coverage.grade === "partial") out.push({ word: "partial", family: "partial", why: gapWords(c.coverage.gaps ?? []) });
  const left = c.return?.failed?.length ?? 0;
  if (left > 0) out.push({ word: "not all", family: "partial", why: `${several(left, "path")} moved on and stayed` });
  if (t?.contested?.length) out.push({ word: "overlap", family: "partial", why: `also at work: ${t.contested.map(shown).join(", ")}` });
  if (t?.running) out.push({ word: "not quiescent", family: "partial", why: `${several(t.running, "job")} ran on in the background` });
  if (t?.failed) out.push({ word: "interrupted", family: "risky", why: shown(t.failed) });
  if (t?.late) out.push({ word: "late", family: "partial", why: "the files were read after the signal" });
  return out;
}

/** What has the same key stands together, in the order in which keys come. */
export function grouped<T>(list: readonly T[], key: (x: T) => string): Map<string, T[]> {
  const out = new Map<string, T[]>();
  for (const x of list) {
    const there = out.get(key(x));
    if (there) there.push(x);
    else out.set(key(x), [x]);
  }
  return out;
}

const base = (path: string) => shown(path.slice(path.lastIndexOf("/") + 1));

/** Names a path while it is the only one, and counts the rest. */
export function gapWords(gaps: readonly Gap[]): string {
  const parts = [...grouped(gaps, (g) => g.reason)].map(([reason, list]) => (list.length === 1 ? `${base(list[0]!.path)} is ${shown(reason)}` : `${count(list.length)} ${shown(reason)}`));
  return parts.join(", ") || "some paths are missing";
}

/** A bit of the story line; look says how it is set. */
export interface Piece {
  text: string;
  look?: "path" | "bad" | "plus" | "minus" | "dim";
}

/** So many parts stand in a row; the rest is counted. */
const most = 4;

/** What really changed, as parts that are set with commas between. */
export function storyLine(c: Checkpoint, f: Finding | undefined, flags: readonly FlagWord[], work = ""): Piece[][] {
  const why = flags.map((x) => x.why).filter(Boolean);
  const points = why.length > 0 && filesOf(c, f) === 0 ? [] : pointsOf(c, f?.gist, work);
  const told = points.filter((p) => p.theme === "deleted" || !why.some((w) => names(w, shown(p.text))));
  const deleted = told.filter((p) => p.theme === "deleted").map(pieces);
  const rest = told.filter((p) => p.theme !== "deleted").map(pieces);
  const gone = told.filter((p) => p.theme === "deleted").map((p) => bare(shown(p.text)));
  const reasons = why.map((text): Piece[] => [{ text: unsaid(text, gone) }]);
  const parts = flags[0]?.family === "mismatch" ? [...deleted, ...reasons, ...rest] : [...deleted, ...rest, ...reasons];
  if (parts.length <= most) return parts;
  return [...parts.slice(0, most - 1), [{ text: `${count(parts.length - most + 1)} more`, look: "dim" }]];
}

/** The points of a gist, or counts while there is none. Work: where that of its turn is. */
export function pointsOf(c: Checkpoint, g?: Gist, work = ""): Point[] {
  const total = changedFiles(c);
  if (c.trigger === "init") return [{ theme: "", text: `first capture, ${shown(c.coverage.grade)}` }];
  const told = g && (storyTotal(g) > 0 || total === 0) && !(c.return && c.return.course !== "adopt");
  const points = told ? (g.points ?? []) : counted(c);
  if (points.length === 0 && total === 0) return [{ theme: "", text: work ? `its work is in ${work}` : c.turn && c.trigger === "turn" ? "talk only, nothing changed" : "nothing changed" }];
  return points;
}

function counted(c: Checkpoint): Point[] {
  const far = wentFar(c) || !!c.return;
  const out: Point[] = [];
  const add = (theme: string, word: string, n: number) => n > 0 && out.push({ theme, text: `${word} ${count(n)}` });
  add("deleted", "deleted", c.changed.deleted);
  add("", far ? "brought back" : "added", c.changed.added);
  add("", far ? "changed" : "edited", c.changed.edited);
  return out;
}

const storyTotal = (g: Gist) => g.counts.added + g.counts.deleted + g.counts.edited + g.counts.renamed + g.counts.moded + g.counts.retyped;

const bare = (s: string) => ` ${s.replace(/[,;]/g, " ").split(/\s+/).filter(Boolean).join(" ")} `;

/** Whether a reason names a point, as whole words. */
const names = (why: string, point: string) => point !== "" && bare(why).includes(bare(point));

/** A reason without the deletions that stand before it already; never nothing. */
function unsaid(why: string, gone: readonly string[]): string {
  const lead = why.startsWith("not asked for: ") ? "not asked for" : "";
  const rest = (lead ? why.slice(lead.length + 2) : why).split(", ").filter((part) => !gone.includes(bare(part))).join(", ");
  return [lead, rest].filter(Boolean).join(": ") || why;
}

/** Sets a point: paths in mono, deletions in their colour, lines as +31 −4. */
export function pieces(p: Point): Piece[] {
  const out: Piece[] = [];
  shown(p.text).split(" ").forEach((w, i) => {
    const bad = p.theme === "deleted" && (w === "deleted" || (i === 1 && /^[\d,]+$/.test(w)));
    const look = bad ? "bad" : pathLike(w) ? "path" : undefined;
    const last = out[out.length - 1];
    if (last && last.look === look) last.text += ` ${w}`;
    else if (last && look === "path") {
      last.text += " "; // spaces are set in the face of words
      out.push({ text: w, look });
    } else out.push({ text: last ? ` ${w}` : w, look });
  });
  if (p.plus) out.push({ text: ` +${count(p.plus)}`, look: "plus" });
  if (p.minus) out.push({ text: ` −${count(p.minus)}`, look: "minus" });
  return out;
}

const pathLike = (w: string) => /^[^+−\d][^\s]*[./][^\s]*$|^\.[\w-]/.test(w);

const rank = (a: Answer) => (a.claim ? 3 : a.verdict === "failed" ? 0 : a.verdict === "passed" ? 2 : 1);

/** The verifications that a row has room for, the gravest first; a claim only by itself. */
export function marks(f: Finding | undefined, room: number): { shown: Answer[]; more: number } {
  const all = (f?.answers ?? []).toSorted((a, b) => rank(a) - rank(b));
  const real = all.filter((a) => !a.claim);
  const list = real.length ? real : all;
  return { shown: list.slice(0, room), more: Math.max(0, list.length - room) };
}

export type NodeKind = "good" | "inherited" | "failed" | "plain" | "safety";

/** How the node of a checkpoint is drawn. */
export function nodeOf(c: Checkpoint, f?: Finding): NodeKind {
  const s = standing(f);
  if (s === "failed") return "failed";
  if (f?.good) return s === "inherited" ? "inherited" : "good";
  return c.trigger === "safety" || c.trigger === "risk" ? "safety" : "plain";
}

/** How many files a row counts: of the first capture all there were. */
export const filesOf = (c: Checkpoint, f?: Finding): number => (f ? (f.changed ?? 0) : c.trigger === "init" ? c.files : changedFiles(c));
