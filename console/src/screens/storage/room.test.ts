import assert from "node:assert/strict";
import { test } from "node:test";
import type { SpacePlan, WorkspaceSpace } from "../../api/types.ts";
import { about, byReason, growthOf, reachOf, sentenceOf, sumDays } from "./room.ts";

const plan = (more: Partial<SpacePlan> = {}): SpacePlan => ({ store: { bytes: 412e6, free: 212e9, floor: 10e9 }, budget: 5e9, workspaces: [], drops: [], frees: 0, garbage: 0, ...more });

test("growth is what was brought, and a young store is not spread over a week", () => {
  const space = (days: number[], brought: number[]) => ({ days: [...Array(23).fill(0), ...days], brought: [...Array(23).fill(0), ...brought] }) as unknown as WorkspaceSpace;
  assert.equal(growthOf([space([0, 0, 0, 1, 2, 0, 1], [0, 0, 0, 0, 7e6, 0, 9e6])]), 4e6);
  assert.equal(growthOf([space([0, 0, 0, 0, 0, 0, 3], [0, 0, 0, 0, 0, 0, 5e6]), space([7, 0, 0, 0, 0, 0, 0], [7e6, 0, 0, 0, 0, 0, 0])]), 6e6);
  assert.equal(growthOf([space([0, 0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 0, 0])]), 0);
  assert.equal(growthOf([space([0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0])]), undefined);
  assert.equal(growthOf([]), undefined);
});

test("what is reached first is told", () => {
  assert.deepEqual(reachOf(plan(), 5e9, 1e6), { what: "budget", days: 4588 });
  assert.deepEqual(reachOf(plan({ store: { bytes: 412e6, free: 11e9, floor: 10e9 } }), 5e9, 1e8), { what: "floor", days: 10 });
  assert.equal(reachOf(plan(), 0, 2e9)!.what, "floor");
  assert.equal(reachOf(plan(), 5e9, 0), undefined);
  assert.deepEqual([about(0.3), about(1), about(10.4), about(21), about(90)], ["within a day", "in about 1 day", "in about 10 days", "in about 3 weeks", "in about 3 months"]);
});

test("the sentence is the need, when there is one", () => {
  assert.equal(sentenceOf(plan(), 5e9, undefined).head, "Checkpoints take 412 MB of 5.0 GB");
  assert.match(sentenceOf(plan(), 5e9, 4e8).rest, /grows at most about 400 MB a day\. At that pace the storage limit is reached in about 11 days\./);
  assert.match(sentenceOf(plan(), 5e9, 1e3).rest, /the storage limit is years away|minimum free space is years away/);
  for (const need of ["floor", "room", "budget"]) assert.equal(sentenceOf(plan({ need }), 5e9, undefined).bad, true, need);
  assert.equal(sentenceOf(plan({ need: "floor" }), 5e9, undefined).head, "Too little free disk space: nothing is saved");
});

test("drops are counted by reason, and days are summed with today last", () => {
  const drop = (why: string, bytes: number) => ({ workspace: "w", checkpoint: "c", number: 1, time: "", why, bytes, named: false });
  assert.deepEqual(byReason([drop("budget", 1), drop("age", 2), drop("age", 3)]), [
    { why: "age", count: 2, bytes: 5 },
    { why: "budget", count: 1, bytes: 1 },
  ]);
  const days = sumDays([[...Array(29).fill(0), 3], [1, 2], null]);
  assert.equal(days.length, 30);
  assert.deepEqual(days.slice(-2), [1, 5]);
});
