// The timeline of a workspace: the answer, the overview, the list, and the chosen checkpoint.
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useCallback, useDeferredValue, useEffect, useMemo, useRef, useState, type MouseEvent, type ReactNode } from "react";
import { useLiveness } from "../../api/live.ts";
import { statusOf } from "../../api/queries.ts";
import { useMedia, useNarrow } from "../../parts/media.ts";
import { Empty, Waiting, Wrong } from "../../parts/states.tsx";
import type { TimelineSearch } from "../../router.tsx";
import { shown } from "../../words/escape.ts";
import { agentName } from "../../words/checkpoint.ts";
import { several } from "../../words/number.ts";
import { Answer } from "./Answer.tsx";
import type { Folds, Read } from "./book.ts";
import type { Grouping, Wanted } from "./filter.ts";
import { List, type ListHandle } from "./List.tsx";
import { Overview } from "./Overview.tsx";
import { zooms, type Window, type Zoom } from "./overview.ts";
import { Preview } from "./Preview.tsx";
import { indexOf } from "./rows.ts";
import { Tools } from "./Tools.tsx";
import { end, step, useChoice } from "./useChoice.ts";
import { useBook, useFound, useView } from "./useTimeline.ts";
import type { View } from "./view.ts";
import { useTimelineKeys } from "./useTimelineKeys.ts";
import "./timeline.css";

export default function Timeline() {
  const { ws } = useParams({ from: "/w/$ws" });
  const book = useBook(ws);
  if (book.read?.rows.length === 0) {
    return (
      <Empty title="No checkpoint yet">
        <p>
          The next turn of an agent makes the first one. To make one now: <code className="mono">retake save</code>
        </p>
      </Empty>
    );
  }
  if (book.read) return <Page key={ws} ws={ws} read={book.read} trouble={book.trouble} again={book.again} fold={book.fold} />;
  if (book.trouble) {
    return (
      <Wrong
        error={book.trouble}
        again={book.again}
        out={
          <Link className="button" to="/">
            All workspaces
          </Link>
        }
      />
    );
  }
  return <Waiting what="the timeline" />;
}

function Page({ ws, read, trouble, again, fold }: { ws: string; read: Read; trouble?: unknown; again: () => void; fold: (f: Folds) => void }) {
  const search = useSearch({ from: "/w/$ws" });
  const go = useNavigate();
  const phone = useNarrow();
  const beside = useMedia("(min-width: 960px)");
  const list = useRef<ListHandle>(null);
  const choice = useChoice(ws, read, search.at);
  const [marked, setMarked] = useState<number>();
  const wish = useCallback((s: Partial<TimelineSearch>) => void go({ to: "/w/$ws", params: { ws }, search: (was) => ({ ...was, ...s }), replace: true, resetScroll: false }), [go, ws]);
  const seen = useShown(ws, read, search, fold);
  const { view } = seen;
  const number = choice.asked ? choice.number : ((view && end(view, false)) ?? choice.number);
  const move = (n: number | undefined, how: "focus" | "near" = "focus") => {
    if (n === undefined) return;
    choice.choose(n);
    list.current?.show(n, how);
  };
  useTimelineKeys({ ws, read, view, chosen: number, search, marked, mark: setMarked, move, wish });
  useFirstSight(list, choice.asked ? choice.number : undefined, view);
  const { choose } = choice;
  const pick = useCallback(
    (n: number, e: MouseEvent) => {
      if (e.metaKey || e.ctrlKey || e.shiftKey || e.button !== 0) return;
      e.preventDefault();
      if (beside && e.detail < 2) choose(n);
      else void go({ to: "/w/$ws/m/$ref", params: { ws, ref: String(n) } });
    },
    [beside, choose, go, ws],
  );
  const zoom = useZoom(search.zoom, wish);
  const calm = useDeferredValue(number); // the list moves first, what stands around it follows
  const at = useMemo(() => indexOf(read.rows, calm), [read, calm]);
  const unmark = useCallback(() => setMarked(undefined), []);
  const goTo = useEvent((n: number) => move(n, "near"));
  const neighbour = (by: 1 | -1) => {
    const n = view && step(view, number, by);
    return n === undefined ? undefined : () => move(n, "near");
  };
  return (
    <div className="tl">
      <section className="tl-main" aria-label="Timeline">
        <Answer ws={ws} read={read} />
        {phone ? null : <Overview read={read} zoom={zoom.zoom} span={zoom.span} setSpan={zoom.setSpan} chosen={calm} go={goTo} />}
        <Tools search={search} wish={wish} census={view?.census} total={read.total} zoom={zoom.span ? undefined : zoom.zoom} setZoom={zoom.setZoom} marked={marked} unmark={unmark} />
        {trouble ? <Stale again={again} /> : null}
        <Shown {...seen} search={search} wish={wish} done={read.done} total={read.total}>
          {(v) => <List ws={ws} read={read} view={v} phone={phone} chosen={number} marked={marked} choose={pick} open={seen.open} handle={list} />}
        </Shown>
      </section>
      {beside && view?.items.length === 0 ? <p className="tl-pre tl-none dim">No checkpoint to look at.</p> : null}
      {beside && at >= 0 && view && view.items.length > 0 ? <Preview ws={ws} read={read} at={at} newer={neighbour(-1)} older={neighbour(1)} /> : null}
    </div>
  );
}

interface ShownProps {
  view?: View;
  waiting: boolean;
  trouble: unknown;
  again: () => void;
  search: TimelineSearch;
  wish: (s: Partial<TimelineSearch>) => void;
  done: boolean;
  total: number;
  children: (view: View) => ReactNode;
}

/** The list, or why there is none. */
function Shown({ view, waiting, trouble, again, search, wish, done, total, children }: ShownProps) {
  if (trouble) return <Wrong error={trouble} again={again} />;
  if (!view || waiting) return <Waiting what="the checkpoints" />;
  return view.items.length === 0 ? <Nothing search={search} wish={wish} done={done} total={total} /> : children(view);
}

/** A function that stays the same and does what the latest one does. */
function useEvent<A extends unknown[]>(act: (...a: A) => void): (...a: A) => void {
  const latest = useRef(act);
  latest.current = act;
  return useCallback((...a: A) => latest.current(...a), []);
}

const known: readonly string[] = ["task", "session"];

/** The list that was asked for, and the folds and groups that somebody opened or shut. */
function useShown(ws: string, read: Read, search: TimelineSearch, fold: (f: Folds) => void) {
  const status = useQuery(statusOf(ws)).data;
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [shut, setShut] = useState<ReadonlySet<string>>(new Set());
  const found = useFound(ws, search.path, search.package);
  const replaced = search.left === "folded";
  useEffect(() => fold({ open: [...open], replaced }), [fold, open, replaced]);
  const asks = !!search.path || !!search.package;
  const { show, session, agent } = search;
  const wanted = useMemo((): Wanted => ({ show, session, agent, ids: asks ? (found.data ?? new Set()) : undefined }), [show, session, agent, asks, found.data]);
  const changed = status ? status.now.added + status.now.deleted + status.now.edited : 0;
  const now = changed > 0 && status?.latest?.id === read.rows[0]?.checkpoint.id;
  const group = known.includes(search.group ?? "") ? (search.group as Grouping) : undefined;
  const view = useView(read, { wanted, group, shut, now });
  const turn = useCallback((key: string) => {
    const flip = (was: ReadonlySet<string>) => new Set(was.has(key) ? [...was].filter((k) => k !== key) : [...was, key]);
    if (key.startsWith("head-")) setShut(flip);
    else setOpen(flip);
  }, []);
  return { view, open: turn, waiting: asks && found.isPending, trouble: asks ? found.error : null, again: () => void found.refetch() };
}

/** A checkpoint that the address names is brought into sight once it is read, unless somebody
 *  chose another one before. */
function useFirstSight(list: React.RefObject<ListHandle | null>, number: number | undefined, view?: View) {
  const wanted = useRef(number);
  useEffect(() => {
    if (wanted.current === undefined || !view) return;
    if (number !== wanted.current) wanted.current = undefined;
    else if (view.rows.has(number)) {
      wanted.current = undefined;
      list.current?.show(number, "middle");
    }
  }, [list, number, view]);
}

function useZoom(asked: string | undefined, wish: (s: Partial<TimelineSearch>) => void) {
  const [span, setSpan] = useState<Window>();
  const zoom = (zooms as readonly string[]).includes(asked ?? "") ? (asked as Zoom) : undefined;
  const setZoom = (z: Zoom) => {
    setSpan(undefined);
    wish({ zoom: z === zoom && !span ? undefined : z });
  };
  return { zoom, span, setSpan, setZoom };
}

function Stale({ again }: { again: () => void }) {
  if (useLiveness() === "away") return null; // told above, with its cause
  return (
    <p className="strip" role="status">
      Older checkpoints could not be read. What you see is from before.{" "}
      <button type="button" className="link" onClick={again}>
        Try again
      </button>
    </p>
  );
}

const kindWords: Record<string, string> = { good: "is good", failed: "failed", risky: "is risky", flagged: "is flagged" };

/** No checkpoint is good, changed src/a.ts: what was asked for, so that it can be seen what hides the rest. */
function nothingText(s: TimelineSearch): string {
  const asked = [
    kindWords[s.show ?? ""],
    s.path && `changed ${shown(s.path)}`,
    s.package && `changed the package ${shown(s.package)}`,
    s.agent && `is of ${agentName(s.agent)}`,
    s.session && `is of session ${shown(s.session.slice(0, 8))}`,
  ].filter(Boolean);
  return asked.length ? `No checkpoint ${asked.join(" and ")}` : "No checkpoint is like that";
}

function Nothing({ search, wish, done, total }: { search: TimelineSearch; wish: (s: Partial<TimelineSearch>) => void; done: boolean; total: number }) {
  const nothing = { show: undefined, path: undefined, package: undefined, session: undefined, agent: undefined };
  return (
    <Empty title={nothingText(search)}>
      <p>
        {done ? `Looked at ${total === 1 ? "the only checkpoint" : `all ${several(total, "checkpoint")}`}.` : "Older checkpoints are still being read."}
        {search.path ? " A path is written from the top of the workspace, like src/auth.ts; a directory stands for all below it." : ""}
      </p>
      <p className="row">
        <button type="button" className="button" onClick={() => wish(nothing)}>
          Show all checkpoints
        </button>
      </p>
    </Empty>
  );
}
