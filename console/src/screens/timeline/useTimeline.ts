// What the screen stands on: the book of a workspace, what a filter found, and the list made
// of them.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { ask } from "../../api/ask.ts";
import { useEvents, useLiveness } from "../../api/live.ts";
import { logOf, pageSize } from "../../api/queries.ts";
import type { MentionList, Timeline } from "../../api/types.ts";
import { bookOf, mostCheckpoints, type BookState, type Folds, type Read } from "./book.ts";
import type { Grouping, Wanted } from "./filter.ts";
import { inSlices } from "./slices.ts";
import { build, building, type Input, type View } from "./view.ts";

export function useBook(ws: string): BookState & { again: () => void; fold: (f: Folds) => void } {
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
  return { ...useSyncExternalStore(book.watch, book.present), again: book.begin, fold: book.fold };
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
  shut: ReadonlySet<string>;
  now: boolean;
}

/** So many checkpoints are listed at once; more of them in slices. */
const atOnce = 400;

export function useView(read: Read, w: Wishes): View | undefined {
  const { wanted, group, shut, now } = w;
  const input = useMemo((): Input => {
    const { rows, graph } = read;
    const older = Math.max(0, read.total - rows.length);
    const rest = read.done ? 0 : Math.min(older, mostCheckpoints - rows.length);
    return { rows, graph: graph.rows, lanes: graph.lanes, wanted, group, shut, now, rest, beyond: read.done ? older : 0 };
  }, [read, wanted, group, shut, now]);
  const quick = useMemo(() => (input.rows.length <= atOnce ? build(input) : undefined), [input]);
  const [last, setLast] = useState(quick); // what was made before stays until the next is there
  useEffect(() => {
    if (quick) return setLast(quick);
    const stop = new AbortController();
    void inSlices(building(input), stop.signal).then((v) => v && setLast(v));
    return () => stop.abort();
  }, [input, quick]);
  return quick ?? last;
}
