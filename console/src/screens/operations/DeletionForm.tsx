// Asking for a deletion, in two steps: which checkpoints and why, then what will happen.
import { useState } from "react";
import { ask } from "../../api/ask.ts";
import { askDeletion } from "../../api/office.ts";
import type { Checkpoint } from "../../api/types.ts";
import { shown } from "../../words/escape.ts";
import { titleOf } from "../../words/checkpoint.ts";
import { several } from "../../words/number.ts";
import { clock, whole } from "../../words/time.ts";
import { Dialog, Form, Said, useDeed } from "./Ask.tsx";
import { useOffice } from "./office.tsx";
import { span } from "./words.ts";

/** Numbers and refs, as people write lists. */
export const refsOf = (text: string): string[] => [...new Set(text.split(/[\s,;]+/).filter(Boolean))];

const most = 50;

export function DeletionForm({ close }: { close: () => void }) {
  const { workspaces } = useOffice();
  const live = workspaces.data ?? [];
  const [ws, setWs] = useState("");
  const [refs, setRefs] = useState("");
  const [why, setWhy] = useState("");
  const [found, setFound] = useState<Checkpoint[]>();
  const at = ws || live[0]?.id || "";
  const look = useDeed(() => Promise.all(refsOf(refs).map((ref) => ask<Checkpoint>("GET", `/v1/workspaces/${encodeURIComponent(at)}/find`, { query: { ref } }))), [], setFound);
  if (found) return <Sure ws={at} name={live.find((w) => w.id === at)?.name ?? at} found={found} why={why} back={() => setFound(undefined)} close={close} />;
  return (
    <Dialog title="Ask for a deletion" close={close}>
      <Form verb="Look at them" ready={refsOf(refs).length > 0 && refsOf(refs).length <= most && !!why.trim()} deed={look} close={close}>
        <label className="field">
          <span className="label">Workspace</span>
          <select data-first value={at} onChange={(e) => setWs(e.target.value)}>
            {live.map((w) => (
              <option key={w.id} value={w.id}>
                {shown(w.name)}
              </option>
            ))}
          </select>
        </label>
        <label className="field">
          <span className="label">Checkpoints, by number</span>
          <input className="text num" required value={refs} placeholder="12, 13" onChange={(e) => setRefs(e.target.value)} />
        </label>
        <label className="field">
          <span className="label">Why: the audit log keeps it</span>
          <input className="text" required value={why} maxLength={500} onChange={(e) => setWhy(e.target.value)} />
        </label>
        {refsOf(refs).length > most ? <p className="bad">At most {most} in one request.</p> : null}
      </Form>
    </Dialog>
  );
}

function Sure({ ws, name, found, why, back, close }: { ws: string; name: string; found: Checkpoint[]; why: string; back: () => void; close: () => void }) {
  const { usage } = useOffice();
  const act = useDeed(() => askDeletion({ workspace: ws, refs: found.map((c) => c.id), why: why.trim() }), [["office"]], close);
  const grace = usage.data?.limits.grace ?? 0;
  const due = new Date(Date.now() + grace / 1e6).toISOString();
  return (
    <Dialog key="sure" title={`Ask for the deletion of ${several(found.length, "checkpoint")} of ${shown(name)}`} close={close}>
      <div className="ops-form">
        <ul className="ops-found" tabIndex={0} aria-label="Checkpoints that would go">
          {found.map((c) => (
            <li key={c.id}>
              <b className="num">{c.number}</b>
              <span className="dim num">{clock(c.time)}</span>
              <span className="cut">{titleOf(c).text}</span>
            </li>
          ))}
        </ul>
        <p className="ops-sentence">
          {found.length === 1 ? "It goes" : "They go"} in {span(grace)}, {whole(due).replace(/:\d\d$/, "")}, and {found.length === 1 ? "does" : "do"} not come back after that. Until then the request can be cancelled. What
          is pinned, held or the newest by then is refused.
        </p>
        <Said error={act.error} />
        <div className="ops-buttons">
          <button type="button" className="button" data-first onClick={back}>
            Back
          </button>
          <button type="button" className="button danger" disabled={act.isPending} onClick={() => act.mutate(undefined)}>
            Ask for the deletion of {several(found.length, "checkpoint")}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
