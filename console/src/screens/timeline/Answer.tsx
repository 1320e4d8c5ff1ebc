// The answer first: which checkpoint is good, why we say so, and what we would do.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { memo, useMemo, type ReactNode } from "react";
import { usePowers } from "../../api/powers.ts";
import { statusOf } from "../../api/queries.ts";
import type { Checkpoint, Status } from "../../api/types.ts";
import { Icon } from "../../parts/Icon.tsx";
import { Named } from "../../parts/marks.tsx";
import { shown } from "../../words/escape.ts";
import { titleOf } from "../../words/checkpoint.ts";
import { several } from "../../words/number.ts";
import { ago, clock } from "../../words/time.ts";
import type { Read } from "./book.ts";
import { brokenSince, type Broken } from "./broken.ts";
import { mayNot } from "./Preview.tsx";
import { realAnswers, rowAt, type Row } from "./rows.ts";

export const Answer = memo(function Answer({ ws, read }: { ws: string; read: Read }) {
  const status = useQuery(statusOf(ws)).data;
  const good = status?.good ?? read.good;
  return (
    <>
      <Alarm status={status} />
      {good ? <Good ws={ws} read={read} good={good} status={status} /> : <NoGood row={read.rows[0]!} asked={read.rows.some((r) => realAnswers(r).length > 0)} />}
    </>
  );
});

/** What keeps checkpoints from being taken, or from being read. */
function Alarm({ status }: { status?: Status }) {
  const why = status?.workspace.unprotected?.why;
  const lost = status?.damage;
  return (
    <>
      {why ? (
        <p className="tl-alarm" role="alert">
          <b>Not protected:</b> {shown(why)}.
        </p>
      ) : null}
      {lost ? (
        <p className="tl-alarm">
          <b>Damaged:</b> {several(lost.paths, "path")} of {several(lost.checkpoints?.length ?? 0, "checkpoint")} cannot be read. To look for the content in your workspaces:{" "}
          <code className="mono">retake doctor --repair</code>
        </p>
      ) : null}
    </>
  );
}

interface GoodProps {
  ws: string;
  read: Read;
  good: Checkpoint;
  status?: Status;
}

function Good({ ws, read, good, status }: GoodProps) {
  const n = good.number;
  const row = rowAt(read.rows, n);
  const { may } = usePowers();
  const broken = useMemo(() => brokenSince(read.rows, good), [read, good]);
  return (
    <Strip
      sign={<span className="tl-sign good"><Icon name="check" /></span>}
      title={<>{n} is good</>}
      time={clock(good.time)}
      name={row ? shown(row.title) : titleOf(good).text}
      acts={
        <>
          <Link className="button" to="/w/$ws/compare" params={{ ws }} search={{ from: String(n) }}>
            Compare with now
          </Link>
          {may("return") ? (
            <Link className={broken ? "button primary" : "button"} to="/w/$ws/plan" params={{ ws }} search={{ course: "restore", ref: String(n) }}>
              <Icon name="back" small />
              Restore {n}…
            </Link>
          ) : (
            <button type="button" className="button" disabled title={mayNot}>
              Restore {n}…<span className="sr">, {mayNot}</span>
            </button>
          )}
        </>
      }
    >
      {proof(row, status, n)}{" "}
      {broken ? (
        <>
          <b className="bad">
            <Break ws={ws} broken={broken} />
          </b>{" "}
        </>
      ) : null}
      {since(read, good, status)}
    </Strip>
  );
}

/** What broke it, and the way there. */
function Break({ ws, broken: { first, only, names } }: { ws: string; broken: Broken }) {
  const there = (
    <Link to="/w/$ws/m/$ref" params={{ ws, ref: String(first.number) }}>
      {first.number}
    </Link>
  );
  return only ? (
    <>
      {there} fails {names.join(", ")}.
    </>
  ) : (
    <>
      {names.join(", ")} {names.length === 1 ? "fails" : "fail"} since {there}.
    </>
  );
}

/** What was verified, and whether going back was proven. */
function proof(row: Row | undefined, status: Status | undefined, n: number): ReactNode {
  const parts = (row ? realAnswers(row) : []).filter((a) => a.verdict === "passed").map((a) => `${shown(a.name)} passed${a.as ? ` at ${a.as}, same files` : ""}`);
  const d = status?.drill;
  const which = d && d.number !== n ? `${d.number} ` : "";
  if (d?.verdict === "passed") parts.push(`${which}proven restorable ${ago(d.at)}`);
  const bad = d && d.verdict !== "passed" ? (d.verdict === "failed" ? `${d.number} restored into a fork did not pass` : `${d.number} could not be proven restorable`) : "";
  return (
    <>
      {parts.length ? `${parts.join(", ")}.` : ""}
      {bad ? <span className={d!.verdict === "failed" ? "bad" : "partial"}>{` ${bad} ${ago(d!.at)}.`}</span> : null}
    </>
  );
}

/** What changed since, in checkpoints and in files that are in none. */
function since(read: Read, good: Checkpoint, status?: Status): string {
  const later = read.rows.findIndex((r) => r.number <= good.number);
  const files = status ? status.now.added + status.now.deleted + status.now.edited : 0;
  if (later > 0) return `${several(later, "checkpoint")} since then${files > 0 ? `, and ${several(files, "file")} with unsaved changes` : ""}.`;
  if (files > 0) return `${several(files, "file")} changed since then.`;
  return status && !status.saving ? "Nothing changed since." : "";
}

function NoGood({ row: c, asked }: { row: Row; asked: boolean }) {
  return (
    <Strip
      sign={<span className="tl-sign unknown"><Icon name="question" /></span>}
      title={asked ? "No checkpoint is good yet" : <>{c.number} is the newest</>}
      time={asked ? `${c.number} is the newest` : clock(c.time)}
      name={asked ? clock(c.time) : shown(c.title)}
      acts={null}
    >
      {asked ? "No checkpoint passed all its checks." : "No checks were run, so Retake can't say which checkpoint is good."} To check the files as they are:{" "}
      <code className="mono">retake verify -- npm test</code>
    </Strip>
  );
}

function Strip(p: { sign: ReactNode; title: ReactNode; time: string; name: string; acts: ReactNode; children: ReactNode }) {
  return (
    <div className="tl-answer">
      {p.sign}
      <div className="grow">
        <h1 className="answer">
          {p.title} <span>
            · {p.time} · <Named title={p.name} />
          </span>
        </h1>
        <p>{p.children}</p>
      </div>
      <div className="tl-answer-acts">{p.acts}</div>
    </div>
  );
}
