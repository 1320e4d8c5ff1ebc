// What a server has beside workspaces: keys, webhooks, schedules, limits, the audit log.
// A laptop answers these with not_found; storage is asked for on both.
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { ask, Trouble } from "./ask.ts";
import type * as T from "./types.ts";

const id = encodeURIComponent;

/** The most that one part of a list holds. */
const most = 1000;

interface Part<E> {
  data: E[];
  next_cursor: string;
}

/** A whole list, part by part; bounded, since a list may grow while it is read. */
async function all<E>(path: string, signal?: AbortSignal, parts = 20): Promise<E[]> {
  const out: E[] = [];
  for (let cursor = "", i = 0; i < parts; i++) {
    const p = await ask<Part<E>>("GET", path, { query: { limit: most, cursor }, signal });
    out.push(...p.data);
    cursor = p.next_cursor;
    if (!cursor) break;
  }
  return out;
}

export const namespace = queryOptions({
  queryKey: ["office", "namespace"],
  queryFn: ({ signal }) => ask<T.Namespace>("GET", "/v1/namespace", { signal }),
});

export const usage = queryOptions({
  queryKey: ["office", "usage"],
  queryFn: ({ signal }) => ask<T.Usage>("GET", "/v1/usage", { signal }),
});

export const setLimits = (body: T.LimitsBody) => ask<T.Namespace>("PUT", "/v1/namespace/limits", { body });

export const keys = queryOptions({
  queryKey: ["office", "keys"],
  queryFn: ({ signal }) => all<T.Key>("/v1/keys", signal),
});

export const makeKey = (body: T.KeyBody) => ask<T.NewKey>("POST", "/v1/keys", { body });

export const revokeKey = (key: string) => ask<T.Key>("DELETE", `/v1/keys/${id(key)}`);

export const webhooks = queryOptions({
  queryKey: ["office", "webhooks"],
  queryFn: ({ signal }) => all<T.Webhook>("/v1/webhooks", signal),
  refetchInterval: 20_000,
});

export const makeHook = (body: T.HookBody) => ask<T.NewWebhook>("POST", "/v1/webhooks", { body });

export const changeHook = (hook: string, body: T.ChangeHookBody) => ask<T.Webhook>("PUT", `/v1/webhooks/${id(hook)}`, { body });

export const dropHook = (hook: string) => ask<void>("DELETE", `/v1/webhooks/${id(hook)}`);

export const rotateHook = (hook: string) => ask<T.NewWebhook>("POST", `/v1/webhooks/${id(hook)}/rotate`);

/** The newest messages of a webhook, for how it does; not more than one part. */
export const newestOf = (hook: string) =>
  queryOptions({
    queryKey: ["office", "deliveries", "newest", hook],
    queryFn: async ({ signal }) => (await ask<T.PageDelivery>("GET", "/v1/deliveries", { query: { webhook: hook, limit: most }, signal })).data,
    refetchInterval: 60_000,
  });

export interface DeliveryFilter {
  webhook?: string;
  state?: string; // waiting, delivered, dead
}

/** The log of messages, newest first, a part at a time. */
export const deliveriesOf = (f: DeliveryFilter) =>
  infiniteQueryOptions({
    queryKey: ["office", "deliveries", "log", f],
    queryFn: ({ pageParam, signal }) => ask<T.PageDelivery>("GET", "/v1/deliveries", { query: { ...f, limit: 100, cursor: pageParam }, signal }),
    initialPageParam: "",
    getNextPageParam: (p) => p.next_cursor || undefined,
    refetchInterval: (q) => (q.state.data && q.state.data.pages.length > 1 ? false : 10_000),
  });

/** One message, with its body. */
export const deliveryOf = (delivery: string) =>
  queryOptions({
    queryKey: ["office", "deliveries", "one", delivery],
    queryFn: ({ signal }) => ask<T.Delivery>("GET", `/v1/deliveries/${id(delivery)}`, { signal }),
  });

/** The messages of a webhook that wait, newest first. */
export const waitingOf = async (webhook: string, limit: number) =>
  (await ask<T.PageDelivery>("GET", "/v1/deliveries", { query: { webhook, state: "waiting", limit } })).data;

export const replay = (delivery: string) => ask<T.Delivery>("POST", `/v1/deliveries/${id(delivery)}/replay`);

/** Events of a span of numbers, for the names of what messages are about. They never change. */
export const eventsOf = (from: number, to: number) =>
  queryOptions({
    queryKey: ["office", "events", from, to],
    queryFn: async ({ signal }) =>
      (await ask<T.PageEvent>("GET", "/v1/events", { query: { after: from - 1, limit: Math.min(to - from + 1, most) }, signal })).data,
    enabled: from > 0 && to >= from,
    staleTime: Infinity,
  });

export const schedules = queryOptions({
  queryKey: ["office", "schedules"],
  queryFn: ({ signal }) => all<T.Schedule>("/v1/schedules", signal),
  refetchInterval: 30_000,
});

/** A cron line in words and its next times; one that makes no sense is refused. */
export const cadenceOf = (cron: string) =>
  queryOptions({ queryKey: ["office", "cadence", cron], queryFn: ({ signal }) => ask<T.Cadence>("GET", "/v1/view/cadence", { query: { cron }, signal }), retry: false, staleTime: 60_000, enabled: cron !== "" });

export const makeSchedule = (body: T.ScheduleBody) => ask<T.Schedule>("POST", "/v1/schedules", { body });

export const dropSchedule = (schedule: string) => ask<void>("DELETE", `/v1/schedules/${id(schedule)}`);

export const auditLog = infiniteQueryOptions({
  queryKey: ["office", "audit", "log"],
  queryFn: ({ pageParam, signal }) => ask<T.PageAuditEntry>("GET", "/v1/audit", { query: { limit: 100, cursor: pageParam }, signal }),
  initialPageParam: "",
  getNextPageParam: (p) => p.next_cursor || undefined,
  refetchInterval: (q) => (q.state.data && q.state.data.pages.length > 1 ? false : 20_000),
});

/** The whole chain, read. It may take a while, so it is asked for again by hand only. */
export const auditCheck = queryOptions({
  queryKey: ["office", "audit", "check"],
  queryFn: ({ signal }) => ask<T.AuditProof>("GET", "/v1/audit/check", { signal }),
  staleTime: 5 * 60_000,
});

/** Every entry of the audit log, newest first; tell hears how many came. */
export async function wholeAudit(tell: (n: number) => void, signal?: AbortSignal): Promise<T.AuditEntry[]> {
  const out: T.AuditEntry[] = [];
  for (let cursor = ""; ; ) {
    const p = await ask<T.PageAuditEntry>("GET", "/v1/audit", { query: { limit: most, cursor }, signal });
    out.push(...p.data);
    tell(out.length);
    cursor = p.next_cursor;
    if (!cursor) return out;
  }
}

export const deletions = queryOptions({
  queryKey: ["office", "deletions"],
  queryFn: ({ signal }) => all<T.Deletion>("/v1/deletions", signal),
});

export const askDeletion = (body: T.DeletionBody) => ask<T.Deletion>("POST", "/v1/deletions", { body });

export const cancelDeletion = (deletion: string) => ask<T.Deletion>("DELETE", `/v1/deletions/${id(deletion)}`);

/** The room that checkpoints take, and what the next cleanup would do. Nothing is done by asking. */
export const spacePlan = queryOptions({
  queryKey: ["space", "plan"],
  queryFn: ({ signal }) => ask<T.SpacePlan>("GET", "/v1/space/plan", { signal }),
  staleTime: 20_000,
});

export const thin = () => ask<T.ThinReport>("POST", "/v1/thin");

export const sweep = () => ask<T.SweepReport>("POST", "/v1/sweep");

const backupAt = (ws: string) => `/v1/workspaces/${id(ws)}/backup`;

/** The backup of a workspace; null when there is none. */
export const backupOf = (ws: string) =>
  queryOptions({
    queryKey: ["ws", ws, "backup"],
    queryFn: async ({ signal }) => {
      try {
        return await ask<T.Backup>("GET", backupAt(ws), { signal });
      } catch (e) {
        if (e instanceof Trouble && e.code === "not_found") return null;
        throw e;
      }
    },
    staleTime: 30_000,
    refetchInterval: 60_000,
  });

export const sendBackup = (ws: string) => ask<T.Backup>("POST", backupAt(ws));

export const dropBackup = (ws: string) => ask<T.Backup>("DELETE", backupAt(ws));
