// One file through time: the checkpoints in which it changed, and which checkpoint wrote each line.
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useCallback, useState } from "react";
import { logOf } from "../../api/queries.ts";
import type { Checkpoint, Timeline } from "../../api/types.ts";
import { FileDiff } from "../../diff/index.tsx";
import { signOf } from "../../diff/sign.ts";
import { List } from "../../parts/List.tsx";
import { Lines, Named, Path, Verify } from "../../parts/marks.tsx";
import { useNarrow } from "../../parts/media.ts";
import { Empty, Waiting, Wrong } from "../../parts/states.tsx";
import { useKeys } from "../../shell/keys.ts";
import { shown } from "../../words/escape.ts";
import { goalsOf, titleOf, whoMade } from "../../words/checkpoint.ts";
import { several } from "../../words/number.ts";
import { clock, whole } from "../../words/time.ts";
import { Blamed } from "./Blamed.tsx";
import { deedOf } from "./query.ts";
import "./history.css";

export default function History() {
  const { ws } = useParams({ from: "/w/$ws/history" });
  const { path } = useSearch({ from: "/w/$ws/history" });
  if (!path) return <AskPath ws={ws} />;
  return <Of ws={ws} path={path} key={path} />;
}

function AskPath({ ws }: { ws: string }) {
  const go = useNavigate();
  return (
    <section className="card note">
      <h1 className="answer">The history of a file</h1>
      <form
        className="history-ask"
        onSubmit={(e) => {
          e.preventDefault();
          const path = String(new FormData(e.currentTarget).get("path") ?? "").trim();
          if (path) void go({ to: "/w/$ws/history", params: { ws }, search: { path } });
        }}
      >
        <label className="field">
          <span className="label">Its path, below the workspace</span>
          <input className="text mono" name="path" placeholder="src/auth.ts" />
        </label>
        <button className="button primary" type="submit">
          Show
        </button>
      </form>
    </section>
  );
}

function Of({ ws, path }: { ws: string; path: string }) {
  const log = useQuery(logOf(ws, { path: path.replace(/\/$/, "") }));
  const checkpoints = log.data?.checkpoints ?? [];
  if (!log.data || checkpoints.length === 0) {
    return (
      <>
        <h1 className="sr">History of {shown(path)}</h1>
        {log.isLoadingError ? (
          <Wrong error={log.error} again={() => void log.refetch()} />
        ) : log.data ? (
          <Empty title={`No checkpoint changed ${shown(path)}`}>It is not in any checkpoint under this path, or it was never other than it is.</Empty>
        ) : (
          <Waiting what="the checkpoints" />
        )}
      </>
    );
  }
  return <Told ws={ws} path={path} log={log.data} checkpoints={checkpoints} />;
}

function Told({ ws, path, log, checkpoints }: { ws: string; path: string; log: Timeline; checkpoints: Checkpoint[] }) {
  const { at } = useSearch({ from: "/w/$ws/history" });
  const go = useNavigate({ from: "/w/$ws/history" });
  const [blamed, setBlamed] = useState(false);
  const [view, setView] = useState("unified");
  const [front, setFront] = useState<"list" | "diff">("list");
  const narrow = useNarrow();
  // The newest that is not after the checkpoint one came from: it made the file as it is there.
  const chosen = checkpoints.find((c) => !at || c.number <= Number(at)) ?? checkpoints[0]!;
  const choose = useCallback(
    (n: number) => {
      void go({ search: (o) => ({ ...o, at: String(n) }), replace: true, resetScroll: false });
      setFront("diff");
    },
    [go],
  );
  const step = (by: number) => {
    const next = checkpoints[checkpoints.indexOf(chosen) + by];
    if (next) void go({ search: (o) => ({ ...o, at: String(next.number) }), replace: true, resetScroll: false });
  };
  const ref = String(chosen.number);
  useKeys({
    j: () => step(1),
    k: () => step(-1),
    ArrowDown: () => step(1),
    ArrowUp: () => step(-1),
    r: () => void go({ to: "/w/$ws/plan", params: { ws }, search: { course: "restore", ref, paths: [path] } }),
    Escape: () => void go({ to: "/w/$ws/m/$ref", params: { ws, ref }, search: { path } }),
  });
  return (
    <div className="history">
      <Head path={path} checkpoints={checkpoints} blamed={blamed} setBlamed={setBlamed} />
      {blamed ? (
        <Blamed ws={ws} path={path} />
      ) : (
        <div className={`history-columns ${narrow ? front : ""}`}>
          {narrow && front === "diff" ? (
            <button type="button" className="button history-back" onClick={() => setFront("list")}>
              All checkpoints
            </button>
          ) : null}
          <Checkpoints ws={ws} path={path} log={log} checkpoints={checkpoints} chosen={chosen} choose={choose} />
          <section className="history-diff" aria-label={`Diff of checkpoint ${ref}`}>
            <FileDiff ws={ws} from="" to={ref} path={path} view={view} onView={setView} actions={<Actions ws={ws} path={path} at={ref} />} />
          </section>
        </div>
      )}
    </div>
  );
}

function Head({ path, checkpoints, blamed, setBlamed }: { path: string; checkpoints: Checkpoint[]; blamed: boolean; setBlamed: (on: boolean) => void }) {
  return (
    <header className="history-head">
      <div className="grow">
        <h1>
          <Path path={path} />
        </h1>
        <p className="dim">
          {several(checkpoints.length, "checkpoint")} changed it, the last is {checkpoints[0]!.number} at {clock(checkpoints[0]!.time)}.
        </p>
      </div>
      <div className="segments" role="group" aria-label="What is shown">
        <button type="button" aria-pressed={!blamed} onClick={() => setBlamed(false)}>
          Checkpoints
        </button>
        <button type="button" aria-pressed={blamed} onClick={() => setBlamed(true)}>
          Who wrote each line
        </button>
      </div>
    </header>
  );
}

function Actions({ ws, path, at }: { ws: string; path: string; at: string }) {
  return (
    <Link className="button ghost" to="/w/$ws/m/$ref" params={{ ws, ref: at }} search={{ path }}>
      Open {at}
    </Link>
  );
}

interface CheckpointsProps {
  ws: string;
  path: string;
  log: Timeline;
  checkpoints: Checkpoint[];
  chosen: Checkpoint;
  choose: (n: number) => void;
}

function Checkpoints({ ws, path, log, checkpoints, chosen, choose }: CheckpointsProps) {
  const goals = goalsOf(checkpoints, log.workspace);
  return (
    <List count={checkpoints.length} height={() => 52} label="Checkpoints that changed it, newest first" className="history-list" shown={checkpoints.indexOf(chosen)}>
      {(i) => {
        const c = checkpoints[i]!;
        const first = log.findings[c.id]?.answers?.find((a) => !a.claim) ?? log.findings[c.id]?.answers?.[0];
        return (
          <button type="button" className="history-row" aria-current={c.id === chosen.id ? "true" : undefined} onClick={() => choose(c.number)}>
            <b className="num">{c.number}</b>
            <span className="grow">
              <span className="cut">
                <Named title={titleOf(c, goals).text} />
              </span>
              <span className="cut dimmer">
                <time dateTime={c.time} title={whole(c.time)}>
                  {clock(c.time)}
                </time>{" "}
                · {whoMade(c)}
              </span>
            </span>
            <span className="history-facts">
              {first ? <Verify answer={first} /> : <span className="dimmer">–</span>}
              <Deed ws={ws} path={path} number={c.number} />
            </span>
          </button>
        );
      }}
    </List>
  );
}

/** How many lines one checkpoint gave and took; asked for when the row is in sight. */
function Deed({ ws, path, number }: { ws: string; path: string; number: number }) {
  const deed = useQuery(deedOf(ws, number, path.replace(/\/$/, "")));
  const n = deed.data?.counts;
  const item = deed.data?.groups?.[0]?.items?.[0];
  if (!n || !item) return <span className="lines"> </span>;
  const sign = signOf(item.what);
  return (
    <span>
      {item.what === "edited" ? null : <span className={sign.family}>{sign.word} </span>}
      <Lines plus={n.plus} minus={n.minus} />
    </span>
  );
}
