import assert from "node:assert/strict";
import { test } from "node:test";
import type { Checkpoint, Remote, Status, WorkspaceState } from "../../api/types.ts";
import { answerOf, dayBars, elsewhereOf, rowsOf, standOf, storeFits, storeText } from "./rows.ts";

const latest = { number: 3, id: "cp_3" } as Checkpoint;

function made(id: string, more: Partial<WorkspaceState> = {}): WorkspaceState {
  return { id, name: id, root: `/${id}`, dev: 1, ino: 1, created: "2026-11-03T09:00:00Z", count: 3, gone: false, latest, ...more };
}
const forkOf = (of: string) => ({ origin: { workspace: of, checkpoint: "cp_2", number: 2 } });
const short = (all: WorkspaceState[], open = false) => rowsOf(all, open).map((r) => (r.kind === "ended" ? `${r.n} ended` : "  ".repeat(r.depth) + r.ws.name));

test("forks stand below what they forked from, ended ones at the end", () => {
  const all = [made("f", forkOf("a")), made("a"), made("old", { ended: "2026-11-03T09:00:00Z" }), made("b"), made("g", forkOf("f")), made("lost", forkOf("forgotten"))];
  assert.deepEqual(short(all), ["a", "  f", "    g", "b", "lost", "1 ended"]);
  assert.deepEqual(short(all, true).slice(-2), ["1 ended", "old"]);
  assert.deepEqual(short([made("x", forkOf("y")), made("y", forkOf("x"))]), ["x", "  y"]);
});

test("how one stands", () => {
  const cut = { course: "restore", done: 612, id: "x", safety: 18, since: "", target: 14, total: 1181 };
  assert.equal(standOf(made("a")).word, "protected");
  assert.equal(standOf(made("a", { gone: true })).word, "directory gone");
  assert.equal(standOf(made("a", { interrupted: cut, gone: true })).word, "restore interrupted");
  assert.match(standOf(made("a", { interrupted: cut })).why!, /612 of 1,181/);
  assert.equal(standOf(made("a", { latest: undefined })).word, "no checkpoint yet");
  assert.equal(standOf(made("a"), { bytes: 1, free: 1, floor: 2 }).word, "not protected");
  assert.equal(standOf(made("a", { unprotected: { why: "the store cannot be written to" } })).why, "is not protected: the store cannot be written to");
});

test("the answer", () => {
  const title = (...all: WorkspaceState[]) => answerOf(all).title;
  assert.equal(title(made("a")), "a is protected");
  assert.equal(title(made("a"), made("f", forkOf("a"))), "a is protected");
  assert.equal(title(made("a"), made("b")), "Both workspaces are protected");
  assert.equal(title(made("a"), made("b"), made("c", { gone: true })), "2 of 3 workspaces are protected");
  assert.equal(title(made("a", { gone: true }), made("b"), made("c", { gone: true })), "1 of 3 workspaces is protected");
  assert.equal(title(made("a", { ended: "x" })), "No workspace is protected");
  assert.match(answerOf([made("a", { gone: true })]).more, /^a has lost its directory/);
  assert.match(answerOf([made("a")], { bytes: 1, free: 9_600_000_000, floor: 10_000_000_000 }).more, /9.6 GB and the minimum is 10 GB/);
});

test("bars of days", () => {
  assert.equal(dayBars([], 100, 20), "");
  assert.equal(dayBars([0, 40, 20], 30, 20), "M10.0 20v-20.0h6.0V20zM20.0 20v-10.0h6.0V20z");
});

test("X4: a budget of 0 is no limit", () => {
  const space = (budget: number) => ({ store: { bytes: 15_000, free: 1, floor: 0 }, budget }) as never;
  assert.deepEqual([storeText(space(0)), storeFits(space(0))], ["15 kB, no limit set", true]);
  assert.deepEqual([storeText(space(10_000)), storeFits(space(10_000))], ["15 kB of 10 kB", false]);
});

test("whether the history is at another place", () => {
  const of = (name: string, more: Partial<Status> = {}) => ({ workspace: { name }, ...more }) as Status;
  const at = (name: string, more: Partial<Remote> = {}) => ({ name, pending: 0, uploaded: "2026-11-03T09:00:00Z", ...more }) as Remote;
  const git = (behind = 0) => ({ set: true, behind, trouble: behind ? {} : undefined }) as never;
  const bucket = at("bucket");
  const say = (known: Status[], ...remotes: Remote[]) => elsewhereOf(known, remotes, false).text;
  const both = [of("a", { remotes: [bucket] }), of("b", { remotes: [bucket] })];
  assert.equal(say([of("a")]), "none: the history is on this machine only");
  assert.equal(elsewhereOf([of("a")], [], true).text, "none: the history is on this server only");
  assert.deepEqual(elsewhereOf(both, [bucket], false), { fine: true, text: "all checkpoints are uploaded to bucket" });
  assert.equal(say(both, bucket, at("nas")), "all checkpoints are uploaded to bucket and nas");
  assert.equal(say(both, at("bucket", { pending: 2 })), "2 checkpoints not uploaded to bucket yet");
  assert.equal(say(both, at("bucket", { uploaded: undefined })), "nothing is uploaded to bucket yet");
  assert.match(say(both, bucket, at("n\u202es", { pending: 31, trouble: { since: "2026-11-02T08:12:00Z", tries: 3 } as never })), /^n\\u202es has been unavailable since .*, 31 checkpoints pending$/);
  assert.equal(say(both, at("bucket", { check: { failed: ["x"] } as never })), "the last check of bucket failed");
  assert.equal(say([both[0]!, of("c")], bucket), "none for c");
  assert.equal(say([of("a", { backup: git() })]), "all checkpoints are in a git backup");
  assert.equal(say([of("a", { backup: git(3) })]), "the git backup of a is 3 checkpoints behind");
  assert.equal(say([of("a", { backup: git() }), of("b")]), "none for b");
});
