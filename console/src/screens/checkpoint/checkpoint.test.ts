/// <reference types="node" />
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Call, Change, Checkpoint, Fact, Story } from "../../api/types.ts";
import { folded, madeIt, saidOf, turnLines, type CallLine } from "./said.ts";
import { firstPath, pathsOf, storyRows } from "./story.ts";
import { above, allRows, changedRows } from "./tree.ts";
import { changedWords, circumstances, coverageWords, environmentWords, outputGist, trailOf } from "./words.ts";

const fact = (f: Partial<Fact>): Fact => ({ kind: "env", what: "added", name: "KEY", path: ".env", ...f });
const item = (path: string, what = "edited", more: object = {}) => ({ path, what, files: 1, bytes: 10, ...more });
const group = (theme: string, items: ReturnType<typeof item>[]) => ({ theme, files: items.length, bytes: 0, plus: 0, minus: 0, items });
const story = (groups: ReturnType<typeof group>[], facts: Fact[] = []): Story => ({ groups, facts, flags: [], unread: [], counts: {} as never, gist: {} as never });

const cp = (number: number, more: Partial<Checkpoint> = {}): Checkpoint => ({ id: `cp_${number}`, number, trigger: "turn", time: "2026-11-03T10:00:00Z", changed: { added: 0, deleted: 0, edited: 0 }, coverage: { grade: "complete" }, ...more }) as Checkpoint;

test("a story lists its themes in order, and folds what programs make", () => {
  const s = story([group("deleted", [item("dist/", "deleted", { files: 40, bytes: -20_000 })]), group("source", [item("src/a.ts")]), group("build", [item("out/x.js", "added")])]);
  const rows = storyRows(s, new Set());
  assert.deepEqual(rows.map((r) => (r.kind === "head" ? r.word : r.kind === "file" ? r.path : r.kind)), ["Deleted", "dist/", "Source", "src/a.ts", "Build output"]);
  assert.deepEqual(pathsOf(storyRows(s, new Set(["build", "source"]))), ["dist/", "out/x.js"]);
  assert.equal(rows[1]!.kind === "file" && rows[1]!.note, "40 files, 20 kB");
});

test("packages that were asked for are named, what they need is one row", () => {
  const p = (name: string, direct = false) => fact({ kind: "package", group: "npm", name, after: "1.0.0", path: "package-lock.json", direct });
  const rows = storyRows(story([group("packages", [])], [p("a", true), p("b"), p("c")]), new Set());
  assert.deepEqual(rows.map((r) => (r.kind === "head" ? r.count : r.kind === "fact" ? r.name : r.kind === "fold" ? r.text : "")), ["+3", "a", "2 they need"]);
});

test("what facts say of a file stands beside it, and a likely secret is flagged", () => {
  const rows = storyRows(story([group("settings", [item(".env")])], [fact({ name: "A" }), fact({ name: "B", what: "deleted" }), fact({ kind: "secret", name: "stripe key" })]), new Set());
  const file = rows.find((r) => r.kind === "file");
  assert.ok(file?.kind === "file" && file.secret && file.note === "−B, 1 more");
});

test("X2: a checkpoint opens on its worst fact", () => {
  const source = group("source", [item("src/new.ts", "added"), item("package.json"), item("src/a.ts")]);
  const deleted = group("deleted", [item("dist/", "deleted", { note: "build output" }), item("public/photos/", "deleted", { files: 25 })]);
  const database = group("database", [item("data/other.db"), item("data/shop.db")]);
  const lost = fact({ kind: "rows", what: "edited", name: "orders", path: "data/shop.db", before: "240", after: "16" });
  const grew = fact({ kind: "rows", what: "edited", name: "users", path: "data/other.db", before: "20", after: "500" });
  assert.equal(firstPath(story([deleted, source, database], [grew, lost])), "data/shop.db");
  assert.equal(firstPath(story([deleted, source, database], [grew])), "public/photos/");
  assert.equal(firstPath(story([group("settings", [item("config.json")]), source], [fact({ kind: "secret", name: "stripe key", path: "src/a.ts" })])), "src/a.ts");
  assert.equal(firstPath(story([group("settings", [item(".env")]), source])), ".env");
  assert.equal(firstPath(story([source, group("deleted", [item("dist/", "deleted", { note: "build output" })])])), "src/a.ts");
  assert.equal(firstPath(story([group("deleted", [item("dist/", "deleted", { note: "build output" })])])), "dist/");
  assert.equal(firstPath(story([])), "");
  const env = environmentWords([grew, lost]);
  assert.deepEqual([env.first, env.lost], ["shop.db orders 240 → 16 rows", "shop.db orders 240 → 16 rows"]);
  assert.equal(environmentWords([grew]).lost, "");
});

const change = (path: string, what = "edited", kind = "file"): Change => ({ path, what, after: { kind } as never });

test("a tree joins directories with one way in, and counts what is inside", () => {
  const rows = changedRows([change("a/b/c.ts"), change("a/b/d.ts"), change("z.ts"), change("a", "timed", "dir")], new Set());
  assert.deepEqual(rows.map((r) => [r.name, r.depth, r.inside]), [["a/b", 0, 2], ["c.ts", 1, 0], ["d.ts", 1, 0], ["z.ts", 0, 0]]);
  assert.equal(changedRows([change("a/b/c.ts")], new Set(["a/b/"])).length, 1);
  const many = Array.from({ length: 500 }, (_, i) => change(`gen/f${i}.ts`));
  assert.equal(changedRows(many, new Set()).length, 1);
  assert.equal(changedRows(many, new Set(["gen/"])).length, 501);
});

test("all files of a checkpoint: what was deleted stands where it was", () => {
  const entry = (name: string, kind = "file") => ({ name, kind }) as never;
  const rows = allRows(new Map([["", [entry("src", "dir"), entry("a.md")]], ["src/", [entry("x.ts")]]]), new Set(["src/"]), [change("src/x.ts"), { path: "src/y.ts", what: "deleted", before: { kind: "file" } as never }]);
  assert.deepEqual(rows.map((r) => [r.path, r.what, r.inside]), [["src/", "", 2], ["src/x.ts", "edited", 0], ["src/y.ts", "deleted", 0], ["a.md", "", 0]]);
  assert.equal(allRows(new Map(), new Set(), [])[0]!.waiting, true);
  assert.deepEqual(above("a/b/c.ts"), ["a/", "a/b/"]);
});

const call = (more: Partial<Call>): Call => ({ tool: "Bash", kind: "shell", ...more });
const around = (calls: Call[], near: Checkpoint[] = []) => ({ checkpoint: cp(5, { turn: { agent: "claude-code", session: "s", id: "t", prompt: "do it", words: "done" }, effects: [{ id: "e", text: "git push", time: "", call: "c2" }] }), near, calls, root: "/home/me/shop" });

test("a call says what it did, what was kept before it, and what can't be undone", () => {
  const risk = cp(4, { trigger: "risk", turn: { agent: "claude-code", session: "s", id: "t", command: "rm -rf dist", risk: "deletes dist" } });
  const said = saidOf(around([call({ command: "rm -rf dist" }), call({ id: "c2", command: "git push" }), call({ tool: "Edit", kind: "write", input: { file_path: "/home/me/shop/src/a.ts" } })], [risk]));
  const calls = said.filter((s): s is CallLine => s.kind === "call");
  assert.deepEqual(said.map((s) => s.kind), ["you", "call", "call", "call", "agent"]);
  assert.deepEqual([calls[0]!.kept, calls[0]!.risk, calls[1]!.effect, calls[2]!.text], [4, "deletes dist", "git push", "edit src/a.ts"]);
  assert.ok(madeIt(calls[2]!, "src/a.ts") && madeIt(calls[0]!, "dist/") && !madeIt(calls[0]!, "src/a.ts") && !madeIt(calls[0]!, ""));
});

test("words and calls of the turn are put together in order", () => {
  const lines = [
    { who: "you", text: "before" },
    { who: "agent", text: "old" },
    { who: "you", text: "do it" },
    { who: "agent", text: "I begin" },
    { who: "agent", tool: "Bash", text: "ls" },
    { who: "tool", tool: "Bash", text: "a\nb" },
    { who: "agent", tool: "Other", text: '{"x": 1}' },
    { who: "agent", text: "done" },
  ];
  assert.equal(turnLines(lines, "do it")[0]!.text, "do it");
  const said = saidOf(around([call({ command: "ls -la" }), call({ command: "late" })]), lines);
  assert.deepEqual(said.map((s) => s.text), ["do it", "I begin", "ls -la", "Other", "late", "done"]);
});

test("quiet calls fold, and those that must be seen do not", () => {
  const calls = Array.from({ length: 12 }, (_, i) => call({ command: i === 9 ? "touch src/a.ts" : `echo ${i}` }));
  const said = saidOf(around(calls));
  const keep = (c: CallLine) => madeIt(c, "src/a.ts");
  const cut = folded(said, new Set(), keep);
  assert.deepEqual(cut.filter((x) => x.kind === "fold").map((x) => [x.at, x.kind === "fold" && x.count]), [[5, 5]]);
  assert.ok(cut.some((x) => x.kind === "said" && x.at === 10));
  assert.equal(folded(said, new Set([5]), keep).length, said.length);
});

test("the facts of a checkpoint in words", () => {
  assert.deepEqual(environmentWords([]).first, "as before");
  const env = environmentWords([fact({ kind: "package", group: "npm", name: "a" }), fact({ name: "KEY" }), fact({ kind: "secret" })]);
  assert.deepEqual([env.first, env.second, env.secret], ["npm +a", ".env +KEY", true]);
  assert.equal(outputGist({ output: "x\n\n14 failed, 198 passed\n" } as never), "14 failed, 198 passed");
  assert.equal(outputGist({ score: "14 of 212 failed", output: "Done in 3 s\n" } as never), "14 of 212 failed");
  const answers = (verdict: string, claim = false) => ({ answers: [{ name: "test", verdict, claim }] });
  const t = trailOf("test", 5, [cp(3), cp(4), cp(6), cp(7)], { cp_3: answers("passed"), cp_4: answers("passed", true), cp_6: answers("failed"), cp_7: answers("passed") });
  assert.deepEqual(t, { before: 3, after: 7 });
  assert.deepEqual(circumstances(cp(1, { trigger: "init" })), ["the first capture"]);
});

test("kinds that a newer server tells of are named, and nothing in a name is more than text", () => {
  const counts = { added: 1, deleted: 0, edited: 0, renamed: 0, moded: 0, retyped: 0, timed: 4, plus: 9, minus: 9, "li\u202enked": 2 };
  assert.deepEqual(changedWords(counts), { first: "3 files", deleted: "", rest: "1 added, 2 li\\u202enked" });
  assert.equal(environmentWords([fact({ kind: "contai\u202ener", name: "web", path: "x" })]).first, "contai\\u202ener +web");
  assert.equal(environmentWords([fact({ kind: "unit", name: "shop.service", path: "x" })]).first, "unit +shop.service");
  const rows = storyRows(story([group("dre\u202eams", [item("a")])]), new Set());
  assert.deepEqual(rows.map((r) => (r.kind === "head" ? r.word : r.kind === "file" ? r.path : "")), ["dre\\u202eams", "a"]);
});

test("what was saved, and whether it is uploaded", () => {
  const c = cp(8, { files: 3, new_bytes: 12 });
  assert.deepEqual(coverageWords(c), { first: "complete", second: "3 files, 12 B new, saved" });
  assert.equal(coverageWords(c, { remote: "bucket", through: 8 }).first, "complete, uploaded to bucket");
  assert.equal(coverageWords(c, { remote: "bucket", through: 7, failing: true }).first, "complete, not uploaded yet");
});
