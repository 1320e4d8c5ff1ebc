import assert from "node:assert/strict";
import { test } from "node:test";
import { hintLines } from "./hints.ts";

test("every hint is a line, its command apart", () => {
  const p = {
    hint: "finish it: retake restore --finish\nroll it back: retake restore --undo\ntry again",
    next_steps: ["retake restore --finish", "retake restore --undo", "retake status"],
  };
  assert.deepEqual(hintLines(p as never), [
    { words: "Finish it: ", command: "retake restore --finish" },
    { words: "Roll it back: ", command: "retake restore --undo" },
    { words: "Try again", command: "" },
    { words: "", command: "retake status" },
  ]);
  assert.deepEqual(hintLines(undefined), []);
});
