// Which checkpoints are shown, and how many there are of each kind.
import { oneLine, shown } from "../../words/escape.ts";
import { agentName, standing } from "../../words/checkpoint.ts";
import type { Row } from "./rows.ts";
import { isUpload } from "./story.ts";

export const kinds = ["good", "failed", "risky", "flagged"] as const;
export type Kind = (typeof kinds)[number];

export function isOf(kind: Kind, r: Row): boolean {
  if (kind === "good") return !!r.good;
  if (kind === "failed") return standing(r) === "failed";
  if (kind === "flagged") return !!r.flags?.some((f) => f.word !== "risky" && !isUpload(f));
  return r.checkpoint.trigger === "risk" || !!r.checkpoint.turn?.risk;
}

/** What somebody wants to see. Ids are those that the API found for a path or a package. */
export interface Wanted {
  show?: string;
  session?: string; // how it begins
  agent?: string;
  ids?: ReadonlySet<string>;
}

export const wantsAll = (w: Wanted): boolean => !w.show && !w.session && !w.agent && !w.ids;

export function matches(w: Wanted, r: Row): boolean {
  const c = r.checkpoint;
  if (w.ids && !w.ids.has(c.id)) return false;
  if (w.agent && c.turn?.agent !== w.agent) return false;
  if (w.session && !c.turn?.session.startsWith(w.session)) return false;
  return !w.show || !kinds.includes(w.show as Kind) || isOf(w.show as Kind, r);
}

export interface Census {
  kinds: Record<Kind, number>;
  agents: Map<string, number>;
  sessions: Map<string, { agent: string; checkpoints: number; first: string; last: string }>; // newest first
}

const step = 1000;

export function* counting(rows: readonly Row[]): Generator<void, Census> {
  const out: Census = { kinds: { good: 0, failed: 0, risky: 0, flagged: 0 }, agents: new Map(), sessions: new Map() };
  for (let i = 0; i < rows.length; i++) {
    const c = rows[i]!.checkpoint;
    for (const k of kinds) if (isOf(k, rows[i]!)) out.kinds[k]++;
    if (c.turn) {
      out.agents.set(c.turn.agent, (out.agents.get(c.turn.agent) ?? 0) + 1);
      const s = out.sessions.get(c.turn.session);
      if (s) {
        s.checkpoints++;
        s.first = c.time;
      } else out.sessions.set(c.turn.session, { agent: c.turn.agent, checkpoints: 1, first: c.time, last: c.time });
    }
    if (i % step === step - 1) yield;
  }
  return out;
}

export type Grouping = "task" | "session";

/** The group of a checkpoint: equal neighbours stand below one head. */
export function groupOf(g: Grouping, { checkpoint: c }: Row): { key: string; title: string; quoted: boolean } {
  if (g === "session") {
    if (!c.turn) return { key: "", title: "outside turns", quoted: false };
    return { key: c.turn.session, title: `${agentName(c.turn.agent)}, session ${shown(c.turn.session.slice(0, 4))}`, quoted: false };
  }
  const ended = c.trigger === "task" ? /(?: completed| failed): ([^\n]*)/.exec(c.intent ?? "")?.[1] : undefined;
  const task = ended ?? c.turn?.tasks?.next ?? "";
  return task ? { key: task, title: oneLine(task), quoted: true } : { key: "", title: "no task", quoted: false };
}

/** Neighbours of one group, as ranges. What belongs to none and lies within a group, such
 *  as a restore in the middle of a session, stays in it. */
export function groupsOf(g: Grouping, rows: readonly Row[]): [number, number][] {
  const out: [number, number][] = [];
  let key = "";
  let end = 0; // behind the last checkpoint that is of the key itself
  rows.forEach((r, i) => {
    const k = groupOf(g, r).key;
    const last = out[out.length - 1];
    if (last && k === key) {
      last[1] = end = i + 1;
    } else if (last && k === "") {
      last[1] = i + 1; // unless another group begins before this one goes on
    } else {
      if (last && last[1] > end) {
        out.push([end, last[1]]);
        last[1] = end;
      }
      out.push([i, i + 1]);
      key = k;
      end = i + 1;
    }
  });
  const last = out[out.length - 1];
  if (last && last[1] > end) {
    out.push([end, last[1]]);
    last[1] = end;
  }
  return out;
}
