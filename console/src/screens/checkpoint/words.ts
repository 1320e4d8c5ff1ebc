// The sentences of a checkpoint: its head, and the five facts below it.
import type { Answer, Checkpoint, Fact, Finding, Gap, StoryCounts, Upload, Verification } from "../../api/types.ts";
import { oneLine, shown } from "../../words/escape.ts";
import { agentName } from "../../words/checkpoint.ts";
import { bytes, count, several } from "../../words/number.ts";
import { uploadText } from "../../words/remote.ts";
import { factText, lossesOf, packageCounts } from "./story.ts";

/** Who was at work, and what for. */
export function circumstances(c: Checkpoint): string[] {
  const t = c.turn;
  if (!t) return [madeBy(c)];
  const out: string[] = [];
  const task = t.tasks && t.tasks.total > 0 ? `${t.tasks.done} of ${several(t.tasks.total, "task")} done${t.tasks.failed ? `, ${t.tasks.failed} failed` : ""}` : "";
  const turn = t.prompt && c.trigger !== "turn" ? `in the turn “${brief(oneLine(t.prompt))}”` : "";
  if (task || turn) out.push([task, turn].filter((x) => x !== "").join(" "));
  const others = t.contested ?? [];
  out.push(`${agentName(t.agent)}${t.version ? ` ${shown(t.version)}` : ""}, ${others.length > 0 ? `${others.map(shown).join(", ")} worked too` : "no other agent was working"}`);
  if (t.dir) out.push(`in ${shown(t.dir)}`);
  if (t.running) out.push(`${several(t.running, "program")} went on in the background`);
  return out;
}

const brief = (s: string) => (s.length > 44 ? s.slice(0, 42).trimEnd() + "…" : s);

const makers: Record<string, string> = {
  init: "the first capture",
  safety: "kept by Retake before a restore",
  complete: "the rest, kept by Retake after time ran out",
  risk: "kept by Retake before a risky call",
  return: "made by going back",
  fork: "the first of a fork",
};
const madeBy = (c: Checkpoint) => makers[c.trigger] ?? "saved by you";

export interface TwoLines {
  first: string;
  second: string;
}

export type Counted = Pick<StoryCounts, "added" | "deleted" | "edited" | "renamed" | "moded" | "retyped">;

/** Kinds of change that have words of their own, or are no files. */
const worded = new Set(["added", "deleted", "edited", "renamed", "moded", "retyped", "timed", "plus", "minus"]);

export function changedWords(n: Counted): { first: string; deleted: string; rest: string } {
  const others = Object.entries(n).filter(([kind, files]) => !worded.has(kind) && typeof files === "number" && files > 0); // of a newer server
  const total = n.added + n.deleted + n.edited + n.renamed + n.moded + n.retyped + others.reduce((sum, [, files]) => sum + files, 0);
  const rest = [
    n.added ? `${count(n.added)} added` : "",
    n.edited ? `${count(n.edited)} changed` : "",
    n.renamed ? `${count(n.renamed)} renamed` : "",
    n.moded ? `${count(n.moded)} mode only` : "",
    n.retyped ? `${count(n.retyped)} became something else` : "",
    ...others.map(([kind, files]) => `${count(files)} ${shown(kind)}`),
  ].filter((x) => x !== "");
  return { first: total === 0 ? "no file" : several(total, "file"), deleted: n.deleted ? `${count(n.deleted)} deleted` : "", rest: rest.join(", ") };
}

/** Kinds of fact that are told by themselves; the others by their name, known here or not. */
const told = new Set(["package", "env", "setting", "table", "rows", "secret"]);

/** What of the environment changed: packages first, then settings, then databases, then all else. */
export function environmentWords(facts: readonly Fact[]): TwoLines & { secret: boolean; lost: string } {
  const groups = [...new Set(facts.filter((f) => f.kind === "package").map((f) => f.group ?? ""))];
  const packages = groups.map((g) => {
    const own = facts.filter((f) => f.kind === "package" && (f.group ?? "") === g);
    return own.length === 1 ? `${shown(g)} ${factText(own[0]!)}` : `${shown(g)} ${packageCounts(facts, g)} packages`;
  });
  const order = ["deleted", "added", "edited"];
  const of = (kind: string) => facts.filter((f) => f.kind === kind).sort((a, b) => order.indexOf(a.what) - order.indexOf(b.what));
  const settings = [...of("env"), ...of("setting")].map((f) => `${shown(f.path.slice(f.path.lastIndexOf("/") + 1))} ${factText(f)}`);
  const lost = listed(lossesOf(facts).map((f) => `${shown(f.path.slice(f.path.lastIndexOf("/") + 1))} ${factText(f)}`));
  const losses = new Set(lossesOf(facts));
  const tables = [...of("table"), ...of("rows")].filter((f) => !losses.has(f)).map((f) => `${shown(f.path.slice(f.path.lastIndexOf("/") + 1))} ${factText(f)}`);
  const others = facts.filter((f) => !told.has(f.kind)).map((f) => (f.kind === "index" || f.kind === "mode" ? factText(f) : `${shown(f.kind)} ${factText(f)}`));
  const all = [packages.join(", "), listed(settings), listed(tables), listed(others)].filter((x) => x !== "");
  const secret = facts.some((f) => f.kind === "secret" && f.what !== "deleted");
  if (lost) return { first: lost, second: all.join(", ") || "no package or setting changed", secret, lost };
  if (all.length === 0) return { first: "as before", second: "no package, setting or table changed", secret, lost };
  return { first: all[0]!, second: all.slice(1).join(", ") || (packages.length ? "no setting or table changed" : "no package changed"), secret, lost };
}

const listed = (words: string[]): string => (words.length <= 1 ? words.join("") : `${words[0]}, ${count(words.length - 1)} more`);

export function coverageWords(c: Checkpoint, upload?: Upload): TwoLines {
  const gaps = c.coverage.gaps ?? [];
  const size = `${several(c.files, "file")}, ${bytes(c.new_bytes)} new`;
  const where = upload ? `, ${uploadText(c.number, { ...upload, failing: false })}` : "";
  return { first: c.coverage.grade + where, second: gaps.length === 0 ? `${size}, saved` : `${size}, ${several(gaps.length, "path")} left out` };
}

const reasons: Record<string, string> = {
  unreadable: "could not be read",
  torn: "changed each time it was read",
  moving: "changed while it was listed",
  mount: "another file system",
  device: "a device",
  "too-deep": "too deep",
  sparse: "holes too large to read",
  budget: "the time was over",
  "too-big": "over your limit of size",
  excluded: "excluded by you",
  ignored: "ignored as git does, by your choice",
  store: "our own store",
};

export const gapWords = (g: Gap): string => (reasons[g.reason] ?? shown(g.reason)) + (g.detail ? `: ${oneLine(g.detail)}` : "");

/** The last line of a failing output is mostly its sum. */
export function outputGist(v?: Verification): string {
  if (v?.score) return oneLine(v.score);
  const lines = (v?.output ?? "").split("\n").map((l) => l.trim()).filter((l) => l !== "");
  const last = lines[lines.length - 1] ?? "";
  return last.length > 90 ? oneLine(last.slice(0, 89) + "…") : oneLine(last);
}

export interface Trail {
  before?: number; // the newest older checkpoint that passed
  after?: number; // the oldest newer one
}

/** Where one verification passed before and after a checkpoint, of the checkpoints that are near. */
export function trailOf(name: string, at: number, near: readonly Checkpoint[], findings: Record<string, Finding>): Trail {
  const passed = (c: Checkpoint) => (findings[c.id]?.answers ?? []).some((a: Answer) => a.name === name && !a.claim && a.verdict === "passed");
  const older = near.filter((c) => c.number < at && passed(c)).map((c) => c.number);
  const newer = near.filter((c) => c.number > at && passed(c)).map((c) => c.number);
  return { before: older.length ? Math.max(...older) : undefined, after: newer.length ? Math.min(...newer) : undefined };
}
