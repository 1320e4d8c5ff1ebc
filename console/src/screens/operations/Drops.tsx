// What the next tidy-up would drop: by reason in words, each moment in a virtual list.
import { Link } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useRef, useState } from "react";
import type { Drop, SpacePlan } from "../../api/types.ts";
import { shown } from "../../words/escape.ts";
import { bytes, count, several } from "../../words/number.ts";
import { clock, whole } from "../../words/time.ts";
import { byReason } from "../storage/room.ts";
import { usePhone } from "./frame.tsx";
import { dropWords, nameOf, type Names } from "./words.ts";

const rowsShown = 10;

/** 42 moments would go, about 3.1 MB; or that nothing is due. */
export function dropsSentence(p: SpacePlan): string {
  const n = p.drops?.length ?? 0;
  if (n === 0) return p.need === "budget" && p.budget > 0 && p.store.bytes > p.budget ? "Nothing more can go: what is kept on purpose takes more than the budget" : "Nothing is due: the next tidy-up drops no moment";
  return `${several(n, "moment")} ${n === 1 ? "goes" : "go"} with the next tidy-up, about ${bytes(p.frees)}`;
}

export function Drops({ plan, names }: { plan: SpacePlan; names: Names }) {
  const [why, setWhy] = useState<string>();
  const phone = usePhone();
  const all = plan.drops ?? [];
  const sums = byReason(all);
  const rows = why ? all.filter((d) => d.why === why) : all;
  if (all.length === 0) {
    return (
      <p className="ops-none">
        No moment is too old, and nothing is short of room.
        {plan.garbage > 0 ? ` About ${bytes(plan.garbage)} belong to no moment any more; the next tidy-up gives them back.` : ""}
      </p>
    );
  }
  return (
    <>
      <div className="ops-reasons" role="group" aria-label="By reason">
        {sums.map((s) => (
          <button key={s.why} type="button" className="chip" aria-pressed={why === s.why} onClick={() => setWhy(why === s.why ? undefined : s.why)}>
            <b className="num">{count(s.count)}</b> {dropWords[s.why] ?? shown(s.why)} <span className="dimmer num">about {bytes(s.bytes)}</span>
          </button>
        ))}
      </div>
      <List key={String(phone)} rows={rows} names={names} rowHeight={phone ? 44 : 30} />
    </>
  );
}

function List({ rows, names, rowHeight }: { rows: Drop[]; names: Names; rowHeight: number }) {
  const box = useRef<HTMLDivElement>(null);
  const list = useVirtualizer({ count: rows.length, getScrollElement: () => box.current, estimateSize: () => rowHeight, overscan: 8 });
  return (
    <div ref={box} className="ops-scroll ops-drops" role="list" aria-label="Moments that would go, oldest first" tabIndex={0} style={{ height: Math.min(rows.length, rowsShown) * rowHeight }}>
      <div role="presentation" style={{ height: list.getTotalSize(), position: "relative" }}>
        {list.getVirtualItems().map((v) => {
          const d = rows[v.index]!;
          return (
            <div key={d.checkpoint} role="listitem" className="ops-drop" style={{ transform: `translateY(${v.start}px)` }}>
              <Link className="link cut" to="/w/$ws/m/$ref" params={{ ws: d.workspace, ref: String(d.number) }}>
                {nameOf(names, d.workspace)} <b className="num">{d.number}</b>
              </Link>
              <span className="dim num" title={whole(d.time)}>
                {clock(d.time)}
              </span>
              <span className="dim">{dropWords[d.why] ?? shown(d.why)}</span>
              <span className="num right dim">about {bytes(d.bytes)}</span>
            </div>
          );
        })}
      </div>
    </div>
  );
}
