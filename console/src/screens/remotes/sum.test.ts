import assert from "node:assert/strict";
import { test } from "node:test";
import type { Remote, WorkspaceState } from "../../api/types.ts";
import { elsewhere, protectionText, uploadText } from "../../words/remote.ts";
import { inOrder, lossesOf, sentenceOf, shareOf } from "./sum.ts";

const now = new Date(2026, 10, 3, 14, 32);
const ws = (id: string, count: number): WorkspaceState => ({ id, name: id, count, latest: { number: count + 5 } }) as WorkspaceState;
const at = (workspace: string, newest: number, pending: number) => ({ workspace, name: workspace, newest, uploaded: newest - pending, pending });
const remote = (name: string, workspaces: ReturnType<typeof at>[], more: Partial<Remote> = {}): Remote =>
  ({ name, url: `s3://${name}`, created: now.toISOString(), sent: 0, protection: { refuses: false }, uploaded: now.toISOString(), workspaces, pending: workspaces.reduce((n, w) => n + w.pending, 0), ...more }) as Remote;
const away = { at: now.toISOString(), since: new Date(2026, 10, 3, 8, 12).toISOString(), kind: "unavailable", tries: 4, what: "connection refused" };

test("a remote has all checkpoints but those that wait; forgotten numbers do not count", () => {
  assert.deepEqual(shareOf(remote("a", [at("shop", 15, 2)]), [ws("shop", 10)]), { there: 8, total: 10 });
  assert.deepEqual(shareOf(remote("a", [at("shop", 15, 2)]), []), { there: 13, total: 15 });
  assert.deepEqual(shareOf({ ...remote("a", []), workspaces: null }, []), { there: 0, total: 0 });
});

test("lost is what no remote has", () => {
  const all = [ws("shop", 10), ws("blog", 4), ws("new", 3), { ...ws("empty", 0), latest: undefined }];
  const two = [remote("a", [at("shop", 15, 2), at("blog", 9, 0)]), remote("b", [at("shop", 15, 1), at("blog", 9, 4)])];
  assert.deepEqual(lossesOf(two, all), [{ name: "new", count: 3 }, { name: "shop", count: 1 }]);
});

test("the answer says what is uploaded and what would be lost", () => {
  const all = [ws("shop", 10), ws("blog", 4)];
  const both = (a: number, b: number) => [at("shop", 15, a), at("blog", 9, b)];
  const say = (...r: Remote[]) => Object.values(sentenceOf(r, all, now)).join(". ");
  assert.equal(say(remote("bucket", both(0, 0))), "All 14 checkpoints are uploaded to bucket. If this machine is lost now, you lose only what changed since the newest checkpoints.");
  assert.equal(say(remote("bucket", both(1, 0))), "13 checkpoints are uploaded, 1 is pending. If this machine is lost now, you lose 1 checkpoint of shop.");
  assert.equal(say(remote("bucket", both(2, 1))), "11 checkpoints are uploaded, 3 are pending. If this machine is lost now, you lose 3 checkpoints: 2 of shop and 1 of blog.");
  assert.equal(say(remote("bucket", both(10, 4))), "Nothing is uploaded yet. If this machine is lost now, you lose all 14 checkpoints.");
  assert.match(say(remote("bucket", both(0, 0)), remote("nas", both(1, 0), { trouble: away })), /^All 14 checkpoints are uploaded to bucket\. nas has been unavailable since 08:12\. /);
  assert.match(say(remote("nas", both(1, 0), { trouble: { ...away, tries: 1 } })), /^13 checkpoints are uploaded, 1 is pending\. If/);
  assert.match(say(remote("bucket", both(0, 0), { check: { failed: ["x"] } as never })), /bucket\. The last check of bucket failed\. If/);
  const disk = (n: number) => remote("disk", both(n, 0), { url: "/mnt/disk" });
  assert.match(say(disk(0)), /If this machine’s disk is lost now, you lose only/);
  assert.match(say(disk(0), remote("bucket", both(2, 0))), /^12 checkpoints are uploaded, 2 are pending\. If this machine is lost now/);
  assert.equal(sentenceOf([remote("a", [])], [], now).head, "There are no checkpoints to upload yet");
});

test("names are hostile text", () => {
  const all = [{ ...ws("w", 3), name: "a\u202eb" }];
  assert.match(sentenceOf([remote("x\u0007", [at("w", 3, 1)], { trouble: away })], all, now).rest, /^x\\a has been unavailable .* of a\\u202eb\.$/);
  assert.equal(uploadText(3, { remote: "x\n", through: 3 }), "uploaded to x\\n");
});

test("what waits stands first", () => {
  assert.deepEqual(inOrder([at("b", 1, 0), at("c", 1, 2), at("a", 1, 0)]).map((w) => w.workspace), ["c", "a", "b"]);
  assert.deepEqual(inOrder(null), []);
});

test("what a place promises", () => {
  assert.equal(protectionText({ refuses: true, versioned: true, locked_days: 30 }), "Nobody can delete there for 30 days.");
  assert.equal(protectionText({ refuses: true, versioned: true }), "It keeps what is deleted as an older version.");
  assert.equal(protectionText({ refuses: true }), "It refuses to replace what it has; who has its keys can delete there.");
  assert.equal(protectionText({ refuses: false }), "Who can write there can also replace and delete.");
});

test("where a checkpoint is beside this machine", () => {
  const up = { remote: "bucket", through: 7 };
  assert.equal(elsewhere(7, up), "uploaded to bucket");
  assert.equal(elsewhere(8, up), "not uploaded yet");
  assert.equal(elsewhere(8, { ...up, failing: true }), "not uploaded yet, the last try failed");
  assert.equal(elsewhere(8), "no remote");
  assert.equal(elsewhere(8, up, { set: true, url: "git@host:x", pushed: { number: 8 } } as never), "not uploaded yet, in the git backup at git@host:x");
  assert.equal(elsewhere(8, undefined, { set: true, url: "git@host:x" } as never), "not in the git backup yet");
});
