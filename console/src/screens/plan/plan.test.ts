import assert from "node:assert/strict";
import { test } from "node:test";
import type { Entry, Plan, RestoreResult, Step } from "../../api/types.ts";
import { Blocks } from "./apply.ts";
import { dirsOf, flatMost, rowsOf, someNames } from "./fold.ts";
import { movedBetween, stillGiven } from "./moved.ts";
import { fileNote, packageNote, storyAsked, toldBy } from "./told.ts";
import { besideText, classesOf, countOf, deed, deedLabel, digestText, doneText, goalOf, goOnLabel, idle, keepText, mergeText, missing, missingText, obstacleText, onlyBeside, question, tallyOf } from "./words.ts";

const entry = (size: number, kind = "file", object = "o" + size): Entry => ({ name: "n", kind, mode: 420, uid: 0, gid: 0, size, mod_time: 1, object });
const gone = (path: string, size = 1, kind = "file"): Step => ({ path, what: "deleted", now: entry(size, kind) });
const back = (path: string, size = 1): Step => ({ path, what: "added", then: entry(size) });
const edit = (path: string, was = 1, will = 2): Step => ({ path, what: "edited", now: entry(was), then: entry(will) });

function plan(p: Partial<Plan> = {}): Plan {
  return {
    bytes: 0, course: "restore", deletes: [], digest: "3f9ac21e77", effects: [], files: 10, holders: [], keeps: [], merges: [], obstacles: [],
    safety: { number: 18, there: false }, times: [], workspace: "ws_1", writes: [],
    target: { bytes: 1, changed: { added: 0, deleted: 0, edited: 0 }, content: "c", coverage: { grade: "complete" }, dirs: 1, files: 1, id: "cp_14", new_bytes: 0, number: 14, parent: "cp_13", time: "2026-11-03T10:27:00Z", tree: "t", trigger: "manual", workspace: "ws_1" },
    ...p,
  };
}

const leaf = (path: string, bytes = 10) => ({ path, bytes });
const many = (dir: string, n: number) => Array.from({ length: n }, (_, i) => leaf(`${dir}/f${i}.js`));

test("few paths are never folded", () => {
  const rows = rowsOf(many("src/deep", flatMost), new Set());
  assert.equal(rows.length, flatMost);
  assert.ok(rows.every((r) => r.leaf && r.count === 0 && r.depth === 0));
  assert.deepEqual([rows[0]!.dir, rows[0]!.name], ["src/deep/", "f0.js"]);
});

test("many paths fold by directory, the fullest first, single files stay paths", () => {
  const rows = rowsOf([leaf(".nvmrc", 3), ...many("test/redis", 3), ...many("node_modules/ioredis", 20), leaf("config/redis.json", 7)], new Set());
  assert.deepEqual(
    rows.map((r) => [r.dir, r.name, r.count, r.bytes]),
    [["node_modules/", "ioredis/", 20, 200], ["test/", "redis/", 3, 30], ["", ".nvmrc", 0, 3], ["config/", "redis.json", 0, 7]],
  );
});

test("an opened directory shows what is in it, and nothing is lost", () => {
  const leaves = [...many("a/x", 5), ...many("a/y", 6), leaf("a/z.txt"), leaf("b.txt")];
  const folded = rowsOf(leaves, new Set());
  assert.deepEqual(folded.map((r) => r.key), ["a/", "=b.txt"]);
  const open = rowsOf(leaves, new Set(["a/"]));
  assert.deepEqual(open.map((r) => `${r.depth}${r.name}`), ["0a/", "1y/", "1x/", "1z.txt", "0b.txt"]);
  const all = rowsOf(leaves, new Set(dirsOf(leaves)));
  assert.equal(all.filter((r) => r.leaf).length, leaves.length);
  assert.deepEqual(new Set(dirsOf(leaves)), new Set(["a/", "a/x/", "a/y/"]));
});

test("five thousand paths keep their counts and bytes", () => {
  const leaves = Array.from({ length: 50 }, (_, d) => many(`p${d}/lib`, 100)).flat();
  const rows = rowsOf(leaves, new Set());
  assert.equal(rows.length, 50);
  assert.equal(rows.reduce((n, r) => n + r.count, 0), 5000);
  assert.equal(rows.reduce((n, r) => n + r.bytes, 0), 50_000);
});

test("names are counted, never dropped", () => {
  assert.equal(someNames([]), "");
  assert.equal(someNames(["a"]), "a");
  assert.equal(someNames(["a", "b"]), "a and b");
  assert.equal(someNames(["a", "b", "c", "d"]), "a, b, c and d");
  assert.equal(someNames(["a", "b", "c", "d", "e"]), "a, b, c and 2 more");
});

test("a digest is two groups of four", () => {
  assert.equal(digestText("3f9ac21e77aa"), "3f9a-c21e");
  assert.equal(digestText("abc"), "abc");
});

test("directories count only where there is nothing else", () => {
  assert.equal(countOf([gone("web", 0, "dir"), gone("web/login.html")]), 1);
  assert.equal(countOf([gone("web", 0, "dir")]), 1);
});

test("the sums of a plan, with merges among the changes", () => {
  const t = tallyOf(plan({ deletes: [gone("a", 5), gone("b", 7)], writes: [back("c", 3), edit("d")], merges: [edit("m")], keeps: [{ path: "k", why: "conflict", side: "k.theirs" }, { path: "l", why: "volatile" }] }));
  assert.deepEqual(t, { deleted: 2, brought: 1, changed: 2, merged: 1, beside: 1, kept: 2, deletedBytes: 12, broughtBytes: 3 });
});

test("the question has the numbers, deletions first", () => {
  assert.equal(question(plan({ deletes: [gone("a"), gone("b")], writes: [back("c"), edit("d")] })), "Delete 2, bring back 1 and change 1 file?");
  assert.equal(question(plan({ writes: [edit("d"), edit("e")] })), "Change 2 files?");
  assert.equal(question(plan({ course: "adopt", writes: [back("d"), back("e")] })), "Add 2 files?");
  assert.equal(question(plan({ keeps: [{ path: "k", why: "conflict", side: "s" }] })), "Write 1 new file beside yours?");
  assert.match(question(plan({ course: "finish" })), /^Finish restoring 14\?/);
});

test("the button repeats the deletions", () => {
  assert.equal(deedLabel(plan({ deletes: [gone("a")] })), "Restore 14 and delete 1 file");
  assert.equal(deedLabel(plan({ course: "undo", writes: [edit("a")] })), "Undo 14");
  assert.equal(goalOf(plan({ target: null })), "the edits since 17");
});

test("what was left is not told as done", () => {
  const p = plan({ deletes: [gone("a"), gone("b")], writes: [edit("c")] });
  const r = { failed: [{ path: "b", why: "changed meanwhile" }] } as RestoreResult;
  assert.equal(doneText(p, r), "Deleted 1, changed 1");
});

test("a plan without steps is idle, unless it ends what was interrupted", () => {
  assert.ok(idle(plan()));
  assert.ok(idle(plan({ keeps: [{ path: "k", why: "volatile" }] })));
  assert.ok(!idle(plan({ keeps: [{ path: "k", why: "conflict", side: "s" }] })));
  assert.ok(!idle(plan({ course: "unwind" })));
  assert.ok(!idle(plan({ writes: [edit("a")] })));
});

test("every class asks once, for all its paths, and lacks are counted", () => {
  const p = plan({ obstacles: [{ class: "changed", text: "a changed", paths: ["a"] }, { class: "held", text: "x", paths: [] }, { class: "changed", text: "b changed", paths: ["b"] }] });
  assert.deepEqual(classesOf(p).map((o) => [o.class, o.paths]), [["changed", ["a", "b"]], ["held", []]]);
  assert.equal(missing(p, new Set()), 2);
  assert.equal(missing(p, new Set(["held"])), 1);
  assert.equal(missing(p, new Set(["held", "changed", "space"])), 0);
  assert.deepEqual([missingText(0), missingText(1), missingText(2)], ["", "1 more to confirm", "2 more to confirm"]);
  assert.equal(p.obstacles[0]!.paths!.length, 1, "the plan itself is not changed");
});

test("consent says what it means, and hostile names cannot lie", () => {
  const p = plan({ deletes: [gone("a")] });
  assert.equal(deed(p, { class: "changed", text: "", paths: ["web/\u202egolb"] }), "Overwrite your edit of web/\\u202egolb");
  assert.equal(deed(p, { class: "mass-delete", text: "", paths: [] }), "Delete 1 file");
  assert.equal(deed(p, { class: "new-one", text: "the moon is full." }), "Go on although the moon is full");
  assert.equal(obstacleText(p, { class: "changed", text: "web/a changed since", paths: ["web/a"] }), "web/a changed since. What is there now will be in checkpoint 18.");
  assert.equal(obstacleText(p, { class: "space", text: "too little room" }), "Too little room.");
});

test("keeps and merges say why", () => {
  assert.equal(keepText({ path: "a", why: "conflict", side: "a.other" }), "stays yours; the other is put at a.other");
  assert.equal(keepText({ path: ".git", why: "git", detail: "HEAD stays" }), "a repository of its own, HEAD stays");
  assert.equal(keepText({ path: "a", why: "brand-new" }), "brand-new");
  assert.equal(mergeText({ base: "", digest: "", first: 7, theirs: 1, want: "", yours: 1 }, "undo"), "its place goes, your lines at 7 stay");
  assert.equal(mergeText({ base: "", digest: "", first: 7, theirs: 3, want: "", yours: 2 }, "restore"), "its 3 places come, your lines in 2 places from 7 on stay");
});

test("moved paths are those of which two plans do not say the same", () => {
  const before = plan({ deletes: [gone("a"), gone("b")], writes: [edit("c", 1, 2)] });
  const after = plan({ deletes: [gone("a")], writes: [edit("c", 9, 2), back("d")] });
  const m = movedBetween(before, after);
  assert.deepEqual([...m.marked].sort(), ["c", "d"]);
  assert.deepEqual(m.gone, ["b"]);
});

test("a word counts for the new plan only if the same is asked", () => {
  const ask = (paths: string[]) => plan({ obstacles: [{ class: "changed", text: "t", paths }, { class: "held", text: "h", paths: ["x"] }] });
  assert.deepEqual([...stillGiven(ask(["a"]), ask(["a", "b"]), new Set(["changed", "held"]))], ["held"]);
  assert.deepEqual([...stillGiven(ask(["a"]), ask(["a"]), new Set(["changed"]))], ["changed"]);
  const moved = { ...ask(["a"]), writes: [edit("a", 5, 6)] };
  assert.deepEqual([...stillGiven({ ...ask(["a"]), writes: [edit("a", 1, 6)] }, moved, new Set(["changed", "held"]))], ["held"], "the path moved again");
});

test("going back reads a story the other way round", () => {
  const story = { groups: [{ items: [{ path: "a", plus: 3, minus: 1, bytes: 0, files: 1, what: "edited" }, { path: "dir/", plus: 9, bytes: 0, files: 2, what: "edited" }] }], facts: [{ kind: "env", what: "added", name: "KEY", path: ".env" }, { kind: "package", what: "added", group: "npm", name: "ioredis", path: "node_modules/ioredis/package.json", direct: true }, { kind: "table", what: "deleted", name: "users", path: "db" }] } as never;
  const t = toldBy(story, true);
  assert.deepEqual([...t.lines], [["a", { plus: 1, minus: 3 }]]);
  assert.equal(fileNote(t, ".env"), "−KEY, values hidden");
  assert.equal(fileNote(t, "db"), "table users comes back");
  assert.equal(packageNote(t, "node_modules/"), "1 npm package: ioredis");
  assert.equal(packageNote(t, "src/"), "");
  assert.deepEqual([...toldBy(story, false).lines], [["a", { plus: 3, minus: 1 }]]);
  assert.deepEqual(storyAsked(plan()), { ws: "ws_1", from: "14", to: "", against: true });
  assert.equal(storyAsked(plan({ course: "finish" })), undefined);
});

test("events come in pieces of any size", () => {
  const text = ':\n\nevent: progress\ndata: {"files":1}\n\nevent: result\ndata: {"x":\ndata: 2}\n\n';
  for (const size of [1, 7, text.length]) {
    const b = new Blocks();
    const got = [];
    for (let i = 0; i < text.length; i += size) got.push(...b.more(text.slice(i, i + size)));
    assert.deepEqual(got, [{ event: "progress", data: '{"files":1}' }, { event: "result", data: '{"x":\n2}' }]);
  }
});

test("X4: a plan that writes only side files says so, and so does its button", () => {
  const p = plan({ course: "adopt", keeps: [{ path: "a.ts", why: "conflict", side: "a.ts.note" }, { path: "b.ts", why: "conflict", side: "b.ts.note" }, { path: "shop.db", why: "volatile", detail: "always moving" }] });
  assert.ok(onlyBeside(p) && !idle(p));
  assert.equal(goOnLabel(p), "Continue: put 2 beside");
  assert.equal(question(p), "Write 2 new files beside yours?");
  assert.match(besideText(p), /^No file that you have is changed: 2 files were changed on both sides\. The fork's versions are put beside yours as 2 new files\.$/);
  assert.equal(keepText(p.keeps[2]!), "always moving");
  const q = plan({ deletes: [gone("a")], writes: [back("b"), edit("c")], merges: [edit("m")] });
  assert.ok(!onlyBeside(q));
  assert.equal(goOnLabel(q), "Continue: delete 1, bring back 1, change 1, merge 1");
});

test("U11: a merge without other edits says that the rest stays", () => {
  assert.equal(mergeText({ base: "a", want: "b", digest: "d", theirs: 1, yours: 0, first: 0 }, "undo"), "its place goes, the rest of the file stays");
});
