import assert from "node:assert/strict";
import { test } from "node:test";
import { merge } from "./merge.ts";
import { checkpoint } from "./sample.ts";

const of = (...numbers: number[]) => numbers.map((n) => checkpoint(n));
const numbers = (known: number[], page: number[], newest: boolean) => merge(of(...known), of(...page), newest).map((c) => c.number);

test("a newest page puts new checkpoints on top and keeps the older ones", () => {
  assert.deepEqual(numbers([3, 2, 1], [5, 4, 3], true), [5, 4, 3, 2, 1]);
  assert.deepEqual(numbers([], [2, 1], true), [2, 1]);
});

test("what is gone within a page goes", () => {
  assert.deepEqual(numbers([6, 5, 4, 3, 2, 1], [6, 3], true), [6, 3, 2, 1]);
  assert.deepEqual(numbers([6, 5, 4, 3, 2, 1], [5, 3], false), [6, 5, 3, 2, 1]);
  assert.deepEqual(numbers([2, 1], [], true), []);
});
