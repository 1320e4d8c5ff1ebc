// One worker for all diffs of the page. It is started with the first of them.
import type { Compared } from "./compute.ts";

const waiting = new Map<number, { done: (c: Compared) => void; wrong: (e: Error) => void }>();
let worker: Worker | undefined;
let last = 0;

function started(): Worker {
  if (worker) return worker;
  const w = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  w.onmessage = (e: MessageEvent<Compared & { id: number }>) => {
    waiting.get(e.data.id)?.done(e.data);
    waiting.delete(e.data.id);
  };
  w.onerror = () => {
    worker = undefined;
    for (const x of waiting.values()) x.wrong(new Error("The lines could not be compared."));
    waiting.clear();
  };
  return (worker = w);
}

/** Starts the worker before it is needed. */
export const begin = (): void => void started();

export function compare(before: string, after: string, language: string, cut: boolean): Promise<Compared> {
  const id = ++last;
  return new Promise((done, wrong) => {
    waiting.set(id, { done, wrong });
    started().postMessage({ id, before, after, language, cut });
  });
}
