// The stream of events, by fetch because it must carry a header. It resumes behind the
// last event that was seen, and makes stale what an event is about.
import { useQueryClient, type QueryClient } from "@tanstack/react-query";
import { useSyncExternalStore, useEffect } from "react";
import { send } from "./ask.ts";
import type { Event } from "./types.ts";

export type Liveness = "waiting" | "live" | "away";

let state: Liveness = "waiting";
let since = Date.now(); // when state began
const watchers = new Set<() => void>();
const listeners = new Set<(e: Event) => void>();

function become(next: Liveness) {
  if (next === state) return;
  state = next;
  since = Date.now();
  for (const w of watchers) w();
}

const watch = (w: () => void) => {
  watchers.add(w);
  return () => void watchers.delete(w);
};

export const useLiveness = (): Liveness => useSyncExternalStore(watch, () => state);

/** When the present liveness began, in ms. */
export const livenessSince = () => since;

/** useEvents calls back for every event, as long as the component is there. */
export function useEvents(heard: (e: Event) => void) {
  useEffect(() => {
    listeners.add(heard);
    return () => void listeners.delete(heard);
  }, [heard]);
}

/** useLive keeps one stream open. Mount it once. */
export function useLive() {
  const cache = useQueryClient();
  useEffect(() => {
    const stop = new AbortController();
    void follow(cache, stop.signal);
    return () => stop.abort();
  }, [cache]);
}

async function follow(cache: QueryClient, signal: AbortSignal) {
  let last = "";
  for (let wait = 500; !signal.aborted; wait = Math.min(wait * 2, 15_000)) {
    try {
      const headers: Record<string, string> = { Accept: "text/event-stream" };
      if (last) headers["Last-Event-ID"] = last;
      const r = await send("GET", "/v1/events", { headers, signal, query: last ? {} : { after: "latest" } });
      if (state === "away") void cache.invalidateQueries();
      become("live");
      wait = 500;
      last = await read(r, last, (e) => heard(cache, e));
    } catch {
      // said by the state
    }
    if (signal.aborted) return;
    become("away");
    await new Promise((done) => setTimeout(done, wait));
  }
}

async function read(r: Response, last: string, tell: (e: Event) => void): Promise<string> {
  const reader = r.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return last;
    rest += value;
    for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
      const block = rest.slice(0, end);
      rest = rest.slice(end + 2);
      const field = (name: string) => block.split("\n").find((l) => l.startsWith(name + ":"))?.slice(name.length + 1).trim();
      const id = field("id");
      const data = field("data");
      if (!id || !data) continue;
      last = id;
      tell(JSON.parse(data) as Event);
    }
  }
}

function heard(cache: QueryClient, e: Event) {
  if (e.data.workspace) void cache.invalidateQueries({ queryKey: ["ws", e.data.workspace] });
  void cache.invalidateQueries({ queryKey: ["workspaces"] });
  void cache.invalidateQueries({ queryKey: ["remotes"] });
  for (const l of listeners) l(e);
}
