// The sentence that answers a comparison, and where verifications of two checkpoints agree.
import type { Answer, Checkpoint, Finding, Story } from "../../api/types.ts";
import { shown } from "../../words/escape.ts";
import { standing } from "../../words/checkpoint.ts";
import { count, several } from "../../words/number.ts";

export interface Point {
  word: string; // 5, or now
  checkpoint?: Checkpoint; // absent: now
  finding?: Finding;
}

export interface Sentence {
  lead: string;
  rest: string;
}

const standings = { good: "is good", inherited: "is good", failed: "fails", partly: "is not sure", unknown: "is not checked" } as const;

/** answerOf says what is good, and what it takes from the one to the other; deletions come first. */
export function answerOf(from: Point, to: Point, s: Story): Sentence {
  const n = s.counts;
  const total = n.added + n.deleted + n.edited + n.renamed + n.moded + n.retyped;
  const lead = leadOf(from, to);
  if (total === 0) return { lead, rest: `No file differs between ${from.word} and ${to.word}.` };
  const parts = [
    n.deleted ? `${several(n.deleted, "file")} deleted` : "",
    n.added ? `${count(n.added)} added` : "",
    n.edited ? `${count(n.edited)} changed` : "",
    n.renamed ? `${count(n.renamed)} renamed` : "",
    n.moded + n.retyped ? `${count(n.moded + n.retyped)} in mode or kind` : "",
  ].filter((x) => x !== "");
  const first = parts[0]!.includes("file") ? parts.join(", ") : [parts[0]!.replace(" ", n.deleted || total !== 1 ? " files " : " file "), ...parts.slice(1)].join(", ");
  return { lead, rest: `From ${from.word} to ${to.word}: ${first}.` };
}

function leadOf(from: Point, to: Point): string {
  const [a, b] = [standing(from.finding), standing(to.finding)];
  if (!to.checkpoint) return a === "unknown" ? "" : `${from.word} ${standings[a]}; now is not checked.`;
  if (a === "unknown" && b === "unknown") return "Neither is checked.";
  if (standings[a] === standings[b]) return a === "good" || a === "inherited" ? "Both are good." : `Both ${a === "failed" ? "fail" : "are not sure"}.`;
  return `${from.word} ${standings[a]}, ${to.word} ${standings[b]}.`;
}

export interface Agreement {
  name: string;
  from?: Answer;
  to?: Answer;
  word: string; // what the two say together
  family: "good" | "bad" | "partial" | "unknown";
}

/** agreementsOf puts the answers of two checkpoints side by side, by name; what differs comes first. */
export function agreementsOf(from: Point, to: Point): Agreement[] {
  const of = (p: Point, name: string) => (p.finding?.answers ?? []).find((a) => a.name === name && !a.claim) ?? (p.finding?.answers ?? []).find((a) => a.name === name);
  const names = [...new Set([...(from.finding?.answers ?? []), ...(to.finding?.answers ?? [])].map((a) => a.name))].sort();
  const rows = names.map((name) => {
    const [a, b] = [of(from, name), of(to, name)];
    return { name: shown(name), from: a, to: b, ...verdictOf(a, b, !to.checkpoint) };
  });
  return rows.sort((x, y) => rank(x) - rank(y));
}

const rank = (a: Agreement) => ["bad", "good", "partial", "unknown"].indexOf(a.family) + (a.word === "both passed" ? 2 : 0);

function verdictOf(a: Answer | undefined, b: Answer | undefined, now: boolean): { word: string; family: Agreement["family"] } {
  const sure = (x?: Answer) => (x && !x.claim && (x.verdict === "passed" || x.verdict === "failed") ? x.verdict : "");
  const [x, y] = [sure(a), sure(b)];
  if (x === "passed" && y === "passed") return { word: "both passed", family: "good" };
  if (x === "failed" && y === "failed") return { word: "both failed", family: "bad" };
  if (x === "passed" && y === "failed") return { word: "broke", family: "bad" };
  if (x === "failed" && y === "passed") return { word: "was mended", family: "good" };
  if (a?.claim || b?.claim) return { word: "a claim: not run by Retake", family: "unknown" };
  if (x === "" && y === "") return { word: "no answer", family: "partial" };
  return { word: x === "" ? "only the second was asked" : now ? "now was not asked" : "only the first was asked", family: "unknown" };
}
