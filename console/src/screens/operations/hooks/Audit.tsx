// Who did what: entries newest first, and whether anybody changed them.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { memo, useMemo, useState } from "react";
import { auditCheck, auditLog, deletions, eventsOf, keys, newestOf, schedules, webhooks, wholeAudit } from "../../../api/office.ts";
import type { AuditEntry, AuditProof } from "../../../api/types.ts";
import { Icon } from "../../../parts/Icon.tsx";
import { List } from "../../../parts/List.tsx";
import { Waiting, Wrong } from "../../../parts/states.tsx";
import { shown } from "../../../words/escape.ts";
import { count, several } from "../../../words/number.ts";
import { ago, clock, seconds, whole } from "../../../words/time.ts";
import { Said, useDeed } from "../Ask.tsx";
import { useOffice } from "../office.tsx";
import { actWords, nameOf, who, type Names } from "../words.ts";
import { place } from "./health.ts";

const rowHeight = 48;
const rowsShown = 7;

export function Audit() {
  const log = useInfiniteQuery(auditLog);
  const chain = useQuery(auditCheck);
  const rows = useMemo(() => log.data?.pages.flatMap((p) => p.data) ?? [], [log.data]);
  const names = useSubjects();
  const n = Math.max(chain.data?.entries ?? 0, rows[0]?.seq ?? 0);
  return (
    <section className="card ops-card" aria-labelledby="audit-title">
      <header>
        <h2 id="audit-title">Audit</h2>
        <span className="dimmer grow">{n > 0 ? several(n, "entry", "entries") : ""}</span>
        <Export proof={chain.data} />
      </header>
      <Chain />
      {log.isPending ? <Waiting what="the audit log" /> : null}
      {log.isLoadingError ? <Wrong error={log.error} again={() => void log.refetch()} /> : null}
      {rows.length > 0 ? <Entries rows={rows} names={names} broken={chain.data?.broken ?? 0} more={log.hasNextPage && !log.isFetchingNextPage ? () => void log.fetchNextPage() : undefined} /> : null}
    </section>
  );
}

/** Chain says whether the log is whole. Each entry holds the digest of the one before. */
function Chain() {
  const chain = useQuery(auditCheck);
  const p = chain.data;
  const state = chain.isFetching ? "reading" : chain.isError || !p ? "unknown" : p.broken > 0 ? "broken" : "whole";
  return (
    <div className={`ops-chain ${state}`} role="status">
      <Icon name={state === "broken" ? "warn" : "link"} small />
      <span className="grow">
        {state === "reading" ? "Reading every entry…" : null}
        {state === "unknown" ? (chain.error ? `Not checked: ${shown(chain.error.message)}` : "Not checked yet") : null}
        {state === "whole" ? `Chain whole, checked ${ago(new Date(chain.dataUpdatedAt).toISOString())}` : null}
        {state === "broken" && p ? `Broken at entry ${count(p.broken)}${p.why ? `: ${shown(p.why)}` : ""}. What is before it still holds.` : null}
        {p && state === "whole" ? <span className="sr">; {several(p.anchors, "signed head")} compared</span> : null}
      </span>
      <button type="button" disabled={chain.isFetching} onClick={() => void chain.refetch()}>
        Check again
      </button>
    </div>
  );
}

/** Export writes the whole log and its proof into a file, for who keeps it elsewhere. */
function Export({ proof }: { proof?: AuditProof }) {
  const [read, setRead] = useState(0);
  const act = useDeed(async () => {
    const entries = await wholeAudit(setRead);
    const file = new Blob([JSON.stringify({ v: 1, proof, entries }, null, 1)], { type: "application/json" });
    const a = document.createElement("a");
    a.href = URL.createObjectURL(file);
    a.download = `audit-${entries[0]?.seq ?? 0}.json`;
    a.click();
    setTimeout(() => URL.revokeObjectURL(a.href), 10_000);
  }, []);
  return (
    <>
      <button type="button" className="button ops-small" disabled={act.isPending} title="the whole log as JSON" onClick={() => act.mutate(undefined)}>
        {act.isPending ? `${count(read)} read` : "Export"}
      </button>
      <Said error={act.error} />
    </>
  );
}

/** The names of what entries are about, as far as this page knows them. */
function useSubjects(): Names {
  const { names: spaces, may } = useOffice();
  const ring = useQuery(keys);
  const hooks = useQuery(webhooks);
  const runs = useQuery(schedules);
  const asked = useQuery({ ...deletions, enabled: may("erase") });
  const newest = useQuery({ ...newestOf(hooks.data?.[0]?.id ?? ""), enabled: !!hooks.data?.[0] });
  const last = newest.data?.[0]?.event ?? 0;
  const events = useQuery(eventsOf(Math.max(1, last - 199), last));
  return useMemo(() => {
    const names = new Map(spaces);
    for (const e of events.data ?? []) {
      if (e.data.checkpoint && e.data.number && e.data.workspace) names.set(e.data.checkpoint, `${nameOf(names, e.data.workspace)} ${e.data.number}`);
    }
    for (const k of ring.data ?? []) names.set(k.id, k.name ? `“${shown(k.name)}”` : `${shown(k.kind)} …${shown(k.tail)}`);
    for (const h of hooks.data ?? []) names.set(h.id, place(h.url));
    for (const s of runs.data ?? []) names.set(s.id, `${shown(s.work)} by ${shown(s.cron)}`);
    for (const d of asked.data ?? []) names.set(d.id, `${several(d.checkpoints.length, "checkpoint")} of ${nameOf(names, d.workspace)}`);
    return names;
  }, [spaces, events.data, ring.data, hooks.data, runs.data, asked.data]);
}

function Entries({ rows, names, broken, more }: { rows: AuditEntry[]; names: Names; broken: number; more?: () => void }) {
  return (
    <List label="Entries, newest first" className="ops-scroll" count={rows.length} version={rows} keyOf={(i) => String(rows[i]!.seq)} height={rowHeight} most={rowsShown * rowHeight} nearEnd={more}>
      {(i) => <Entry e={rows[i]!} names={names} bad={rows[i]!.seq === broken} />}
    </List>
  );
}

const Entry = memo(function Entry({ e, names, bad }: { e: AuditEntry; names: Names; bad: boolean }) {
  const said = actWords(e.verb, e.subject, names);
  const today = new Date(e.time).toDateString() === new Date().toDateString();
  return (
    <div className={bad ? "ops-entry broken" : "ops-entry"}>
      <time className="num" dateTime={e.time} title={`entry ${count(e.seq)}, ${whole(e.time)}`}>
        {today ? seconds(e.time) : clock(e.time)}
      </time>
      <span className="cut">
        <b className="cut">
          {said.what}
          {bad ? <span className="bad"> does not fit</span> : null}
        </b>
        <span className="dim cut">
          {said.about ? `${said.about}, ` : ""}
          {who(e.actor)}
        </span>
      </span>
      <code className="mono dimmer" title={`its digest: ${shown(e.hash)}`}>
        {shown(e.hash.slice(0, 4))}
      </code>
    </div>
  );
});
