// What the screen stands on: the book of a workspace, its forks, what a filter found, and
// the list made of them.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { ask } from "../../api/ask.ts";
import { useEvents, useLiveness } from "../../api/live.ts";
import { forksOf, logOf, pageSize } from "../../api/queries.ts";
import type { Checkpoint, MentionList, Timeline, WorkspaceState } from "../../api/types.ts";
import { shown } from "../../words/escape.ts";
import { bookOf, mostCheckpoints, type BookState, type Read } from "./book.ts";
import type { ForkLine } from "./fold.ts";
import type { Grouping, Wanted } from "./filter.ts";
import { inSlices } from "./slices.ts";
import { build, building, type Input, type View } from "./view.ts";

export function useBook(ws: string): BookState & { again: () => void } {
  const cache = useQueryClient();
  const book = useMemo(() => bookOf(cache, ws), [cache, ws]);
  const live = useLiveness();
  useEvents(book.heard);
  const was = useRef(live);
  useEffect(() => {
    if (was.current === live) return book.open();
    was.current = live;
    book.begin(); // what happened while nobody answered is read again
  }, [book, live]);
  return { ...useSyncExternalStore(book.watch, book.present), again: book.begin };
}

export interface Forks {
  lines: readonly ForkLine[];
  names: ReadonlyMap<string, string>; // by the checkpoint of a fork that was adopted
}

const noForks: Forks = { lines: [], names: new Map() };

/** The forks of checkpoints of the book, with those that were adopted. */
export function useForks(ws: string, checkpoints: readonly Checkpoint[]): Forks {
  const all = useQuery(forksOf(ws)).data;
  const adoptions = useMemo(() => checkpoints.filter((c) => c.return?.course === "adopt"), [checkpoints]);
  const homes = useHomes(all, adoptions);
  return useMemo(() => {
    if (!all?.length) return noForks;
    const adopted = new Map<string, string[]>();
    const names = new Map<string, string>();
    for (const c of adoptions) {
      const f = all.find((x) => x.latest?.id === c.return!.target) ?? all.find((x) => x.id === homes?.get(c.return!.target));
      if (!f) continue;
      names.set(c.return!.target, shown(f.name));
      adopted.set(f.id, [...(adopted.get(f.id) ?? []), c.id]);
    }
    const lines = all.filter((f) => f.origin && f.latest && ((!f.gone && !f.ended) || adopted.has(f.id))).map((state) => ({ state, adopted: adopted.get(state.id) ?? [] }));
    return { lines, names };
  }, [all, adoptions, homes]);
}

/** So many adoptions of forks that went on are looked up. */
const mostLookups = 12;

/** Where an adopted checkpoint is at home, when its fork went on since. */
function useHomes(all: readonly WorkspaceState[] | undefined, adoptions: readonly Checkpoint[]) {
  const lost = adoptions.map((c) => c.return!.target).filter((id) => all && !all.some((f) => f.latest?.id === id)).slice(0, mostLookups);
  return useQuery({
    queryKey: ["checkpoint", "home", lost, all?.map((f) => f.id)],
    enabled: lost.length > 0,
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      const home = new Map<string, string>();
      for (const f of all!) {
        for (const ref of lost) {
          if (home.has(ref)) continue;
          const path = `/v1/workspaces/${encodeURIComponent(f.id)}/find`;
          if (await ask("GET", path, { query: { ref }, signal }).then(() => true, () => false)) home.set(ref, f.id);
        }
      }
      return home;
    },
  }).data;
}

/** The checkpoints in which a path or a package changed, as the API finds them. */
export function useFound(ws: string, path?: string, pack?: string) {
  return useQuery({
    queryKey: ["ws", ws, "found", path, pack],
    enabled: !!path || !!pack,
    queryFn: async ({ signal, client }) => {
      const ids = new Set<string>();
      if (pack) {
        const url = `/v1/workspaces/${encodeURIComponent(ws)}/chronicle`;
        for (const m of (await ask<MentionList>("GET", url, { query: { kind: "package", name: pack }, signal })).mentions) ids.add(m.checkpoint.id);
        if (!path) return ids;
      }
      const both = new Set<string>();
      for (let before: number | undefined, more = true; more; ) {
        const t: Timeline = await client.fetchQuery({ ...logOf(ws, { path, before, limit: pageSize }), staleTime: 0, gcTime: 0 });
        const page = t.checkpoints ?? [];
        for (const c of page) if (!pack || ids.has(c.id)) both.add(c.id);
        before = page[page.length - 1]?.number;
        more = page.length === pageSize && both.size < mostCheckpoints;
      }
      return both;
    },
  });
}

export interface Wishes {
  wanted: Wanted;
  group?: Grouping;
  open: ReadonlySet<string>;
  shut: ReadonlySet<string>;
  leftFolded: boolean;
  now: boolean;
}

/** So many checkpoints are listed at once; more of them in slices. */
const atOnce = 400;

export function useView(read: Read | undefined, forks: Forks, w: Wishes): View | undefined {
  const { wanted, group, open, shut, leftFolded, now } = w;
  const input = useMemo((): Input | undefined => {
    if (!read) return undefined;
    const { checkpoints, findings, pins } = read;
    const older = Math.max(0, read.total - checkpoints.length);
    return {
      checkpoints, findings, wanted, group, shut, now, workspace: read.workspace, names: forks.names,
      told: { checkpoints, findings, pins, forks: forks.lines, open, leftFolded },
      rest: read.done ? 0 : Math.min(older, mostCheckpoints - checkpoints.length), beyond: read.done ? older : 0,
    };
  }, [read, forks, wanted, group, open, shut, leftFolded, now]);
  const quick = useMemo(() => (input && input.checkpoints.length <= atOnce ? build(input) : undefined), [input]);
  const [last, setLast] = useState(quick); // what was made before stays until the next is there
  useEffect(() => {
    if (!input) return;
    if (quick) return setLast(quick);
    const stop = new AbortController();
    void inSlices(building(input), stop.signal).then((v) => v && setLast(v));
    return () => stop.abort();
  }, [input, quick]);
  return quick ?? last;
}
