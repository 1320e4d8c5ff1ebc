// What broke: the checked checkpoints that fail after the good one, on the line of the files.
import type { Checkpoint } from "../../api/types.ts";
import { shown } from "../../words/escape.ts";
import { standing } from "../../words/checkpoint.ts";
import { realAnswers, type Row } from "./rows.ts";

export interface Broken {
  first: Row; // the oldest of those that fail without one between that does not
  only: boolean; // no later one failed too
  names: string[]; // what fails in the newest of them
}

/** Checkpoints that nobody checked say nothing, so they are passed by; nothing is broken where the newest
 *  checked one does not fail. */
export function brokenSince(rows: readonly Row[], good: Checkpoint): Broken | undefined {
  const run: Row[] = [];
  let line = rows[0]?.checkpoint.id; // the next one on the line; a parent stands below its child
  for (const r of rows) {
    if (r.number <= good.number) break;
    if (r.checkpoint.id !== line) continue;
    line = r.checkpoint.parent;
    const s = standing(r);
    if (s === "unknown") continue;
    if (s !== "failed") break;
    run.push(r);
  }
  if (run.length === 0) return undefined;
  const names = realAnswers(run[0]!).filter((a) => a.verdict === "failed").map((a) => shown(a.name));
  return { first: run[run.length - 1]!, only: run.length === 1, names };
}
