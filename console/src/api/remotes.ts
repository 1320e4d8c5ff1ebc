// Remotes: encrypted copies of the history at other places. A server has none.
import { queryOptions } from "@tanstack/react-query";
import { ask } from "./ask.ts";
import type * as T from "./types.ts";

/** No event says how far an upload is: it is asked for again, sooner while something waits. */
export const remotes = queryOptions({
  queryKey: ["remotes"],
  queryFn: async ({ signal }) => (await ask<T.RemoteList>("GET", "/v1/remotes", { signal })).remotes ?? [],
  refetchInterval: (q) => (q.state.data?.some((r) => r.pending > 0 || r.trouble) ? 5000 : 30_000),
});

/** Uploads what one remote lacks, and waits for it. */
export const syncRemote = (name: string) => ask<T.RemoteList>("POST", "/v1/remotes/sync", { body: { name } satisfies T.SyncBody });
