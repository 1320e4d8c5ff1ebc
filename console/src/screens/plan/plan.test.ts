import assert from "node:assert/strict";
import { test } from "node:test";
import type { Entry, Plan, PlanRow, PlanSection, PlanView, Step } from "../../api/types.ts";
import { Blocks } from "./apply.ts";
import { movedBetween, stillGiven } from "./moved.ts";
import { dirsOf, doneText, linesOf, noteOf, rowsOf, safetyText } from "./rows.ts";

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

const row = (path: string, more: Partial<PlanRow> = {}): PlanRow => ({ path, count: 1, bytes: 1, depth: 0, below: 0, ...more });
const section = (rows: PlanRow[], more: Partial<PlanSection> = {}): PlanSection => ({ kind: "delete", title: "Delete", done: "deleted", about: "", count: rows.length, paths: 9, rows, ...more });

test("a directory shows its rows where it is open, and few paths are never folded", () => {
  const s = section([row("a/", { below: 3, count: 2 }), row("a/x/", { below: 1, depth: 1 }), row("a/x/1", { depth: 2 }), row("a/b", { depth: 1 }), row("c")]);
  const seen = (s: PlanSection, ...open: string[]) => rowsOf(s, new Set(open)).map((r) => `${r.depth}${r.path}`);
  assert.deepEqual(seen(s), ["0a/", "0c"]);
  assert.deepEqual(seen(s, "a/"), ["0a/", "1a/x/", "1a/b", "0c"]);
  assert.deepEqual(seen(s, ...dirsOf(s)), ["0a/", "1a/x/", "2a/x/1", "1a/b", "0c"]);
  assert.deepEqual(seen({ ...s, paths: 8 }), ["0a/x/1", "0a/b", "0c"]);
  assert.deepEqual(rowsOf(s, new Set(["a/"])).map((r) => noteOf(s, r)), ["x/ and b", "1", "", ""]);
  assert.equal(noteOf(s, { ...row(".git/", { note: "a repository of its own", detail: "main at 1" }), at: 0 }), "a repository of its own, main at 1");
});

test("what was left is not told as done", () => {
  const v = { counts: { beside: 1, kept: 0 }, sections: [section([row("a"), row("b")]), section([row("c")], { kind: "conflict", done: "put beside" })] } as unknown as PlanView;
  assert.equal(doneText(v, [{ path: "b", why: "" }]), "Deleted 1, put beside 1");
  assert.equal(safetyText({ safety: { text: "Saved as 18", course: "redo", brings: "brings it back" } } as PlanView), "Saved as 18; redo brings it back.");
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

test("going back reads the lines of a story the other way round", () => {
  const story = { groups: [{ items: [{ path: "a", plus: 3, minus: 1 }, { path: "dir/", plus: 9 }] }] } as never;
  assert.deepEqual([...linesOf(story, true)], [["a", { plus: 1, minus: 3 }]]);
  assert.deepEqual([...linesOf(story, false)], [["a", { plus: 3, minus: 1 }]]);
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
