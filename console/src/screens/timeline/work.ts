// A turn that ended with nothing more than was there before: where its work is.
import type { Checkpoint } from "../../api/types.ts";

const within = new Set(["risk", "task", "call", "turn", "manual", "complete", "session"]);

const sameTurn = (end: Checkpoint, c: Checkpoint) =>
  !!end.turn?.id && within.has(c.trigger) && c.turn?.id === end.turn.id && c.turn.session === end.turn.session && c.turn.agent === end.turn.agent;

const changes = (c: Checkpoint) => c.changed.added + c.changed.deleted + c.changed.edited > 0;

/** The checkpoints of its turn that changed something: 7, or 7–9; empty when there are none, or it changed something itself. */
export function workOf(c: Checkpoint, at: (id: string) => Checkpoint | undefined): string {
  if (c.trigger !== "turn" || !c.turn || changes(c)) return "";
  let first = 0;
  let last = 0;
  for (let p = at(c.parent ?? ""), steps = 0; p && sameTurn(c, p) && steps < 64; p = at(p.parent ?? ""), steps++) {
    if (!changes(p)) continue;
    first = p.number;
    last ||= p.number;
  }
  return first === 0 ? "" : first === last ? String(first) : `${first}–${last}`;
}
