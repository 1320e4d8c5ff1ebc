// How far a list of tasks is.
import type { Task } from "../../api/types.ts";

export type Shape = "completed" | "failed" | "skipped" | "in-progress" | "pending";

export const shapeOf = (t: Task): Shape => (["completed", "failed", "skipped", "in-progress"].includes(t.status) ? (t.status as Shape) : "pending");

export const words: Record<Shape, string> = { completed: "completed", failed: "failed", skipped: "skipped", "in-progress": "being done", pending: "to do" };

export interface Sum {
  total: number;
  completed: number;
  failed: number;
  skipped: number;
  active: number;
  pending: number;
  next?: Task; // the first that is open, as it is told to an agent that goes on
}

export function sumOf(tasks: readonly Task[]): Sum {
  const n = (s: Shape) => tasks.filter((t) => shapeOf(t) === s).length;
  return {
    total: tasks.length, completed: n("completed"), failed: n("failed"), skipped: n("skipped"), active: n("in-progress"), pending: n("pending"),
    next: tasks.find((t) => ["in-progress", "pending"].includes(shapeOf(t))),
  };
}

/** The answer: 2 of 5 are done, 1 failed. */
export function answer(s: Sum): string {
  const failed = s.failed > 0 ? `, ${s.failed} failed` : "";
  if (s.completed === s.total) return s.total === 1 ? "The one task is done" : `All ${s.total} tasks are done`;
  return `${s.completed} of ${s.total} ${s.completed === 1 ? "is" : "are"} done${failed}`;
}
