// Colours for lines of code: keywords, strings, comments, numbers, names. It reads one
// line at a time; what is open at its beginning is a number, so that any line can be
// coloured alone.
import { languages, type Block, type Language } from "./languages.ts";

/** k keyword, s string, c comment, n number, f name. */
export type Hue = "k" | "s" | "c" | "n" | "f";

/** Spans are three things each, flat: from, to, hue. */
export interface Span {
  from: number;
  to: number;
  hue: Hue;
}

/** 0: nothing is open; else the block of the language, counted from 1. */
export type LineState = number;

/** Longer lines are left plain. */
const longest = 2000;
const name = /[\p{L}_$][\p{L}\p{N}_$]*/uy;
const dashedName = /[\p{L}_$][\p{L}\p{N}_$-]*/uy;
const number = /(?:0[xX][\da-fA-F_]+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)/y;

const at = (re: RegExp, s: string, i: number): number => {
  re.lastIndex = i;
  return re.test(s) ? re.lastIndex : i;
};

/** scan reads one line, gives its spans to tell, and answers what is open at its end. */
export function scan(line: string, open: LineState, language: string, tell?: (from: number, to: number, hue: Hue) => void): LineState {
  const l = languages[language];
  if (!l) return 0;
  if (line.length > longest) return open;
  let i = 0;
  if (open > 0) {
    const block = l.blocks[open - 1]!;
    const end = closing(line, 0, block);
    tell?.(0, end < 0 ? line.length : end, block.kind);
    if (end < 0) return open;
    i = end;
  }
  for (; i < line.length; ) {
    const c = line.charCodeAt(i);
    if (c === 32 || c === 9) {
      i++;
      continue;
    }
    if (comments(l, line, i)) {
      tell?.(i, line.length, "c");
      return 0;
    }
    const b = l.blocks.findIndex((x) => line.startsWith(x.open, i));
    if (b >= 0) {
      const block = l.blocks[b]!;
      const end = closing(line, i + block.open.length, block);
      tell?.(i, end < 0 ? line.length : end, block.kind);
      if (end < 0) return b + 1;
      i = end;
      continue;
    }
    i = token(l, line, i, tell);
  }
  return 0;
}

function comments(l: Language, line: string, i: number): boolean {
  if (!l.line.some((x) => line.startsWith(x, i))) return false;
  return !l.hashAfterBlank || i === 0 || /\s/.test(line[i - 1]!);
}

function closing(line: string, from: number, b: Block): number {
  for (let i = from; i < line.length; i++) {
    if (b.escapes && line[i] === "\\") i++;
    else if (line.startsWith(b.close, i)) return i + b.close.length;
  }
  return -1;
}

function token(l: Language, line: string, i: number, tell?: (from: number, to: number, hue: Hue) => void): number {
  if (l.keys) {
    const end = at(l.keys, line, i);
    if (end > i && !/[\p{L}\p{N}_$]/u.test(line[i - 1] ?? "")) {
      tell?.(i, end, "f");
      return end;
    }
  }
  const c = line[i]!;
  if (l.quotes.includes(c)) {
    const end = quoted(line, i, c);
    tell?.(i, end, "s");
    return end;
  }
  const digits = at(number, line, i);
  if (digits > i) {
    tell?.(i, digits, "n");
    return digits;
  }
  const end = at(l.dashed ? dashedName : name, line, i);
  if (end === i) return i + 1;
  const w = line.slice(i, end);
  if (l.words.has(l.anyCase ? w.toLowerCase() : w)) tell?.(i, end, "k");
  else if (l.calls && line[end] === "(") tell?.(i, end, "f");
  return end;
}

function quoted(line: string, from: number, quote: string): number {
  for (let i = from + 1; i < line.length; i++) {
    if (line[i] === "\\") i++;
    else if (line[i] === quote) return i + 1;
  }
  return line.length;
}

/** spansOf colours one line. */
export function spansOf(line: string, open: LineState, language: string): Span[] {
  const out: Span[] = [];
  scan(line, open, language, (from, to, hue) => out.push({ from, to, hue }));
  return out;
}

/** statesOf answers what is open at the beginning of each line. */
export function statesOf(lines: readonly string[], language: string): Uint8Array {
  const out = new Uint8Array(lines.length);
  if (!languages[language] || languages[language].blocks.length === 0) return out;
  let open = 0;
  for (let i = 0; i < lines.length; i++) {
    out[i] = open;
    open = scan(lines[i]!, open, language);
  }
  return out;
}

export interface Piece {
  text: string;
  hue?: Hue;
  marked: boolean;
}

/** pieces cuts a line where its colour or its mark changes. Marks are from and to in turn. */
export function pieces(line: string, spans: readonly Span[], marks: readonly number[]): Piece[] {
  if (spans.length === 0 && marks.length === 0) return line === "" ? [] : [{ text: line, marked: false }];
  const out: Piece[] = [];
  let s = 0;
  let m = 0;
  for (let i = 0; i < line.length; ) {
    while (s < spans.length && spans[s]!.to <= i) s++;
    while (m < marks.length && marks[m + 1]! <= i) m += 2;
    const span = spans[s];
    const inSpan = !!span && span.from <= i;
    const marked = m < marks.length && marks[m]! <= i;
    const end = Math.min(line.length, inSpan ? span.to : (span?.from ?? line.length), marked ? marks[m + 1]! : (marks[m] ?? line.length));
    out.push({ text: line.slice(i, end), hue: inSpan ? span.hue : undefined, marked });
    i = end;
  }
  return out;
}
