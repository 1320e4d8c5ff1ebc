// One row of a diff.
import { memo, type ReactNode } from "react";
import { Icon } from "../parts/Icon.tsx";
import { shown, shownLines } from "../words/escape.ts";
import { count, several } from "../words/number.ts";
import type { Compared } from "./compute.ts";
import { marksOf, type Marks, type Ranges } from "./pair.ts";
import type { Row } from "./rows.ts";
import type { LineEnds, Text } from "./text.ts";
import { pieces, spansOf } from "./tokens.ts";

export interface Sheet {
  a: Text;
  b: Text;
  language: string;
  compared: Compared;
  ends: [LineEnds, LineEnds];
}

/** Longer lines are cut, and it is said. */
const longest = 2000;

const known = new WeakMap<Compared, Map<number, Marks>>();

/** The marks of a line of b and its partner, worked out once. */
function marksAt(s: Sheet, b: number): Marks | undefined {
  const a = s.compared.partner[b] ?? -1;
  if (a < 0) return undefined;
  let all = known.get(s.compared);
  if (!all) known.set(s.compared, (all = new Map()));
  let m = all.get(b);
  if (!m) all.set(b, (m = marksOf(bare(s.a.lines[a]!), bare(s.b.lines[b]!))));
  return m;
}

const bare = (line: string) => (line.endsWith("\r") ? line.slice(0, -1) : line);
const partnerOf = new WeakMap<Compared, Map<number, number>>();

/** The line of b that a line of a became, or -1. */
function becameOf(s: Sheet, a: number): number {
  let all = partnerOf.get(s.compared);
  if (!all) {
    all = new Map();
    s.compared.partner.forEach((x, b) => x >= 0 && all!.set(x, b));
    partnerOf.set(s.compared, all);
  }
  return all.get(a) ?? -1;
}

function marksFor(s: Sheet, side: "a" | "b", i: number): Ranges {
  const b = side === "b" ? i : becameOf(s, i);
  return (b < 0 ? undefined : marksAt(s, b)?.[side]) ?? [];
}

interface CodeProps {
  sheet: Sheet;
  side: "a" | "b";
  at: number;
  changed: boolean;
}

function Code({ sheet: s, side, at, changed }: CodeProps) {
  const text = s[side];
  const raw = text.lines[at]!;
  const line = bare(raw);
  const head = line.length > longest ? line.slice(0, longest) : line;
  const states = side === "a" ? s.compared.statesA : s.compared.statesB;
  const cut = pieces(head, spansOf(head, states[at] ?? 0, s.language), changed ? marksFor(s, side, at) : []);
  const out: ReactNode[] = cut.map((p, i) => {
    const words = shownLines(p.text);
    if (p.marked) return <mark key={i} className={p.hue ? `t${p.hue}` : undefined}>{words}</mark>;
    return p.hue ? <i key={i} className={`t${p.hue}`}>{words}</i> : words;
  });
  return (
    <code>
      {out}
      {line.length > longest ? <em>{` +${count(line.length - longest)} characters`}</em> : null}
      {changed && raw !== line && (s.ends[0] !== s.ends[1] || s.ends[0] === "mixed") ? <em> CRLF</em> : null}
      {changed && !text.ended && at === text.lines.length - 1 ? <em> no line end</em> : null}
    </code>
  );
}

const signs = { del: "−", add: "+" } as const;

export const UnifiedRow = memo(function UnifiedRow({ row, sheet }: { row: Row; sheet: Sheet }) {
  const del = row.kind === "del";
  const changed = row.kind === "del" || row.kind === "add";
  return (
    <div className={`diff-row ${row.kind}`}>
      <span className="ln" data-n={row.a >= 0 ? row.a + 1 : ""} />
      <span className="ln" data-n={row.b >= 0 ? row.b + 1 : ""} />
      <span className="sg">{changed ? signs[row.kind as "del" | "add"] : ""}</span>
      <Code sheet={sheet} side={del ? "a" : "b"} at={del ? row.a : row.b} changed={changed} />
    </div>
  );
});

export const SplitRow = memo(function SplitRow({ row, sheet }: { row: Row; sheet: Sheet }) {
  const changed = row.kind !== "same";
  return (
    <div className="diff-row">
      <Half sheet={sheet} side="a" at={row.a} changed={changed} />
      <Half sheet={sheet} side="b" at={row.b} changed={changed} />
    </div>
  );
});

function Half({ sheet, side, at, changed }: CodeProps) {
  if (at < 0) return <span className="diff-half none" />;
  const kind = side === "a" ? "del" : "add";
  return (
    <span className={changed ? `diff-half ${kind}` : "diff-half"}>
      <span className="ln" data-n={at + 1} />
      <span className="sg">{changed ? signs[kind] : ""}</span>
      <Code sheet={sheet} side={side} at={at} changed={changed} />
    </span>
  );
}

export const FoldRow = memo(function FoldRow({ row, sheet, open }: { row: Row; sheet: Sheet; open: (at: number) => void }) {
  const inside = enclosing(sheet, row.b + row.count);
  return (
    <button type="button" className="diff-fold" onClick={() => open(row.b)}>
      <Icon name="down" small />
      <span>{several(row.count, "unchanged line")}</span>
      {inside ? <code className="cut">{inside}</code> : null}
    </button>
  );
});

/** The line that what follows a fold stands in: the last one before it that begins at the margin with a letter. */
function enclosing(s: Sheet, at: number): string {
  const first = s.b.lines[at];
  if (first === undefined || !/^\s/.test(first)) return "";
  for (let i = at - 1; i >= 0 && i > at - 500; i--) if (/^[\p{L}_$@]/u.test(s.b.lines[i]!)) return shown(bare(s.b.lines[i]!).slice(0, 160));
  return "";
}
