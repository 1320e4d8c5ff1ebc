// Changing limits, in two steps: the numbers, then a sentence of what they do.
import { useState } from "react";
import { setLimits } from "../../api/office.ts";
import type { Limits, LimitsBody } from "../../api/types.ts";
import { Dialog, Said, useDeed } from "./Ask.tsx";
import { changesOf, changeWords, drops, fieldOf, limits, type LimitName } from "./limits.ts";

export function LimitsForm({ now, close }: { now: Limits; close: () => void }) {
  const [fields, setFields] = useState<Partial<Record<LimitName, string>>>({});
  const [sure, setSure] = useState<LimitsBody>();
  const changes = changesOf(now, fields);
  const wrong = typeof changes === "string" ? changes : "";
  const some = typeof changes !== "string" && Object.keys(changes).length > 0;
  if (sure) return <Sure now={now} sure={sure} back={() => setSure(undefined)} close={close} />;
  return (
    <Dialog title="Change limits" close={close}>
      <form
        className="ops-form"
        onSubmit={(e) => {
          e.preventDefault();
          if (some) setSure(changes as LimitsBody);
        }}
      >
        <p className="dim">0 is no bound.</p>
        <div className="ops-fields">
          {limits.map((l, i) => (
            <label key={l.name} className="field">
              <span className="label">
                {l.text}
                {l.unit ? `, ${l.unit}` : ""}
              </span>
              <input className="text num" inputMode="decimal" data-first={i === 0 ? "" : undefined} value={fields[l.name] ?? fieldOf(l, now[l.name])} onChange={(e) => setFields({ ...fields, [l.name]: e.target.value })} />
            </label>
          ))}
        </div>
        <p role="status" className="bad">
          {wrong}
        </p>
        <div className="ops-buttons">
          <button type="button" className="button" onClick={close}>
            Back
          </button>
          <button type="submit" className="button primary" disabled={!some}>
            Continue
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function Sure({ now, sure, back, close }: { now: Limits; sure: LimitsBody; back: () => void; close: () => void }) {
  const act = useDeed(() => setLimits(sure), [["office"], ["space"]], close);
  const loses = drops(now, sure);
  return (
    <Dialog key="sure" title="Change these limits" close={close}>
      <div className="ops-form">
        <ul className="ops-sentence">
          {changeWords(now, sure).map((t) => (
            <li key={t}>{t}.</li>
          ))}
        </ul>
        {loses ? <p className="ops-sentence bad">Checkpoints that are above the new limits go with the next cleanup, and do not come back. Pins, holds and what undo needs stay.</p> : null}
        <Said error={act.error} />
        <div className="ops-buttons">
          <button type="button" className="button" data-first onClick={back}>
            Back
          </button>
          <button type="button" className={loses ? "button danger" : "button primary"} disabled={act.isPending} onClick={() => act.mutate(undefined)}>
            {loses ? "Change them, and let checkpoints go" : "Change them"}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
