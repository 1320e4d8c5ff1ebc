// What was said in the turn, and the calls it made; the call behind the shown change is marked.
import { queryOptions, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { ask } from "../../api/ask.ts";
import type { Checkpoint, Spoken, State, Task } from "../../api/types.ts";
import { Icon } from "../../parts/Icon.tsx";
import { Flag } from "../../parts/marks.tsx";
import { oneLine, shown, shownLines } from "../../words/escape.ts";
import { agentName } from "../../words/checkpoint.ts";
import { several } from "../../words/number.ts";
import { folded, madeIt, saidOf, type CallLine, type Said as Line } from "./said.ts";

const spokenOf = (ws: string, ref: string) =>
  queryOptions({
    queryKey: ["checkpoint", ws, "spoken", ref],
    queryFn: ({ signal }) => ask<Spoken>("GET", `/v1/workspaces/${encodeURIComponent(ws)}/spoken`, { query: { ref }, signal }),
    staleTime: Infinity,
    retry: false,
  });

export interface SaidProps {
  ws: string;
  c: Checkpoint;
  near: readonly Checkpoint[];
  state?: State;
  root: string;
  path: string; // whose change is shown
}

/** So much is drawn at once. */
const most = 60;

export function Said({ ws, c, near, state, root, path }: SaidProps) {
  const spoken = useQuery({ ...spokenOf(ws, String(c.number)), enabled: !!state?.conversation });
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const [upTo, setUpTo] = useState(most);
  const all = useMemo(
    () => saidOf({ checkpoint: c, near, calls: state?.calls ?? [], root }, spoken.data?.lines),
    [c, near, state, root, spoken.data],
  );
  const pieces = useMemo(() => folded(all, opened, (x) => madeIt(x, path)), [all, opened, path]);
  const why = state?.conversation?.missing;
  return (
    <section className="checkpoint-said" aria-label="Conversation of this turn" id="said">
      <header>
        <h2 className="label">Conversation of this turn</h2>
        <Tasks tasks={state?.tasks ?? []} />
      </header>
      {all.length === 0 ? <p className="dim">{c.turn ? "Nothing was recorded of what was said." : "No agent was at work: nothing was said."}</p> : null}
      <ol>
        {pieces.slice(0, upTo).map((x) =>
          x.kind === "fold" ? (
            <li key={`f${x.at}`}>
              <button type="button" className="checkpoint-call" onClick={() => setOpened((o) => new Set(o).add(x.at))}>
                <Icon name="down" small />
                {several(x.count, "more call")}
              </button>
            </li>
          ) : (
            <One key={x.at} said={all[x.at]!} c={c} ws={ws} path={path} />
          ),
        )}
      </ol>
      {pieces.length > upTo ? (
        <button type="button" className="link" onClick={() => setUpTo(upTo + 200)}>
          {pieces.length - upTo} more
        </button>
      ) : null}
      {why && state?.conversation && !state.conversation.complete ? <p className="dim">The record is not complete: {oneLine(why)}</p> : null}
    </section>
  );
}

function One({ said: s, c, ws, path }: { said: Line; c: Checkpoint; ws: string; path: string }) {
  if (s.kind === "call") return <CallRow call={s} on={madeIt(s, path)} ws={ws} />;
  if (s.kind === "note") return <li className="checkpoint-words dim">{shownLines(s.text)}</li>;
  return (
    <li className={s.kind === "you" ? "checkpoint-words you" : "checkpoint-words"}>
      <b>{s.kind === "you" ? "You" : agentName(c.turn?.agent ?? "the agent")}</b>
      <p>{shownLines(s.text.trim())}</p>
    </li>
  );
}

function CallRow({ call, on, ws }: { call: CallLine; on: boolean; ws: string }) {
  return (
    <li className={on ? "checkpoint-call on" : "checkpoint-call"} aria-current={on ? "true" : undefined} title={call.risk ? oneLine(call.risk) : undefined}>
      <Icon name={call.icon} small />
      <span className="mono cut grow" title={shown(call.text)}>
        {shown(call.text)}
      </span>
      {on ? <span className="sr">this call made the shown change</span> : null}
      {call.risk ? <Flag family="risky">risky</Flag> : null}
      {call.kept ? (
        <Link className="link" to="/w/$ws/m/$ref" params={{ ws, ref: String(call.kept) }}>
          kept as {call.kept}
        </Link>
      ) : null}
      {call.effect && !call.failed ? <Flag family="risky">can't be undone</Flag> : null}
      {call.failed ? <Flag family="bad">failed</Flag> : null}
    </li>
  );
}

function Tasks({ tasks }: { tasks: readonly Task[] }) {
  if (tasks.length === 0) return null;
  const done = tasks.filter((t) => t.status === "completed").length;
  const next = tasks.find((t) => t.status === "in-progress" || t.status === "pending");
  return (
    <span className="checkpoint-tasks" title={tasks.map((t) => `${t.status}: ${shown(t.title)}`).join("\n")}>
      <span aria-hidden="true">
        {tasks.slice(0, 12).map((t) => (
          <i key={t.id} className={`${t.status} ${t === next ? "next" : ""}`} />
        ))}
      </span>
      <span className="num">
        {done} of {tasks.length}
        <span className="sr"> tasks done</span>
      </span>
      {next ? <span className="sr">, next is {shown(next.title)}</span> : null}
    </span>
  );
}
