// Timelines for tests and measurements: made by a seed, so that a run can be repeated.
import type { Checkpoint, Finding } from "../../api/types.ts";

/** A random number from 0 to 1, the same for the same seed. */
export function dice(seed: number): () => number {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export const idOf = (n: number) => `cp_${n}`;

/** A checkpoint that says nothing, grown from the one before. */
export function checkpoint(n: number, more: Partial<Checkpoint> = {}): Checkpoint {
  return {
    id: idOf(n), workspace: "ws_1", number: n, parent: n > 1 ? idOf(n - 1) : undefined,
    time: new Date(Date.UTC(2026, 10, 3, 9, 0) + n * 60_000).toISOString(),
    trigger: n === 1 ? "init" : "call", tree: "", content: String(n), coverage: { grade: "complete" },
    files: 7, dirs: 1, bytes: 100, new_bytes: 1, changed: { added: 0, deleted: 0, edited: 0 }, ...more,
  };
}

export interface Sample {
  checkpoints: Checkpoint[]; // newest first
  findings: Map<string, Finding>;
}

const agents = ["claude-code", "codex", "gemini"];

/** So many checkpoints with turns, restores, effects, verifications and quiet ones. */
export function sample(count: number, seed = 1): Sample {
  const roll = dice(seed);
  const findings = new Map<string, Finding>();
  const checkpoints: Checkpoint[] = [];
  for (let n = 1; n <= count; n++) {
    const c = n > 3 && roll() < 0.02 ? restore(n, 1 + Math.floor(Math.max(1, n - 2 - roll() * 60))) : turn(n, roll);
    checkpoints.push(c);
    findings.set(c.id, found(c, roll));
  }
  return { checkpoints: checkpoints.reverse(), findings };
}

function restore(n: number, to: number): Checkpoint {
  const target = Math.min(to, n - 2);
  return checkpoint(n, {
    trigger: "return", parent: idOf(target), changed: { added: 2, deleted: 3, edited: 1 },
    return: { course: "restore", target: idOf(target), before: idOf(n - 1), written: 3, deleted: 3 },
  });
}

function turn(n: number, roll: () => number): Checkpoint {
  if (n === 1 || roll() < 0.3) return checkpoint(n);
  const agent = agents[Math.floor(roll() * agents.length)]!;
  const effects = roll() < 0.03 ? [{ id: `e${n}`, time: checkpoint(n).time, text: "git push origin main" }] : undefined;
  return checkpoint(n, {
    trigger: "turn", intent: `step ${n} of the work`, effects,
    changed: { added: Math.floor(roll() * 4), deleted: Math.floor(roll() * 2), edited: 1 },
    turn: { agent, session: `s${Math.floor(n / 40)}`, id: `t${n}`, ...(roll() < 0.02 ? { risk: "deletes dist" } : {}) },
  });
}

function found(c: Checkpoint, roll: () => number): Finding {
  const total = c.changed.added + c.changed.deleted + c.changed.edited;
  const gist = {
    v: 1, lead: "auth.ts", points: total ? [{ theme: "source", text: "src/auth.ts", plus: 3, minus: 1 }] : [],
    counts: { ...c.changed, renamed: 0, moded: 0, retyped: 0, timed: 0, plus: 3, minus: 1 },
    flags: roll() < 0.01 ? [{ kind: "mismatch", why: "says docs, changed src/auth.ts" }] : undefined,
  };
  if (roll() < 0.7) return { gist, changed: total };
  const passed = roll() < 0.8;
  return { gist, changed: total, good: passed, answers: [{ name: "test", verdict: passed ? "passed" : "failed", was: roll() < 0.5 ? "failed" : undefined }] };
}
