// All webhooks, a line each; the chosen one opens to what can be done with it.
import { useState } from "react";
import { changeHook, dropHook, rotateHook } from "../../../api/office.ts";
import type { Webhook } from "../../../api/types.ts";
import { Icon } from "../../../parts/Icon.tsx";
import { Flag, type Family } from "../../../parts/marks.tsx";
import { shown } from "../../../words/escape.ts";
import { count, several } from "../../../words/number.ts";
import { ago, clock, until, whole } from "../../../words/time.ts";
import { Confirm, Dialog, Said, Secret, useDeed } from "../Ask.tsx";
import { typesWords } from "../words.ts";
import { Bars } from "./Bars.tsx";
import { place, share, type Health, type HookState } from "./health.ts";
import { HookForm } from "./HookForm.tsx";

export interface Known {
  hook: Webhook;
  health: Health;
}

const stale = [["office"]];
const families: Record<HookState, Family> = { healthy: "good", "catching up": "risky", retrying: "bad", off: "unknown", quiet: "unknown" };

export function HookTable({ all, chosen, choose }: { all: Known[]; chosen?: string; choose: (id: string | null) => void }) {
  const [adding, setAdding] = useState(false);
  return (
    <section className="card ops-card" aria-labelledby="hooks-title">
      <header>
        <h2 id="hooks-title">Webhooks</h2>
        <span className="dimmer grow ops-aside">signed, at least once</span>
        <button type="button" className="button ops-small" onClick={() => setAdding(true)}>
          <Icon name="plus" small />
          Add endpoint
        </button>
      </header>
      {all.length === 0 ? (
        <p className="ops-none">An endpoint is an address that gets every event as a signed message. It is tried ten times in three days before it is given up.</p>
      ) : (
        <table className="ops-table ops-hooks">
          <thead>
            <tr>
              <th scope="col">Endpoint</th>
              <th scope="col">Events</th>
              <th scope="col">24 hours</th>
              <th scope="col" className="right">
                Delivered
              </th>
              <th scope="col">Last</th>
              <th scope="col">State</th>
            </tr>
          </thead>
          <tbody>
            {all.map((x) => (
              <Row key={x.hook.id} known={x} chosen={x.hook.id === chosen} choose={choose} />
            ))}
          </tbody>
        </table>
      )}
      {adding ? <HookForm close={() => setAdding(false)} /> : null}
    </section>
  );
}

function Row({ known: { hook, health }, chosen, choose }: { known: Known; chosen: boolean; choose: (id: string | null) => void }) {
  const last = health.state === "retrying" && health.since ? `since ${clock(health.since)}` : health.last ? ago(health.last) : "–";
  return (
    <>
      <tr className={chosen ? "chosen" : undefined}>
        <th scope="row">
          <button type="button" className="ops-pick mono" aria-expanded={chosen} title={shown(hook.url)} onClick={() => choose(chosen ? null : hook.id)}>
            {place(hook.url)}
          </button>
        </th>
        <td className="dim" title={hook.types.map(shown).join(", ") || "all events"}>
          {typesWords(hook.types)}
        </td>
        <td>
          <Bars health={health} />
        </td>
        <td className="num right" title={health.from ? `of the newest ${count(health.total)}, since ${clock(health.from)}` : `${count(health.delivered)} of ${several(health.total, "message")}`}>
          {share(health.delivered, health.total)}
        </td>
        <td className="dim num">{last}</td>
        <td>
          <Flag family={families[health.state]}>{health.state === "quiet" ? "no message yet" : health.state}</Flag>
        </td>
      </tr>
      {chosen ? (
        <tr className="chosen ops-open">
          <td colSpan={6}>
            <Opened hook={hook} health={health} />
          </td>
        </tr>
      ) : null}
    </>
  );
}

type Asked = "off" | "rotate" | "drop" | "change" | undefined;

function Opened({ hook, health }: { hook: Webhook; health: Health }) {
  const [asked, setAsked] = useState<Asked>();
  const on = useDeed(() => changeHook(hook.id, { url: hook.url, types: hook.types }), stale);
  const close = () => setAsked(undefined);
  return (
    <div className="ops-opened">
      <p className="dim grow">{facts(hook, health)}</p>
      <div className="row ops-wrap">
        {hook.disabled ? (
          <button type="button" className="button ops-small" disabled={on.isPending} onClick={() => on.mutate(undefined)}>
            Enable
          </button>
        ) : (
          <button type="button" className="button ops-small" onClick={() => setAsked("off")}>
            Disable…
          </button>
        )}
        <button type="button" className="button ops-small" onClick={() => setAsked("change")}>
          Change…
        </button>
        <button type="button" className="button ops-small" onClick={() => setAsked("rotate")}>
          Rotate secret…
        </button>
        <button type="button" className="button ops-small" onClick={() => setAsked("drop")}>
          Drop…
        </button>
      </div>
      <Said error={on.error} />
      {asked === "change" ? <HookForm hook={hook} close={close} /> : null}
      {asked === "rotate" ? <Rotate hook={hook} close={close} /> : null}
      {asked === "off" ? (
        <Confirm calm title={`Disable ${place(hook.url)}`} verb="Disable it" stale={stale} close={close} deed={() => changeHook(hook.id, { url: hook.url, types: hook.types, disabled: new Date().toISOString() })}>
          Nothing is sent to it until it is enabled again. What happens meanwhile is not kept for it;{" "}
          {health.waiting > 0 ? `the ${several(health.waiting, "message")} that ${health.waiting === 1 ? "waits becomes a dead letter" : "wait become dead letters"} and can be replayed.` : "no message waits for it now."}
        </Confirm>
      ) : null}
      {asked === "drop" ? (
        <Confirm title={`Drop ${place(hook.url)}`} verb="Drop the endpoint" stale={stale} close={close} deed={() => dropHook(hook.id)}>
          It is deleted, and its secret is gone.{" "}
          {health.waiting > 0 ? `${several(health.waiting, "message")} that ${health.waiting === 1 ? "waits" : "wait"} for it ${health.waiting === 1 ? "is" : "are"} lost.` : "No message waits for it."} This can't be undone.
        </Confirm>
      ) : null}
    </div>
  );
}

/** Rotating shows the new secret in the same dialog. */
function Rotate({ hook, close }: { hook: Webhook; close: () => void }) {
  const act = useDeed(() => rotateHook(hook.id), stale);
  const pair = hook.scheme === "v1a";
  return (
    <Dialog title={`Rotate the secret of ${place(hook.url)}`} close={close} locked={act.isSuccess}>
      {act.data ? (
        <Secret secret={act.data.secret} open={pair} close={close}>
          For a day every message carries two signatures, of the old one and of this one. Put it into the receiver before then.
        </Secret>
      ) : (
        <div className="ops-form">
          <p className="ops-sentence">
            A new {pair ? "pair of keys" : "secret"} is made{pair ? "" : " and shown once"}. The old one signs too for a day, then messages carry the new signature alone.
          </p>
          <Said error={act.error} />
          <div className="ops-buttons">
            <button type="button" className="button" data-first onClick={close}>
              Back
            </button>
            <button type="button" className="button primary" disabled={act.isPending} onClick={() => act.mutate(undefined)}>
              Make a new one
            </button>
          </div>
        </div>
      )}
    </Dialog>
  );
}

function facts(h: Webhook, x: Health): string {
  const out = [h.types.length === 0 ? "Told of all events" : `Told of ${h.types.map(shown).join(", ")}`];
  if (h.disabled) out.push(`off since ${clock(h.disabled)}${h.why && h.why !== "asked for" ? `: ${shown(h.why)}` : ""}`);
  if (x.waiting > 0) out.push(`${count(x.waiting)} ${x.waiting === 1 ? "waits" : "wait"}`);
  if (x.dead > 0) out.push(several(x.dead, "dead letter"));
  if (h.rotated) {
    const end = new Date(new Date(h.rotated).getTime() + 86_400_000).toISOString();
    out.push(new Date(end) > new Date() ? `rotated ${clock(h.rotated)}; the old secret signs too and ends ${until(end)}` : `secret of ${clock(h.rotated)}`);
  }
  out.push(h.scheme === "v1a" ? "signed by a pair of keys" : "signed by a shared secret", `since ${whole(h.created).split(",")[0]}`);
  return out.join(" · ");
}
