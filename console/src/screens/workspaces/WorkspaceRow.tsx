// One workspace, as one link to its timeline.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { logOf, statusOf } from "../../api/queries.ts";
import type { Answer, Status, StoreState, WorkspaceState } from "../../api/types.ts";
import { Icon } from "../../parts/Icon.tsx";
import { Named, Verify } from "../../parts/marks.tsx";
import { shown } from "../../words/escape.ts";
import { agentName, titleOf } from "../../words/checkpoint.ts";
import { bytes, count, several } from "../../words/number.ts";
import { ago, clock } from "../../words/time.ts";
import { dayBars, standOf } from "./rows.ts";

interface Props {
  ws: WorkspaceState;
  depth: number;
  days?: readonly number[];
  store?: StoreState;
}

/** Of so many newest checkpoints the agents are told. */
const looked = 12;

export function WorkspaceRow({ ws, depth, days, store }: Props) {
  const living = !ws.ended && !ws.gone;
  const status = useQuery({ ...statusOf(ws.id), enabled: living, retry: false }).data;
  const recent = useQuery({ ...logOf(ws.id, { limit: looked }), enabled: !!ws.latest, retry: false }).data;
  const stand = standOf(ws, store);
  const agents = [...new Set((recent?.checkpoints ?? []).flatMap((c) => (c.turn?.agent ? [agentName(c.turn.agent)] : [])))];
  const now = status ? status.now.added + status.now.deleted + status.now.edited : 0;
  return (
    <Link className={depth > 0 ? "ws-row child" : "ws-row"} to="/w/$ws" params={{ ws: ws.id }}>
      <span className={`ws-stand ${stand.look}`}>
        <i aria-hidden="true" />
        {stand.word}
      </span>
      <span className="ws-name" style={{ paddingLeft: depth * 14 }}>
        <b>
          {depth > 0 ? <Icon name="fork" small /> : null}
          {shown(ws.name)}
        </b>
        <span title={shown(ws.root)}>{ws.origin ? `fork of ${ws.origin.number}` : shortPath(ws.root)}</span>
      </span>
      <Last ws={ws} agents={agents} failing={(recent?.findings[ws.latest?.id ?? ""]?.answers ?? []).filter((a) => !a.claim && a.verdict === "failed")} />
      <Good status={status} good={status?.good ?? recent?.good} unknown={!recent && !status} />
      <span className="ws-now num">{now > 0 ? several(now, "file") : "–"}</span>
      <span className="ws-days">
        <svg viewBox="0 0 120 22" width="120" height="22" aria-hidden="true">
          <path d="M0 21.5H120" className="base" />
          <path d={dayBars(days ?? [], 120, 21)} />
        </svg>
        <span className="num">{several(ws.count, "checkpoint")}</span>
      </span>
      <span className="ws-size num">{ws.latest ? bytes(ws.latest.bytes) : "–"}</span>
    </Link>
  );
}

/** The end of a long path says more than its beginning. */
function shortPath(root: string): string {
  const parts = shown(root).split("/");
  return parts.length > 4 ? `…/${parts.slice(-2).join("/")}` : parts.join("/");
}

/** The newest checkpoint; that it fails is told before all else of it. */
function Last({ ws, agents, failing }: { ws: WorkspaceState; agents: string[]; failing: readonly Answer[] }) {
  const c = ws.latest;
  const cut = ws.interrupted;
  if (!c) return <span className="ws-last dim">no checkpoint yet</span>;
  return (
    <span className="ws-last">
      <span className="cut">
        <b className="num">{c.number}</b> <Named title={titleOf(c).text} />
      </span>
      <span className={cut ? "cut risky" : "cut"}>
        {!cut && failing.length > 0 ? <span className="verify failed"><Icon name="cross" small />{`fails ${failing.map((a) => shown(a.name)).join(", ")}`}</span> : null}
        {cut ? `A restore of ${cut.target} was interrupted at ${count(cut.done)} of ${count(cut.total)}: finish it, or take it back` : [ago(c.time), ...agents].join(", ")}
      </span>
    </span>
  );
}

function Good({ status, good, unknown }: { status?: Status; good?: Status["good"]; unknown: boolean }) {
  const bad = (status?.answers ?? []).find((a) => !a.claim && a.verdict !== "passed" && a.verdict !== "failed"); // that it fails is told of the checkpoint
  if (good) {
    return (
      <span className="ws-good">
        <span className="verify passed">
          <Icon name="check" small />
          <span className="sr">good: </span>
          <b className="num">{good.number}</b>
        </span>
        <span className="dim num">{clock(good.time)}</span>
      </span>
    );
  }
  if (bad) return <span className="ws-good"><Verify answer={bad} /></span>;
  return <span className="ws-good dimmer">{unknown ? "" : status?.answers?.length ? "no good yet" : "never verified"}</span>;
}
