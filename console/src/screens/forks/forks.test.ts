import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fact, WorkspaceState } from "../../api/types.ts";
import { adoptedAt, answer, beside, best, databaseText, freeName, nameFault, packagesText, sentence, settingsText, type Known } from "./judge.ts";

const fork = (name: string, more: Partial<WorkspaceState> = {}): WorkspaceState =>
  ({ id: `ws_${name}`, name, root: `/w/${name}`, count: 2, created: "", dev: 1, ino: 1, gone: false, latest: { id: `cp_${name}` }, ...more }) as WorkspaceState;
const known = (name: string, verdict: string | undefined, files = 1, more: Partial<Known> = {}): Known => ({
  fork: fork(name),
  finding: { answers: verdict ? [{ name: "test", verdict }] : [] },
  story: { counts: { added: files, deleted: 0, edited: 0, renamed: 0, moded: 0, retyped: 0, timed: 0, plus: 0, minus: 0 } } as Known["story"],
  ...more,
});

test("we would adopt the only good one that did something and is not home yet", () => {
  const a = known("a", "passed");
  assert.equal(best([a, known("b", "failed")]), a);
  assert.equal(best([a, known("b", "passed")]), undefined, "two good ones: a person chooses");
  assert.equal(best([known("a", "passed", 1, { adopted: 13 })]), undefined);
  assert.equal(best([known("a", "passed", 0)]), undefined);
  assert.equal(best([known("a", "passed", 1, { fork: fork("a", { gone: true }) })]), undefined);
});

test("a claim of the agent makes no fork good", () => {
  assert.equal(best([known("a", undefined, 1, { finding: { answers: [{ name: "test", verdict: "passed", claim: true }] } })]), undefined);
});

test("forks in sentences", () => {
  assert.equal(sentence(known("a", "passed", 12)), "a passes everything and changes 12 files.");
  assert.equal(sentence(known("b", "failed", 0)), "b fails test and changes nothing.");
  assert.equal(sentence(known("c", undefined)), "c was never checked and changes 1 file.");
  assert.equal(answer([known("a", "passed"), known("b", "failed")]), "2 forks are open, 1 is good");
  assert.equal(answer([known("a", "passed", 1, { fork: fork("a", { ended: "2026-01-01T00:00:00Z" }) })]), "No fork is open");
});

test("facts are told by kind, and never with values", () => {
  const facts: Fact[] = [
    { kind: "package", what: "added", group: "npm", name: "dep", path: "p" },
    { kind: "package", what: "added", group: "npm", name: "ioredis", path: "p", direct: true },
    { kind: "package", what: "deleted", group: "npm", name: "old", path: "p" },
    { kind: "env", what: "added", name: "REDIS_URL", path: ".env", after: "secret" },
    { kind: "table", what: "added", name: "sessions", path: "data/dev.db" },
  ];
  assert.equal(packagesText(facts), "npm −1 old; npm +2 ioredis and dep");
  assert.equal(settingsText(facts), ".env +REDIS_URL");
  assert.equal(databaseText(facts), "data/dev.db +table sessions");
  assert.equal(packagesText([]), "");
});

test("a fork is home when its newest checkpoint was adopted", () => {
  const at = [{ number: 13, return: { course: "adopt", target: "cp_a" } }, { number: 12 }] as never;
  assert.equal(adoptedAt(fork("a"), at), 13);
  assert.equal(adoptedAt(fork("b"), at), undefined);
});

test("names and places", () => {
  assert.equal(freeName("shop", ["shop-fork", "shop-fork-2"]), "shop-fork-3");
  assert.equal(beside("/home/me/shop", "x"), "/home/me/x");
  assert.equal(beside("/home/me/shop/", "x"), "/home/me/x");
  assert.equal(beside("/shop", "x"), "/x");
  assert.equal(nameFault("ok"), "");
  for (const bad of ["", "..", "a/b"]) assert.notEqual(nameFault(bad), "");
});
