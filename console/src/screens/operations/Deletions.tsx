// Requests to delete: each waits for its grace, and can be cancelled until then.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { cancelDeletion, deletions } from "../../api/office.ts";
import type { Deletion } from "../../api/types.ts";
import { Flag, type Family } from "../../parts/marks.tsx";
import { shown } from "../../words/escape.ts";
import { several } from "../../words/number.ts";
import { clock, until, whole } from "../../words/time.ts";
import { Said, useDeed } from "./Ask.tsx";
import { DeletionForm } from "./DeletionForm.tsx";
import { Head } from "./frame.tsx";
import { Part, useOffice } from "./office.tsx";
import { nameOf, span, type Names } from "./words.ts";

const words: Record<string, [Family, string]> = {
  waiting: ["risky", "waiting"],
  canceled: ["unknown", "taken back"],
  done: ["good", "done"],
  refused: ["partial", "refused"],
};
const rowsShown = 100;

export function Deletions() {
  const { may } = useOffice();
  const all = useQuery({ ...deletions, enabled: may("erase") });
  return (
    <Part needs="erase" closed="Requests to delete are not for this key" asked={all} what="requests to delete">
      {(data) => <Told all={data} />}
    </Part>
  );
}

function Told({ all }: { all: Deletion[] }) {
  const { usage, names } = useOffice();
  const [asking, setAsking] = useState(false);
  const said = sentence(all);
  const rows = [...all].sort((a, b) => Number(b.state === "waiting") - Number(a.state === "waiting") || b.asked.localeCompare(a.asked));
  return (
    <>
      <Head
        title={said.head}
        actions={
          <button type="button" className="button" onClick={() => setAsking(true)}>
            Ask for a deletion…
          </button>
        }
      >
        {said.rest} A request waits {usage.data ? span(usage.data.limits.grace) : "for its grace"}; what is pinned, held or the newest stays even then.
      </Head>
      {rows.length > 0 ? (
        <section className="card ops-card" aria-label="Requests to delete">
          <table className="ops-table ops-deletions">
            <thead>
              <tr>
                <th scope="col">What</th>
                <th scope="col">Why</th>
                <th scope="col">Asked</th>
                <th scope="col">State</th>
                <th scope="col">
                  <span className="sr">Take back</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, rowsShown).map((d) => (
                <Row key={d.id} d={d} names={names} />
              ))}
            </tbody>
          </table>
          {rows.length > rowsShown ? <p className="ops-note">and {several(rows.length - rowsShown, "older request")}: `retake deletions list`</p> : null}
        </section>
      ) : null}
      {asking ? <DeletionForm close={() => setAsking(false)} /> : null}
    </>
  );
}

function sentence(all: Deletion[]): { head: string; rest: string } {
  const waiting = all.filter((d) => d.state === "waiting");
  const refused = all.filter((d) => d.state === "refused").length;
  if (all.length === 0) return { head: "No deletion requests", rest: "" };
  const more = refused > 0 ? `${several(refused, "request was", "requests were")} refused.` : "";
  if (waiting.length === 0) return { head: "No deletion waits", rest: [`${several(all.length, "request")} ended.`, more].filter(Boolean).join(" ") };
  const n = waiting.reduce((s, d) => s + d.checkpoints.length, 0);
  const first = [...waiting].sort((a, b) => a.due.localeCompare(b.due))[0]!;
  return { head: `${several(n, "checkpoint")} ${n === 1 ? "goes" : "go"} unless ${waiting.length === 1 ? "the request is" : "the requests are"} taken back`, rest: [`The first ${until(first.due)}, ${whole(first.due).replace(/:\d\d$/, "")}.`, more].filter(Boolean).join(" ") };
}

function Row({ d, names }: { d: Deletion; names: Names }) {
  const back = useDeed(() => cancelDeletion(d.id), [["office", "deletions"]]);
  const [family, word] = words[d.state] ?? ["unknown", shown(d.state)];
  return (
    <tr>
      <th scope="row">
        <b>{several(d.checkpoints.length, "checkpoint")}</b>
        <span className="dim">{nameOf(names, d.workspace)}</span>
      </th>
      <td data-label="Why">{d.why ? <span>{`“${shown(d.why)}”`}</span> : <span className="dimmer">no reason given</span>}</td>
      <td data-label="Asked" className="num dim" title={whole(d.asked)}>
        <span>{clock(d.asked)}</span>
      </td>
      <td data-label="State">
        <b>
          <Flag family={family}>{word}</Flag>
        </b>
        <span className="dim num">
          {d.state === "waiting" ? `goes ${until(d.due)}, ${clock(d.due)}` : ""}
          {d.state === "done" && d.done ? clock(d.done) : ""}
          {d.note ? shown(d.note) : ""}
        </span>
      </td>
      <td className="right">
        {d.state === "waiting" ? (
          <button type="button" className="button ops-small" disabled={back.isPending} onClick={() => back.mutate(undefined)}>
            Take back
          </button>
        ) : null}
        <Said error={back.error} />
      </td>
    </tr>
  );
}
