// What stays, what goes next, and what is kept on purpose.
import { Link } from "@tanstack/react-router";
import type { Drop, Pin, SpacePlan } from "../../api/types.ts";
import { List } from "../../parts/List.tsx";
import { shown } from "../../words/escape.ts";
import { bytes, count, several } from "../../words/number.ts";
import { ago, clock, whole } from "../../words/time.ts";
import { Part } from "./Part.tsx";
import { columns, daysText, dropsOf, keptText, spaceOf, tidyText, within } from "./words.ts";

export function Retention({ plan, ws, server }: { plan: SpacePlan; ws: string; server: boolean }) {
  const own = spaceOf(plan, ws);
  const drops = dropsOf(plan, ws);
  const commands: [string, string][] = [["How long checkpoints are kept here", `retake config ${ws}.keep-within 60d`], ["What would go, of all workspaces", "retake space"]];
  return (
    <Part title="Kept checkpoints" aside={own ? <span className="dim">{own.within > 0 ? `for ${within(own.within)} of work` : "for ever"}</span> : null} commands={server ? undefined : commands}>
      {own?.closed ? <p className="settings-say risky">Nothing of it goes at present: {shown(own.closed)}.</p> : null}
      {own?.days ? <Days days={own.days} /> : null}
      <p className="settings-next">
        {tidyText(plan, ws)}
        {plan.last ? ` The last one was ${ago(plan.last.at)}: ${several(plan.last.forgotten, "checkpoint")} of all workspaces went, ${bytes(plan.last.gave)} came back.` : ""}
      </p>
      {drops.length > 0 ? (
        <List label="Checkpoints that go next" count={drops.length} height={28} most={196}>
          {(i) => <Going ws={ws} drop={drops[i]!} />}
        </List>
      ) : null}
      <table className="settings-kept">
        <thead>
          <tr>
            <th scope="col">kept because it is</th>
            <th scope="col" className="num">
              checkpoints
            </th>
            <th scope="col">when the disk is nearly full</th>
          </tr>
        </thead>
        <tbody>
          {(own?.kept ?? []).map((k) => (
            <tr key={k.why}>
              <td>{keptText(k)}</td>
              <td className="num">{count(k.count)}</td>
              <td className="dim">{k.always ? "stays" : "may go, the oldest first"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Part>
  );
}

function Going({ ws, drop: d }: { ws: string; drop: Drop }) {
  return (
    <div className="settings-drop">
      <Link className="link num" to="/w/$ws/m/$ref" params={{ ws, ref: String(d.number) }}>
        {d.number}
      </Link>
      <span title={whole(d.time)}>{clock(d.time)}</span>
      <span className="dim">{shown(d.why)}</span>
      <span className="dim num">about {bytes(d.bytes)}</span>
    </div>
  );
}

function Days({ days }: { days: readonly number[] }) {
  return (
    <div>
      <div className="settings-days" role="img" aria-label={daysText(days)}>
        {columns(days).map((h, i) => (
          <i key={i} style={{ height: `${Math.round(h * 100)}%` }} />
        ))}
      </div>
      <p className="settings-axis" aria-hidden="true">
        <span>{days.length} days ago</span>
        <span>checkpoints kept, by day</span>
        <span>today</span>
      </p>
    </div>
  );
}

export function Pins({ pins, ws, server }: { pins: readonly Pin[]; ws: string; server: boolean }) {
  return (
    <Part title="Pins" commands={[["Keep a checkpoint on purpose", "retake pin 14 works"], ["Take a pin away; the checkpoint stays", "retake unpin works"]]}>
      {pins.length === 0 ? <p className="dim">No checkpoint is pinned. A pin keeps one whatever its age, under a name.</p> : null}
      <ul className="settings-pins">
        {pins.map((p) => (
          <li key={p.name}>
            <b>{shown(p.name)}</b>
            <Link className="link num" to="/w/$ws/m/$ref" params={{ ws, ref: String(p.number) }}>
              {p.number}
            </Link>
            <span className="dim" title={whole(p.time)}>
              pinned {clock(p.time)}
            </span>
          </li>
        ))}
      </ul>
      {server ? <p className="dim">Holds keep checkpoints too. The server does not list them yet; what they keep is counted above as in use.</p> : null}
    </Part>
  );
}
