// What a story tells of the paths of a plan: lines, and facts such as packages and keys.
// A story goes from a checkpoint to now; going back reads it the other way round.
import type { Fact, Plan, Story } from "../../api/types.ts";
import { shown } from "../../words/escape.ts";
import { count } from "../../words/number.ts";
import { someNames } from "./fold.ts";

export interface Told {
  lines: ReadonlyMap<string, { plus: number; minus: number }>;
  facts: readonly Fact[];
}

export const untold: Told = { lines: new Map(), facts: [] };

/** Where the story of a plan is asked, and whether the plan goes against it. */
export function storyAsked(p: Plan): { ws: string; from: string; to: string; against: boolean } | undefined {
  const n = p.target?.number;
  switch (p.course) {
    case "restore":
      return n === undefined ? undefined : { ws: p.workspace, from: String(n), to: "", against: true };
    case "undo":
      if (n === undefined) return { ws: p.workspace, from: "latest", to: "", against: true };
      return p.target!.parent ? { ws: p.workspace, from: p.target!.parent, to: p.target!.id, against: true } : undefined;
    case "redo":
      return p.target?.parent ? { ws: p.workspace, from: p.target.parent, to: p.target.id, against: false } : undefined;
    case "adopt":
      return p.fork && p.target ? { ws: p.fork.id, from: "start", to: p.target.id, against: false } : undefined;
  }
  return undefined; // of what was interrupted a part is done already
}

export function toldBy(story: Story | undefined, against: boolean): Told {
  if (!story) return untold;
  const lines = new Map<string, { plus: number; minus: number }>();
  for (const g of story.groups ?? []) {
    for (const it of g.items ?? []) {
      const plus = it.plus ?? 0;
      const minus = it.minus ?? 0;
      if (plus + minus > 0 && !it.path.endsWith("/")) lines.set(it.path, against ? { plus: minus, minus: plus } : { plus, minus });
    }
  }
  return { lines, facts: (story.facts ?? []).map((f) => (against ? turned(f) : f)) };
}

const other: Record<string, string> = { added: "deleted", deleted: "added" };

function turned(f: Fact): Fact {
  return { ...f, what: other[f.what] ?? f.what, before: f.after, after: f.before };
}

const sign: Record<string, string> = { added: "+", deleted: "−" };

/** What is known of one file: its keys, its tables. Values are never shown. */
export function fileNote(t: Told, path: string): string {
  const own = t.facts.filter((f) => f.path === path);
  const keys = own.filter((f) => f.kind === "env" || f.kind === "setting").map((f) => (sign[f.what] ?? "") + shown(f.name));
  const tables = own.filter((f) => f.kind === "table").map((f) => tableText(f));
  const parts = [keys.length > 0 ? someNames(keys) + (own.some((f) => f.kind === "env") ? ", values hidden" : "") : "", someNames(tables)];
  return parts.filter((s) => s !== "").join("; ");
}

function tableText(f: Fact): string {
  const verb = { added: "comes back", deleted: "goes" }[f.what] ?? "changes";
  return `table ${shown(f.name)} ${verb}`;
}

/** The packages that a directory holds: those that somebody asked for come first. */
export function packageNote(t: Told, dir: string): string {
  const found = t.facts.filter((f) => f.kind === "package" && f.path.startsWith(dir));
  if (found.length === 0) return "";
  const names = [...found.filter((f) => f.direct), ...found.filter((f) => !f.direct)].map((f) => shown(f.name));
  const kinds = [...new Set(found.map((f) => f.group ?? ""))].filter((g) => g !== "");
  return `${count(found.length)} ${kinds.length === 1 ? `${shown(kinds[0]!)} ` : ""}${found.length === 1 ? "package" : "packages"}: ${someNames(names)}`;
}
