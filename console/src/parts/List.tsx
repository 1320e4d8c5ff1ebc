// A list of any length: only the rows that are in sight are in the page, and the one that
// has the focus. It scrolls with the page, or in a box of its own.
import { useVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useLayoutEffect, useRef, useState, type ReactNode, type RefObject } from "react";
import { focusedIn, withFocus, type Range } from "./range.ts";
import "./list.css";

export interface ListProps {
  count: number;
  height: number | ((i: number) => number); // before it is drawn
  measured?: boolean; // rows are as high as what is in them; height is a guess
  keyOf?: (i: number) => string; // the row itself, when rows come and go above it
  version?: unknown; // changes when rows turn into others
  label: string;
  className?: string;
  shown?: number; // the row that must be in sight
  inPage?: boolean; // the page scrolls, and no box
  most?: number; // the box is as high as its rows, and no higher than this
  nearEnd?: () => void; // the last rows are in sight
  children: (i: number) => ReactNode;
}

type Placing = Virtualizer<HTMLElement, Element>;

const page = () => document.getElementById("page");

export const List = (p: ListProps) => (p.inPage ? <InPage {...p} /> : <InBox {...p} />);

function useRows(p: ListProps, box: RefObject<HTMLElement | null>, scrolls: () => HTMLElement | null, margin = 0): Placing {
  const { count, height, version, shown } = p;
  const keys = useRef(p.keyOf);
  keys.current = p.keyOf;
  const virtual = useVirtualizer<HTMLElement, Element>({
    count,
    getScrollElement: scrolls,
    estimateSize: typeof height === "number" ? () => height : height,
    getItemKey: useCallback((i: number) => keys.current?.(i) ?? i, [version]), // another one places all rows again
    rangeExtractor: useCallback((r: Range) => withFocus(r, focusedIn(box.current)), [box]),
    scrollMargin: margin,
    overscan: 6,
  });
  const fixed = typeof height === "number" ? height : undefined;
  const { measured } = p;
  useEffect(() => {
    if (!measured) virtual.measure(); // what was measured holds for its key
  }, [virtual, version, fixed, measured]);
  useEffect(() => {
    if (shown !== undefined && shown >= 0) virtual.scrollToIndex(shown, { align: "auto" });
  }, [virtual, shown]);
  useNearEnd(p, virtual);
  return virtual;
}

function useNearEnd({ nearEnd, count }: ListProps, virtual: Placing) {
  const near = !!nearEnd && (virtual.range?.endIndex ?? 0) >= count - 20;
  useEffect(() => {
    if (near) nearEnd?.();
  }, [near, count]);
}

function Placed({ list, virtual, margin = 0 }: { list: ListProps; virtual: Placing; margin?: number }) {
  return virtual.getVirtualItems().map((v) => (
    <li
      key={v.key}
      ref={list.measured ? virtual.measureElement : undefined}
      className="placed"
      data-index={v.index}
      style={{ height: list.measured ? undefined : v.size, transform: `translateY(${v.start - margin}px)` }}
      aria-setsize={list.count}
      aria-posinset={v.index + 1}
    >
      {list.children(v.index)}
    </li>
  ));
}

/** In the page, what stands above may grow: the place of the list is measured again. */
function InPage(p: ListProps) {
  const box = useRef<HTMLUListElement>(null);
  const [margin, setMargin] = useState(0);
  const measure = () => {
    const outer = page();
    if (!outer || !box.current) return;
    const top = Math.round(box.current.getBoundingClientRect().top - outer.getBoundingClientRect().top + outer.scrollTop);
    setMargin((old) => (Math.abs(old - top) > 1 ? top : old));
  };
  useLayoutEffect(measure, [p.count, p.version]); // not while it scrolls: reading a place makes the browser lay all out
  useLayoutEffect(() => {
    const around = box.current?.closest("[data-rows]") ?? box.current?.parentElement;
    if (!around) return;
    const watch = new ResizeObserver(measure);
    watch.observe(around);
    return () => watch.disconnect();
  }, []);
  const virtual = useRows(p, box, page, margin);
  return (
    <ul ref={box} className={`rows ${p.className ?? ""}`} aria-label={p.label} style={{ height: virtual.getTotalSize() }}>
      <Placed list={p} virtual={virtual} margin={margin} />
    </ul>
  );
}

/** In a box of its own; one that is short enough has no bar to scroll, and no stop for the keyboard. */
function InBox(p: ListProps) {
  const box = useRef<HTMLDivElement>(null);
  const virtual = useRows(p, box, () => box.current);
  const whole = virtual.getTotalSize();
  const { most } = p;
  const scrolls = most === undefined || whole > most ? ({ tabIndex: 0, role: "region", "aria-label": p.label } as const) : {};
  return (
    <div ref={box} className={`list ${p.className ?? ""}`} style={most === undefined ? undefined : { height: Math.min(whole, most) }} {...scrolls}>
      <ul className="rows" aria-label={p.label} style={{ height: whole }}>
        <Placed list={p} virtual={virtual} />
      </ul>
    </div>
  );
}
