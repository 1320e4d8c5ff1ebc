import assert from "node:assert/strict";
import { test } from "node:test";
import type { Finding, Point, Story } from "../../api/types.ts";
import { idOf, checkpoint } from "./sample.ts";
import { filesOf, flagsOf, marks, nodeOf, pieces, storyLine } from "./story.ts";
import { workOf } from "./work.ts";
import { themesOf, trail, trailName } from "./themes.ts";

const counts = { added: 0, deleted: 0, edited: 1, renamed: 0, moded: 0, retyped: 0, timed: 0, plus: 0, minus: 0 };
const told = (...points: Point[]): Finding => ({ gist: { v: 1, lead: "", points, counts }, changed: 1 });
const text = (parts: { text: string }[][]) => parts.map((p) => p.map((x) => x.text).join("")).join(" | ");
const edited = { changed: { added: 0, deleted: 0, edited: 1 } };

test("a point is set by what it names", () => {
  assert.deepEqual(pieces({ theme: "deleted", text: "deleted 40 in dist/" }), [{ text: "deleted 40", look: "bad" }, { text: " in ", look: undefined }, { text: "dist/", look: "path" }]);
  assert.deepEqual(pieces({ theme: "source", text: "src/a.ts", plus: 1204, minus: 4 }).slice(1), [{ text: " +1,204", look: "plus" }, { text: " −4", look: "minus" }]);
  assert.deepEqual(pieces({ theme: "settings", text: ".env +KEY" }), [{ text: ".env", look: "path" }, { text: " +KEY", look: undefined }]);
  assert.equal(pieces({ theme: "source", text: "a\u202eb.ts" })[0]!.text, "a\\u202eb.ts");
});

test("deletions come first, a reason that names a point stands for it, the rest is counted", () => {
  const c = checkpoint(5, { ...edited, trigger: "turn" });
  const f = told({ theme: "settings", text: ".env +KEY" }, { theme: "deleted", text: "deleted docs/faq.md" }, { theme: "source", text: "src/a.ts" });
  f.gist!.flags = [{ kind: "mismatch", why: "says docs, changed .env +KEY" }];
  assert.equal(text(storyLine(c, f, flagsOf(c, f))), "deleted docs/faq.md | says docs, changed .env +KEY | src/a.ts");
  f.gist!.flags = [{ kind: "mismatch", why: "not asked for: deleted docs/faq.md" }];
  assert.equal(text(storyLine(c, f, flagsOf(c, f))), "deleted docs/faq.md | not asked for | .env +KEY | src/a.ts");
  const many = told(...Array.from({ length: 7 }, (_, i) => ({ theme: "source", text: `f${i}.ts` })));
  assert.equal(text(storyLine(c, many, [])), "f0.ts | f1.ts | f2.ts | 4 more");
});

test("without a gist the counts speak", () => {
  const line = (more: Parameters<typeof checkpoint>[1]) => text(storyLine(checkpoint(5, more), undefined, []));
  assert.equal(line({ changed: { added: 2, deleted: 1, edited: 0 } }), "deleted 1 | added 2");
  assert.equal(line({ trigger: "turn", turn: { agent: "a", session: "s" } }), "talk only, nothing changed");
  const back = { course: "restore", target: idOf(2), before: idOf(4), written: 3, deleted: 1 };
  assert.equal(line({ trigger: "return", parent: idOf(2), return: back, changed: { added: 2, deleted: 1, edited: 1 } }), "deleted 1 | brought back 2 | changed 1");
  assert.equal(filesOf(checkpoint(1)), 7);
  assert.equal(filesOf(checkpoint(5, { changed: { added: 2, deleted: 1, edited: 0 } }), { changed: 2 }), 2); // the server counts
  assert.equal(filesOf(checkpoint(5, { changed: { added: 2, deleted: 1, edited: 0 } }), { good: true }), 0);
});

test("a turn that ended with nothing more says where its work is", () => {
  const turn = { agent: "a", session: "s", id: "t1" };
  const line = [checkpoint(2, { ...edited, trigger: "turn", turn: { ...turn, id: "t0" } }), checkpoint(3, { ...edited, trigger: "task", turn }), checkpoint(4, { trigger: "call", turn, changed: { added: 0, deleted: 0, edited: 0 } }), checkpoint(5, { ...edited, trigger: "task", turn })];
  const none = { changed: { added: 0, deleted: 0, edited: 0 } };
  const at = (id: string) => line.find((c) => c.id === id);
  const end = checkpoint(6, { ...none, trigger: "turn", turn });
  assert.equal(workOf(end, at), "3–5");
  assert.equal(text(storyLine(end, undefined, [], workOf(end, at))), "its work is in 3–5");
  assert.equal(workOf(checkpoint(6, { ...none, trigger: "turn", turn: { ...turn, id: "t2" } }), at), "");
  assert.equal(workOf(checkpoint(6, { ...edited, trigger: "turn", turn }), at), "");
  assert.equal(workOf(checkpoint(4, { ...none, trigger: "turn", turn }), at), "3");
});

test("claims are never green and never beside what was run", () => {
  const claim = { name: "test", verdict: "passed", claim: true };
  assert.equal(nodeOf(checkpoint(2), { answers: [claim] }), "plain");
  assert.deepEqual(marks({ answers: [claim] }, 2).shown, [claim]);
  const run = { name: "lint", verdict: "failed" };
  assert.deepEqual(marks({ answers: [claim, { name: "test", verdict: "passed" }, run] }, 1), { shown: [run], more: 1 });
  assert.equal(nodeOf(checkpoint(2), { good: true, answers: [{ name: "test", verdict: "passed", as: 1 }] }), "inherited");
  assert.equal(nodeOf(checkpoint(2, { trigger: "safety" })), "safety");
});

test("themes stand in the order of the facts, and tell names, never values", () => {
  const group = (theme: string, path: string) => ({ theme, bytes: -20, files: 1, minus: 2, plus: 1, items: [{ path, what: "edited", bytes: -20, files: 1, plus: 1, minus: 2 }] });
  const facts = [{ kind: "env", what: "added", name: "KEY", path: ".env" }, { kind: "secret", what: "added", name: "stripe key", path: ".env" }, { kind: "package", what: "added", group: "npm", name: "express", after: "4.0", path: "x" }];
  const s = { counts, facts, flags: [], unread: [], gist: told().gist!, groups: [group("source", "a.ts"), group("settings", ".env"), group("packages", "node_modules/"), group("deleted", "old.ts")] } as Story;
  const t = themesOf(s);
  assert.deepEqual(t.map((x) => x.theme), ["deleted", "packages", "settings", "source"]);
  assert.deepEqual(t.map((x) => text(x.lines.map((l) => l.pieces))), ["old.ts 20 B", "npm +express 4.0", ".env +KEY", "a.ts"]);
  assert.deepEqual(t.map((x) => !!x.lines[0]!.secret), [false, false, true, false]);
});

test("a theme that is not known here comes last, under its name, and no file of a theme is left out", () => {
  const item = (path: string) => ({ path, what: "edited", bytes: 1, files: 1 });
  const group = (theme: string, ...paths: string[]) => ({ theme, bytes: 1, files: paths.length, minus: 0, plus: 0, items: paths.map(item) });
  const facts = [{ kind: "env", what: "added", name: "KEY", path: ".env" }];
  const s = { counts, facts, flags: [], unread: [], gist: told().gist!, groups: [group("dre\u202eams", "d"), group("settings", ".env", "app.toml")] } as Story;
  assert.deepEqual(themesOf(s).map((x) => `${x.label}: ${text(x.lines.map((l) => l.pieces))}`), ["Settings: .env +KEY | app.toml", "dre\\u202eams: d"]);
});

test("a trail: where it was run, and the chosen one also when it only inherits", () => {
  const cs = [5, 4, 3, 2, 1].map((n) => checkpoint(n));
  const f = new Map<string, Finding>([
    [idOf(1), { answers: [{ name: "test", verdict: "passed" }] }],
    [idOf(2), { answers: [{ name: "test", verdict: "passed", as: 1 }] }],
    [idOf(3), { answers: [{ name: "test", verdict: "failed", as: 4 }] }],
    [idOf(4), { answers: [{ name: "test", verdict: "failed" }] }],
  ]);
  assert.equal(trailName(f.get(idOf(3))), "test");
  assert.deepEqual(trail(cs, f, 2, "test").map((s) => `${s.verdict} ${s.number}`), ["passed 1", "failed 3", "failed 4"]);
});
