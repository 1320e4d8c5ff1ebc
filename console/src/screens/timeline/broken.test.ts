import assert from "node:assert/strict";
import { test } from "node:test";
import { brokenSince } from "./broken.ts";
import type { Row } from "./rows.ts";
import { idOf, checkpoint, line, row } from "./sample.ts";

type Found = Pick<Row, "answers" | "good">;
const failed: Found = { answers: [{ name: "test", verdict: "failed" }, { name: "lint", verdict: "passed" }] };
const passed: Found = { answers: [{ name: "test", verdict: "passed" }], good: true };
const claimed: Found = { answers: [{ name: "test", verdict: "failed", claim: true }] };

const book = (newest: number, found: Record<number, Found>, parents: Record<number, string> = {}) => line(newest, (n) => row(n, found[n], parents[n] ? { parent: parents[n] } : {}));

test("what fails after the good one is told, also when newer ones were never checked", () => {
  const b = brokenSince(book(6, { 3: passed, 4: failed }), checkpoint(3));
  assert.deepEqual([b?.first.number, b?.only, b?.names], [4, true, ["test"]]);
});

test("of several that fail the first is told", () => {
  const b = brokenSince(book(8, { 3: passed, 5: failed, 7: failed }), checkpoint(3));
  assert.deepEqual([b?.first.number, b?.only], [5, false]);
});

test("claims, lines left behind, and what was mended break nothing", () => {
  assert.equal(brokenSince(book(5, { 3: passed, 4: claimed }), checkpoint(3)), undefined);
  assert.equal(brokenSince(book(6, { 3: passed, 4: failed, 5: failed }, { 6: idOf(3) }), checkpoint(3)), undefined);
  assert.equal(brokenSince(book(5, { 3: passed, 4: failed, 5: { answers: [{ name: "test", verdict: "errored" }] } }), checkpoint(3)), undefined);
  assert.equal(brokenSince(book(3, { 3: passed }), checkpoint(3)), undefined);
});
