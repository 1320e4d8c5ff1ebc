// Rows for tests and measurements: made by a seed, so that a run can be repeated.
import type { Checkpoint, TimelineRow } from "../../api/types.ts";
import type { Row } from "./rows.ts";

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

/** Its row. */
export function row(n: number, more: Partial<Row> = {}, of: Partial<Checkpoint> = {}): Row {
  const c = checkpoint(n, of);
  return { kind: "checkpoint", key: c.id, number: n, time: c.time, title: `step ${n}`, files: 0, place: { lane: 0 }, checkpoint: c, ...more };
}

/** Rows in one line, newest first. */
export const line = (n: number, make: (n: number) => Row = (k) => row(k)): Row[] => Array.from({ length: n }, (_, i) => make(n - i));

/** The graph of rows in one line. */
export const straight = (rows: readonly Row[]): TimelineRow[] =>
  rows.map((r, i) => ({ kind: "checkpoint", key: r.key, number: r.number, title: "", files: 0, place: { lane: 0, below: i < rows.length - 1 ? [1] : undefined } }));

const agents = ["claude-code", "codex", "gemini"];

/** So many rows with turns, effects, flags and checks. */
export function sample(count: number, seed = 1): Row[] {
  const roll = dice(seed);
  return line(count, (n) => {
    if (n === 1 || roll() < 0.3) return row(n);
    const agent = agents[Math.floor(roll() * agents.length)]!;
    const risk = roll() < 0.02 ? "deletes dist" : undefined;
    const effects = roll() < 0.03 ? [{ id: `e${n}`, time: checkpoint(n).time, text: "git push origin main" }] : undefined;
    const flags = [...(roll() < 0.01 ? [{ word: "mismatch", why: "says docs, changed src/auth.ts", tone: "mismatch" }] : []), ...(risk ? [{ word: "risky", why: risk, tone: "warning" }] : [])];
    const passed = roll() < 0.8;
    const checked = roll() < 0.3 ? { good: passed, answers: [{ name: "test", verdict: passed ? "passed" : "failed" }] } : {};
    return row(n, { files: 1 + Math.floor(roll() * 40), flags, ...checked }, { trigger: "turn", effects, turn: { agent, session: `s${Math.floor(n / 40)}`, id: `t${n}`, risk } });
  });
}
