import assert from "node:assert/strict";
import { test } from "node:test";
import { withFocus } from "./range.ts";

const range = (startIndex: number, endIndex: number, count = 100) => ({ startIndex, endIndex, count, overscan: 2 });

test("rows in sight and a few around them", () => {
  assert.deepEqual(withFocus(range(10, 12)), [8, 9, 10, 11, 12, 13, 14]);
  assert.deepEqual(withFocus(range(0, 1)), [0, 1, 2, 3]);
  assert.deepEqual(withFocus(range(97, 99)), [95, 96, 97, 98, 99]);
  assert.deepEqual(withFocus(range(0, 0, 0)), []);
});

test("the row with the focus stays, in its place", () => {
  assert.deepEqual(withFocus(range(10, 11), 3), [3, 8, 9, 10, 11, 12, 13]);
  assert.deepEqual(withFocus(range(10, 11), 90), [8, 9, 10, 11, 12, 13, 90]);
  assert.deepEqual(withFocus(range(10, 11), 10), [8, 9, 10, 11, 12, 13]);
});

test("a row that went away is not kept", () => {
  assert.deepEqual(withFocus(range(1, 2, 4), 7), [0, 1, 2, 3]);
});
