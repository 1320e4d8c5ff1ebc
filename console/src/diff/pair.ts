// Which changed lines belong together, and which words of them differ.
import { flagsOf } from "./myers.ts";

const word = /[\p{L}\p{N}_$]+|\s+|[^\p{L}\p{N}_$\s]/gu;
const wordsOf = (line: string): string[] => line.match(word) ?? [];

/** Blocks with more lines than this on both sides are not read for pairs. */
const mostPairs = 900;

/** pairsOf answers for every line of b the line of a that it was, or -1. Pairs keep their order. */
export function pairsOf(a: readonly string[], b: readonly string[], hunks: Int32Array): Int32Array {
  const partner = new Int32Array(b.length).fill(-1);
  for (let h = 0; h < hunks.length; h += 4) {
    const [a0, a1, b0, b1] = [hunks[h]!, hunks[h + 1]!, hunks[h + 2]!, hunks[h + 3]!];
    const [n, m] = [a1 - a0, b1 - b0];
    if (n === 0 || m === 0) continue;
    if (n * m <= mostPairs) align(a, b, a0, n, b0, m, partner);
    else for (let i = 0; i < Math.min(n, m); i++) if (likeness(wordBag(a[a0 + i]!), wordBag(b[b0 + i]!)) > 0.5) partner[b0 + i] = a0 + i;
  }
  return partner;
}

type Bag = Map<string, number> & { size2?: number };

function wordBag(line: string): Bag {
  const bag: Bag = new Map();
  let n = 0;
  for (const w of wordsOf(line.length > 400 ? line.slice(0, 400) : line)) {
    if (w.trim() === "") continue;
    bag.set(w, (bag.get(w) ?? 0) + w.length);
    n += w.length;
  }
  bag.size2 = n;
  return bag;
}

/** From 0 to 1: how much of two lines is the same words. */
function likeness(a: Bag, b: Bag): number {
  const all = a.size2! + b.size2!;
  if (all === 0) return 0;
  let same = 0;
  for (const [w, n] of a) same += Math.min(n, b.get(w) ?? 0);
  return (2 * same) / all;
}

function align(a: readonly string[], b: readonly string[], a0: number, n: number, b0: number, m: number, partner: Int32Array) {
  const left = Array.from({ length: n }, (_, i) => wordBag(a[a0 + i]!));
  const right = Array.from({ length: m }, (_, j) => wordBag(b[b0 + j]!));
  const wide = m + 1;
  const like = new Float64Array(n * m);
  const best = new Float64Array((n + 1) * wide);
  for (let i = n - 1; i >= 0; i--) {
    for (let j = m - 1; j >= 0; j--) {
      const l = likeness(left[i]!, right[j]!);
      like[i * m + j] = l;
      const together = l > 0.4 ? l + best[(i + 1) * wide + j + 1]! : 0;
      best[i * wide + j] = Math.max(together, best[(i + 1) * wide + j]!, best[i * wide + j + 1]!);
    }
  }
  for (let i = 0, j = 0; i < n && j < m; ) {
    const here = best[i * wide + j]!;
    if (like[i * m + j]! > 0.4 && here === like[i * m + j]! + best[(i + 1) * wide + j + 1]!) partner[b0 + j++] = a0 + i++;
    else if (here === best[(i + 1) * wide + j]) i++;
    else j++;
  }
}

/** Ranges of characters, from and to in turn. */
export type Ranges = number[];

export interface Marks {
  a: Ranges;
  b: Ranges;
}

const longest = 2000;

/** marksOf tells which words of two lines differ; nothing when the lines share too little. */
export function marksOf(a: string, b: string): Marks {
  const none: Marks = { a: [], b: [] };
  if (a.length > longest || b.length > longest) return none;
  const [x, y] = [wordsOf(a), wordsOf(b)];
  const seen = new Map<string, number>();
  const numbers = (words: string[]) =>
    Int32Array.from(words, (w) => {
      let n = seen.get(w);
      if (n === undefined) seen.set(w, (n = seen.size));
      return n;
    });
  const flags = flagsOf(numbers(x), numbers(y));
  const marks = { a: ranges(x, flags.a), b: ranges(y, flags.b) };
  const whole = (r: Ranges, s: string) => r.length === 2 && r[1]! - r[0]! >= s.trim().length;
  if (whole(marks.a, a) && whole(marks.b, b)) return none;
  return { a: telling(marks.a, a), b: telling(marks.b, b) };
}

/** Blanks alone are marked only when nothing else differs. */
function telling(r: Ranges, line: string): Ranges {
  const out: Ranges = [];
  for (let i = 0; i < r.length; i += 2) if (line.slice(r[i], r[i + 1]).trim() !== "") out.push(r[i]!, r[i + 1]!);
  return out.length > 0 ? out : r;
}

/** Marks that only a blank keeps apart are one. */
function ranges(words: string[], flags: Uint8Array): Ranges {
  const out: Ranges = [];
  let at = 0;
  for (let i = 0; i < words.length; i++) {
    const end = at + words[i]!.length;
    const bridge = !flags[i] && words[i]!.trim() === "" && i > 0 && i + 1 < words.length && flags[i - 1] && flags[i + 1];
    if (flags[i] || bridge) {
      if (out[out.length - 1] === at) out[out.length - 1] = end;
      else out.push(at, end);
    }
    at = end;
  }
  return out;
}
