/// <reference types="node" />
import assert from "node:assert/strict";
import { test } from "node:test";
import { compared, hunksOf } from "./compute.ts";
import { marksOf } from "./pair.ts";
import { columns, hunkText, rowsOf } from "./rows.ts";
import { decoded, joined, lineEnds, textOf, wholeLines } from "./text.ts";

/** A small generator with a seed, so that what fails can be seen again. */
function dice(seed: number) {
  let x = seed >>> 0 || 1;
  return (n: number) => {
    x ^= x << 13;
    x >>>= 0;
    x ^= x >>> 17;
    x ^= x << 5;
    x >>>= 0;
    return x % n;
  };
}

/** What the hunks make of the text before: it must be the text after. */
function applied(before: string, after: string): string {
  const [a, b] = [textOf(before), textOf(after)];
  const h = hunksOf(a, b);
  const out: string[] = [];
  let at = 0;
  for (let i = 0; i < h.length; i += 4) {
    out.push(...a.lines.slice(at, h[i]), ...b.lines.slice(h[i + 2], h[i + 3]));
    at = h[i + 1]!;
  }
  out.push(...a.lines.slice(at));
  const lastKept = h.length === 0 || h[h.length - 1]! < b.lines.length || h[h.length - 3]! < a.lines.length;
  return joined({ lines: out, ended: lastKept ? a.ended : b.ended });
}

function randomText(roll: (n: number) => number, words: number): string {
  const n = roll(40);
  const end = ["\n", "\n", "\r\n"][roll(3)]!;
  const lines = Array.from({ length: n }, () => (roll(6) === 0 ? "" : "  ".repeat(roll(3)) + "w" + roll(words)));
  return lines.join(end) + (n > 0 && roll(3) > 0 ? end : "");
}

test("a diff leads from the text before to the text after", () => {
  for (let seed = 1; seed <= 3000; seed++) {
    const roll = dice(seed * 2654435761);
    const words = 1 + roll(12);
    const before = randomText(roll, words);
    const after = roll(3) === 0 ? randomText(roll, words) : before.split("\n").flatMap((l) => [[l], [l], [l], [], [l, "w" + roll(words)], ["w" + roll(words)]][roll(6)]!).join("\n");
    assert.equal(applied(before, after), after, `seed ${seed}`);
    const c = compared(before, after, "js");
    const last = new Map<number, number>();
    c.partner.forEach((a, b) => {
      if (a >= 0) assert.ok(!last.has(a) && last.set(a, b), `seed ${seed}: a line has one partner`);
    });
  }
});

test("every row of both drawings shows each line once, in order", () => {
  for (let seed = 1; seed <= 400; seed++) {
    const roll = dice(seed * 40503);
    const [before, after] = [randomText(roll, 6), randomText(roll, 6)];
    const c = compared(before, after, "");
    const [a, b] = [textOf(before).lines.length, textOf(after).lines.length];
    for (const split of [false, true]) {
      const rows = rowsOf(c.hunks, a, c.partner, { split, opened: new Set(), whole: true });
      assert.deepEqual(rows.map((r) => r.a).filter((x) => x >= 0), Array.from({ length: a }, (_, i) => i));
      assert.deepEqual(rows.map((r) => r.b).filter((x) => x >= 0), Array.from({ length: b }, (_, i) => i));
    }
  }
});

test("unchanged lines are folded, and a fold opens", () => {
  const lines = Array.from({ length: 60 }, (_, i) => `line ${i}`);
  const before = lines.join("\n") + "\n";
  const after = [...lines.slice(0, 30), "new", ...lines.slice(30)].join("\n") + "\n";
  const c = compared(before, after, "");
  const folded = rowsOf(c.hunks, 60, c.partner, { split: false, opened: new Set() });
  assert.deepEqual(folded.filter((r) => r.kind === "fold").map((r) => [r.b, r.count]), [[0, 27], [34, 27]]);
  assert.equal(folded.length, 2 + 7);
  const opened = rowsOf(c.hunks, 60, c.partner, { split: false, opened: new Set([34]) });
  assert.equal(opened.length, 1 + 7 + 27);
});

test("where two beginnings are cut is no difference", () => {
  const c = compared("a\nb\nc\nd\n", "x\na\nb\n", "", true);
  assert.deepEqual([c.plus, c.minus, c.linesA, c.linesB], [1, 0, 2, 3]);
  assert.equal(compared("a\n", "b\n", "", true).plus, 1);
});

test("carriage returns and the end of the last line are differences", () => {
  assert.equal(compared("a\r\nb\r\n", "a\nb\n", "").plus, 2);
  assert.equal(compared("a\nb\n", "a\nb", "").plus, 1);
  assert.equal(compared("a\nb", "a\nb", "").plus, 0);
  assert.equal(compared("", "a", "").plus, 1);
  assert.deepEqual([lineEnds(textOf("a\r\nb\r\n")), lineEnds(textOf("a\nb")), lineEnds(textOf("a\r\nb\n"))], ["crlf", "lf", "mixed"]);
  for (const s of ["", "a", "a\n", "\n", "\n\n", "a\r\nb", "\r\n"]) assert.equal(joined(textOf(s)), s);
});

test("an added function is added whole, not from its closing brace", () => {
  const before = "function a() {\n  x();\n}\n\nfunction c() {\n  z();\n}\n";
  const after = "function a() {\n  x();\n}\n\nfunction b() {\n  y();\n}\n\nfunction c() {\n  z();\n}\n";
  const [, , from, to] = compared(before, after, "js").hunks;
  assert.deepEqual([from, to], [4, 8]);
});

test("words that differ are marked, and lines that share nothing are not", () => {
  const m = marksOf("const id = token.sub;", "const id = user.id;");
  assert.deepEqual(m, { a: [11, 16, 17, 20], b: [11, 15, 16, 18] });
  assert.deepEqual(marksOf("alpha", "beta"), { a: [], b: [] });
  assert.deepEqual(marksOf("return a", "return a b c").b, [8, 12]);
});

test("a changed line finds its partner between others", () => {
  const c = compared("one();\nkeep(token, 1);\n", "first();\nsecond();\nkeep(user, 1);\n", "js");
  assert.equal(c.partner[2], 1);
});

const timed = (name: string, most: number, before: string, after: string) =>
  test(name, () => {
    const t = performance.now();
    const c = compared(before, after, "js");
    const took = performance.now() - t;
    assert.ok(took < most, `took ${took.toFixed(0)} ms`);
    assert.ok(c.hunks.length > 0);
    assert.equal(applied(before, after), after);
  });

const long = (f: (i: number) => string) => Array.from({ length: 50_000 }, (_, i) => f(i)).join("\n") + "\n";
timed("50,000 lines, every seventh changed", 3000, long((i) => `export const v${i} = "${i}";`), long((i) => `export const v${i} = "${i % 7 === 3 ? "other" : i}";`));
timed("50,000 lines, nothing in common", 3000, long((i) => `a ${i}`), long((i) => `b ${i}`));
timed("50,000 lines of few words, shuffled", 5000, long((i) => `w${(i * 7919) % 13}`), long((i) => `w${(i * 104_729 + (i >> 3)) % 13}`));
timed("50,000 lines turned round", 5000, long((i) => `line ${i}`), long((i) => `line ${50_000 - i}`));

test("bytes are text or binary", () => {
  const bytes = (s: string) => new TextEncoder().encode(s);
  assert.equal(decoded(bytes("héllo\n")).text, "héllo\n");
  assert.equal(decoded(Uint8Array.of(1, 0, 2)).binary, true);
  assert.equal(decoded(Uint8Array.of(0xff, 0xfe, 65, 0, 10, 0)).text, "A\n");
  assert.equal(decoded(Uint8Array.from({ length: 400 }, (_, i) => 128 + (i % 100))).binary, true);
  assert.equal(wholeLines("a\nbc"), "a\n");
  assert.equal(columns("\ta\tb", 4), 9);
});

test("a hunk is named by its lines, from 1", () => {
  const c = compared("a\nb\nc\nd\n", "a\nB\nc\nd\ne\n", "");
  const rows = rowsOf(c.hunks, 4, c.partner, { split: false, opened: new Set() });
  assert.deepEqual(rows.filter((r) => r.hunk !== undefined).map((r) => hunkText(c.hunks.subarray(r.hunk!, r.hunk! + 4))), ["2,1,2,1", "5,0,5,1"]);
});
