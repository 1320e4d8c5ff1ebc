// Adding a schedule. The next times are shown before it is asked for; the server decides.
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { cadenceOf, makeSchedule } from "../../api/office.ts";
import { shown } from "../../words/escape.ts";
import { hour, whole } from "../../words/time.ts";
import { Dialog, Form, useDeed } from "./Ask.tsx";
import { useOffice } from "./office.tsx";
import { workWords } from "./words.ts";

const usual: [string, string][] = [
  ["5 minutes", "*/5 * * * *"],
  ["hour", "0 * * * *"],
  ["night at 03:00", "0 3 * * *"],
  ["Sunday at 04:00", "0 4 * * 0"],
];
const minute = 60 * 1e9;

export function ScheduleForm({ close }: { close: () => void }) {
  const [work, setWork] = useState("save");
  const [cron, setCron] = useState("0 * * * *");
  const [jitter, setJitter] = useState(0);
  const { namespace: ns, live } = useOffice();
  const [ws, setWs] = useState("");
  const cadence = useCadence(cron.trim());
  const act = useDeed(() => makeSchedule({ work, cron: cron.trim(), jitter: jitter * minute, workspace: work === "save" ? ws || ns.data?.default : undefined }), [["office", "schedules"]], close);
  return (
    <Dialog title="Add a schedule" close={close}>
      <Form verb="Add it" ready={!!cadence.data} deed={act} close={close}>
        <fieldset className="ops-set">
          <legend className="label">What it does</legend>
          {Object.entries(workWords).map(([w, text], i) => (
            <label key={w} className="ops-check">
              <input type="radio" name="work" data-first={i === 0 ? "" : undefined} checked={work === w} onChange={() => setWork(w)} /> <b>{w}</b> <span className="dim">{text}</span>
            </label>
          ))}
        </fieldset>
        {work === "save" ? (
          <label className="field">
            <span className="label">Workspace</span>
            <select value={ws || ns.data?.default || ""} onChange={(e) => setWs(e.target.value)}>
              {live.map((w) => (
                <option key={w.id} value={w.id}>
                  {shown(w.name)}
                </option>
              ))}
            </select>
          </label>
        ) : null}
        <div className="field">
          <label className="label" htmlFor="cron">
            When: minute, hour, day, month, day of the week, in UTC
          </label>
          <input id="cron" className="text mono" value={cron} required maxLength={256} aria-describedby="cron-next" onChange={(e) => setCron(e.target.value)} />
          <div className="row ops-wrap">
            <span className="dimmer">every</span>
            {usual.map(([text, line]) => (
              <button key={line} type="button" className="chip" aria-pressed={cron.trim() === line} onClick={() => setCron(line)}>
                {text}
              </button>
            ))}
          </div>
          <Next of={cadence} />
        </div>
        <label className="field">
          <span className="label">Each run begins up to so many minutes later, so that not all come at once</span>
          <input className="text" type="number" min={0} max={1440} value={jitter} onChange={(e) => setJitter(Number(e.target.value))} />
        </label>
        {work === "retain" ? <p className="ops-sentence">Each run drops the checkpoints that are too old by then. They do not come back; pins, holds and what undo needs stay.</p> : null}
      </Form>
    </Dialog>
  );
}

/** The day is said once. */
const when = (t: Date, before?: Date) => (before?.toDateString() === t.toDateString() ? hour(t) : whole(t.toISOString()).replace(/:00$/, "").replace(/ \d{4},/, ""));

/** The server reads the line once it has not been typed at for a moment. */
function useCadence(cron: string) {
  const [asked, setAsked] = useState(cron);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(cron), 250);
    return () => clearTimeout(timer);
  }, [cron]);
  const { data, isError } = useQuery(cadenceOf(asked));
  return asked === cron ? { data, isError } : { data: undefined, isError: false };
}

function Next({ of: { data: c, isError } }: { of: ReturnType<typeof useCadence> }) {
  const times = (c?.next ?? []).map((t) => new Date(t));
  return (
    <p id="cron-next" className="dim" role="status">
      {isError ? "These are not five fields that make sense yet." : ""}
      {c ? `${c.words ? `${c.words}: ` : ""}${times.map((t, i) => when(t, times[i - 1])).join(", then ")}, your time.` : ""}
    </p>
  );
}
