// What agents did outside the workspace. No restore takes it back, so all of it is told.
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { effectsOf } from "../../api/queries.ts";
import type { Checkpoint, Effect } from "../../api/types.ts";
import { Flag } from "../../parts/marks.tsx";
import { List } from "../../parts/List.tsx";
import { useNarrow } from "../../parts/media.ts";
import { Empty, Waiting, Wrong } from "../../parts/states.tsx";
import { outcomeWord, staysDone } from "../../words/effect.ts";
import { oneLine, shown } from "../../words/escape.ts";
import { agentName, titleOf } from "../../words/checkpoint.ts";
import { count, several } from "../../words/number.ts";
import { ago, clock, whole } from "../../words/time.ts";
import { any, counted, kindOf, matching, newestFirst, type Wanted } from "./filter.ts";
import { checkpointsOf } from "./places.ts";
import "./effects.css";

export default function Effects() {
  const { ws } = useParams({ strict: false }) as { ws: string };
  const effects = useQuery(effectsOf(ws));
  if (effects.isPending) return <Waiting what="the external actions" />;
  if (effects.isLoadingError) return <Wrong error={effects.error} again={() => void effects.refetch()} />;
  if (effects.data.length === 0) {
    return (
      <div className="page">
        <h1 className="title">External actions</h1>
        <Empty title="Nothing was done outside that we know of">
          <p>A push, a mail, a deployment or a call to a service by an agent is listed here, because no restore can undo it. The agents' hooks report them:</p>
          <pre>retake agents install</pre>
        </Empty>
      </div>
    );
  }
  return <Found ws={ws} all={effects.data} />;
}

const stayTitle = (n: number): string => (n === 0 ? "No external actions" : n === 1 ? "1 external action can't be undone" : `${several(n, "external action")} can't be undone`);

function Found({ ws, all }: { ws: string; all: readonly Effect[] }) {
  const [wanted, setWanted] = useState<Wanted>(any);
  const narrow = useNarrow();
  const sorted = useMemo(() => newestFirst(all), [all]);
  const rows = useMemo(() => matching(sorted, wanted), [sorted, wanted]);
  const checkpoints = useQuery(checkpointsOf(ws, all)).data;
  const stay = all.filter(staysDone).length;
  return (
    <div className="page">
      <h1 className="title">{stayTitle(stay)}</h1>
      <p className="effects-sub">
        {stay > 0 ? `Restoring files does not undo ${stay === 1 ? "it" : "them"}. A plan lists the ones it goes behind, and Retake tells the agent not to repeat them.` : "All attempts failed, so there is nothing to undo."}
      </p>
      {all.length > 1 ? <Filters all={all} wanted={wanted} set={setWanted} found={rows.length} /> : <div className="effects-filters" />}
      {rows.length === 0 ? (
        <Empty title="No external action matches">
          <button type="button" className="button" onClick={() => setWanted(any)}>
            Show all {count(all.length)}
          </button>
        </Empty>
      ) : (
        <section className="card effects" data-rows aria-label="External actions, newest first">
          <div className="effects-row head" aria-hidden="true">
            <span>action</span>
            <span>when</span>
            <span>what was done</span>
            <span>kind</span>
            <span>where</span>
            <span>who</span>
            <span>checkpoint</span>
            <span />
          </div>
          <List inPage label="External actions, newest first" count={rows.length} version={rows} keyOf={(i) => rows[i]!.id} height={narrow ? 84 : 43}>
            {(i) => <Line ws={ws} effect={rows[i]!} checkpoint={checkpoints?.get(rows[i]!.id)} />}
          </List>
        </section>
      )}
    </div>
  );
}

function Filters({ all, wanted, set, found }: { all: readonly Effect[]; wanted: Wanted; set: (w: Wanted) => void; found: number }) {
  const kinds = counted(all.map(kindOf));
  const agents = counted(all.map((e) => e.agent ?? "").filter((a) => a !== ""));
  const pick = (part: Partial<Wanted>) => set({ ...wanted, ...part });
  return (
    <div className="effects-filters" role="group" aria-label="Show">
      <button type="button" className="chip" aria-pressed={!wanted.kind && !wanted.agent} onClick={() => pick({ kind: "", agent: "" })}>
        All <b className="num">{count(all.length)}</b>
      </button>
      {kinds.length > 1
        ? kinds.map(([kind, n]) => (
            <button key={kind} type="button" className="chip" aria-pressed={wanted.kind === kind} onClick={() => pick({ kind: wanted.kind === kind ? "" : kind })}>
              {shown(kind)} <b className="num">{count(n)}</b>
            </button>
          ))
        : null}
      {agents.length > 1
        ? agents.map(([agent, n]) => (
            <button key={agent} type="button" className="chip" aria-pressed={wanted.agent === agent} onClick={() => pick({ agent: wanted.agent === agent ? "" : agent })}>
              {agentName(agent)} <b className="num">{count(n)}</b>
            </button>
          ))
        : null}
      <label className="effects-words">
        <span className="sr">Search external actions</span>
        <input className="text" type="search" placeholder="Words, such as a host" value={wanted.words} onChange={(e) => pick({ words: e.target.value })} />
      </label>
      <span className="sr" role="status">
        {several(found, "action")} shown
      </span>
    </div>
  );
}

function Line({ ws, effect: e, checkpoint }: { ws: string; effect: Effect; checkpoint?: Checkpoint }) {
  return (
    <div className="effects-row">
      <span className="id num">{shown(e.id)}</span>
      <time className="num" dateTime={e.time} title={`${whole(e.time)}, ${ago(e.time)}`}>
        {clock(e.time)}
      </time>
      <span className="mono cut text" title={shown(e.text)}>
        {oneLine(e.text)}
      </span>
      <span className="cut kind">{shown(kindOf(e))}</span>
      <span className="cut where" title={e.target ? shown(e.target) : undefined}>
        {e.target ? oneLine(e.target) : "–"}
      </span>
      <span className="cut who">{e.agent ? agentName(e.agent) : "–"}</span>
      <span className="cut at">
        {checkpoint ? (
          <Link className="link" to="/w/$ws/m/$ref" params={{ ws, ref: String(checkpoint.number) }} title={titleOf(checkpoint).text}>
            {checkpoint.number} {titleOf(checkpoint).text}
          </Link>
        ) : (
          <span className="dimmer">in no checkpoint that is kept</span>
        )}
      </span>
      <span className="flagged">
        <Flag family={staysDone(e) ? "risky" : "unknown"}>{outcomeWord(e)}</Flag>
      </span>
    </div>
  );
}
