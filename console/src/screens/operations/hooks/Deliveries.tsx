// The log of messages: virtual, since a busy webhook has thousands a day.
import { useInfiniteQuery, useQueries, useQueryClient } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, useEffect, useMemo, useRef, useState } from "react";
import { deliveriesOf, eventsOf, replay, waitingOf } from "../../../api/office.ts";
import type { Delivery, Event, PageDelivery, Webhook } from "../../../api/types.ts";
import { Icon } from "../../../parts/Icon.tsx";
import { useNarrow } from "../../../parts/media.ts";
import { Waiting, Wrong } from "../../../parts/states.tsx";
import { count } from "../../../words/number.ts";
import { clock, seconds, until, whole } from "../../../words/time.ts";
import { Said, useDeed } from "../Ask.tsx";
import { useOffice } from "../office.tsx";
import { nameOf, took, type Names } from "../words.ts";
import { shown } from "../../../words/escape.ts";
import { DeliveryDetail } from "./DeliveryDetail.tsx";
import { answerOf, place, worked } from "./health.ts";
import type { Known } from "./HookTable.tsx";

const rowsShown = 9;
const stale = [["office", "deliveries"]];
const states = [
  [undefined, "All"],
  ["waiting", "Waiting"],
  ["dead", "Dead"],
  ["delivered", "Delivered"],
] as const;

export function Deliveries({ hook, hooks, all }: { hook?: Known; hooks: Webhook[]; all: () => void }) {
  const [state, setState] = useState<string>();
  const [open, setOpen] = useState<string>();
  const phone = useNarrow();
  const log = useInfiniteQuery(deliveriesOf({ webhook: hook?.hook.id, state }));
  const rows = useMemo(() => log.data?.pages.flatMap((p) => p.data) ?? [], [log.data]);
  const abouts = useAbouts(log.data?.pages);
  return (
    <section className="card ops-card" aria-labelledby="deliveries-title">
      <header>
        <h2 id="deliveries-title">Deliveries</h2>
        <span className="dimmer cut ops-shrink" title={hook ? place(hook.hook.url) : undefined}>
          {hook ? place(hook.hook.url) : "all endpoints"}
        </span>
        <span className="grow">
          {hook ? (
            <button type="button" className="link ops-tight" onClick={all}>
              Show all
            </button>
          ) : null}
        </span>
        <div className="segments" role="group" aria-label="Which messages">
          {states.map(([s, text]) => (
            <button key={text} type="button" aria-pressed={state === s} onClick={() => setState(s)}>
              {text}
            </button>
          ))}
        </div>
        {hook ? <SendWaiting hook={hook} /> : null}
      </header>
      {log.isPending ? <Waiting what="messages" /> : null}
      {log.isLoadingError ? <Wrong error={log.error} again={() => void log.refetch()} /> : null}
      {log.isSuccess && rows.length === 0 ? <p className="ops-none">{nothing(state)}</p> : null}
      {rows.length > 0 ? (
        <Log key={String(phone)} rowHeight={phone ? 56 : 34} rows={rows} abouts={abouts} hooks={hook ? undefined : hooks} open={open} choose={setOpen} more={log.hasNextPage && !log.isFetchingNextPage ? () => void log.fetchNextPage() : undefined} />
      ) : null}
      {hook && !open && hook.health.state === "retrying" ? <Failing known={hook} /> : null}
      {open ? <DeliveryDetail key={open} id={open} close={() => setOpen(undefined)} /> : null}
    </section>
  );
}

const nothing = (state?: string) =>
  ({ waiting: "No message waits: what was tried arrived.", dead: "No dead letter: no message was given up.", delivered: "No message has arrived yet." })[state ?? ""] ?? "No message yet. The next event makes the first.";

const statusWords: Record<string, string> = {
  400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 408: "Request Timeout", 410: "Gone", 413: "Content Too Large", 429: "Too Many Requests",
  500: "Internal Server Error", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
};

/** What goes wrong, and what becomes of the messages. */
function Failing({ known: { health } }: { known: Known }) {
  const a = health.answer ?? "";
  return (
    <div className="ops-err below">
      <Icon name="warn" />
      <p>
        <b>
          {a} {statusWords[a] ?? ""}
        </b>
        <span>
          {health.last ? `The last message that arrived was tried ${clock(health.last)}. ` : "No message has arrived yet. "}
          Each message is tried ten times in three days, then it is a dead letter that can be replayed. What the receiver says beside its status is not kept.
        </span>
      </p>
    </div>
  );
}

/** useSending replays messages, and looks again when they should have been answered. */
export function useSending() {
  const cache = useQueryClient();
  return useDeed(
    async (ids: string[] | Promise<string[]>) => {
      for (const id of await ids) await replay(id);
    },
    stale,
    () => void setTimeout(() => void cache.invalidateQueries({ queryKey: stale[0] }), 2500),
  );
}

/** Sends what waits now, instead of at its next try. */
function SendWaiting({ hook }: { hook: Known }) {
  const n = Math.min(hook.health.waiting, 50);
  const act = useSending();
  const waiting = async () => (await waitingOf(hook.hook.id, n)).map((d) => d.id);
  if (n === 0 || hook.hook.disabled) return null;
  return (
    <>
      <button type="button" className="button ops-small" disabled={act.isPending} onClick={() => act.mutate(waiting())}>
        Send the {count(n)} now
      </button>
      <Said error={act.error} />
    </>
  );
}

/** What messages are about, by the number of their event: a list of messages tells only that. */
function useAbouts(pages: PageDelivery[] = []): Map<number, string> {
  const { names } = useOffice();
  const spans = pages.map((p) => {
    const seqs = p.data.map((d) => d.event).filter((n) => n > 0);
    return seqs.length ? ([Math.min(...seqs), Math.max(...seqs)] as const) : ([0, -1] as const);
  });
  const got = useQueries({ queries: spans.map(([from, to]) => eventsOf(from, to)), combine: together });
  return useMemo(() => new Map(got.map((e) => [e.seq, aboutOf(e, names)])), [got, names]);
}

const together = (got: { data?: Event[] }[]) => got.flatMap((q) => q.data ?? []);

interface LogOf {
  rowHeight: number;
  rows: Delivery[];
  abouts: Map<number, string>;
  hooks?: Webhook[]; // named in the rows, when they are of several
  open?: string;
  choose: (id: string | undefined) => void;
  more?: () => void;
}

function Log({ rowHeight, rows, abouts, hooks, open, choose, more }: LogOf) {
  const box = useRef<HTMLDivElement>(null);
  const list = useVirtualizer({ count: rows.length, getScrollElement: () => box.current, estimateSize: () => rowHeight, overscan: 6 });
  const items = list.getVirtualItems();
  const act = useSending(); // one for all rows
  const sent = Array.isArray(act.variables) ? act.variables[0] : undefined;
  const state = act.isPending ? "Sending" : act.isError ? "Not sent" : "Sent";
  const near = !!more && (items.at(-1)?.index ?? 0) >= rows.length - 10;
  useEffect(() => {
    if (near) more?.();
  }, [near, rows.length]);
  return (
    <div role="table" aria-label="Messages, newest first" aria-rowcount={more ? -1 : rows.length} className="ops-log">
      <div role="rowgroup">
        <div role="row" className="ops-logrow head">
          {["Time", "Event", "About", "Answer", "Try", "Then"].map((t) => (
            <span key={t} role="columnheader">
              {t}
            </span>
          ))}
          <span role="columnheader">
            <span className="sr">Send again</span>
          </span>
        </div>
      </div>
      <div ref={box} role="rowgroup" className="ops-scroll" tabIndex={0} style={{ height: Math.min(rows.length, rowsShown) * rowHeight }}>
        <div role="presentation" style={{ height: list.getTotalSize(), position: "relative" }}>
          {items.map((v) => (
            <Row key={rows[v.index]!.id} d={rows[v.index]!} top={v.start} hook={hooks?.find((h) => h.id === rows[v.index]!.webhook)} about={abouts.get(rows[v.index]!.event) ?? "–"} open={open === rows[v.index]!.id} choose={choose} index={v.index} send={act.mutate} sending={sent === rows[v.index]!.id ? state : "Replay"} />
          ))}
        </div>
      </div>
    </div>
  );
}

function aboutOf(e: Event, names: Names): string {
  const ws = e.data.workspace ? nameOf(names, e.data.workspace) : "";
  return [ws, e.data.number ? String(e.data.number) : e.data.name ? shown(e.data.name) : ""].filter(Boolean).join(" ") || "–";
}

interface RowOf {
  d: Delivery;
  top: number;
  hook?: Webhook;
  about: string;
  open: boolean;
  choose: (id: string | undefined) => void;
  index: number;
  send: (ids: string[]) => void;
  sending: string;
}

const Row = memo(function Row({ d, top, hook, about, open, choose, index, send, sending }: RowOf) {
  const last = d.tries.at(-1);
  const today = new Date(d.created).toDateString() === new Date().toDateString();
  return (
    <div role="row" aria-rowindex={index + 1} className={open ? "ops-logrow chosen" : "ops-logrow"} style={{ transform: `translateY(${top}px)` }}>
      <span role="cell" className="num dim" title={whole(d.created)}>
        {today ? seconds(d.created) : clock(d.created)}
      </span>
      <span role="cell" className="cut">
        <button type="button" className="ops-pick mono" aria-expanded={open} onClick={() => choose(open ? undefined : d.id)}>
          {shown(d.type)}
        </button>
      </span>
      <span role="cell" className="cut" title={hook ? `to ${place(hook.url)}` : undefined}>
        {about}
        {hook ? <span className="dimmer"> to {place(hook.url)}</span> : null}
      </span>
      <span role="cell" className={!last ? "dimmer" : worked(last) ? "good num strong" : "bad num strong"}>
        {last ? answerOf(last) : "not yet"}
      </span>
      <span role="cell" className="num dim">
        {tryWords(d)}
      </span>
      <span role="cell" className="dim num cut">
        {thenWords(d)}
      </span>
      <span role="cell" className="right">
        <button type="button" className="link" disabled={sending === "Sending"} onClick={() => send([d.id])}>
          {sending}
        </button>
      </span>
    </div>
  );
});

/** All tries of a message, in three days and a bit. */
const tries = 10;

function tryWords(d: Delivery): string {
  const n = d.tries.length;
  return d.state === "delivered" ? String(n) : `${n} of ${Math.max(tries, n)}`;
}

function thenWords(d: Delivery): string {
  if (d.state === "delivered") return d.tries.length ? took(d.tries.at(-1)!.took) : "arrived";
  if (d.state === "dead") return "dead letter";
  if (!d.next || new Date(d.next) <= new Date()) return "next now";
  return `next ${until(d.next)}`;
}
