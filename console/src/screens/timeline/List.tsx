// The list: only rows in sight are there. Where somebody reads stays where it is when rows
// come above; at the top new ones slide in.
import { useVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useImperativeHandle, useLayoutEffect, useRef, type MouseEvent, type ReactNode, type Ref } from "react";
import { focusedIn, withFocus, type Range } from "../../parts/range.ts";
import { several } from "../../words/number.ts";
import type { Read } from "./book.ts";
import { laneRoom, Lanes } from "./Lanes.tsx";
import { NowRow } from "./NowRow.tsx";
import { EffectRow, EndRow, FoldRow, ForkRow, HeadRow, CheckpointRow, MoreRow, RestRow } from "./Rows.tsx";
import { useNews } from "./useNews.ts";
import { heightOf, type Item, type View } from "./view.ts";

export interface ListHandle {
  show: (number: number, how: "focus" | "middle" | "near") => void;
  toTop: () => void;
}

interface Props {
  ws: string;
  read: Read;
  view: View;
  phone: boolean;
  chosen?: number;
  marked?: number;
  choose: (number: number, e: MouseEvent) => void;
  open: (key: string) => void;
  handle: Ref<ListHandle>;
}

const padding = 6;
const overscan = 4;

export function List(p: Props) {
  const { view, phone, read } = p;
  const { items } = view;
  const box = useRef<HTMLDivElement>(null);
  const v = useVirtualizer({
    count: items.length,
    getScrollElement: () => box.current,
    estimateSize: (i) => heightOf(items[i]!, phone),
    getItemKey: useCallback((i: number) => items[i]!.key, [items]),
    rangeExtractor: useCallback((r: Range) => withFocus(r, focusedIn(box.current)), []),
    overscan,
    paddingStart: padding,
    paddingEnd: padding,
  });
  useLayoutEffect(() => v.measure(), [v, items, phone]);
  useAnchor(box, v, items, phone);
  useImperativeHandle(p.handle, () => ({
    show: (number, how) => {
      const at = view.rows.get(number);
      if (at === undefined) return;
      v.scrollToIndex(at, { align: how === "middle" ? "center" : "auto" });
      if (how === "focus") requestAnimationFrame(() => box.current?.querySelector<HTMLElement>(`[data-number="${number}"]`)?.focus({ preventScroll: true }));
    },
    toTop: () => v.scrollToOffset(0),
  }));
  const seen = v.getVirtualItems();
  const newest = read.rows[0]?.number ?? 0;
  const news = useNews(newest, (v.scrollOffset ?? 0) <= 4);
  const { range } = v;
  const near = seen.filter((s) => !range || (s.index >= range.startIndex - overscan && s.index <= range.endIndex + overscan)); // not the one that is there for its focus
  const rows = near.map((s) => ({ item: items[s.index]!, top: s.start, height: s.size }));
  const digits = String(newest).length;
  const room = { "--room": `${laneRoom(view.lanes, phone)}px`, "--digits": `${phone ? 10 * digits + 8 : Math.max(26, 9 * digits)}px` };
  return (
    <div className="tl-list">
      <p className="sr" role="status" aria-live="polite">
        {news.said}
      </p>
      {news.unseen > 0 ? (
        <button type="button" className="tl-new button primary" onClick={() => v.scrollToOffset(0)}>
          {several(news.unseen, "new checkpoint")}
        </button>
      ) : null}
      <div ref={box} className="tl-scroll">
        <div className="tl-inner" style={{ height: v.getTotalSize(), ...room }}>
          <Lanes rows={rows} lanes={view.lanes} phone={phone} newest={newest} />
          <ol aria-label="Checkpoints, newest first">
            {seen.map((s) => (
              <li key={s.key} data-index={s.index} style={{ height: s.size, top: s.start }} aria-setsize={items.length} aria-posinset={s.index + 1}>
                {rowOf(p, items[s.index]!, newest, news.slid)}
              </li>
            ))}
          </ol>
        </div>
      </div>
    </div>
  );
}

function rowOf(p: Props, x: Item, newest: number, slid: number): ReactNode {
  const common = { ws: p.ws, choose: p.choose, open: p.open };
  switch (x.kind) {
    case "checkpoint": {
      const n = x.row.number;
      const is = { chosen: n === p.chosen, marked: n === p.marked, newest: n === newest, fresh: n > slid };
      return <CheckpointRow {...common} {...is} item={x} />;
    }
    case "fork":
      return <ForkRow {...common} item={x} />;
    case "effect":
      return <EffectRow {...common} item={x} />;
    case "fold":
      return <FoldRow {...common} item={x} />;
    case "more":
      return <MoreRow {...common} item={x} />;
    case "head":
      return <HeadRow {...common} item={x} />;
    case "now":
      return <NowRow ws={p.ws} newest={newest} />;
    case "rest":
      return <RestRow n={x.n} />;
    case "end":
      return <EndRow n={x.n} />;
  }
}

/** Keeps the row that is being read where it is while rows come and go above it. */
function useAnchor(box: React.RefObject<HTMLDivElement | null>, v: Virtualizer<HTMLDivElement, Element>, items: readonly Item[], phone: boolean) {
  const anchor = useRef<{ key: unknown; off: number }>(undefined);
  useEffect(() => {
    const el = box.current;
    if (!el) return;
    const note = () => {
      const off = v.scrollOffset ?? 0; // to ask the element would lay out the page once more
      const at = off > 4 ? v.getVirtualItemForOffset(off) : undefined;
      anchor.current = at && { key: at.key, off: off - at.start };
    };
    el.addEventListener("scroll", note, { passive: true });
    return () => el.removeEventListener("scroll", note);
  }, [box, v]);
  useLayoutEffect(() => {
    const a = anchor.current;
    const el = box.current;
    if (!a || !el) return;
    let top = padding;
    for (const x of items) {
      if (x.key === a.key) {
        if (x.kind !== "rest" && Math.abs(el.scrollTop - top - a.off) > 1) el.scrollTop = top + a.off;
        return;
      }
      top += heightOf(x, phone);
    }
  }, [box, items, phone]);
}
