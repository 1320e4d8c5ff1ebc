// Sends requests until they are answered, or may not be sent again.

import { RetakeError, UNCERTAIN, UNCHANGED, tell } from "./errors.js";

export const PAGE = 200;

const FIRST_PAUSE = 100;
const LONG_PAUSE = 5_000;
const MAX_PAUSE = 60_000;
const UNSENT = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"]);

/** A request for JSON. A deed has a key of its own, under which the server does it once. One with ifMatch is not sent
 * again: when its answer was lost, what it changed is another one. */
export function ask(method, parts, { query = {}, body, again = true, ifMatch } = {}) {
  const a = { method, path: "/v1" + parts.map((p) => "/" + segment(p)).join("") + search(query), headers: { Accept: "application/json" } };
  if (ifMatch) a.headers["If-Match"] = ifMatch;
  a.again = again && !ifMatch; // asking twice is asking once
  a.looks = method === "GET"; // nothing is changed by asking
  a.doubt = false; // a sending before this one may have arrived
  if (method === "POST") a.headers["Idempotency-Key"] = crypto.randomUUID();
  if (body !== undefined) {
    a.body = JSON.stringify(body);
    a.headers["Content-Type"] = "application/json";
  }
  return a;
}

function segment(part) {
  if (!part) throw new RetakeError("invalid", "a name or an id is empty", { safe: UNCHANGED });
  if (part === "." || part === "..") return part.replaceAll(".", "%2E"); // would be taken for a way through the address
  return encodeURIComponent(part);
}

function search(query) {
  const pairs = [];
  for (const [name, value] of Object.entries(query)) {
    for (const v of Array.isArray(value) ? value : [value]) {
      if (v === undefined || v === null || v === false || v === "") continue;
      pairs.push(`${name}=${v instanceof Uint8Array ? Array.from(v, (b) => "%" + b.toString(16).padStart(2, "0")).join("") : encodeURIComponent(v)}`);
    }
  }
  return pairs.length > 0 ? "?" + pairs.join("&") : "";
}

/** Without what was not given. */
export function present(fields) {
  return Object.fromEntries(
    Object.entries(fields).filter(([, v]) => v !== undefined && v !== null && v !== "" && v !== false && !(Array.isArray(v) && v.length === 0)),
  );
}

/** Paths as a request has them: their bytes too, when one is no text. */
export function pathsOf(paths = []) {
  const every = [paths].flat();
  const bytes = every.some((p) => p instanceof Uint8Array);
  return {
    paths: every.map((p) => (typeof p === "string" ? p : new TextDecoder().decode(p))),
    paths_raw: bytes ? every.map((p) => base64(typeof p === "string" ? new TextEncoder().encode(p) : p)) : undefined,
  };
}

const base64 = (bytes) => btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join(""));

/** The id of a checkpoint that is to be: cp_ and a UUID of version 7. */
export function checkpointId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const now = Date.now();
  new DataView(bytes.buffer).setUint32(0, Math.floor(now / 0x10000));
  new DataView(bytes.buffer).setUint16(4, now % 0x10000);
  bytes[6] = (bytes[6] & 0x0f) | 0x70;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
  return `cp_${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Milliseconds to the next try. They grow, and differ between askers that were turned away together. */
export function pause(tries, after = 0) {
  if (after > 0) return after;
  const d = Math.min(FIRST_PAUSE * 2 ** tries, LONG_PAUSE);
  return d / 2 + (Math.random() * d) / 2;
}

export const sleep = (ms, signal) =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(stopped(signal));
    const stop = () => {
      clearTimeout(timer);
      reject(stopped(signal));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });

const stopped = (signal) => new RetakeError("canceled", "stopped", { error: signal.reason });

/** A request that was not answered well. */
class Trouble extends Error {
  constructor(error, { lost = false, sent = true, after = 0 } = {}) {
    super(error.what);
    Object.assign(this, { error, lost, sent, after });
  }
}

function mayAgain(a, t) {
  if (a.body instanceof ReadableStream) return false; // what was read of it is gone
  if (t.lost) return a.again || !t.sent;
  return t.error.retryable && (a.again || t.error.status === 429);
}

/** The error as the caller gets it. */
function told(a, t) {
  if (t.lost) t.error.safe = a.doubt && !a.looks ? UNCERTAIN : UNCHANGED;
  tell(t.error);
  return t.error;
}

function lost(e, sent) {
  const error = new RetakeError("unavailable", "the server does not answer", { cause: String(e.cause?.message || e.cause?.code || e.message), retryable: true, error: e });
  return new Trouble(error, { lost: true, sent: sent || !UNSENT.has(e.cause?.code) });
}

async function refused(answer) {
  const seconds = Number(answer.headers.get("Retry-After"));
  const after = seconds > 0 ? Math.min(seconds * 1000, MAX_PAUSE) : 0;
  const text = await answer.text();
  if (answer.headers.get("Content-Type")?.startsWith("application/problem+json")) {
    const problem = parsed(text);
    if (problem.code) return new Trouble(RetakeError.of(problem), { after });
  }
  const away = [502, 503, 504].includes(answer.status);
  const more = { safe: UNCERTAIN, status: answer.status, request_id: answer.headers.get("X-Request-Id") ?? "", retryable: away, cause: `${answer.status} ${answer.statusText}, which is no answer of ours` };
  return new Trouble(new RetakeError(away ? "unavailable" : "internal", "the answer is not understood", more), { after });
}

export function parsed(text) {
  try {
    return JSON.parse(text);
  } catch (e) {
    throw new RetakeError("internal", "the answer is not understood", { safe: UNCERTAIN, cause: e.message, error: e });
  }
}

/** Sends a request, and takes its answer: take reads the body, and may be called again. */
export async function send(c, a, take) {
  for (let tries = 0; ; tries++) {
    let wait;
    try {
      return await once(c, a, take);
    } catch (t) {
      if (!(t instanceof Trouble)) throw t;
      a.doubt ||= t.lost && t.sent;
      if (tries >= c.retries || !mayAgain(a, t)) throw told(a, t);
      wait = pause(tries, t.after);
    }
    await sleep(wait, c.signal);
  }
}

async function once(c, a, take) {
  const limit = a.signal ?? AbortSignal.timeout(c.timeout);
  const signal = c.signal ? AbortSignal.any([c.signal, limit]) : limit;
  let answer;
  try {
    answer = await c.fetch(c.url + a.path, {
      method: a.method,
      headers: { ...a.headers, Authorization: `Bearer ${c.key}` },
      body: a.body,
      redirect: "manual", // the key goes to this address and nowhere else
      signal,
      ...(a.body instanceof ReadableStream ? { duplex: "half" } : {}),
    });
    if (answer.ok) return await take(answer);
  } catch (e) {
    if (e instanceof RetakeError) throw e;
    if (c.signal?.aborted) throw stopped(c.signal);
    throw lost(e, answer !== undefined);
  }
  try {
    throw await refused(answer);
  } catch (e) {
    throw e instanceof Trouble || e instanceof RetakeError ? e : lost(e, true);
  }
}
