// Afterwards: what was done, what was left, how to go on, what runs, what can't be undone, and
// the way back, which is a plan too.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Failure, Plan, RestoreResult, Resumption, ViewedPlan } from "../../api/types.ts";
import { Copy } from "../../parts/Copy.tsx";
import { Icon } from "../../parts/Icon.tsx";
import { List } from "../../parts/List.tsx";
import { inDir } from "../../words/command.ts";
import { oneLine, shown, shownLines } from "../../words/escape.ts";
import { agentName } from "../../words/checkpoint.ts";
import { duration, several, someNames, upper } from "../../words/number.ts";
import { goOn, onceMore } from "./apply.ts";
import { Heading } from "./Frame.tsx";
import { takesTalk, tasksText } from "./Side.tsx";
import { doneText } from "./rows.ts";

export function Done({ viewed: { plan, view }, result: r, took }: { viewed: ViewedPlan; result: RestoreResult; took: number }) {
  const left = r.failed.length;
  const sides = plan.keeps.filter((k) => k.side);
  const talk = useQuery({ queryKey: ["checkpoint", plan.workspace, "go-on", r.checkpoint.id], queryFn: () => goOn(plan.workspace, { ref: r.checkpoint.id }), enabled: takesTalk(plan), retry: onceMore, staleTime: Infinity });
  return (
    <div className="plan-ask-page">
      <Heading>
        <span className={left > 0 ? "risky sign" : "good sign"}>
          <Icon name={left > 0 ? "warn" : "check"} />
        </span>
        {shown(view.done)}
        {left > 0 ? `, but ${several(left, "path")} ${left === 1 ? "was" : "were"} left` : ""}
      </Heading>
      <p className="plan-sub">
        {doneText(view, r.failed)}, in {duration(took * 1e6)}.{plan.writes.length + plan.merges.length > 0 ? " Every byte was read back." : ""} {checkpointsText(r)}
      </p>
      {left > 0 ? <Left failed={r.failed} safety={r.safety.number} /> : null}
      <ul className="plan-list">
        {talk.data ? (
          <li>
            <Icon name="talk" />
            <TalkOn talk={talk.data} />
          </li>
        ) : null}
        {(r.holders ?? []).map((h) => (
          <li key={`${h.pid} ${h.path}`}>
            <Icon name="machine" />
            <span>
              {shown(h.command)} {h.pid} still has the old <span className="mono">{shown(h.path)}</span> open.<span className="more">Restart it.</span>
            </span>
          </li>
        ))}
        {sides.map((k) => (
          <li key={k.path}>
            <Icon name="file" />
            <span>
              <span className="mono">{shown(k.side!)}</span> is the other version of <span className="mono">{shown(k.path)}</span>, which stays yours.
            </span>
          </li>
        ))}
        {plan.effects.length > 0 ? (
          <li>
            <Icon name="out" />
            <span>
              Can't be undone: {someNames(plan.effects.map((e) => `${shown(e.id)} ${oneLine(e.text)}`), 4)}.
              {talk.data ? <span className="more">Retake tells the agent not to repeat {plan.effects.length === 1 ? "it" : "them"}.</span> : null}
            </span>
          </li>
        ) : null}
        {r.warnings.map((w) => (
          <li key={w.code + w.text}>
            <Icon name="warn" />
            <span>{shown(w.text)}</span>
          </li>
        ))}
      </ul>
      <div className="plan-buttons">
        <WayBack plan={plan} result={r} />
        <Link className="button primary" to="/w/$ws" params={{ ws: plan.workspace }} search={{ at: String(r.checkpoint.number) }}>
          To the timeline
        </Link>
      </div>
    </div>
  );
}

function checkpointsText(r: RestoreResult): string {
  const had = r.safety.number ? `What you had is checkpoint ${r.safety.number}` : "";
  const now = r.checkpoint.number ? `this is checkpoint ${r.checkpoint.number}` : "";
  const text = [had, now].filter((s) => s !== "").join(", ");
  return text ? `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.` : "";
}

/** An undo goes one further each time, so what takes it back is a redo. */
function WayBack({ plan, result: r }: { plan: Plan; result: RestoreResult }) {
  if (plan.course === "unwind") return null;
  const redo = plan.course === "undo";
  const again = plan.course === "redo" && plan.target;
  const ref = redo ? undefined : String(again ? plan.target!.number : r.checkpoint.number);
  return (
    <Link className="button" to="/w/$ws/plan" params={{ ws: plan.workspace }} search={{ course: redo ? "redo" : "undo", ref }}>
      <Icon name="back" small />
      {redo ? "Redo…" : plan.course === "restore" || plan.course === "finish" ? "Undo this restore…" : "Undo…"}
    </Link>
  );
}

function Left({ failed, safety }: { failed: readonly Failure[]; safety: number }) {
  return (
    <section className="plan-box asks plan-left" aria-labelledby="left">
      <h2 id="left">
        <Icon name="warn" />
        Left as found
        <span className="aside">everything else is done; {safety} has everything from before</span>
      </h2>
      <List label="Paths that were left" count={failed.length} height={32} most={320}>
        {(i) => (
          <div className="plan-failed">
            <span className="mono cut" title={shown(failed[i]!.path)}>
              {shown(failed[i]!.path)}
            </span>
            <span className="dim cut">{shown(failed[i]!.why)}</span>
          </div>
        )}
      </List>
    </section>
  );
}

export function TalkOn({ talk: t }: { talk: Resumption }) {
  const command = t.command ?? [];
  return (
    <div className="plan-talk">
      {command.length > 0 ? (
        <>
          Continue the conversation of {agentName(t.agent)} {t.exact ? `where it was at ${t.checkpoint.number}` : "with all that was said"}
          <Copy text={inDir(t.dir, command)} />
        </>
      ) : (
        `The conversation of ${agentName(t.agent)} cannot be continued from here.`
      )}
      {t.why ? <span className="more">{upper(shown(t.why))}.</span> : null}
      {t.next ? (
        <span className="more">
          Next task: {oneLine(t.next.title)}, {tasksText(t)}.
        </span>
      ) : null}
      {t.note ? (
        <details>
          <summary>What Retake tells the agent</summary>
          <p className="plan-told">{shownLines(t.note)}</p>
        </details>
      ) : null}
    </div>
  );
}
