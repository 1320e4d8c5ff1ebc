// The rows of a diff as they are drawn: unified or split, with unchanged lines folded.
import type { Hunks } from "./compute.ts";

/** A line of a is counted from 0; -1: there is none. */
export interface Row {
  kind: "same" | "del" | "add" | "both" | "fold";
  a: number;
  b: number;
  count: number; // of a fold
  hunk?: number; // where the hunk is in Hunks that begins here
}

/** Unchanged lines that stay around a change. */
export const context = 3;
/** A fold of fewer lines is not worth it. */
const least = 4;

export interface Drawing {
  split: boolean;
  opened: ReadonlySet<number>; // folds, by the line of b they begin at
  whole?: boolean; // nothing is folded
}

export function rowsOf(hunks: Hunks, linesA: number, partner: Int32Array, d: Drawing): Row[] {
  const out: Row[] = [];
  let a = 0;
  let b = 0;
  for (let h = 0; h <= hunks.length; h += 4) {
    const last = h === hunks.length;
    const a1 = last ? linesA : hunks[h]!;
    equal(out, a, b, a1 - a, { first: h === 0, last }, d);
    if (last) break;
    const [aEnd, b0, bEnd] = [hunks[h + 1]!, hunks[h + 2]!, hunks[h + 3]!];
    const begins = out.length;
    if (d.split) sides(out, a1, aEnd, b0, bEnd, partner);
    else {
      for (let i = a1; i < aEnd; i++) out.push({ kind: "del", a: i, b: -1, count: 0 });
      for (let j = b0; j < bEnd; j++) out.push({ kind: "add", a: -1, b: j, count: 0 });
    }
    if (begins < out.length) out[begins]!.hunk = h;
    [a, b] = [aEnd, bEnd];
  }
  return out;
}

/** The lines of a hunk are counted from 0 and end before the second number; a plan counts from 1. */
export const hunkText = ([a0, a1, b0, b1]: Int32Array): string => [a0! + 1, a1! - a0!, b0! + 1, b1! - b0!].join(",");

function equal(out: Row[], a: number, b: number, n: number, where: { first: boolean; last: boolean }, d: Drawing) {
  const top = where.first ? 0 : context;
  const bottom = where.last ? 0 : context;
  const hide = n - top - bottom;
  const fold = !d.whole && hide >= least && !(where.first && where.last) && !d.opened.has(b + top);
  for (let i = 0; i < n; i++) {
    if (fold && i === top) {
      out.push({ kind: "fold", a: a + i, b: b + i, count: hide });
      i += hide - 1;
      continue;
    }
    out.push({ kind: "same", a: a + i, b: b + i, count: 0 });
  }
}

/** Pairs stand side by side; what is between two pairs fills both sides from the top. */
function sides(out: Row[], a0: number, a1: number, b0: number, b1: number, partner: Int32Array) {
  let i = a0;
  let j = b0;
  while (i < a1 || j < b1) {
    let pair = j;
    while (pair < b1 && partner[pair]! < 0) pair++;
    const aStop = pair < b1 ? partner[pair]! : a1;
    while (i < aStop || j < pair) {
      const [x, y] = [i < aStop ? i++ : -1, j < pair ? j++ : -1];
      out.push({ kind: x < 0 ? "add" : y < 0 ? "del" : "both", a: x, b: y, count: 0 });
    }
    if (pair < b1) out.push({ kind: "both", a: i++, b: j++, count: 0 });
  }
}

/** columns counts the cells of a line: tabs go on to the next stop. */
export function columns(line: string, tab: number): number {
  if (!line.includes("\t")) return line.length;
  let n = 0;
  for (let i = 0; i < line.length; i++) n += line.charCodeAt(i) === 9 ? tab - (n % tab) : 1;
  return n;
}
