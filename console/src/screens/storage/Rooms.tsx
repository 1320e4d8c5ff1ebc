// What is known of each workspace: its size now, its checkpoints by day and what they brought, how long they are kept.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { SpacePlan, WorkspaceState } from "../../api/types.ts";
import { Icon } from "../../parts/Icon.tsx";
import { shown } from "../../words/escape.ts";
import { bytes, count, orNone, several } from "../../words/number.ts";
import { span } from "../operations/words.ts";
import { Spark } from "./Chart.tsx";

const first = 40;

export function Rooms({ plan, all }: { plan: SpacePlan; all: WorkspaceState[] }) {
  const [more, setMore] = useState(first);
  const goes = new Map<string, number>();
  for (const d of plan.drops ?? []) goes.set(d.workspace, (goes.get(d.workspace) ?? 0) + 1);
  const rooms = new Map((plan.workspaces ?? []).map((w) => [w.workspace, w]));
  const rows = [...all].sort((a, b) => (b.latest?.bytes ?? 0) - (a.latest?.bytes ?? 0));
  return (
    <section className="card ops-card" aria-label="By workspace">
      <table className="ops-table st-rooms">
        <thead>
          <tr>
            <th scope="col">Workspace</th>
            <th scope="col" className="right">
              Checkpoints
            </th>
            <th scope="col" className="right">
              Files now
            </th>
            <th scope="col">30 days: checkpoints, bytes brought</th>
            <th scope="col">Kept for</th>
            <th scope="col" className="right">
              Would go
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, more).map((w) => (
            <tr key={w.id}>
              <th scope="row">
                <Link to="/w/$ws" params={{ ws: w.id }} className="cut">
                  {w.origin ? <Icon name="fork" small /> : null}
                  <b>{shown(w.name)}</b>
                </Link>
                <span className="dimmer cut mono" title={shown(w.root)}>
                  {shown(w.root)}
                </span>
              </th>
              <td className="num right">{count(w.count)}</td>
              <td className="num right">{w.latest ? bytes(w.latest.bytes) : "–"}</td>
              <td className="st-month">
                <Spark days={rooms.get(w.id)?.days ?? []} />
                <span className="num">{bytes((rooms.get(w.id)?.brought ?? []).reduce((a, b) => a + b, 0))}</span>
              </td>
              <td>{keptFor(w, rooms.get(w.id))}</td>
              <td className="num right">{orNone(goes.get(w.id) ?? 0)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > more ? (
        <p className="ops-note">
          <button type="button" className="link" onClick={() => setMore(more + first)}>
            Show {several(Math.min(first, rows.length - more), "more workspace")} of {count(rows.length - more)}
          </button>
        </p>
      ) : null}
    </section>
  );
}

function keptFor(w: WorkspaceState, room?: { within: number; closed?: string }) {
  if (room?.closed) return <span className="partial">all: {shown(room.closed)}</span>;
  if (w.ended) return <span className="unknown">no longer protected</span>;
  if (w.gone) return <span className="risky">directory gone</span>;
  return room ? span(room.within) : "all";
}
