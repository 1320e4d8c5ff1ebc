// Making a key: what it is for, where it is good, when it ends. Its secret is shown once.
import { useState } from "react";
import { makeKey } from "../../../api/office.ts";
import { shown } from "../../../words/escape.ts";
import { Dialog, Form, Secret, useDeed } from "../Ask.tsx";
import { useOffice } from "../office.tsx";
import { kinds, kindWords } from "../words.ts";

const day = 86_400_000;
const most = 200;
const lives: [string, number][] = [
  ["7 days", 7],
  ["30 days", 30],
  ["90 days", 90],
  ["a year", 365],
  ["no end", 0],
];

export function KeyForm({ close }: { close: () => void }) {
  const [kind, setKind] = useState<string>("agent");
  const [name, setName] = useState("");
  const [days, setDays] = useState(90);
  const [only, setOnly] = useState<string[]>([]);
  const act = useDeed(
    () => makeKey({ kind, name: name.trim(), workspaces: only, expires: days ? new Date(Date.now() + days * day).toISOString() : undefined }),
    [["office"]],
  );
  if (act.data) {
    const k = act.data.key;
    return (
      <Dialog key="made" title={k.name ? `The key “${shown(k.name)}” is made` : `An API key with the role ${shown(k.kind)} is made`} close={close} locked>
        <Secret secret={act.data.secret} close={close}>
          It {kindWords[k.kind] ?? "is a key"}; {k.workspaces.length ? "in the chosen workspaces only" : "in all workspaces"}. Send it as <code className="mono">Authorization: Bearer</code>, or set it as{" "}
          <code className="mono">RETAKE_KEY</code>.
        </Secret>
      </Dialog>
    );
  }
  return (
    <Dialog title="New key" close={close}>
      <Form verb="Make the key" deed={act} close={close}>
        <fieldset className="ops-set">
          <legend className="label">Kind</legend>
          {kinds.map((k) => (
            <label key={k} className="ops-check">
              <input type="radio" name="kind" value={k} checked={kind === k} onChange={() => setKind(k)} />
              <b>{k}</b> <span className="dim">{kindWords[k]}</span>
            </label>
          ))}
        </fieldset>
        <label className="field">
          <span className="label">Name: whose it is, or what for</span>
          <input className="text" data-first value={name} maxLength={200} onChange={(e) => setName(e.target.value)} />
        </label>
        <label className="field">
          <span className="label">It ends after</span>
          <select value={days} onChange={(e) => setDays(Number(e.target.value))}>
            {lives.map(([text, n]) => (
              <option key={n} value={n}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <Where only={only} setOnly={setOnly} />
      </Form>
    </Dialog>
  );
}

/** The workspaces that the key is good for; none chosen is all. */
function Where({ only, setOnly }: { only: string[]; setOnly: (ids: string[]) => void }) {
  const { live } = useOffice();
  const turn = (id: string) => setOnly(only.includes(id) ? only.filter((x) => x !== id) : [...only, id]);
  return (
    <fieldset className="ops-set">
      <legend className="label">Workspaces: {only.length === 0 ? "all, also those to come" : `only the ${only.length} chosen`}</legend>
      <div className="ops-types">
        {live.slice(0, most).map((w) => (
          <label key={w.id} className="ops-check">
            <input type="checkbox" checked={only.includes(w.id)} onChange={() => turn(w.id)} /> <span className="cut">{shown(w.name)}</span>
          </label>
        ))}
      </div>
      {live.length > most ? <p className="dimmer">The {most} most recently used are listed; for others there is the command retake keys make.</p> : null}
    </fieldset>
  );
}
