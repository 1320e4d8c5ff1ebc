/// <reference types="node" />
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Answer, Checkpoint, Story } from "../../api/types.ts";
import { blameRows } from "../history/blame.ts";
import { tablesOf } from "../../diff/tables.ts";
import { notesOf, sidesOf } from "../../diff/content.ts";
import { agreementsOf, answerOf, type Point } from "./answer.ts";

const point = (word: string, ...answers: Answer[]): Point => ({ word, checkpoint: word === "now" ? undefined : ({ number: Number(word) } as Checkpoint), finding: { answers } });
const story = (n: object): Story => ({ counts: { added: 0, deleted: 0, edited: 0, renamed: 0, moded: 0, retyped: 0, timed: 0, plus: 0, minus: 0, ...n } }) as Story;
const a = (name: string, verdict: string, more: Partial<Answer> = {}): Answer => ({ name, verdict, ...more });

test("the answer begins with what is good, and deletions come first", () => {
  assert.deepEqual(answerOf(point("5", a("test", "failed")), point("8", a("test", "passed")), story({ edited: 1 })), { lead: "5 fails, 8 is good.", rest: "From 5 to 8: 1 file changed." });
  assert.equal(answerOf(point("8"), point("10"), story({ deleted: 26, added: 2 })).rest, "From 8 to 10: 26 files deleted, 2 added.");
  assert.equal(answerOf(point("8"), point("10"), story({ added: 2, edited: 1 })).rest, "From 8 to 10: 2 files added, 1 changed.");
  assert.equal(answerOf(point("8"), point("9"), story({})).rest, "No file differs between 8 and 9.");
  assert.equal(answerOf(point("8", a("t", "passed")), point("now"), story({})).lead, "8 is good; now is not checked.");
  assert.equal(answerOf(point("8", a("t", "passed", { claim: true })), point("9"), story({})).lead, "Neither is checked.");
});

test("verifications are put side by side, what broke first, and a claim is no answer", () => {
  const rows = agreementsOf(point("5", a("lint", "passed"), a("test", "passed"), a("e2e", "passed", { claim: true })), point("8", a("lint", "passed"), a("test", "failed"), a("types", "could-not-run")));
  assert.deepEqual(rows.map((r) => [r.name, r.word]), [["test", "broke"], ["types", "no answer"], ["e2e", "a claim: not run by Retake"], ["lint", "both passed"]]);
});

test("lines of one checkpoint that stand together are one block", () => {
  const rows = blameRows([{ number: 5, text: "a" }, { number: 5, text: "b" }, { number: 1, text: "c" }], [5, 1]);
  assert.deepEqual(rows.map((r) => [r.line, r.first, r.age]), [[1, true, 0], [2, false, 0], [3, true, 1]]);
});

test("facts of a database become a table", () => {
  const path = "dev.db";
  const rows = tablesOf([{ kind: "rows", what: "edited", name: "users", before: "30", after: "41", path }, { kind: "table", what: "added", name: "carts", after: "id INTEGER", path }, { kind: "table", what: "added", name: "x", path: "other.db" }], path);
  assert.deepEqual(rows.map((r) => [r.name, r.before, r.after, r.rowsBefore, r.rowsAfter]), [["carts", undefined, "id INTEGER", undefined, undefined], ["users", undefined, undefined, "30 rows", "41 rows"]]);
});

test("the two sides of a file, also renamed, also asked the other way round", () => {
  const entry = (mode: number, kind = "file") => ({ kind, mode, size: 1, uid: 0, gid: 0 }) as never;
  const c = { from: { number: 4 } as Checkpoint, to: { number: 5 } as Checkpoint, changes: [{ path: "a", what: "edited", before: entry(0o644), after: entry(0o755) }, { path: "old", what: "deleted", before: entry(0o644) }, { path: "new", what: "added", after: entry(0o644) }] };
  assert.deepEqual(notesOf(sidesOf(c, "a")), ["mode 0644 to 0755"]);
  assert.deepEqual([sidesOf(c, "new", "old").before?.path, sidesOf(c, "new", "old").after?.ref], ["old", "5"]);
  const turned = sidesOf({ from: c.from, changes: c.changes }, "new", "", true);
  assert.deepEqual([turned.change?.what, turned.before?.ref, turned.after], ["deleted", "now", undefined]);
  assert.deepEqual(sidesOf(c, "same").after, { ref: "5", path: "same" });
});
