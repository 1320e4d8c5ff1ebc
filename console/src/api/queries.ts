// What the screens ask for, each by one name and with one key in the cache. Live events
// make keys of a workspace stale; checkpoints themselves never change, so what is asked of a
// number is kept.
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { ask, send } from "./ask.ts";
import type * as T from "./types.ts";

const at = (ws: string, rest: string) => `/v1/workspaces/${encodeURIComponent(ws)}/${rest}`;

/** The part of a timeline that one request fetches. */
export const pageSize = 200;

const forever = { staleTime: Infinity, gcTime: 10 * 60_000 } as const;

export const about = queryOptions({
  queryKey: ["about"],
  queryFn: ({ signal }) => ask<T.About>("GET", "/v1/about", { signal }),
  staleTime: 60_000,
});

export const workspaces = queryOptions({
  queryKey: ["workspaces"],
  queryFn: async ({ signal }) => (await ask<T.WorkspaceList>("GET", "/v1/workspaces", { signal })).workspaces,
});

export const statusOf = (ws: string) =>
  queryOptions({
    queryKey: ["ws", ws, "status"],
    queryFn: ({ signal }) => ask<T.Status>("GET", at(ws, "status"), { signal }),
  });

/** A page of the timeline, newest first, below a number. */
export const logOf = (ws: string, q: { before?: number; limit?: number; path?: string; good?: boolean; session?: string } = {}) =>
  queryOptions({
    queryKey: ["ws", ws, "log", q],
    queryFn: ({ signal }) => ask<T.Timeline>("GET", at(ws, "checkpoints"), { query: { limit: pageSize, ...q }, signal }),
  });

export interface ViewQuery {
  before?: number;
  limit?: number;
  open?: readonly string[];
  fold_replaced?: boolean;
  flat?: boolean; // one row for each checkpoint
  graph?: boolean; // where rows stand, without what they say
  now?: boolean;
}

/** A part of the timeline in rows. */
export const viewOf = (ws: string, q: ViewQuery) =>
  queryOptions({
    queryKey: ["ws", ws, "view", q],
    queryFn: ({ signal }) => ask<T.TimelineView>("GET", at(ws, "view/timeline"), { query: { ...q }, signal }),
  });

export const forksOf = (ws: string) =>
  queryOptions({
    queryKey: ["ws", ws, "forks"],
    queryFn: async ({ signal }) => (await ask<T.ForkList>("GET", at(ws, "forks"), { signal })).forks,
  });

/** What really changed between two checkpoints; without to, up to now. */
export const storyOf = (ws: string, from: string, to: string) =>
  queryOptions({
    queryKey: to ? ["checkpoint", ws, "story", from, to] : ["ws", ws, "story", from],
    queryFn: ({ signal }) => ask<T.Story>("GET", at(ws, "story"), { query: { from, to }, signal }),
    ...(to ? { staleTime: 30_000 } : {}),
  });

export const diffOf = (ws: string, from: string, to: string, path?: string[]) =>
  queryOptions({
    queryKey: to ? ["checkpoint", ws, "diff", from, to, path] : ["ws", ws, "diff", from, path],
    queryFn: ({ signal }) => ask<T.Comparison>("GET", at(ws, "diff"), { query: { from, to, path }, signal }),
    ...(to ? forever : {}),
  });

/** What differs, in parts: a small one that can be shown at once, then large ones. */
export const changesOf = (ws: string, from: string, to: string) =>
  infiniteQueryOptions({
    queryKey: to ? ["checkpoint", ws, "changes", from, to] : ["ws", ws, "changes", from],
    queryFn: ({ pageParam: after, signal }) => ask<T.Comparison>("GET", at(ws, "diff"), { query: { from, to, after, limit: after === "" ? 200 : 5000 }, signal }),
    initialPageParam: "",
    getNextPageParam: (last) => last.next,
    ...(to ? forever : {}),
  });

/** Which rows of a database differ: all tables counted, or those of one listed. */
export const rowsOf = (ws: string, q: { from: string; to: string; path: string; table?: string; what?: string; skip?: number }) =>
  queryOptions({
    queryKey: q.to ? ["checkpoint", ws, "rows", q] : ["ws", ws, "rows", q],
    queryFn: ({ signal }) => ask<T.RowsDiff>("GET", at(ws, "rows"), { query: q, signal }),
    ...(q.to ? forever : {}),
  });

export const checkpointOf = (ws: string, ref: string) =>
  queryOptions({
    queryKey: ["checkpoint", ws, "find", ref],
    queryFn: ({ signal }) => ask<T.Checkpoint>("GET", at(ws, "find"), { query: { ref }, signal }),
    staleTime: 30_000,
  });

export const stateOf = (ws: string, ref: string) =>
  queryOptions({
    queryKey: ["checkpoint", ws, "state", ref],
    queryFn: ({ signal }) => ask<T.State>("GET", at(ws, "state"), { query: { ref }, signal }),
    staleTime: 30_000,
  });

export const verificationsOf = (ws: string, ref: string) =>
  queryOptions({
    queryKey: ["ws", ws, "verifications", ref],
    queryFn: async ({ signal }) => (await ask<T.VerificationList>("GET", at(ws, "verifications"), { query: { ref }, signal })).verifications,
  });

export const entriesOf = (ws: string, ref: string, dir: string) =>
  queryOptions({
    queryKey: ["checkpoint", ws, "list", ref, dir],
    queryFn: async ({ signal }) => (await ask<T.EntryList>("GET", at(ws, "list"), { query: { ref, dir }, signal })).entries,
    ...forever,
  });

export const effectsOf = (ws: string) =>
  queryOptions({
    queryKey: ["ws", ws, "effects"],
    queryFn: async ({ signal }) => (await ask<T.EffectList>("GET", at(ws, "effects"), { signal })).effects,
  });

export const tasksOf = (ws: string) =>
  queryOptions({
    queryKey: ["ws", ws, "tasks"],
    queryFn: async ({ signal }) => (await ask<T.TaskList>("GET", at(ws, "tasks"), { signal })).tasks,
  });

export const searchOf = (ws: string, text: string) =>
  queryOptions({
    queryKey: ["ws", ws, "search", text],
    queryFn: async ({ signal }) => (await ask<T.HitList>("GET", at(ws, "search"), { query: { text }, signal })).hits,
    enabled: text.trim() !== "",
  });

/** The bytes of a file at a checkpoint, with likely secrets masked; at most so many. */
export async function fileOf(ws: string, ref: string, path: string, most: number, signal?: AbortSignal): Promise<Uint8Array> {
  const r = await send("GET", at(ws, "file"), {
    query: { ref, path, masked: true },
    headers: { Range: `bytes=0-${most - 1}` },
    signal,
  });
  return new Uint8Array(await r.arrayBuffer());
}

export const planOf = (ws: string, body: T.PlanBody, signal?: AbortSignal) => ask<T.ViewedPlan>("POST", at(ws, "view/plan"), { body, signal });

/** What a plan would say, for the label of the button that leads to it. The page makes its own. */
export const planBefore = (ws: string, body: T.PlanBody) =>
  queryOptions({
    queryKey: ["ws", ws, "label", body],
    queryFn: ({ signal }) => planOf(ws, body, signal),
    retry: false,
  });

export const makeFork = (ws: string, body: T.ForkBody) => ask<T.ForkResult>("POST", at(ws, "forks"), { body });

export const saveNow = (ws: string, body: T.SaveBody) => ask<T.SaveResult>("POST", at(ws, "checkpoints"), { body });

export const resumeAt = (ws: string, ref: string) => ask<T.Resumption>("POST", at(ws, "resume"), { body: { ref, look: true } });
