// The graph beside the list, of the rows in sight. It is decoration: the rows say in words
// what it shows.
import { memo } from "react";
import { paths, type Drawn } from "./draw.ts";
import { nodeOf, type NodeKind } from "./story.ts";

export const geometry = (phone: boolean) => ({ x: (lane: number) => (phone ? 17 + 15 * lane : 22 + 21 * lane), bend: 9 });

/** How much room the graph takes, so that text begins behind it. */
export const laneRoom = (lanes: number, phone: boolean): number => (phone ? 32 + 15 * (lanes - 1) : 42 + 21 * (lanes - 1));

interface Props {
  rows: readonly Drawn[];
  lanes: number;
  phone: boolean;
  newest: number;
}

export const Lanes = memo(function Lanes({ rows, lanes, phone, newest }: Props) {
  const first = rows[0];
  const last = rows[rows.length - 1];
  if (!first || !last) return null;
  const g = geometry(phone);
  const p = paths(rows, lanes, g);
  const height = last.top + last.height - first.top;
  const width = laneRoom(lanes, phone);
  return (
    <svg className="tl-lanes" aria-hidden="true" width={width} height={height} viewBox={`0 ${first.top} ${width} ${height}`} style={{ top: first.top }}>
      <path className="line main" d={p.main} />
      <path className="line left" d={p.left} />
      <path className="line fork" d={p.fork} />
      <path className="line dots" d={p.dots} />
      {rows.map((r) => (
        <Node key={r.item.key} row={r} x={g.x} newest={newest} />
      ))}
    </svg>
  );
});

function Node({ row, x, newest }: { row: Drawn; x: (lane: number) => number; newest: number }) {
  const { item, top, height } = row;
  if (item.lane < 0) return null;
  const at = `translate(${x(item.lane)} ${top + height / 2})`;
  switch (item.kind) {
    case "checkpoint":
      return (
        <g transform={at} className={item.left ? "node left" : "node"}>
          {item.row.number === newest ? <circle r="11.5" className="halo" /> : null}
          <Sign kind={nodeOf(item.row)} />
        </g>
      );
    case "fork":
      return (
        <g transform={at} className="node">
          <Sign kind={nodeOf(item.row)} />
        </g>
      );
    case "effect":
      return (
        <g transform={at} className="node">
          <circle r="7.5" className="ground" />
          <path d="M-2.6 2.6l5-5M-1.4-2.6h3.9v3.9" className="arrow" />
        </g>
      );
    case "now":
      return <circle transform={at} r="4.5" className="node-now" />;
    case "more":
      return <circle transform={at} r="3" className="plain" />;
    case "fold":
      return (
        <g transform={at} className="node">
          <path d="M-7-8h14v16h-14z" className="ground" />
          <path d="M0-4.5v.01M0 0v.01M0 4.5v.01" className="three" />
        </g>
      );
    default:
      return null;
  }
}

function Sign({ kind }: { kind: NodeKind }) {
  switch (kind) {
    case "good":
      return (
        <>
          <circle r="7.5" className="good" />
          <path d="M-3.1.3l2.1 2.2L3.2-2.1" className="tick" />
        </>
      );
    case "inherited":
      return (
        <>
          <circle r="7" className="as" />
          <path d="M-3 .3l2 2.1 4-4.4" className="as-tick" />
        </>
      );
    case "failed":
      return (
        <>
          <circle r="7" className="failed" />
          <path d="M-2.5-2.5l5 5M2.5-2.5l-5 5" className="cross" />
        </>
      );
    case "safety":
      return <path d="M0-5.4L5.4 0 0 5.4-5.4 0z" className="plain" />;
    default:
      return <circle r="5" className="plain" />;
  }
}
