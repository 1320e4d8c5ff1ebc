/// <reference types="node" />
import assert from "node:assert/strict";
import { test } from "node:test";
import { languageOf, languages } from "./languages.ts";
import { pieces, spansOf, statesOf } from "./tokens.ts";

const told = (line: string, language: string, open = 0) => spansOf(line, open, language).map((s) => `${s.hue}:${line.slice(s.from, s.to)}`);

test("code is coloured by what it is", () => {
  assert.deepEqual(told('const a = f("x\\"y", 12); // end', "js"), ["k:const", "f:f", 's:"x\\"y"', "n:12", "c:// end"]);
  assert.deepEqual(told("def go(x): # why", "py"), ["k:def", "f:go", "c:# why"]);
  assert.deepEqual(told('  "name": "shop", "n": 1', "json"), ['f:"name"', 's:"shop"', 'f:"n"', "n:1"]);
  assert.deepEqual(told("select id from users -- all", "sql"), ["k:select", "k:from", "c:-- all"]);
  assert.deepEqual(told("PORT=3000 # web", "sh"), ["f:PORT", "n:3000", "c:# web"]);
  assert.deepEqual(told("name: shop # x", "yaml"), ["f:name", "c:# x"]);
  assert.deepEqual(told("anything at all", ""), []);
});

test("what is open at the end of a line goes on in the next", () => {
  assert.deepEqual([...statesOf(["a /* b", "c", "d */ e", "f"], "js")], [0, 1, 1, 0]);
  assert.deepEqual([...statesOf(["`a", "b` + c"], "js")], [0, 2]);
  assert.deepEqual(told("d */ return", "js", 1), ["c:d */", "k:return"]);
  assert.deepEqual([...statesOf(['x = """', "y", '"""', "z"], "py")], [0, 1, 1, 0]);
});

test("every line ends: no language loops or loses a character", () => {
  const odd = ["", " ", "\\", '"', "'", "`", "/*", "*/", "<!--", "#", "a".repeat(3000), "é\u202eb", "0x", "1.2.3", "<a href=", "$", "${", "-->", "\u{1f600}"];
  for (const language of [...Object.keys(languages), "none"]) {
    for (const a of odd) {
      for (const b of odd) {
        const line = a + b;
        const cut = pieces(line, spansOf(line, 0, language), []);
        assert.equal(cut.map((p) => p.text).join(""), line, `${language} ${JSON.stringify(line)}`);
      }
    }
  }
});

test("marks and colours cut a line together", () => {
  const cut = pieces("const abc", [{ from: 0, to: 5, hue: "k" }], [3, 8]);
  assert.deepEqual(cut.map((p) => [p.text, p.hue, p.marked]), [["con", "k", false], ["st", "k", true], [" ab", undefined, true], ["c", undefined, false]]);
});

test("a language is told by the name of the file", () => {
  assert.deepEqual(["a/b.tsx", "Dockerfile", ".env.local", "x.unknown", "noend", "go.mod"].map(languageOf), ["js", "sh", "sh", "", "", "go"]);
});
