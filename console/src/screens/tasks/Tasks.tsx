// The agent's list of tasks, as it was told last, and the checkpoints at which they ended.
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { tasksOf } from "../../api/queries.ts";
import type { Checkpoint, Task } from "../../api/types.ts";
import { Icon, type IconName } from "../../parts/Icon.tsx";
import { List } from "../../parts/List.tsx";
import { useNarrow } from "../../parts/media.ts";
import { Empty, Waiting, Wrong } from "../../parts/states.tsx";
import { oneLine, shown } from "../../words/escape.ts";
import { whoMade } from "../../words/checkpoint.ts";
import { clock, whole } from "../../words/time.ts";
import { taskCheckpoints } from "../effects/places.ts";
import { answer, shapeOf, sumOf, words, type Shape } from "./count.ts";
import "./tasks.css";

export default function Tasks() {
  const { ws } = useParams({ strict: false }) as { ws: string };
  const tasks = useQuery(tasksOf(ws));
  if (tasks.isPending) return <Waiting what="the tasks" />;
  if (tasks.isLoadingError) return <Wrong error={tasks.error} again={() => void tasks.refetch()} />;
  if (tasks.data.length === 0) {
    return (
      <div className="page">
        <h1 className="title">Tasks</h1>
        <Empty title="No agent has reported tasks here">
          <p>When an agent keeps a to-do list, it is shown here, with the checkpoint at which each task was completed. You can also set a list by hand:</p>
          <pre>{`echo '[{"title":"write it","status":"pending"}]' | retake tasks --set`}</pre>
        </Empty>
      </div>
    );
  }
  return <Told ws={ws} tasks={tasks.data} />;
}

function Told({ ws, tasks }: { ws: string; tasks: readonly Task[] }) {
  const sum = sumOf(tasks);
  const narrow = useNarrow();
  const ended = tasks.filter((t) => ["completed", "failed"].includes(shapeOf(t))).map((t) => t.title);
  const checkpoints = useQuery(taskCheckpoints(ws, ended)).data;
  return (
    <div className="page tasks">
      <h1 className="title">{answer(sum)}</h1>
      <p className="tasks-sub">{sum.next ? <>Next: {oneLine(sum.next.title)}. </> : "None is open. "}As the agent told it last. Every task that ends is a checkpoint.</p>
      <div className="tasks-bar" aria-hidden="true">
        <Part n={sum.completed} kind="completed" />
        <Part n={sum.failed} kind="failed" />
        <Part n={sum.skipped} kind="skipped" />
        <Part n={sum.active} kind="in-progress" />
        <Part n={sum.pending} kind="pending" />
      </div>
      <section className="card" data-rows aria-label="Tasks">
        <List inPage label="Tasks" count={tasks.length} version={tasks} height={narrow ? 64 : 43}>
          {(i) => <Line ws={ws} task={tasks[i]!} n={i + 1} next={tasks[i] === sum.next} checkpoint={checkpoints?.get(tasks[i]!.title)} />}
        </List>
      </section>
    </div>
  );
}

const Part = ({ n, kind }: { n: number; kind: string }) => (n > 0 ? <i className={kind} style={{ flexGrow: n }} /> : null);

const glyphs: Record<Exclude<Shape, "pending">, IconName> = { completed: "check", failed: "cross", skipped: "more", "in-progress": "right" };

function Line({ ws, task, n, next, checkpoint }: { ws: string; task: Task; n: number; next: boolean; checkpoint?: Checkpoint }) {
  const shape = shapeOf(task);
  return (
    <div className={`tasks-row ${shape}`}>
      {shape === "pending" ? <i className="ring" aria-hidden="true" /> : <Icon name={glyphs[shape]} />}
      <span className="n num">{n}</span>
      <span className="text cut" title={shown(task.title)}>
        {oneLine(task.title)}
      </span>
      <span className="state">{next && shape === "pending" ? "next" : words[shape]}</span>
      <span className="at cut">
        {checkpoint ? (
          <>
            <Link className="link" to="/w/$ws/m/$ref" params={{ ws, ref: String(checkpoint.number) }} title={whole(checkpoint.time)}>
              at {checkpoint.number}, {clock(checkpoint.time)}
            </Link>{" "}
            <span className="dimmer">{whoMade(checkpoint)}</span>
          </>
        ) : shape === "completed" || shape === "failed" ? (
          <span className="dimmer">no checkpoint of its own</span>
        ) : null}
      </span>
    </div>
  );
}
