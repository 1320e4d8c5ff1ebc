// What the namespace takes, against what it may.
import { useState } from "react";
import type { Usage } from "../../api/types.ts";
import { bytes, count, several } from "../../words/number.ts";
import { Head, Lacks } from "./frame.tsx";
import { share } from "./hooks/health.ts";
import { limits, type Limit } from "./limits.ts";
import { LimitsForm } from "./LimitsForm.tsx";
import { Part, useOffice } from "./office.tsx";

export function Limits() {
  const { usage } = useOffice();
  return (
    <Part asked={usage} what="what the namespace takes">
      {(u) => <Told u={u} />}
    </Part>
  );
}

function Told({ u }: { u: Usage }) {
  const { may } = useOffice();
  const [changing, setChanging] = useState(false);
  const said = sentence(u);
  return (
    <>
      <Head
        title={said.head}
        bad={said.bad}
        actions={
          may("administer") ? (
            <button type="button" className="button" onClick={() => setChanging(true)}>
              Change limits…
            </button>
          ) : null
        }
      >
        {said.rest}
      </Head>
      <Lacks power="administer" what="Changing limits" />
      <section className="card ops-card ops-slim" aria-label="Limits">
        <table className="ops-table ops-limits">
          <thead>
            <tr>
              <th scope="col">Limit</th>
              <th scope="col" className="right">
                Taken
              </th>
              <th scope="col">
                <span className="sr">Share</span>
              </th>
              <th scope="col" className="right">
                At most
              </th>
            </tr>
          </thead>
          <tbody>
            {limits.map((l) => (
              <Row key={l.name} l={l} u={u} />
            ))}
          </tbody>
        </table>
        <p className="ops-note">Rates are counted by each server: with three of them a key has up to three times as much. {several(u.checkpoints, "checkpoint")} {u.checkpoints === 1 ? "is" : "are"} kept now.</p>
      </section>
      {changing ? <LimitsForm now={u.limits} close={() => setChanging(false)} /> : null}
    </>
  );
}

const taken = (l: Limit, u: Usage): number | undefined => (l.name === "store" ? u.bytes : l.name === "workspaces" ? u.workspaces : undefined);

function Row({ l, u }: { l: Limit; u: Usage }) {
  const n = taken(l, u);
  const most = u.limits[l.name];
  const part = n !== undefined && most > 0 ? Math.min(1, n / most) : 0;
  return (
    <tr>
      <th scope="row">
        <b>{l.text}</b>
        <span className="dim">{l.what}</span>
      </th>
      <td className="num right">{n === undefined ? "" : l.name === "store" ? bytes(n) : count(n)}</td>
      <td>
        {n !== undefined && most > 0 ? (
          <span className="ops-share">
            <span className="ops-meter" aria-hidden="true">
              <i className={part > 0.9 ? "bad" : part > 0.75 ? "risky" : "firm"} style={{ width: `${Math.max(part * 100, 0.5)}%` }} />
            </span>
            <span className="dimmer num">{share(n, most)}</span>
          </span>
        ) : null}
      </td>
      <td className="num right strong">{l.say(most)}</td>
    </tr>
  );
}

function sentence(u: Usage): { head: string; rest: string; bad: boolean } {
  const room = `${bytes(u.bytes)}${u.limits.store > 0 ? ` of ${bytes(u.limits.store)}` : ""}`;
  const spaces = `${count(u.workspaces)}${u.limits.workspaces > 0 ? ` of ${count(u.limits.workspaces)}` : ""} workspaces`;
  const rest = `Checkpoints take ${room}, and there are ${spaces}.`;
  const over = limits.filter((l) => {
    const n = taken(l, u);
    return n !== undefined && u.limits[l.name] > 0 && n / u.limits[l.name] > 0.9;
  });
  if (over.length > 0) {
    const l = over[0]!;
    const full = taken(l, u)! >= u.limits[l.name];
    return { head: `${l.text === "Workspaces" ? "Workspaces" : "The room"} ${full ? "reached" : l.text === "Workspaces" ? "are near" : "is near"} the limit`, rest, bad: true };
  }
  return { head: "Nothing is near its limit", rest, bad: false };
}
