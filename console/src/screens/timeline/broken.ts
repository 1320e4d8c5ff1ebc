// What broke: the verified checkpoints that fail after the good one, on the line of the files.
import type { Checkpoint } from "../../api/types.ts";
import { shown } from "../../words/escape.ts";
import { standing } from "../../words/checkpoint.ts";
import type { Read } from "./book.ts";

export interface Broken {
  first: Checkpoint; // the oldest of those that fail without one between that does not
  only: boolean; // no later one failed too
  names: string[]; // what fails in the newest of them
}

/** Checkpoints that nobody verified say nothing, so they are passed by; nothing is broken where the newest
 *  verified one does not fail. */
export function brokenSince(read: Pick<Read, "checkpoints" | "findings">, good: Checkpoint): Broken | undefined {
  const run: Checkpoint[] = [];
  let line = read.checkpoints[0]?.id; // the next one on the line; a parent stands below its child
  for (const c of read.checkpoints) {
    if (c.number <= good.number) break;
    if (c.id !== line) continue;
    line = c.parent;
    const s = standing(read.findings.get(c.id));
    if (s === "unknown") continue;
    if (s !== "failed") break;
    run.push(c);
  }
  if (run.length === 0) return undefined;
  const names = (read.findings.get(run[0]!.id)?.answers ?? []).filter((a) => !a.claim && a.verdict === "failed").map((a) => shown(a.name));
  return { first: run[run.length - 1]!, only: run.length === 1, names };
}
