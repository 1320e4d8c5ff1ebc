// Lines of a diff. Only those that are in sight are drawn; they are compared beside the page.
import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState, type ReactNode } from "react";
import { Waiting, Wrong } from "../parts/states.tsx";
import { shown } from "../words/escape.ts";
import { compare } from "./ask.ts";
import type { Compared } from "./compute.ts";
import { FoldRow, SplitRow, UnifiedRow, type Sheet } from "./Row.tsx";
import { languageOf } from "./languages.ts";
import { columns, rowsOf, type Row } from "./rows.ts";
import { lineEnds, textOf } from "./text.ts";
import { UndoHunk, type HunkSource } from "./UndoHunk.tsx";

export interface LinesProps {
  path: string;
  before: string;
  after: string;
  split: boolean;
  whole?: boolean; // a file that did not change: nothing is folded
  cut?: boolean; // the texts are beginnings
  foot?: ReactNode;
  head?: ReactNode;
  counted?: (plus: number, minus: number) => void;
  undo?: HunkSource; // hunks can be undone
}

/** An answer is good for the texts it was asked of. */
interface Answer {
  before: string;
  after: string;
  compared?: Compared;
  error?: unknown;
}

const lineHeight = 20;
const foldHeight = 28;

export function Lines(p: LinesProps) {
  const language = languageOf(p.path);
  const [answer, setAnswer] = useState<Answer>();
  const { before, after, counted, cut = false } = p;
  useEffect(() => {
    let on = true;
    compare(before, after, language, cut).then(
      (compared) => {
        if (!on) return;
        setAnswer({ before, after, compared });
        counted?.(compared.plus, compared.minus);
      },
      (error: unknown) => on && setAnswer({ before, after, error }),
    );
    return () => void (on = false);
  }, [before, after, language, counted, cut]);
  const own = answer?.before === before && answer.after === after ? answer : undefined;
  const sheet = useMemo(() => (own?.compared ? sheetOf(before, after, language, own.compared) : undefined), [own, before, after, language]);
  if (own?.error) return <Wrong error={own.error} />;
  if (!sheet) return <Waiting what="the lines" at={1} />;
  return <Drawn {...p} sheet={sheet} key={p.path} />;
}

function sheetOf(before: string, after: string, language: string, compared: Compared): Sheet {
  const [a, b] = [textOf(before), textOf(after)];
  return { a, b, language, compared, ends: [lineEnds(a), lineEnds(b)] };
}

function Drawn({ sheet, split, whole, foot, head, path, undo }: LinesProps & { sheet: Sheet }) {
  const box = useRef<HTMLDivElement>(null);
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const c = sheet.compared;
  const rows = useMemo(
    () => rowsOf(c.hunks, c.linesA, c.partner, { split, opened, whole }),
    [c, split, opened, whole],
  );
  const cells = useCells(box, split);
  const open = useCallback((at: number) => setOpened((o) => new Set(o).add(at)), []);
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: (i) => heightOf(rows[i]!, sheet, cells),
    overscan: 6,
    getItemKey: (i) => keyOf(rows[i]!),
  });
  useEffect(() => list.measure(), [list, cells, split]);
  return (
    <div ref={box} className={whole ? "diff-scroll whole" : "diff-scroll"} tabIndex={0} role="region" aria-label={`Lines of ${shown(path)}`}>
      {head}
      <div className="diff-lines" style={{ height: list.getTotalSize() }}>
        {list.getVirtualItems().map((v) => {
          const row = rows[v.index]!;
          return (
            <div key={v.key} data-index={v.index} ref={loose(row, sheet, cells) ? list.measureElement : undefined} className="diff-place" style={{ transform: `translateY(${v.start}px)` }}>
              {row.kind === "fold" ? (
                <FoldRow row={row} sheet={sheet} open={open} />
              ) : split ? (
                <SplitRow row={row} sheet={sheet} />
              ) : (
                <UnifiedRow row={row} sheet={sheet} />
              )}
              {undo && row.hunk !== undefined ? <UndoHunk {...undo} path={path} hunk={c.hunks.subarray(row.hunk, row.hunk + 4)} /> : null}
            </div>
          );
        })}
      </div>
      {foot}
    </div>
  );
}

const keyOf = (r: Row) => `${r.kind[0]}${r.a}.${r.b}`;

const linesOf = (r: Row, s: Sheet): string[] => [r.a >= 0 && r.kind !== "same" ? s.a.lines[r.a]! : "", r.b >= 0 ? s.b.lines[r.b]! : ""];

function heightOf(r: Row, s: Sheet, cells: number): number {
  if (r.kind === "fold") return foldHeight;
  const most = Math.max(...linesOf(r, s).map((l) => Math.min(columns(l, 4), 2100)));
  return lineHeight * Math.max(1, Math.ceil(most / cells));
}

const plain = /^[\x20-\x7e\t]*\r?$/;

/** A row that may be higher than one line is measured; the others are known. */
function loose(r: Row, s: Sheet, cells: number): boolean {
  return r.kind !== "fold" && linesOf(r, s).some((l) => columns(l, 4) > cells || !plain.test(l));
}

/** How many characters fit in a line. */
function useCells(box: React.RefObject<HTMLDivElement | null>, split: boolean): number {
  const [cells, setCells] = useState(80);
  useLayoutEffect(() => {
    const el = box.current!;
    const look = () => {
      const probe = document.createElement("span");
      probe.className = "diff-probe";
      probe.textContent = "0".repeat(100);
      el.append(probe);
      const one = probe.getBoundingClientRect().width / 100 || 7.2;
      probe.remove();
      const gutter = el.clientWidth < 600 ? (split ? 120 : 84) : split ? 160 : 116;
      setCells(Math.max(20, Math.floor((el.clientWidth - gutter) / one / (split ? 2 : 1)) - 1));
    };
    look();
    const watch = new ResizeObserver(look);
    watch.observe(el);
    return () => watch.disconnect();
  }, [box, split]);
  return cells;
}
