// A list of any length: only the rows that are in sight are in the page.
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, type ReactNode } from "react";
import "./list.css";

export interface ListProps {
  count: number;
  height: (i: number) => number; // known before it is drawn
  label: string;
  className?: string;
  shown?: number; // the row that must be in sight
  version?: unknown; // changes when the heights do
  role?: string;
  children: (i: number) => ReactNode;
}

export function List(p: ListProps) {
  const box = useRef<HTMLDivElement>(null);
  const list = useVirtualizer({
    count: p.count,
    getScrollElement: () => box.current,
    estimateSize: p.height,
    overscan: 8,
  });
  useEffect(() => list.measure(), [list, p.version]);
  useEffect(() => {
    if (p.shown !== undefined && p.shown >= 0) list.scrollToIndex(p.shown, { align: "auto" });
  }, [list, p.shown]);
  return (
    <div ref={box} className={`list ${p.className ?? ""}`} tabIndex={0} role={p.role ?? "region"} aria-label={p.label}>
      <div className="list-all" style={{ height: list.getTotalSize() }}>
        {list.getVirtualItems().map((v) => (
          <div key={v.key} className="list-one" style={{ height: v.size, transform: `translateY(${v.start}px)` }}>
            {p.children(v.index)}
          </div>
        ))}
      </div>
    </div>
  );
}
