import assert from "node:assert/strict";
import { test } from "node:test";
import type { Checkpoint, Effect, Timeline } from "../../api/types.ts";
import { counted, matching, newestFirst } from "./filter.ts";
import { byEffect, byTask, walkBack } from "./places.ts";

const effect = (id: string, time: string, more: Partial<Effect> = {}): Effect => ({ id, time, text: "git push origin main", ...more });

test("the newest effect is first, and e10 is newer than e9", () => {
  const all = [effect("e9", "2026-01-01T00:00:00Z"), effect("e10", "2026-01-01T00:00:00Z"), effect("e1", "2026-01-02T00:00:00Z")];
  assert.deepEqual(newestFirst(all).map((e) => e.id), ["e1", "e10", "e9"]);
});

test("a filter needs all of its parts", () => {
  const all = [effect("e1", "", { kind: "push", agent: "codex", target: "origin" }), effect("e2", "", { text: "mail to qa", agent: "claude-code" })];
  const ids = (w: Parameters<typeof matching>[1]) => matching(all, w).map((e) => e.id);
  assert.deepEqual(ids({ kind: "push", agent: "", words: "" }), ["e1"]);
  assert.deepEqual(ids({ kind: "other", agent: "", words: "" }), ["e2"]);
  assert.deepEqual(ids({ kind: "", agent: "claude-code", words: "QA mail" }), ["e2"]);
  assert.deepEqual(ids({ kind: "push", agent: "claude-code", words: "" }), []);
  assert.deepEqual(counted(["b", "a", "b"]), [["b", 2], ["a", 1]]);
});

const checkpoint = (number: number, more: Partial<Checkpoint> = {}): Checkpoint => ({ number, trigger: "turn", ...more }) as Checkpoint;

test("the timeline is walked back only as far as it must be", async () => {
  const asked: (number | undefined)[] = [];
  const read = async (before?: number) => {
    asked.push(before);
    const top = before ?? 7;
    return { checkpoints: [checkpoint(top - 1), checkpoint(top - 2)] } as Timeline;
  };
  await walkBack(read, (seen) => seen.some((c) => c.number === 3));
  assert.deepEqual(asked, [undefined, 5]);
  asked.length = 0;
  await walkBack(read, () => false);
  assert.deepEqual(asked, [undefined, 5, 3]);
});

test("a walk ends however long the timeline is", async () => {
  let n = 0;
  await walkBack(async (before) => (n++, { checkpoints: [checkpoint((before ?? 1e6) - 1)] }) as Timeline, () => false);
  assert.equal(n, 10);
});

test("effects and tasks find their checkpoints", () => {
  const seen = [checkpoint(9, { trigger: "task", intent: "task 2 of 5 completed: write it: now" }), checkpoint(8, { effects: [effect("e1", "")] }), checkpoint(7, { trigger: "task", intent: "task 2 of 5 failed: write it: now" }), checkpoint(6, { intent: "x completed: y" })];
  assert.equal(byEffect(seen).get("e1")?.number, 8);
  assert.equal(byTask(seen).get("write it: now")?.number, 9);
  assert.equal(byTask(seen).has("y"), false, "only checkpoints of tasks");
});
