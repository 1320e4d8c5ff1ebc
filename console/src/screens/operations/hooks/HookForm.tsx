// Adding or changing an endpoint. The secret comes back once and is shown in the same dialog.
import { useState } from "react";
import { changeHook, makeHook } from "../../../api/office.ts";
import type { NewWebhook, Webhook } from "../../../api/types.ts";
import { Dialog, Form, Secret, useDeed } from "../Ask.tsx";
import { eventTypes } from "../words.ts";
import { place } from "./health.ts";

export function HookForm({ hook, close }: { hook?: Webhook; close: () => void }) {
  const [url, setUrl] = useState(hook?.url ?? "");
  const [some, setSome] = useState((hook?.types.length ?? 0) > 0);
  const [types, setTypes] = useState<string[]>(hook?.types ?? []);
  const [pair, setPair] = useState(false);
  const [made, setMade] = useState<NewWebhook>();
  const act = useDeed(
    async () => {
      const body = { url: url.trim(), types: some ? types : [] };
      if (hook) return void (await changeHook(hook.id, { ...body, disabled: hook.disabled }));
      return await makeHook({ ...body, scheme: pair ? "v1a" : "v1" });
    },
    [["office"]],
    (out) => (out ? setMade(out) : close()),
  );
  if (made) {
    return (
      <Dialog key="made" title={`${place(made.webhook.url)} receives events`} close={close} locked>
        <Secret secret={made.secret} open={made.webhook.scheme === "v1a"} close={close}>
          The receiver checks the signature of every message with it, as Standard Webhooks 1.0 has it.
        </Secret>
      </Dialog>
    );
  }
  return (
    <Dialog title={hook ? "Change the endpoint" : "Add an endpoint"} close={close}>
      <Form verb={hook ? "Change it" : "Add it"} ready={!some || types.length > 0} deed={act} close={close}>
        <label className="field">
          <span className="label">Address</span>
          <input className="text mono" data-first type="url" required value={url} placeholder="https://" onChange={(e) => setUrl(e.target.value)} />
          <span className="dimmer">https, and reachable from the server; addresses at home are refused.</span>
        </label>
        <Events some={some} setSome={setSome} types={types} setTypes={setTypes} />
        {hook ? null : (
          <label className="ops-check">
            <input type="checkbox" checked={pair} onChange={(e) => setPair(e.target.checked)} /> Sign with a pair of keys instead of a shared secret
          </label>
        )}
      </Form>
    </Dialog>
  );
}

/** Which events it is told of. */
function Events({ some, setSome, types, setTypes }: { some: boolean; setSome: (v: boolean) => void; types: string[]; setTypes: (v: string[]) => void }) {
  const turn = (t: string) => setTypes(types.includes(t) ? types.filter((x) => x !== t) : [...types, t]);
  return (
    <fieldset className="ops-set">
      <legend className="label">Events</legend>
      <label className="ops-check">
        <input type="radio" name="which" checked={!some} onChange={() => setSome(false)} /> All, also those that later versions add
      </label>
      <label className="ops-check">
        <input type="radio" name="which" checked={some} onChange={() => setSome(true)} /> Only these
      </label>
      {some ? (
        <div className="ops-types">
          {eventTypes.map((t) => (
            <label key={t} className="ops-check mono">
              <input type="checkbox" checked={types.includes(t)} onChange={() => turn(t)} /> {t}
            </label>
          ))}
        </div>
      ) : null}
    </fieldset>
  );
}
