// Long lists, of which only what is seen is there: as part of the page, which scrolls,
// or in a box that scrolls by itself. Heights are fixed by kind of row.
import { useVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore, type ReactNode } from "react";

const phone = () => matchMedia("(max-width: 720px)");
const watchPhone = (tell: () => void) => {
  const m = phone();
  m.addEventListener("change", tell);
  return () => m.removeEventListener("change", tell);
};

/** useNarrow tells whether there is one column only, as on a phone. */
export const useNarrow = (): boolean => useSyncExternalStore(watchPhone, () => phone().matches);

export interface RowsProps<T> {
  label: string;
  items: readonly T[];
  keyOf: (item: T) => string;
  height: number | ((item: T) => number);
  row: (item: T) => ReactNode;
  className?: string;
}

const heightOf = <T,>(list: RowsProps<T>, i: number): number => (typeof list.height === "number" ? list.height : list.height(list.items[i]!));

type Placing = Virtualizer<HTMLElement, Element>;

function Placed<T>({ list, virtual, margin }: { list: RowsProps<T>; virtual: Placing; margin: number }) {
  return virtual.getVirtualItems().map((v) => {
    const item = list.items[v.index];
    if (item === undefined) return null;
    return (
      <li key={list.keyOf(item)} className="placed" style={{ height: v.size, transform: `translateY(${v.start - margin}px)` }} aria-setsize={list.items.length} aria-posinset={v.index + 1}>
        {list.row(item)}
      </li>
    );
  });
}

/** Rows turn into others of other heights: then all are placed again. Who lists gives the same function until then. */
function useHeights<T>(list: RowsProps<T>, virtual: Placing) {
  useEffect(() => virtual.measure(), [virtual, list.items, list.height]);
}

/** Rows is a list in the page. What stands above it may grow: its place is measured again. */
export function Rows<T>(list: RowsProps<T>) {
  const box = useRef<HTMLUListElement>(null);
  const [margin, setMargin] = useState(0);
  const page = () => document.getElementById("page");
  const measure = () => {
    const outer = page();
    if (!outer || !box.current) return;
    const top = Math.round(box.current.getBoundingClientRect().top - outer.getBoundingClientRect().top + outer.scrollTop);
    setMargin((old) => (Math.abs(old - top) > 1 ? top : old));
  };
  useLayoutEffect(measure, [list.items]); // not while it scrolls: reading a place makes the browser lay all out
  useLayoutEffect(() => {
    const around = box.current?.closest("[data-rows]") ?? box.current?.parentElement;
    if (!around) return;
    const watch = new ResizeObserver(measure);
    watch.observe(around);
    return () => watch.disconnect();
  }, []);
  const virtual = useVirtualizer<HTMLElement, Element>({
    count: list.items.length,
    getScrollElement: page,
    estimateSize: (i) => heightOf(list, i),
    getItemKey: (i) => list.keyOf(list.items[i]!),
    scrollMargin: margin,
    overscan: 6,
  });
  useHeights(list, virtual);
  return (
    <ul ref={box} className={`rows ${list.className ?? ""}`} aria-label={list.label} style={{ height: virtual.getTotalSize() }}>
      <Placed list={list} virtual={virtual} margin={margin} />
    </ul>
  );
}

/** Long is a list in a box of its own; a short one has no bar to scroll. */
export function Long<T>({ most, ...list }: RowsProps<T> & { most: number }) {
  const box = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer<HTMLElement, Element>({
    count: list.items.length,
    getScrollElement: () => box.current,
    estimateSize: (i) => heightOf(list, i),
    getItemKey: (i) => list.keyOf(list.items[i]!),
    overscan: 6,
  });
  useHeights(list, virtual);
  const whole = virtual.getTotalSize();
  const scrolls = whole > most ? ({ tabIndex: 0, role: "group", "aria-label": list.label } as const) : {};
  return (
    <div ref={box} className="long" style={{ height: Math.min(whole, most) }} {...scrolls}>
      <ul className={`rows ${list.className ?? ""}`} aria-label={list.label} style={{ height: whole }}>
        <Placed list={list} virtual={virtual} margin={0} />
      </ul>
    </div>
  );
}
