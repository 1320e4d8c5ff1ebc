import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, shapeOf, sumOf } from "./count.ts";

const tasks = (...status: string[]) => status.map((s, i) => ({ id: String(i), title: `t${i}`, status: s }));

test("tasks are summed, and the next is the first that is open", () => {
  const s = sumOf(tasks("completed", "failed", "pending", "in-progress", "skipped", "who knows"));
  assert.deepEqual([s.total, s.completed, s.failed, s.skipped, s.active, s.pending, s.next?.title], [6, 1, 1, 1, 1, 2, "t2"]);
  assert.equal(answer(s), "1 of 6 is done, 1 failed");
  assert.equal(answer(sumOf(tasks("completed", "completed"))), "All 2 tasks are done");
  assert.equal(answer(sumOf(tasks("completed"))), "The one task is done");
  assert.equal(shapeOf({ id: "", title: "", status: "odd" }), "pending");
});
