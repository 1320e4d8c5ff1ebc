// What a checkpoint is called, how good it is, and who made it. The words are those of the
// terminal; a title that somebody said is quoted, one made of facts is not.
import type { Answer, Checkpoint, Workspace } from "../api/types.ts";
import { oneLine, shown } from "./escape.ts";
import { several } from "./number.ts";

export interface Title {
  text: string;
  said: boolean;
}

/** Names what checkpoints went to or forked from, by id. */
export type Goals = ReadonlyMap<string, string>;

const quoted = (s: string) => `“${s}”`;

export function titleOf(c: Checkpoint, goals: Goals = new Map()): Title {
  const intent = c.intent ? oneLine(c.intent) : "";
  if (intent) {
    if (c.trigger === "turn") return { text: quoted(intent), said: true };
    if (c.trigger === "task") return { text: afterTask(intent), said: true };
    return { text: intent, said: true };
  }
  return { text: fromFacts(c, goals), said: false };
}

function fromFacts(c: Checkpoint, goals: Goals): string {
  const total = changedFiles(c);
  switch (c.trigger) {
    case "init":
      return c.parent ? "protected again" : "start";
    case "complete":
      return "the rest, after time ran out";
    case "safety":
      return "saved before the restore";
    case "fork":
      return "forked from " + (goals.get(c.parent ?? "") ?? "another workspace");
    case "return":
      if (c.return) return returned(c, goals);
      break;
    case "turn":
    case "call":
      if (c.turn && total === 0) return "a turn of " + agentName(c.turn.agent);
  }
  return total === 0 ? "no file changed" : several(total, "file") + " changed";
}

function returned(c: Checkpoint, goals: Goals): string {
  const r = c.return!;
  const target = goals.get(r.target);
  if (r.course === "adopt") return "adopted " + (target ?? "a fork");
  const verb = { undo: "undid ", redo: "redid ", unwind: "took back the restore of " }[r.course] ?? "restored ";
  const paths = r.paths?.length ? ", " + several(r.paths.length, "path") : "";
  return verb + (target ?? "a checkpoint") + paths;
}

function afterTask(text: string): string {
  const done = text.split(" completed: ");
  if (done.length > 1) return "after " + quoted(done.slice(1).join(" completed: "));
  const failed = text.split(" failed: ");
  return failed.length > 1 ? quoted(failed.slice(1).join(" failed: ")) + " failed" : text;
}

export const changedFiles = (c: Checkpoint): number => c.changed.added + c.changed.deleted + c.changed.edited;

/** goalsOf names every checkpoint that is known, and what a fork forked from. */
export function goalsOf(checkpoints: readonly Checkpoint[], ws?: Workspace): Goals {
  const g = new Map<string, string>();
  if (ws?.origin) g.set(ws.origin.checkpoint, String(ws.origin.number));
  for (const c of checkpoints) g.set(c.id, String(c.number));
  return g;
}

const agents: Record<string, string> = {
  "claude-code": "Claude Code",
  codex: "Codex",
  gemini: "Gemini CLI",
  "gemini-cli": "Gemini CLI",
  opencode: "opencode",
  "docker-agent": "docker-agent",
};

export const agentName = (agent: string): string => agents[agent] ?? shown(agent);

/** Who made the checkpoint: an agent, Retake itself, or you. */
export function whoMade(c: Checkpoint): string {
  if (c.turn?.agent) {
    const others = (c.turn.contested ?? []).length;
    return agentName(c.turn.agent) + (others > 0 ? ` and ${several(others, "other")}` : "");
  }
  if (["safety", "complete", "risk"].includes(c.trigger)) return "Retake";
  return "you";
}

export type Standing = "good" | "failed" | "inherited" | "unknown" | "partly";

/** How the verifications of a checkpoint stand: claims count for nothing. */
export function standing(f?: { answers?: readonly Answer[] | null }): Standing {
  const own = (f?.answers ?? []).filter((a) => !a.claim);
  if (own.length === 0) return "unknown";
  if (own.some((a) => a.verdict === "failed")) return "failed";
  if (own.some((a) => a.verdict !== "passed")) return "partly";
  return own.every((a) => a.as) ? "inherited" : "good";
}

/** What a verification said, in words for who does not see. */
export function answerWords(a: Answer): string {
  const verdict = a.claim ? `claimed “${a.verdict}”` : a.verdict;
  return `${shown(a.name)} ${verdict}${a.as ? `, same files as ${a.as}` : ""}`;
}
