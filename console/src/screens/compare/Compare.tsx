// Any two checkpoints, or a checkpoint and now: what is good, what differs, and the lines of it.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useCallback, useMemo, useState } from "react";
import { changesOf, logOf, checkpointOf, statusOf } from "../../api/queries.ts";
import type { Story } from "../../api/types.ts";
import { DiffWaiting, FileDiff } from "../../diff/index.tsx";
import { Flag, Lines, Named, Verify } from "../../parts/marks.tsx";
import { useNarrow } from "../../parts/media.ts";
import { Empty, Waiting, Wrong } from "../../parts/states.tsx";
import type { CompareSearch } from "../../router.tsx";
import { useKeys } from "../../shell/keys.ts";
import { titleOf } from "../../words/checkpoint.ts";
import { several } from "../../words/number.ts";
import { clock } from "../../words/time.ts";
import { Changes } from "../checkpoint/Changes.tsx";
import { filesOf } from "../checkpoint/tree.ts";
import { wasOf } from "../checkpoint/story.ts";
import { useStory } from "../checkpoint/useStory.ts";
import { agreementsOf, answerOf, type Agreement, type Point } from "./answer.ts";
import { Pick } from "./Pick.tsx";
import "../checkpoint/checkpoint.css";
import "./compare.css";

/** usePoint finds a checkpoint and what is known of it. Empty: now. */
function usePoint(ws: string, ref: string): { point?: Point; error?: unknown } {
  const found = useQuery({ ...checkpointOf(ws, ref), enabled: ref !== "" });
  const c = ref === "" ? undefined : found.data;
  const log = useQuery({ ...logOf(ws, { before: (c?.number ?? 0) + 1, limit: 1 }), enabled: !!c });
  return useMemo(() => {
    if (ref === "") return { point: { word: "now" } };
    if (!c) return { error: found.error ?? undefined };
    return { point: { word: String(c.number), checkpoint: c, finding: log.data?.findings[c.id] } };
  }, [ref, c, found.error, log.data]);
}

export default function Compare() {
  const { ws } = useParams({ from: "/w/$ws/compare" });
  const search = useSearch({ from: "/w/$ws/compare" });
  const status = useQuery({ ...statusOf(ws), enabled: !search.from });
  const from = search.from ?? (status.data ? String((status.data.good ?? status.data.latest)?.number ?? "") : "");
  const to = search.to === "now" ? "" : (search.to ?? "");
  useInfiniteQuery({ ...changesOf(ws, from, to), enabled: /^\d+$/.test(from) && /^\d*$/.test(to) }); // begun at once, read below
  const a = usePoint(ws, from);
  const b = usePoint(ws, to);
  if (!a.point?.checkpoint || !b.point) {
    return (
      <>
        <h1 className="sr">Compare</h1>
        {status.isLoadingError ? (
          <Wrong error={status.error} />
        ) : !search.from && status.data && !status.data.latest ? (
          <Empty title="There is nothing to compare yet">The first checkpoint is made by the next turn of an agent, or by retake save.</Empty>
        ) : a.error || b.error ? (
          <Unknown ws={ws} error={a.error ?? b.error} />
        ) : (
          <Waiting what="the two checkpoints" />
        )}
      </>
    );
  }
  return <Pair ws={ws} from={a.point} to={b.point} key={`${a.point.word}-${b.point.word}`} />;
}

function Unknown({ ws, error }: { ws: string; error: unknown }) {
  const go = useNavigate({ from: "/w/$ws/compare" });
  return (
    <>
      <Wrong error={error} />
      <p className="compare-again">
        <Pick ws={ws} label="from" value="another" choose={(from) => void go({ search: { from } })} />
      </p>
    </>
  );
}

function Pair({ ws, from, to }: { ws: string; from: Point; to: Point }) {
  const search = useSearch({ from: "/w/$ws/compare" });
  const go = useNavigate({ from: "/w/$ws/compare" });
  const [by, setBy] = useState<"meaning" | "path">("meaning");
  const [part, setPart] = useState<"list" | "diff">("list");
  const narrow = useNarrow();
  const target = to.checkpoint ? to.word : "";
  const told = useStory(ws, from.word, target, true);
  const set = useCallback((s: CompareSearch) => void go({ search: (old) => ({ ...old, ...s }), replace: true, resetScroll: false }), [go]);
  const choose = useCallback(
    (path: string) => {
      set({ path });
      if (narrow) setPart("diff");
    },
    [set, narrow],
  );
  const path = search.path ?? told.first;
  useCompareKeys(ws, from, to);
  return (
    <div className="compare">
      <Head ws={ws} from={from} to={to} story={told.story} differ={told.meanwhile ? differText(filesOf(told.meanwhile), !!told.more) : ""} />
      <Agreements from={from} to={to} />
      <nav className="checkpoint-tabs" aria-label="Parts of the comparison">
        <button type="button" aria-current={part === "list" ? "true" : undefined} onClick={() => setPart("list")}>
          Changes
        </button>
        <button type="button" aria-current={part === "diff" ? "true" : undefined} onClick={() => setPart("diff")}>
          Diff
        </button>
      </nav>
      <div className={part === "diff" ? "compare-columns show-diff" : "compare-columns show-story"}>
        <div className="checkpoint-column side">
          <Changes ws={ws} from={from.word} to={target || "now"} story={told.story} error={told.error} again={told.again} meanwhile={told.meanwhile} more={told.more} by={by} setBy={setBy} chosen={path} choose={choose} browse={target || undefined} />
        </div>
        <section className="checkpoint-column" id="checkpoint-diff" tabIndex={-1} aria-label="Diff">
          {path ? (
            <FileDiff
              ws={ws}
              from={from.word}
              to={target || "now"}
              path={path}
              was={wasOf(told.story, path)}
              facts={told.story?.facts ?? []}
              view={search.view}
              onView={(view) => set({ view })}
              onOpen={choose}
              actions={<FileActions ws={ws} path={path} />}
            />
          ) : told.story ? (
            <Empty title="No file differs">
              {from.word} and {to.word} hold the same files.
            </Empty>
          ) : told.error ? (
            <Wrong error={told.error} again={told.again} />
          ) : (
            <DiffWaiting />
          )}
        </section>
      </div>
    </div>
  );
}

function FileActions({ ws, path }: { ws: string; path: string }) {
  if (path.endsWith("/")) return null;
  return (
    <Link className="button ghost" to="/w/$ws/history" params={{ ws }} search={{ path }}>
      History
    </Link>
  );
}

function useCompareKeys(ws: string, from: Point, to: Point) {
  const go = useNavigate();
  useKeys({
    r: () => void go({ to: "/w/$ws/plan", params: { ws }, search: { course: "restore", ref: from.word } }),
    f: () => void go({ to: "/w/$ws/forks", params: { ws }, search: { from: from.word } }),
    x: () => to.checkpoint && void go({ to: "/w/$ws/compare", params: { ws }, search: { from: to.word, to: from.word } }),
    Escape: () => void go({ to: "/w/$ws", params: { ws }, search: { at: from.word } }),
  });
}

function Head({ ws, from, to, story, differ }: { ws: string; from: Point; to: Point; story?: Story; differ: string }) {
  const go = useNavigate({ from: "/w/$ws/compare" });
  const s = story ? answerOf(from, to, story) : undefined;
  return (
    <header className="compare-head">
      <div className="grow">
        <h1>
          <PointName ws={ws} p={from} /> <span aria-hidden="true">→</span>
          <span className="sr">compared with</span> <PointName ws={ws} p={to} />
        </h1>
        <p>
          {s?.lead ? <b>{s.lead} </b> : null}
          {s?.rest ?? differ} {story ? <Lines plus={story.counts.plus} minus={story.counts.minus} /> : null}
        </p>
      </div>
      <div className="compare-picks">
        <Pick ws={ws} label="from" value={from.word} choose={(ref) => void go({ search: (o) => ({ ...o, from: ref, path: undefined }) })} />
        {to.checkpoint ? (
          <button type="button" className="icon-button" aria-label="Turn round" title="Turn round (x)" onClick={() => void go({ search: (o) => ({ ...o, from: to.word, to: from.word }) })}>
            ⇄
          </button>
        ) : null}
        <Pick ws={ws} label="to" value={to.word} now choose={(ref) => void go({ search: (o) => ({ ...o, to: ref || undefined, path: undefined }) })} />
      </div>
    </header>
  );
}

const differText = (n: number, more: boolean) => `${more ? "More than " : ""}${several(n, "file")} differ. What it means is still being read.`;

function PointName({ ws, p }: { ws: string; p: Point }) {
  if (!p.checkpoint) return <b>Now</b>;
  return (
    <Link to="/w/$ws/m/$ref" params={{ ws, ref: p.word }}>
      <b className="num">{p.word}</b>{" "}
      <span>
        <Named title={titleOf(p.checkpoint).text} />, {clock(p.checkpoint.time)}
      </span>
    </Link>
  );
}

function Agreements({ from, to }: { from: Point; to: Point }) {
  const rows = agreementsOf(from, to);
  if (rows.length === 0) return null;
  return (
    <div className="compare-table" tabIndex={0} role="region" aria-label="Where verifications agree">
      <table>
        <thead>
          <tr>
            <th scope="col">Checks</th>
            <th scope="col" className="num">{from.word}</th>
            <th scope="col" className="num">{to.word}</th>
            <th scope="col">Together</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((r) => (
            <Row key={r.name} r={r} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

const verdicts: Record<string, string> = { "could-not-run": "could not run", changed: "files changed while it ran" };

function Row({ r }: { r: Agreement }) {
  const side = (a: Agreement["from"]) => (a ? <Verify answer={{ ...a, name: a.claim ? "says" : verdicts[a.verdict] ?? a.verdict, was: undefined }} /> : <span className="dimmer">not checked</span>);
  return (
    <tr>
      <th scope="row">{r.name}</th>
      <td className={r.from?.verdict === "passed" && !r.from.claim ? "good" : r.from?.verdict === "failed" && !r.from.claim ? "bad" : undefined}>{side(r.from)}</td>
      <td className={r.to?.verdict === "passed" && !r.to.claim ? "good" : r.to?.verdict === "failed" && !r.to.claim ? "bad" : undefined}>{side(r.to)}</td>
      <td>
        <Flag family={r.family}>{r.word}</Flag>
      </td>
    </tr>
  );
}
