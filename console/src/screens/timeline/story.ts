// What a row says beside its title: flags with their reasons, and what really changed, in
// the order of the facts: deletions first.
import type { Answer, Point, RowFlag, TimelineRow } from "../../api/types.ts";
import type { Family } from "../../parts/marks.tsx";
import { standing } from "../../words/checkpoint.ts";
import { shown } from "../../words/escape.ts";
import { count } from "../../words/number.ts";
import { realAnswers } from "./rows.ts";

/** Whether a flag says that a checkpoint is not uploaded. That is about the remote, and not about what changed. */
export const isUpload = (f: RowFlag): boolean => f.word === "not uploaded";

/** How a flag is set, by how grave it is. */
export const familyOf = (f: RowFlag): Family => (isUpload(f) ? "unknown" : f.tone === "mismatch" ? "mismatch" : f.tone === "warning" ? "risky" : "partial");

/** A bit of the story line; look says how it is set. */
export interface Piece {
  text: string;
  look?: "path" | "bad" | "plus" | "minus" | "dim";
}

/** So many parts stand in a row; the rest is counted. */
const most = 4;

/** What really changed, as parts that are set with commas between. */
export function storyLine(row: TimelineRow): Piece[][] {
  const flags = (row.flags ?? []).filter((f) => !isUpload(f));
  const why = flags.map((f) => shown(f.why ?? "")).filter(Boolean);
  const points = why.length > 0 && row.files === 0 ? [] : (row.points ?? []);
  const deleted = points.filter((p) => p.theme === "deleted");
  const rest = points.filter((p) => p.theme !== "deleted" && !why.some((w) => names(w, shown(p.text)))).map(pieces);
  const gone = deleted.map((p) => bare(shown(p.text)));
  const reasons = why.map((text): Piece[] => [{ text: unsaid(text, gone) }]);
  const parts = [...deleted.map(pieces), ...(flags[0]?.tone === "mismatch" ? [...reasons, ...rest] : [...rest, ...reasons])];
  if (parts.length <= most) return parts;
  return [...parts.slice(0, most - 1), [{ text: `${count(parts.length - most + 1)} more`, look: "dim" }]];
}

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

/** The results that a row has room for, the gravest first as they come; a claim only by itself. */
export function marks(row: TimelineRow, room: number): { shown: Answer[]; more: number } {
  const real = realAnswers(row);
  const list = real.length ? real : (row.answers ?? []);
  return { shown: list.slice(0, room), more: Math.max(0, list.length - room) };
}

export type NodeKind = "good" | "inherited" | "failed" | "plain" | "safety";

/** How the node of a checkpoint is drawn. */
export function nodeOf(row: TimelineRow): NodeKind {
  const s = standing(row);
  if (s === "failed") return "failed";
  if (row.good) return s === "inherited" ? "inherited" : "good";
  const trigger = row.checkpoint?.trigger;
  return trigger === "safety" || trigger === "risk" ? "safety" : "plain";
}
