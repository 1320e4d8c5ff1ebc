// What was said in the turn of a checkpoint, and what was called: one list, in order.
import type { Call, Checkpoint, Effect, SpokenLine } from "../../api/types.ts";
import type { IconName } from "../../parts/Icon.tsx";

export interface CallLine {
  kind: "call";
  tool: string; // as the agent names it
  text: string;
  icon: IconName;
  failed: boolean;
  paths: string[];
  risk: string; // why it is one; empty: it is none
  kept: number; // the checkpoint before it; 0: none
  effect: string;
  output: string;
}

export type Said = { kind: "you" | "agent" | "note"; text: string } | CallLine;

export interface Around {
  checkpoint: Checkpoint;
  near: readonly Checkpoint[]; // checkpoints around it
  calls: readonly Call[];
  root: string; // of the workspace, to make paths short
}

/** turnLines keeps what was said since the prompt of the turn; lines hold the whole conversation. */
export function turnLines(lines: readonly SpokenLine[], prompt = ""): SpokenLine[] {
  let from = -1;
  for (let i = lines.length - 1; i >= 0; i--) {
    const l = lines[i]!;
    if (l.who !== "you") continue;
    if (from < 0) from = i;
    if (prompt === "" || l.text.trim().startsWith(prompt.trim().slice(0, 80))) {
      from = i;
      break;
    }
  }
  return lines.slice(Math.max(from, 0));
}

/** saidOf puts words and calls together. Without a record of words, the prompt and the last words are known. */
export function saidOf(a: Around, spoken?: readonly SpokenLine[]): Said[] {
  const turn = a.checkpoint.turn;
  const calls = a.calls.map((c) => callLine(c, a));
  if (!spoken || spoken.length === 0) {
    const out: Said[] = [];
    if (turn?.prompt) out.push({ kind: turn.machine ? "note" : "you", text: turn.prompt });
    out.push(...calls);
    if (turn?.words) out.push({ kind: "agent", text: turn.words });
    return out;
  }
  const out: Said[] = [];
  const rest = [...calls];
  for (const l of turnLines(spoken, turn?.prompt)) {
    if (l.who === "tool" && !l.tool && l.text === "") continue;
    if (l.who === "tool") continue; // an answer: the call says how it went
    if (l.tool) {
      const i = rest.findIndex((c) => likely(c, l));
      out.push(i >= 0 ? rest.splice(i, 1)[0]! : unknownCall(l.tool, l.text));
      continue;
    }
    if (l.text.trim() !== "") out.push({ kind: l.who === "you" ? "you" : l.who === "note" ? "note" : "agent", text: l.text });
  }
  const last = out.length > 0 && out[out.length - 1]!.kind === "agent" ? out.pop() : undefined;
  out.push(...rest);
  if (last) out.push(last);
  return out;
}

const blank: CallLine = { kind: "call", tool: "", text: "", icon: "prompt", failed: false, paths: [], risk: "", kept: 0, effect: "", output: "" };
const firstLine = (s: string) => s.split("\n").find((x) => x.trim() !== "") ?? "";

/** Both lists are in order: a line is the first call left of its tool. */
const likely = (c: CallLine, l: SpokenLine): boolean => c.tool === l.tool;

/** A call that the conversation tells of, and nobody else. */
function unknownCall(tool: string, text: string): CallLine {
  const first = firstLine(text);
  return { ...blank, tool, text: /^[[{]/.test(first) ? tool : `${tool} ${first}`.trim(), icon: iconOf(tool) };
}

const iconOf = (tool: string): IconName => (/edit|write|patch|create/i.test(tool) ? "pencil" : /read|grep|glob|list|search|view|fetch/i.test(tool) ? "eye" : "prompt");
const icons: Record<string, IconName> = { shell: "prompt", write: "pencil", read: "eye", mcp: "link", other: "gear" };

export function callLine(c: Call, a: Around): CallLine {
  const told = (c.paths ?? []).map((p) => short(p, a.root));
  const named = inputName(c, a.root);
  const paths = told.length === 0 && c.kind === "write" && named ? [named] : told;
  const risk = a.near.find((m) => m.trigger === "risk" && m.turn?.command === c.command && sameTurn(m, a.checkpoint) && !!c.command);
  const effect = effectOf(c, a.checkpoint.effects ?? []);
  return {
    kind: "call",
    tool: c.tool,
    text: callText(c, paths, named),
    icon: icons[c.kind] ?? "prompt",
    failed: !!c.failed,
    paths,
    risk: risk?.turn?.risk || (c.destructive ? "it may destroy something" : ""),
    kept: risk?.number ?? 0,
    effect: effect ? effect.text : "",
    output: c.output ?? "",
  };
}

const sameTurn = (a: Checkpoint, b: Checkpoint) => a.turn?.session === b.turn?.session && (a.turn?.id ?? "") === (b.turn?.id ?? "");

function effectOf(c: Call, effects: readonly Effect[]): Effect | undefined {
  return effects.find((e) => (!!c.id && e.call === c.id) || (!!c.command && e.text.trim() === c.command.trim()));
}

function callText(c: Call, paths: string[], named: string): string {
  if (c.command) return firstLine(c.command);
  const verb = c.kind === "mcp" && c.server ? `${c.server} ${c.tool}` : c.kind === "other" ? c.tool : c.tool.toLowerCase();
  if (paths.length > 0) return `${verb} ${paths[0]}${paths.length > 1 ? ` and ${paths.length - 1} more` : ""}`;
  return named ? `${verb} ${named}` : verb;
}

/** What a call is about, as its input names it. */
function inputName(c: Call, root: string): string {
  const input = c.input as Record<string, unknown> | undefined;
  const named = ["file_path", "path", "pattern", "query", "url", "description"].map((k) => input?.[k]).find((v): v is string => typeof v === "string" && v !== "");
  return named ? short(named, root) : "";
}

const short = (p: string, root: string) => (root && p.startsWith(root + "/") ? p.slice(root.length + 1) : p);

/** madeIt tells whether a call is likely to have made the change of a path. */
export function madeIt(c: CallLine, path: string): boolean {
  if (path === "") return false;
  const bare = path.replace(/\/$/, "");
  if (c.paths.some((p) => p === bare || p.startsWith(bare + "/"))) return true;
  if (c.icon !== "prompt") return false;
  return c.text.split(/[\s"'`;|&()<>=]+/).some((w) => w.replace(/^\.\//, "").replace(/\/$/, "") === bare);
}

export type Piece = { kind: "said"; at: number } | { kind: "fold"; at: number; count: number };

/** folded keeps words, and calls that somebody must see; long runs of quiet calls become one row. */
export function folded(all: readonly Said[], opened: ReadonlySet<number>, keep: (c: CallLine) => boolean): Piece[] {
  const out: Piece[] = [];
  for (let i = 0; i < all.length; ) {
    let end = i;
    while (end < all.length && quiet(all[end]!, keep)) end++;
    if (end - i > 6 && !opened.has(i + 4)) {
      for (let k = i; k < i + 4; k++) out.push({ kind: "said", at: k });
      out.push({ kind: "fold", at: i + 4, count: end - i - 4 });
      i = end;
      continue;
    }
    for (; i < end; i++) out.push({ kind: "said", at: i });
    if (i < all.length) out.push({ kind: "said", at: i++ });
  }
  return out;
}

const quiet = (s: Said, keep: (c: CallLine) => boolean) => s.kind === "call" && !s.risk && !s.effect && !s.failed && !keep(s);
