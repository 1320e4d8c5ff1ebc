// The paths that differ between two checkpoints. The first part is there at once; the others
// are read one after the other where all of them are wanted.
import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import { changesOf } from "../../api/queries.ts";
import type { Change } from "../../api/types.ts";

export interface Known {
  changes?: Change[]; // the first part, until all are there: rows that shift cannot be read
  more: boolean; // there are others
  read: number; // so many are there
  waits: boolean;
  error?: unknown;
}

/** To is empty for now. All: every part is asked for. */
export function useChanges(ws: string, from: string, to: string, { enabled = true, all = false }): Known {
  const q = useInfiniteQuery({ ...changesOf(ws, from, to), enabled });
  const { hasNextPage, isFetching, isError, fetchNextPage } = q;
  const next = enabled && all && hasNextPage && !isFetching && !isError;
  useEffect(() => {
    if (next) void fetchNextPage();
  }, [next, fetchNextPage]);
  const pages = q.data?.pages;
  const changes = useMemo(() => (hasNextPage ? pages?.slice(0, 1) : pages)?.flatMap((p) => p.changes ?? []), [pages, hasNextPage]);
  const read = (pages ?? []).reduce((n, p) => n + (p.changes ?? []).length, 0);
  return { changes, more: hasNextPage, read, waits: q.isPending, error: q.error ?? undefined };
}
