// Beside the paths: what needs a word, what can't be undone, what comes back with the files,
// and what still runs.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { resumeAt } from "../../api/queries.ts";
import type { Effect, Holder, Plan, PlanAsk, Resumption, ViewedPlan } from "../../api/types.ts";
import { Icon } from "../../parts/Icon.tsx";
import { List } from "../../parts/List.tsx";
import { outcomeWord } from "../../words/effect.ts";
import { shown, oneLine } from "../../words/escape.ts";
import { agentName } from "../../words/checkpoint.ts";
import { several, upper } from "../../words/number.ts";
import { clock, whole } from "../../words/time.ts";
import { onceMore } from "./apply.ts";
import { pathsOf } from "./moved.ts";

export function Asks({ viewed: { plan, view }, accepted, accept }: { viewed: ViewedPlan; accepted: ReadonlySet<string>; accept: (word: string, yes: boolean) => void }) {
  const { asks } = view;
  if (asks.length === 0) return null;
  const given = asks.filter((o) => accepted.has(o.class)).length;
  return (
    <section className="plan-box asks" aria-labelledby="asks">
      <h2 id="asks">
        <Icon name="warn" />
        Needs confirmation
        <span className="aside num" role="status">
          {given} of {asks.length} given
        </span>
      </h2>
      <ul>
        {asks.map((o) => (
          <Ask key={o.class} plan={plan} ask={o} given={accepted.has(o.class)} accept={(yes) => accept(o.class, yes)} />
        ))}
      </ul>
    </section>
  );
}

function Ask({ plan, ask: o, given, accept }: { plan: Plan; ask: PlanAsk; given: boolean; accept: (yes: boolean) => void }) {
  const [open, setOpen] = useState(false);
  const paths = pathsOf(plan, o.class);
  return (
    <li className="plan-ask">
      <label>
        <input type="checkbox" checked={given} onChange={(e) => accept(e.target.checked)} aria-describedby={`ask-${o.class}`} data-ask={o.class} />
        <span className="tick" aria-hidden="true">
          <Icon name="check" small />
        </span>
        <b>{shown(upper(o.deed))}</b>
      </label>
      <p className="text" id={`ask-${o.class}`}>
        {shown(o.text)} <code className="mono">{shown(o.class)}</code>
      </p>
      {paths.length > 1 ? (
        <button type="button" className="link" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? "Hide" : "Show"} the {several(paths.length, "path")}
          <span className="sr"> of {shown(o.class)}</span>
        </button>
      ) : null}
      {open ? (
        <div className="paths">
          <List label={`Paths of ${shown(o.class)}`} count={paths.length} height={24} most={216}>
            {(i) => <span className="mono whole" title={shown(paths[i]!)}>{shown(paths[i]!)}</span>}
          </List>
        </div>
      ) : null}
    </li>
  );
}

export function StaysDone({ effects }: { effects: readonly Effect[] }) {
  if (effects.length === 0) return null;
  return (
    <section className="plan-box" aria-labelledby="stays-done">
      <h2 id="stays-done">
        <Icon name="out" />
        Stays done
        <span className="aside">restoring files does not undo {effects.length === 1 ? "this" : "these"}</span>
      </h2>
      <List label="External actions that can't be undone" count={effects.length} height={54} most={324}>
        {(i) => <EffectLine effect={effects[i]!} />}
      </List>
    </section>
  );
}

export function EffectLine({ effect: e }: { effect: Effect }) {
  const target = e.target && !e.text.includes(e.target) ? oneLine(e.target) : "";
  const more = [e.kind ? shown(e.kind) : "", target, e.agent ? agentName(e.agent) : "", e.outcome === "unknown" ? outcomeWord(e) : ""].filter((s) => s !== "").join(", ");
  return (
    <div className="plan-effect">
      <span className="id num">{shown(e.id)}</span>
      <time className="num" dateTime={e.time} title={whole(e.time)}>
        {clock(e.time)}
      </time>
      <div>
        <span className="cut" title={shown(e.text)}>
          {oneLine(e.text)}
        </span>
        <span className="cut more">{more}</span>
      </div>
    </div>
  );
}

export function StillRuns({ holders }: { holders: readonly Holder[] }) {
  if (holders.length === 0) return null;
  return (
    <section className="plan-box" aria-labelledby="still-runs">
      <h2 id="still-runs">
        <Icon name="machine" />
        Still runs
        <span className="aside">restart {holders.length === 1 ? "it" : "them"} afterwards</span>
      </h2>
      <List label="Programs that hold files of the plan" count={holders.length} height={54} most={216}>
        {(i) => <HolderLine holder={holders[i]!} />}
      </List>
    </section>
  );
}

function HolderLine({ holder: h }: { holder: Holder }) {
  return (
    <div className="plan-effect wide">
      <div>
        <span className="cut">
          <span className="num dim">{h.pid}</span> {shown(h.command)}
        </span>
        <span className="cut more mono">{shown(h.path)}</span>
      </div>
    </div>
  );
}

/** Only a restore of everything takes the conversation along. */
export const takesTalk = (p: Plan): boolean => p.course === "restore" && !p.paths?.length && !!p.target;

export function ComesBack({ plan }: { plan: Plan }) {
  const ref = plan.target ? plan.target.id : "";
  const talk = useQuery({ queryKey: ["checkpoint", plan.workspace, "resume", ref], queryFn: () => resumeAt(plan.workspace, ref), enabled: takesTalk(plan), retry: onceMore, staleTime: 30_000 });
  if (!takesTalk(plan) || !talk.data) return null;
  return (
    <section className="plan-box" aria-labelledby="comes-back">
      <h2 id="comes-back">
        <Icon name="talk" />
        Comes back with the files
      </h2>
      <p className="plan-come">
        <Icon name={(talk.data.command ?? []).length > 0 ? "check" : "question"} small />
        <span>
          <TalkText talk={talk.data} />
        </span>
      </p>
      {(talk.data.tasks ?? []).length > 0 ? (
        <p className="plan-come">
          <Icon name="check" small />
          <span>
            <b>The tasks</b>, {tasksText(talk.data)}.{talk.data.next ? ` Next: ${oneLine(talk.data.next.title)}` : ""}
          </span>
        </p>
      ) : null}
    </section>
  );
}

function TalkText({ talk: t }: { talk: Resumption }) {
  const who = agentName(t.agent);
  if ((t.command ?? []).length === 0) {
    return (
      <>
        <b>The conversation</b> of {who} cannot be continued from there: {oneLine(t.why ?? "it is not kept")}.
      </>
    );
  }
  if (!t.exact) {
    return (
      <>
        <b>The conversation</b> of {who}, with all that was said{t.why ? `: ${oneLine(t.why)}` : ""}. Retake tells the agent what happened.
      </>
    );
  }
  return (
    <>
      <b>The conversation</b> of {who}, forked at {t.checkpoint.number}. The running one is left alone, and Retake tells the agent what happened.
    </>
  );
}

export function tasksText(t: Resumption): string {
  const tasks = t.tasks ?? [];
  return `${tasks.filter((x) => x.status === "completed").length} of ${tasks.length} done`;
}
