import assert from "node:assert/strict";
import { test } from "node:test";
import type { Story } from "../../api/types.ts";
import { isOf } from "./filter.ts";
import { line, row } from "./sample.ts";
import { familyOf, marks, nodeOf, pieces, storyLine } from "./story.ts";
import { themesOf, trail, trailName } from "./themes.ts";

const counts = { added: 0, deleted: 0, edited: 1, renamed: 0, moded: 0, retyped: 0, timed: 0, plus: 0, minus: 0 };
const gist = { v: 1, lead: "", points: [], counts };
const text = (parts: { text: string }[][]) => parts.map((p) => p.map((x) => x.text).join("")).join(" | ");

test("a point is set by what it names", () => {
  assert.deepEqual(pieces({ theme: "deleted", text: "deleted 40 in dist/" }), [{ text: "deleted 40", look: "bad" }, { text: " in ", look: undefined }, { text: "dist/", look: "path" }]);
  assert.deepEqual(pieces({ theme: "source", text: "src/a.ts", plus: 1204, minus: 4 }).slice(1), [{ text: " +1,204", look: "plus" }, { text: " −4", look: "minus" }]);
  assert.deepEqual(pieces({ theme: "settings", text: ".env +KEY" }), [{ text: ".env", look: "path" }, { text: " +KEY", look: undefined }]);
  assert.equal(pieces({ theme: "source", text: "a\u202eb.ts" })[0]!.text, "a\\u202eb.ts");
});

test("deletions come first, a reason that names a point stands for it, the rest is counted", () => {
  const points = [{ theme: "settings", text: ".env +KEY" }, { theme: "deleted", text: "deleted docs/faq.md" }, { theme: "source", text: "src/a.ts" }];
  const told = (why: string) => text(storyLine(row(5, { files: 3, points, flags: [{ word: "mismatch", tone: "mismatch", why }] })));
  assert.equal(told("says docs, changed .env +KEY"), "deleted docs/faq.md | says docs, changed .env +KEY | src/a.ts");
  assert.equal(told("not asked for: deleted docs/faq.md"), "deleted docs/faq.md | not asked for | .env +KEY | src/a.ts");
  const many = Array.from({ length: 7 }, (_, i) => ({ theme: "source", text: `f${i}.ts` }));
  assert.equal(text(storyLine(row(5, { files: 7, points: many }))), "f0.ts | f1.ts | f2.ts | 4 more");
});

test("that it is not uploaded is no change, and nothing to look at", () => {
  const flag = { word: "not uploaded", tone: "note", why: "it is on this machine only" };
  const waits = row(5, { files: 0, points: [{ theme: "source", text: "moved" }], flags: [flag] });
  assert.equal(text(storyLine(waits)), "moved");
  assert.equal(familyOf(flag), "unknown");
  assert.equal(isOf("flagged", waits), false);
  assert.equal(isOf("flagged", { ...waits, flags: [{ ...flag, word: "late" }] }), true);
});

test("claims are never green and never beside what was run", () => {
  const claim = { name: "test", verdict: "passed", claim: true };
  assert.equal(nodeOf(row(2, { answers: [claim] })), "plain");
  assert.deepEqual(marks(row(2, { answers: [claim] }), 2).shown, [claim]);
  const run = { name: "lint", verdict: "failed" };
  assert.deepEqual(marks(row(2, { answers: [run, { name: "test", verdict: "passed" }, claim] }), 1), { shown: [run], more: 1 });
  assert.equal(nodeOf(row(2, { good: true, answers: [{ name: "test", verdict: "passed", as: 1 }] })), "inherited");
  assert.equal(nodeOf(row(2, {}, { trigger: "safety" })), "safety");
});

test("themes stand in the order of the facts, and tell names, never values", () => {
  const group = (theme: string, path: string) => ({ theme, bytes: -20, files: 1, minus: 2, plus: 1, items: [{ path, what: "edited", bytes: -20, files: 1, plus: 1, minus: 2 }] });
  const facts = [{ kind: "env", what: "added", name: "KEY", path: ".env" }, { kind: "secret", what: "added", name: "stripe key", path: ".env" }, { kind: "package", what: "added", group: "npm", name: "express", after: "4.0", path: "x" }];
  const s = { counts, facts, flags: [], unread: [], gist, groups: [group("source", "a.ts"), group("settings", ".env"), group("packages", "node_modules/"), group("deleted", "old.ts")] } as Story;
  const t = themesOf(s);
  assert.deepEqual(t.map((x) => x.theme), ["deleted", "packages", "settings", "source"]);
  assert.deepEqual(t.map((x) => text(x.lines.map((l) => l.pieces))), ["old.ts 20 B", "npm +express 4.0", ".env +KEY", "a.ts"]);
  assert.deepEqual(t.map((x) => !!x.lines[0]!.secret), [false, false, true, false]);
});

test("a theme that is not known here comes last, under its name, and no file of a theme is left out", () => {
  const item = (path: string) => ({ path, what: "edited", bytes: 1, files: 1 });
  const group = (theme: string, ...paths: string[]) => ({ theme, bytes: 1, files: paths.length, minus: 0, plus: 0, items: paths.map(item) });
  const facts = [{ kind: "env", what: "added", name: "KEY", path: ".env" }];
  const s = { counts, facts, flags: [], unread: [], gist, groups: [group("dre\u202eams", "d"), group("settings", ".env", "app.toml")] } as Story;
  assert.deepEqual(themesOf(s).map((x) => `${x.label}: ${text(x.lines.map((l) => l.pieces))}`), ["Settings: .env +KEY | app.toml", "dre\\u202eams: d"]);
});

test("a trail: where it was run, and the chosen one also when it only inherits", () => {
  const answer: Record<number, object> = { 1: { verdict: "passed" }, 2: { verdict: "passed", as: 1 }, 3: { verdict: "failed", as: 4 }, 4: { verdict: "failed" } };
  const rows = line(5, (n) => row(n, { answers: answer[n] ? [{ name: "test", verdict: "", ...answer[n] }] : undefined }));
  assert.equal(trailName(rows[2]!), "test");
  assert.deepEqual(trail(rows, 2, "test").map((s) => `${s.verdict} ${s.number}`), ["passed 1", "failed 3", "failed 4"]);
});
