// What the history of one file asks for.
import { queryOptions } from "@tanstack/react-query";
import { ask } from "../../api/ask.ts";
import type { Blame, Story } from "../../api/types.ts";

const at = (ws: string, rest: string) => `/v1/workspaces/${encodeURIComponent(ws)}/${rest}`;

/** What one checkpoint did to one path. */
export const deedOf = (ws: string, number: number, path: string) =>
  queryOptions({
    queryKey: ["checkpoint", ws, "deed", number, path],
    queryFn: ({ signal }) => ask<Story>("GET", at(ws, "story"), { query: { to: number, path: [path] }, signal }),
    staleTime: Infinity,
    gcTime: 5 * 60_000,
  });

export const blameOf = (ws: string, path: string, ref: string) =>
  queryOptions({
    queryKey: ref ? ["checkpoint", ws, "blame", path, ref] : ["ws", ws, "blame", path],
    queryFn: ({ signal }) => ask<Blame>("GET", at(ws, "blame"), { query: { path, ref }, signal }),
    ...(ref ? { staleTime: Infinity } : {}),
  });
