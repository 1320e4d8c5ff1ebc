// The answer first: which moment is good, why we say so, and what we would do.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { memo, type ReactNode } from "react";
import { usePowers } from "../../api/powers.ts";
import { statusOf } from "../../api/queries.ts";
import type { Checkpoint, Finding, Status } from "../../api/types.ts";
import { Icon } from "../../parts/Icon.tsx";
import { shown } from "../../words/escape.ts";
import { standing, titleOf, type Goals } from "../../words/moment.ts";
import { several } from "../../words/number.ts";
import { ago, clock } from "../../words/time.ts";
import type { Read } from "./book.ts";
import { mayNot } from "./Preview.tsx";

export const Answer = memo(function Answer({ ws, read, goals }: { ws: string; read: Read; goals: Goals }) {
  const status = useQuery(statusOf(ws)).data;
  const newest = read.moments[0]!;
  const found = read.findings.get(newest.id);
  const good = status?.good ?? read.good;
  if (good) return <Good ws={ws} read={read} good={good} goals={goals} status={status} broken={standing(found) === "failed"} />;
  return <NoGood read={read} goals={goals} asked={[...read.findings.values()].some((f) => f.answers?.some((a) => !a.claim))} />;
});

interface GoodProps {
  ws: string;
  read: Read;
  good: Checkpoint;
  goals: Goals;
  status?: Status;
  broken: boolean; // the newest moment fails
}

function Good({ ws, read, good, goals, status, broken }: GoodProps) {
  const n = good.number;
  const { may } = usePowers();
  const newest = read.moments[0]!;
  const failing = (read.findings.get(newest.id)?.answers ?? []).filter((a) => !a.claim && a.verdict === "failed").map((a) => shown(a.name));
  return (
    <Strip
      sign={<span className="tl-sign good"><Icon name="check" /></span>}
      title={<>{n} is good</>}
      rest={`${clock(good.time)} · ${titleOf(good, goals).text}`}
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
      {proof(read.findings.get(good.id), status, n)}{" "}
      {broken ? (
        <>
          <b className="bad">
            {newest.number} fails {failing.join(", ")}.
          </b>{" "}
        </>
      ) : null}
      {since(read, good, status)}
    </Strip>
  );
}

/** What was verified, and whether going back was proven. */
function proof(f: Finding | undefined, status: Status | undefined, n: number): ReactNode {
  const parts = (f?.answers ?? []).filter((a) => !a.claim && a.verdict === "passed").map((a) => `${shown(a.name)} passed${a.as ? ` as ${a.as}` : ""}`);
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

/** What changed since, in moments and in files that are in none. */
function since(read: Read, good: Checkpoint, status?: Status): string {
  const later = read.moments.findIndex((c) => c.number <= good.number);
  const files = status ? status.now.added + status.now.deleted + status.now.edited : 0;
  const parts = [later > 0 ? `${several(later, "moment")} came` : "", files > 0 ? `${several(files, "file")} changed${later > 0 ? " after them" : ""}` : ""].filter(Boolean);
  if (parts.length) return `Since then ${parts.join(", and ")}.`;
  return status && !status.saving ? "Nothing changed since." : "";
}

function NoGood({ read, goals, asked }: { read: Read; goals: Goals; asked: boolean }) {
  const c = read.moments[0]!;
  return (
    <Strip
      sign={<span className="tl-sign unknown"><Icon name="question" /></span>}
      title={asked ? "No moment is good yet" : <>{c.number} is the newest</>}
      rest={asked ? `${c.number} is the newest · ${clock(c.time)}` : `${clock(c.time)} · ${titleOf(c, goals).text}`}
      acts={null}
    >
      {asked ? "No moment passed all of its verifications." : "No moment was verified, so we cannot say which one is good."} To verify the files as they are:{" "}
      <code className="mono">retake verify -- npm test</code>
    </Strip>
  );
}

function Strip(p: { sign: ReactNode; title: ReactNode; rest: string; acts: ReactNode; children: ReactNode }) {
  return (
    <div className="tl-answer">
      {p.sign}
      <div className="grow">
        <h1 className="answer">
          {p.title} <span>· {p.rest}</span>
        </h1>
        <p>{p.children}</p>
      </div>
      <div className="tl-answer-acts">{p.acts}</div>
    </div>
  );
}
