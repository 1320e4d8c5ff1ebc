// What differs between two texts: hunks of lines, and which of their lines belong
// together. Pure; the worker calls it.
import { flagsOf, type Flags } from "./myers.ts";
import { pairsOf } from "./pair.ts";
import { textOf, type Text } from "./text.ts";
import { statesOf } from "./tokens.ts";

/** Hunks are four numbers each: the lines of a from, to, and of b from, to. */
export type Hunks = Int32Array;

export interface Compared {
  hunks: Hunks;
  partner: Int32Array; // of each line of b: the line of a that it was, or -1
  linesA: number; // so many lines of each text are compared
  linesB: number;
  plus: number;
  minus: number;
  statesA: Uint8Array; // what is open at the beginning of each line, for the colours
  statesB: Uint8Array;
}

/** Cut: the texts are beginnings. What differs at their very end is then no difference for
 *  sure, and is left out with its lines. */
export function compared(before: string, after: string, language: string, cut = false): Compared {
  const a = textOf(before);
  const b = textOf(after);
  let hunks = hunksOf(a, b);
  let [linesA, linesB] = [a.lines.length, b.lines.length];
  const last = hunks.length - 4;
  if (cut && last >= 0 && (hunks[last + 1] === linesA || hunks[last + 3] === linesB) && hunks[last]! > 0) {
    [linesA, linesB] = [hunks[last]!, hunks[last + 2]!];
    hunks = hunks.slice(0, last);
  }
  let plus = 0;
  let minus = 0;
  for (let i = 0; i < hunks.length; i += 4) {
    minus += hunks[i + 1]! - hunks[i]!;
    plus += hunks[i + 3]! - hunks[i + 2]!;
  }
  return { hunks, linesA, linesB, partner: pairsOf(a.lines, b.lines, hunks), plus, minus, statesA: statesOf(a.lines, language), statesB: statesOf(b.lines, language) };
}

export function hunksOf(a: Text, b: Text): Hunks {
  const [x, y] = numbered(a, b);
  const flags = flagsOf(x, y);
  slide(flags.a, x, a.lines);
  slide(flags.b, y, b.lines);
  return gathered(flags);
}

/** Equal lines get equal numbers. A last line without its end differs from one that has it. */
function numbered(a: Text, b: Text): [Int32Array, Int32Array] {
  const seen = new Map<string, number>();
  const of = (t: Text) => {
    const out = new Int32Array(t.lines.length);
    for (let i = 0; i < out.length; i++) {
      const key = i === out.length - 1 && !t.ended ? t.lines[i]! + "\n" : t.lines[i]!;
      let n = seen.get(key);
      if (n === undefined) seen.set(key, (n = seen.size));
      out[i] = n;
    }
    return out;
  };
  return [of(a), of(b)];
}

const indent = (line: string): number => (line.trim() === "" ? -1 : line.length - line.trimStart().length);

/** A run of changed lines between equal ones can stand at several places. It is put where a
 *  block begins: after an empty line, or at the smallest indent. */
function slide(flags: Uint8Array, values: Int32Array, lines: readonly string[]) {
  for (let start = 0; start < flags.length; start++) {
    if (!flags[start]) continue;
    let end = start;
    while (end < flags.length && flags[end]) end++;
    let up = 0;
    while (start - up > 0 && !flags[start - up - 1] && values[start - up - 1] === values[end - up - 1]) up++;
    let down = 0;
    while (end + down < flags.length && !flags[end + down] && values[start + down] === values[end + down]) down++;
    const by = up + down === 0 ? 0 : bestSlide(lines, start, end, up, Math.min(down, 100));
    for (let i = start; i < end; i++) flags[i] = 0;
    for (let i = start + by; i < end + by; i++) flags[i] = 1;
    start = Math.max(end, end + by) - 1;
  }
}

function bestSlide(lines: readonly string[], start: number, end: number, up: number, down: number): number {
  let best = 0;
  let least = Infinity;
  for (let by = down; by >= -Math.min(up, 100); by--) {
    const first = indent(lines[start + by]!);
    const before = start + by > 0 ? indent(lines[start + by - 1]!) : -1;
    const tail = indent(lines[end + by - 1]!);
    const cost = (first < 0 ? 60 : first * 2) + (before < 0 ? -8 : 0) + (tail < 0 ? -4 : 0);
    if (cost < least) [best, least] = [by, cost];
  }
  return best;
}

function gathered(flags: Flags): Hunks {
  const out: number[] = [];
  let i = 0;
  let j = 0;
  while (i < flags.a.length || j < flags.b.length) {
    if (!flags.a[i] && !flags.b[j] && i < flags.a.length && j < flags.b.length) {
      i++, j++;
      continue;
    }
    const [a, b] = [i, j];
    while (i < flags.a.length && flags.a[i]) i++;
    while (j < flags.b.length && flags.b[j]) j++;
    out.push(a, i, b, j);
  }
  return Int32Array.from(out);
}
