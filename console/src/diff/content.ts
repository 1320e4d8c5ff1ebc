// What the two sides of a file are, and their bytes: only as many as are shown.
import { queryOptions } from "@tanstack/react-query";
import { send } from "../api/ask.ts";
import type { Change, Comparison, Entry } from "../api/types.ts";

/** What is read at first of each side; more is read when somebody asks. */
export const firstBytes = 256_000;
/** The most that is compared at once: so much is looked through for secrets. */
export const mostBytes = 8_000_000;

export const more = (most: number): number => Math.min(most * 4, mostBytes);

export interface Side {
  ref: string;
  path: string;
  entry?: Entry; // absent: not known, the file did not change
}

export interface Sides {
  change?: Change;
  before?: Side;
  after?: Side;
  below: Change[]; // of a directory
}

/** sidesOf finds the two sides of a path in a comparison. Turned: it was asked the other way round. */
export function sidesOf(c: Comparison, path: string, was = "", turned = false): Sides {
  const changes = (c.changes ?? []).map((x) => (turned ? turnedRound(x) : x));
  const [older, newer] = turned ? [c.to, c.from] : [c.from, c.to];
  const before = older ? String(older.number) : turned ? "now" : "";
  const after = newer ? String(newer.number) : turned ? "" : "now";
  const bare = path.endsWith("/") ? path.slice(0, -1) : path;
  const change = changes.find((x) => x.path === bare);
  const from = was ? changes.find((x) => x.path === was) : undefined;
  const below = changes.filter((x) => x.path.startsWith(bare + "/") && !directory(x));
  if (!change) return { below, before: before ? { ref: before, path } : undefined, after: { ref: after, path } };
  const old = change.before ? { ref: before, path, entry: change.before } : from?.before ? { ref: before, path: was, entry: from.before } : undefined;
  return { change, below, before: old, after: change.after ? { ref: after, path, entry: change.after } : undefined };
}

const directory = (x: Change) => (x.after ?? x.before)?.kind === "dir" && (!x.after || !x.before || x.after.kind === x.before.kind);

export function turnedRound(x: Change): Change {
  const what = x.what === "added" ? "deleted" : x.what === "deleted" ? "added" : x.what;
  return { ...x, what, before: x.after, after: x.before };
}

export interface Part {
  bytes: Uint8Array<ArrayBuffer>;
  whole: number; // of all there is; 0: not known
}

/** partOf reads the beginning of a file at a checkpoint, or now, with likely secrets masked. */
export const partOf = (ws: string, side: Side | undefined, most: number) =>
  queryOptions({
    queryKey: side?.ref === "now" ? ["ws", ws, "part", side.path, most] : ["checkpoint", ws, "part", side?.ref, side?.path, most],
    queryFn: ({ signal }) => readPart(ws, side!, most, signal),
    enabled: !!side,
    staleTime: side?.ref === "now" ? 5_000 : Infinity,
    gcTime: 60_000,
  });

async function readPart(ws: string, side: Side, most: number, signal: AbortSignal): Promise<Part> {
  const r = await send("GET", `/v1/workspaces/${encodeURIComponent(ws)}/file`, {
    query: { ref: side.ref, path: side.path, masked: true },
    headers: side.entry?.size === 0 ? {} : { Range: `bytes=0-${most - 1}` },
    signal,
  });
  const told = /\/(\d+)$/.exec(r.headers.get("Content-Range") ?? "");
  const { bytes, ended } = await upTo(r, most);
  const all = r.status === 200 && ended; // masking may make it shorter than the file
  return { bytes, whole: told ? Number(told[1]) : all ? bytes.length : Math.max(side.entry?.size ?? 0, bytes.length) };
}

/** A server that knows no ranges sends everything: the rest is not waited for. */
async function upTo(r: Response, most: number): Promise<{ bytes: Uint8Array<ArrayBuffer>; ended: boolean }> {
  const reader = r.body?.getReader();
  if (!reader) return { bytes: new Uint8Array(), ended: true };
  const parts: Uint8Array[] = [];
  let n = 0;
  let ended = false;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) {
      ended = true;
      break;
    }
    parts.push(value);
    n += value.length;
    if (n > most) {
      void reader.cancel();
      break;
    }
  }
  const out = new Uint8Array(Math.min(n, most));
  let at = 0;
  for (const p of parts) {
    out.set(p.subarray(0, out.length - at), at);
    at += Math.min(p.length, out.length - at);
  }
  return { bytes: out, ended: ended && n <= most };
}

const pictures = /\.(png|jpe?g|gif|webp|avif)$/i;
const databases = /\.(db|sqlite3?|db3)$/i;

export type Shape = "picture" | "database" | "special" | "text";

export function shapeOf(s: Sides, path: string): Shape {
  const kinds = [s.before?.entry?.kind, s.after?.entry?.kind].filter((k) => k !== undefined);
  if (kinds.some((k) => k === "fifo" || k === "socket")) return "special";
  if (kinds.includes("symlink") || kinds.includes("dir")) return "text";
  if (pictures.test(path)) return "picture";
  return databases.test(path) ? "database" : "text";
}

/** Where a raster picture is shown from; whatever is none is refused there. */
export const pictureAt = (ws: string, s: Side): string =>
  `/console/content/${encodeURIComponent(ws)}/${encodeURIComponent(s.ref)}/${s.path.split("/").map(encodeURIComponent).join("/")}`;

const kindWords: Record<string, string> = { file: "a file", dir: "a directory", symlink: "a link", fifo: "a pipe", socket: "a socket" };
const octal = (mode: number) => (mode & 0o7777).toString(8).padStart(4, "0");

/** notesOf says what of a file changed besides its bytes. */
export function notesOf(s: Sides, was = ""): string[] {
  const [a, b] = [s.before?.entry, s.after?.entry];
  const out: string[] = [];
  if (was && s.change) out.push(`renamed from ${was}`);
  if (!a || !b) {
    const e = a ?? b;
    if (e && e.kind !== "file") out.push(kindWords[e.kind] ?? e.kind);
    if (e && e.kind === "file" && (e.mode & 0o111) !== 0) out.push(`executable, mode ${octal(e.mode)}`);
    return out;
  }
  if (a.kind !== b.kind) out.push(`${kindWords[a.kind] ?? a.kind} became ${kindWords[b.kind] ?? b.kind}`);
  else if (a.kind === "symlink") out.push("a link: what it points to changed");
  if (a.mode !== b.mode && a.kind === b.kind) out.push(`mode ${octal(a.mode)} to ${octal(b.mode)}`);
  if (a.uid !== b.uid || a.gid !== b.gid) out.push(`owner ${a.uid}:${a.gid} to ${b.uid}:${b.gid}`);
  if (s.change?.what === "timed") out.push("only its time changed");
  return out;
}
