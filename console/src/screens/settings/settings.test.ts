import assert from "node:assert/strict";
import { test } from "node:test";
import { commandLine, inDir, word } from "../../words/command.ts";
import { answer, columns, dropsOf, keptText, levelText, tidyText, trackingText, within } from "./words.ts";

test("lengths of time that checkpoints are kept", () => {
  assert.equal(within(30 * 86_400e9), "30 days");
  assert.equal(within(36 * 3_600e9), "36 hours");
  assert.equal(within(0), "for ever");
});

test("only the drops of this workspace are told", () => {
  const plan = { drops: [{ workspace: "a" }, { workspace: "b" }], need: "room", frees: 0, garbage: 0, budget: 0, store: {}, workspaces: [] } as never;
  assert.equal(dropsOf(plan, "a").length, 1);
  assert.equal(tidyText(plan, "a"), "The next cleanup drops 1 checkpoint here, because the disk is nearly full.");
  assert.equal(tidyText(plan, "c"), "The next cleanup drops nothing here.");
});

test("a day with one checkpoint is seen beside one with many", () => {
  assert.deepEqual(columns([0, 1, 100]), [0, 0.12, 1]);
  assert.deepEqual(columns([]), []);
});

test("words for what is set, also for what we do not know yet", () => {
  assert.equal(levelText("same-user").sure, false);
  assert.equal(levelText("orbit").text, "orbit");
  assert.equal(keptText({ why: "undo", count: 1, always: true }), "needed for undo");
  assert.equal(trackingText({ mode: "scan", doubts: 0, events: 0, unseen: 0, why: "too many directories" }), "Every file is looked at, at each save: too many directories.");
  const st = (free: number, backup?: object) => ({ workspace: { name: "shop" }, store: { free, floor: 10, bytes: 0 }, backup }) as never;
  assert.match(answer(st(5), false), /not protected/);
  assert.match(answer(st(50), false), /this machine only/);
  assert.match(answer(st(50, { url: "x" }), false), /backed up/);
  assert.match(levelText("remote+lock").text, /^A remote has it locked/);
  assert.match(levelText("same-user", true).text, /here and at its remotes/);
});

test("the title knows the remotes", () => {
  const say = (...remotes: object[]) => answer({ workspace: { name: "shop" }, store: { free: 50, floor: 10, bytes: 0 }, remotes } as never, false);
  const away = { name: "nas", pending: 4, trouble: { tries: 2 } };
  assert.equal(say(), "shop is protected, on this machine only");
  assert.equal(say({ name: "bucket", pending: 0 }), "shop is protected and uploaded to bucket");
  assert.equal(say({ name: "bucket", pending: 1 }), "shop is protected; 1 checkpoint is not uploaded yet");
  assert.equal(say(away), "shop is protected, but nas is unavailable");
  assert.equal(say({ name: "bucket", pending: 0 }, away), "shop is protected and uploaded to bucket");
  assert.equal(say({ name: "bucket", pending: 2 }, away), "shop is protected; 2 checkpoints are not uploaded yet");
});

test("what is pasted into a shell stays one word", () => {
  assert.equal(word("a-b/c.d"), "a-b/c.d");
  assert.equal(word("it's; rm -rf ~"), `'it'\\''s; rm -rf ~'`);
  assert.equal(word("$(id)"), "'$(id)'");
  assert.equal(word(""), "''");
  assert.equal(commandLine(["claude", "--resume", "a b"]), "claude --resume 'a b'");
  assert.equal(inDir("/x y", []), "cd '/x y'");
  assert.equal(inDir("/x", ["codex"]), "cd /x && codex");
});
