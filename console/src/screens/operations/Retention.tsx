// What would go with the next cleanup and why; what stays, and for what.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { cadenceOf, schedules, spacePlan } from "../../api/office.ts";
import type { KeptFor, SpacePlan, Usage } from "../../api/types.ts";
import { shown } from "../../words/escape.ts";
import { bytes, count, orNone, several } from "../../words/number.ts";
import { clock, until } from "../../words/time.ts";
import { Drops, dropsSentence } from "./Drops.tsx";
import { Head, Lacks } from "./frame.tsx";
import { Part, useOffice } from "./office.tsx";
import { nameOf, span, type Names } from "./words.ts";

export function Retention() {
  const plan = useQuery(spacePlan);
  return (
    <Part asked={plan} what="what the next cleanup would do">
      {(p) => <Told plan={p} />}
    </Part>
  );
}

function Told({ plan: p }: { plan: SpacePlan }) {
  const { may, usage, names } = useOffice();
  const always = kept(p).filter((k) => k.always).reduce((n, k) => n + k.count, 0);
  return (
    <>
      <Head
        title={dropsSentence(p)}
        actions={
          may("maintain") ? (
            <Link to="/storage" className="button">
              Tidy up in Storage…
            </Link>
          ) : null
        }
      >
        Nothing goes by looking. {usage.data ? `Checkpoints are kept ${usage.data.limits.within > 0 ? `for ${span(usage.data.limits.within)}` : "for ever"}; ` : ""}
        {several(always, "checkpoint")} {always === 1 ? "stays" : "stay"} even when the disk is nearly full.
      </Head>
      <div className="ops-two">
        <div className="ops-stack">
          <section className="card ops-card" aria-labelledby="drops-title">
            <header>
              <h2 id="drops-title">What would go</h2>
              <span className="dimmer ops-aside">oldest first, never cut</span>
            </header>
            <Drops plan={p} names={names} />
          </section>
          <PerWorkspace plan={p} names={names} />
        </div>
        <div className="ops-stack">
          <Stays plan={p} />
          <Rules plan={p} use={usage.data} />
        </div>
      </div>
    </>
  );
}

/** Why checkpoints stay, of all workspaces together. */
function kept(p: SpacePlan): KeptFor[] {
  const sums = new Map<string, KeptFor>();
  for (const k of (p.workspaces ?? []).flatMap((w) => w.kept ?? [])) {
    const s = sums.get(k.why) ?? { why: k.why, always: k.always, count: 0 };
    s.count += k.count;
    sums.set(k.why, s);
  }
  return [...sums.values()].sort((a, b) => Number(b.always) - Number(a.always) || b.count - a.count);
}

function Stays({ plan }: { plan: SpacePlan }) {
  const all = kept(plan);
  const most = Math.max(1, ...all.map((k) => k.count));
  return (
    <section className="card ops-card" aria-labelledby="stays-title">
      <header>
        <h2 id="stays-title">What stays, and for what</h2>
      </header>
      {[true, false].map((always) => {
        const some = all.filter((k) => k.always === always);
        return some.length === 0 ? null : (
          <div key={String(always)} className="ops-kept">
            <p className="label">{always ? "Always" : "Unless the disk is nearly full"}</p>
            <ul>
              {some.map((k) => (
                <li key={k.why}>
                  <span>{k.why ? shown(k.why) : "no reason"}</span>
                  <span className="ops-meter" aria-hidden="true">
                    <i className={always ? "firm" : ""} style={{ width: `${(k.count / most) * 100}%` }} />
                  </span>
                  <b className="num right">{count(k.count)}</b>
                </li>
              ))}
            </ul>
          </div>
        );
      })}
    </section>
  );
}

function Rules({ plan, use }: { plan: SpacePlan; use?: Usage }) {
  const { may } = useOffice();
  const runs = useQuery({ ...schedules, enabled: may("administer") });
  const next = (runs.data ?? []).filter((s) => s.work === "retain").sort((a, b) => a.next.localeCompare(b.next))[0];
  const words = useQuery(cadenceOf(next?.cron ?? "")).data?.words;
  return (
    <section className="card ops-card" aria-labelledby="rules-title">
      <header>
        <h2 id="rules-title" className="grow">
          The rules
        </h2>
        <Link to="/operations/$part" params={{ part: "limits" }} className="link">
          Limits
        </Link>
      </header>
      <dl className="ops-facts">
        <div>
          <dt>Kept</dt>
          <dd>{use ? span(use.limits.within) : "…"}</dd>
        </div>
        <div>
          <dt>All of it</dt>
          <dd>{use ? (use.limits.store > 0 ? `at most ${bytes(use.limits.store)}; the oldest go first` : "as much as there is") : "…"}</dd>
        </div>
        <div>
          <dt>By schedule</dt>
          <dd>
            {next ? `${words || `by ${next.cron} in UTC`}; next ${until(next.next)}` : runs.isSuccess ? "none asked for" : "an admin key sees schedules"}
            {next?.last ? <span className="dimmer"> last {clock(next.last.at)}: {shown(next.last.err || next.last.what)}</span> : null}
          </dd>
        </div>
        <div>
          <dt>Last cleanup</dt>
          <dd>{plan.last ? `${clock(plan.last.at)}: dropped ${several(plan.last.forgotten, "checkpoint")}, gave back ${bytes(plan.last.gave)}` : "none yet"}</dd>
        </div>
      </dl>
      <Lacks power="administer" what="Changing limits and schedules" />
    </section>
  );
}

function PerWorkspace({ plan, names }: { plan: SpacePlan; names: Names }) {
  const goes = new Map<string, number>();
  for (const d of plan.drops ?? []) goes.set(d.workspace, (goes.get(d.workspace) ?? 0) + 1);
  const rows = (plan.workspaces ?? []).slice(0, 100);
  const left = (plan.workspaces?.length ?? 0) - rows.length;
  return (
    <section className="card ops-card" aria-labelledby="each-title">
      <header>
        <h2 id="each-title">By workspace</h2>
      </header>
      <table className="ops-table ops-narrow">
        <thead>
          <tr>
            <th scope="col">Workspace</th>
            <th scope="col">Kept for</th>
            <th scope="col" className="right">
              Stay
            </th>
            <th scope="col" className="right">
              Go
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((w) => (
            <tr key={w.workspace}>
              <th scope="row" className="cut">
                <Link className="link" to="/w/$ws" params={{ ws: w.workspace }}>
                  {nameOf(names, w.workspace)}
                </Link>
              </th>
              <td>{w.closed ? <span className="partial">nothing goes: {shown(w.closed)}</span> : span(w.within)}</td>
              <td data-label="stay" className="num right">{count((w.kept ?? []).reduce((n, k) => n + k.count, 0))}</td>
              <td data-label="go" className="num right">{orNone(goes.get(w.workspace) ?? 0)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {left > 0 ? <p className="ops-note">and {several(left, "more workspace")}</p> : null}
    </section>
  );
}
