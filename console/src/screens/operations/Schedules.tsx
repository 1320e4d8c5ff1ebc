// What is done on a cadence: when next, how it went, what was missed.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { cadenceOf, dropSchedule, schedules } from "../../api/office.ts";
import type { Schedule } from "../../api/types.ts";
import { Icon } from "../../parts/Icon.tsx";
import { Flag } from "../../parts/marks.tsx";
import { shown } from "../../words/escape.ts";
import { duration, several } from "../../words/number.ts";
import { clock, hour, until, whole } from "../../words/time.ts";
import { Confirm } from "./Ask.tsx";
import { Head } from "./frame.tsx";
import { Part, useOffice } from "./office.tsx";
import { ScheduleForm } from "./ScheduleForm.tsx";
import { nameOf, sentence as sentenceOf, workWords, type Names } from "./words.ts";

export function Schedules() {
  const { may } = useOffice();
  const all = useQuery({ ...schedules, enabled: may("administer") });
  return (
    <Part needs="administer" closed="Schedules are not for this key" asked={all} what="schedules">
      {(data) => <Told all={data} />}
    </Part>
  );
}

function Told({ all }: { all: Schedule[] }) {
  const { names } = useOffice();
  const [adding, setAdding] = useState(false);
  const [ending, setEnding] = useState<Schedule>();
  const said = sentence(all, names);
  return (
    <>
      <Head
        title={said.head}
        bad={said.bad}
        actions={
          <button type="button" className="button primary" onClick={() => setAdding(true)}>
            <Icon name="plus" small />
            Add a schedule
          </button>
        }
      >
        {said.rest}
      </Head>
      {all.length > 0 ? (
        <section className="card ops-card" aria-label="Schedules">
          <table className="ops-table ops-schedules">
            <thead>
              <tr>
                <th scope="col">Does</th>
                <th scope="col">When</th>
                <th scope="col">Next</th>
                <th scope="col">Last</th>
                <th scope="col">Missed</th>
                <th scope="col">
                  <span className="sr">Drop</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {all.map((s) => (
                <Row key={s.id} s={s} names={names} end={() => setEnding(s)} />
              ))}
            </tbody>
          </table>
        </section>
      ) : null}
      {adding ? <ScheduleForm close={() => setAdding(false)} /> : null}
      {ending ? (
        <Confirm title={`Drop ${shown(ending.work)} by ${shown(ending.cron)}`} verb="Drop the schedule" stale={[["office", "schedules"]]} close={() => setEnding(undefined)} deed={() => dropSchedule(ending.id)}>
          {ending.work === "save" ? `No checkpoint of ${nameOf(names, ending.workspace ?? "")} is taken by it any more.` : ending.work === "retain" ? "It drops nothing by itself any more." : "It reads nothing back any more."} What it
          did stays. It can be added again.
        </Confirm>
      ) : null}
    </>
  );
}

function sentence(all: Schedule[], names: Names): { head: string; rest: string; bad: boolean } {
  if (all.length === 0) return { head: "Nothing is scheduled", rest: "A schedule takes checkpoints, drops what is too old, or reads stored bytes back, by a cron line in UTC.", bad: false };
  const wrong = all.filter((s) => s.last?.err);
  const missed = all.reduce((n, s) => n + s.missed, 0);
  const next = [...all].sort((a, b) => a.next.localeCompare(b.next))[0]!;
  const what = next.work === "save" ? `save of ${nameOf(names, next.workspace ?? "")}` : shown(next.work);
  const rest = [`Next is ${what} ${until(next.next)}, at ${hour(new Date(next.next))}.`, missed > 0 ? `${several(missed, "run was", "runs were")} missed: no server was there.` : "No run was missed."];
  if (wrong.length === 1) return { head: `The ${shown(wrong[0]!.work)} of ${clock(wrong[0]!.last!.at)} went wrong`, rest: [sentenceOf(wrong[0]!.last!.err!), ...rest].join(" "), bad: true };
  if (wrong.length > 1) return { head: `${wrong.length} of ${several(all.length, "schedule")} went wrong`, rest: rest.join(" "), bad: true };
  return { head: all.length === 1 ? "One schedule runs" : `All ${all.length} schedules run`, rest: rest.join(" "), bad: false };
}

function Row({ s, names, end }: { s: Schedule; names: Names; end: () => void }) {
  const words = useQuery(cadenceOf(s.cron)).data?.words;
  return (
    <tr>
      <th scope="row">
        <b>
          {shown(s.work)}
          {s.work === "save" ? ` ${nameOf(names, s.workspace ?? "")}` : ""}
        </b>
        <span className="dim">{workWords[s.work] ?? ""}</span>
      </th>
      <td data-label="When">
        <b className={words ? "" : "mono"}>{words || shown(s.cron)}</b>
        <span className="dimmer">
          <span className="mono">{shown(s.cron)}</span> in UTC{s.jitter > 0 ? `, up to ${duration(s.jitter).replace(" 0 s", "")} later` : ""}
        </span>
      </td>
      <td data-label="Next" className="num" title={whole(s.next)}>
        <b>{until(s.next)}</b>
        <span className="dimmer">{clock(s.next) === hour(new Date(s.next)) ? `at ${hour(new Date(s.next))}` : whole(s.next).replace(/ \d{4},/, ",")}</span>
      </td>
      <td data-label="Last">
        {s.last ? (
          <>
            <b className="num" title={whole(s.last.at)}>
              {clock(s.last.at)}
              {s.last.err ? <Flag family="bad">went wrong</Flag> : null}
            </b>
            <span className={s.last.err ? "bad" : "dim"}>
              {shown(s.last.err || s.last.what)}
              {s.last.took > 1e8 ? ` in ${duration(s.last.took)}` : ""}
            </span>
          </>
        ) : (
          <span className="dim">not yet</span>
        )}
      </td>
      <td data-label="Missed">{s.missed > 0 ? <Flag family="risky">{`${several(s.missed, "run")} missed`}</Flag> : <span className="dim">none</span>}</td>
      <td className="right">
        <button type="button" className="button ops-small" onClick={end}>
          Drop…
        </button>
      </td>
    </tr>
  );
}
