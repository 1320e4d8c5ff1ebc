// The overview above the list. A click goes to the nearest checkpoint, a drag shows that span;
// all of it can be done with the list and the zoom too.
import { memo, useEffect, useMemo, useRef, useState, type PointerEvent } from "react";
import { agentName } from "../../words/checkpoint.ts";
import { several } from "../../words/number.ts";
import { ago, clock, date, hour, seconds } from "../../words/time.ts";
import type { Read } from "./book.ts";
import { bars, firstWindow, nearest, ticks, windowOf, type Window, type Zoom } from "./overview.ts";
import { replacedIn, rowAt } from "./rows.ts";
import { shown } from "../../words/escape.ts";

interface Props {
  read: Read;
  zoom?: Zoom; // none: what fits
  span?: Window; // chosen by hand
  setSpan: (w: Window | undefined) => void;
  chosen?: number;
  go: (number: number) => void;
}

/** How far the word below a tick reaches to each side, in pixels. */
const half = (unit: string): number => (unit === "second" ? 30 : 22);

const legend = 116;
const height = 66;
const frame = { top: 4, base: 44, sessions: 47.5 };

export const Overview = memo(function Overview({ read, zoom, span, setSpan, chosen, go }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const all = useWidth(box);
  const now = useNow();
  const width = Math.max(200, all - legend);
  const { rows } = read;
  const at = rowAt(rows, chosen);
  const time = at ? Date.parse(at.time) : undefined;
  const w = useMemo(() => span ?? (zoom ? windowOf(rows, zoom, now, time) : firstWindow(rows, now, time)), [span, rows, zoom, now, time]);
  const behind = useMemo(() => replacedIn(rows, read.graph.rows), [rows, read.graph]);
  const drawn = useMemo(() => bars(rows, behind, w, { ...frame, width }), [rows, behind, w, width]);
  const x = (t: number) => ((t - w.from) / (w.to - w.from)) * width;
  const drag = useDrag(w, width, setSpan, (t) => {
    const c = nearest(rows, t);
    if (c) go(c.number);
  });
  const pointed = drag.at === undefined ? undefined : nearest(rows, drag.at);
  const when = `between ${clock(new Date(w.from).toISOString())} and ${clock(new Date(w.to).toISOString())}`;
  const name = `${several(drawn.count, "checkpoint")} ${when}: the height is how many files changed, the color how their checks ended`;
  return (
    <div ref={box} className="tl-over">
      <svg width={all} height={height} role="img" aria-label={name} {...drag.handlers}>
        <rect width={width} height={height} className="ground" />
        {ticks(w, Math.floor(width / 110)).filter((t) => (w.broken ? x(t.at) < width - 150 : Math.abs(x(t.at) - x(now)) > half(t.unit) + 18)).map((t) => (
          <g key={t.at}>
            <path d={`M${x(t.at)} 4V44`} className="grid" />
            <text x={Math.max(x(t.at), half(t.unit))} y="64" textAnchor="middle">
              {t.unit === "day" ? date(new Date(t.at)) : t.unit === "minute" ? hour(new Date(t.at)) : seconds(new Date(t.at).toISOString())}
            </text>
          </g>
        ))}
        {drawn.agents.map((a, i) => (
          <path key={a.agent} d={a.path} className={`session s${i}`} />
        ))}
        <path d={drawn.paths.left} className="bar left" />
        <path d={drawn.paths.none} className="bar" />
        <path d={drawn.paths.good} className="bar good" />
        <path d={drawn.paths.failed} className="bar failed" />
        <path d={drawn.effects.map((e) => `M${e - 2.4} 37.4l4.8-4.8M${e - 1.2} 32.4h3.8v3.8`).join("")} className="effect" />
        {drag.from !== undefined && drag.at !== undefined ? <rect className="span" x={Math.min(x(drag.from), x(drag.at))} width={Math.abs(x(drag.at) - x(drag.from))} height="46" /> : null}
        {time !== undefined && time >= w.from && time <= w.to ? <path d={`M${x(time) - 4} 0h8l-4 4.5z`} className="cursor" /> : null}
        {w.broken ? <Later x={width - 2} since={rows[0]!.time} /> : null}
        {now >= w.from && now <= w.to ? <Now x={x(now)} most={width - 14} /> : null}
        {drawn.count === 0 ? (
          <text x={width / 2} y="28" textAnchor="middle">
            No checkpoint in this span
          </text>
        ) : null}
        <Legend x={width + 16} agents={drawn.agents.map((a) => a.agent)} />
      </svg>
      {pointed && drag.from === undefined ? (
        <div className="tl-tip" style={{ left: Math.min(Math.max(x(Date.parse(pointed.time)), 0), width - 40) }}>
          <b>{pointed.number}</b> {clock(pointed.time)} {shown(pointed.title)}
        </div>
      ) : null}
      {span ? (
        <button type="button" className="chip tl-span" onClick={() => setSpan(undefined)}>
          {clock(new Date(span.from).toISOString())}–{clock(new Date(span.to).toISOString())}, show all
        </button>
      ) : null}
    </div>
  );
});

function Now({ x, most }: { x: number; most: number }) {
  return (
    <>
      <path d={`M${x} 4V44`} className="now" />
      <text x={Math.min(x, most)} y="64" textAnchor="middle" className="now-word">
        now
      </text>
    </>
  );
}

/** Between the last bar and now lies more time than there is room for. */
function Later({ x, since }: { x: number; since: string }) {
  return (
    <>
      <path d={`M${x} 4V44M${x - 12} 46l5-8M${x - 8} 46l5-8`} className="now" />
      <text x={x} y="64" textAnchor="end" className="now-word">
        {ago(since).replace(/ ago$/, " later: now")}
      </text>
    </>
  );
}

/** Names are foreign, and there is little room. */
const short = (name: string) => (name.length > 15 ? `${name.slice(0, 14)}…` : name);

function Legend({ x, agents }: { x: number; agents: string[] }) {
  return (
    <g transform={`translate(${x} 0)`} className="legend">
      <path d="M0 14v-6h3v6zM5 14v-11h3v11zM10 14v-8h3v8z" className="bar" />
      <text x="20" y="14">
        files changed
      </text>
      {agents.map((a, i) => (
        <g key={a} transform={`translate(0 ${30 + i * 15})`}>
          <path d="M0 0H14" className={`session s${i}`} />
          <text x="20" y="4">
            {short(agentName(a))}
          </text>
        </g>
      ))}
    </g>
  );
}

function useWidth(box: React.RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(900);
  useEffect(() => {
    const el = box.current;
    if (!el) return;
    const watch = new ResizeObserver(() => setWidth(el.clientWidth));
    watch.observe(el);
    return () => watch.disconnect();
  }, [box]);
  return width;
}

function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const t = setInterval(() => setNow(Date.now()), 30_000);
    return () => clearInterval(t);
  }, []);
  return now;
}

/** A drag by less than this is a click, in pixels. */
const click = 4;

function useDrag(w: Window, width: number, setSpan: (w: Window) => void, pick: (t: number) => void) {
  const [from, setFrom] = useState<number>();
  const [at, setAt] = useState<number>();
  const timeAt = (e: PointerEvent<SVGElement>) => {
    const px = Math.min(Math.max(e.clientX - e.currentTarget.getBoundingClientRect().left, 0), width);
    return w.from + (px / width) * (w.to - w.from);
  };
  const inside = (e: PointerEvent<SVGElement>) => e.clientX - e.currentTarget.getBoundingClientRect().left <= width;
  const handlers = {
    onPointerDown: (e: PointerEvent<SVGElement>) => {
      if (e.button !== 0 || !inside(e)) return;
      e.currentTarget.setPointerCapture(e.pointerId);
      setFrom(timeAt(e));
    },
    onPointerMove: (e: PointerEvent<SVGElement>) => setAt(inside(e) || from !== undefined ? timeAt(e) : undefined),
    onPointerLeave: () => setAt(undefined),
    onPointerUp: (e: PointerEvent<SVGElement>) => {
      if (from === undefined) return;
      const to = timeAt(e);
      setFrom(undefined);
      if ((Math.abs(to - from) / (w.to - w.from)) * width < click) pick(to);
      else setSpan({ from: Math.min(from, to), to: Math.max(from, to) });
    },
  };
  return { from, at, handlers };
}
