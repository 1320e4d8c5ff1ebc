// One message: its tries, what came back, and its body. The body is others' words, so it
// is shown as text and escaped.
import { useQuery } from "@tanstack/react-query";
import { deliveryOf } from "../../../api/office.ts";
import type { Delivery } from "../../../api/types.ts";
import { Icon } from "../../../parts/Icon.tsx";
import { Waiting, Wrong } from "../../../parts/states.tsx";
import { shown, shownLines } from "../../../words/escape.ts";
import { bytes } from "../../../words/number.ts";
import { seconds, until, whole } from "../../../words/time.ts";
import { Said } from "../Ask.tsx";
import { took } from "../words.ts";
import { useSending } from "./Deliveries.tsx";
import { answerOf, worked } from "./health.ts";

export function DeliveryDetail({ id, close }: { id: string; close: () => void }) {
  const one = useQuery(deliveryOf(id));
  const again = useSending();
  return (
    <section className="ops-detail" aria-label="The chosen message">
      <header className="row">
        <h3 className="grow cut">
          Message <span className="mono">{shown(id)}</span>
        </h3>
        <button type="button" className="button ops-small" disabled={again.isPending} onClick={() => again.mutate([id])}>
          Replay
        </button>
        <button type="button" className="icon-button" aria-label="Close the message" onClick={close}>
          <Icon name="cross" small />
        </button>
      </header>
      <Said error={again.error} />
      {one.isPending ? <Waiting what="the message" /> : null}
      {one.isLoadingError ? <Wrong error={one.error} /> : null}
      {one.data ? <Told d={one.data} /> : null}
    </section>
  );
}

function Told({ d }: { d: Delivery }) {
  const body = decode(d.body ?? "");
  return (
    <div className="ops-told">
      <div>
        <p className="label">Tries</p>
        <ol className="ops-tries">
          {d.tries.length === 0 ? <li className="dim">Not tried yet.</li> : null}
          {d.tries.map((t) => (
            <li key={t.at} title={whole(t.at)}>
              <span className="num dim">{seconds(t.at)}</span>
              <span className={worked(t) ? "good strong num" : "bad strong num"}>{answerOf(t)}</span>
              <span className="dim num">{took(t.took)}</span>
              {t.why && !t.status ? <span className="dim">{shown(t.why)}</span> : null}
            </li>
          ))}
          {d.state === "waiting" && d.next ? (
            <li>
              <span className="num dim">{seconds(d.next)}</span>
              <span className="dim">next try {until(d.next)}</span>
            </li>
          ) : null}
          {d.state === "dead" ? <li className="bad">Given up: a dead letter. Replay sends it once more.</li> : null}
        </ol>
      </div>
      <div className="grow">
        <p className="label">
          Body, {bytes(body.size)}; every try sends the same bytes
        </p>
        <pre className="ops-body mono" tabIndex={0} aria-label="Body of the message">
          {shownLines(body.text)}
        </pre>
      </div>
    </div>
  );
}

/** Base64 to text; JSON is put on lines. */
function decode(base64: string): { text: string; size: number } {
  const raw = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const text = new TextDecoder().decode(raw);
  try {
    return { text: JSON.stringify(JSON.parse(text), null, 2), size: raw.length };
  } catch {
    return { text, size: raw.length };
  }
}
