// One way to ask the API. The browser shows who asks by a cookie that scripts cannot
// read; the header keeps other sites from asking in its name.
import type { Problem } from "./types.ts";

/** An answer that is no answer: the problem as the server told it. */
export class Trouble extends Error {
  readonly problem: Problem;
  constructor(problem: Problem) {
    super(problem.what || problem.detail || problem.title);
    this.name = "Trouble";
    this.problem = problem;
  }
  get code(): string {
    return this.problem.code;
  }
  get status(): number {
    return this.problem.status;
  }
}

export type Query = Record<string, string | number | boolean | readonly string[] | undefined>;

export interface Asking {
  query?: Query;
  body?: unknown;
  signal?: AbortSignal;
  headers?: Record<string, string>;
}

export function address(path: string, query: Query = {}): string {
  const q = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === "" || value === false) continue;
    if (Array.isArray(value)) for (const v of value) q.append(name, v);
    else q.append(name, String(value));
  }
  const text = q.toString();
  return text ? `${path}?${text}` : path;
}

/** send asks and gives the whole answer; whatever is not 2xx is a Trouble. */
export async function send(method: string, path: string, a: Asking = {}): Promise<Response> {
  const headers: Record<string, string> = { "X-Retake-Console": "1", ...a.headers };
  let body: string | undefined;
  if (a.body !== undefined) {
    headers["Content-Type"] = "application/json";
    body = JSON.stringify(a.body);
  }
  if (method === "POST") headers["Idempotency-Key"] ??= crypto.randomUUID();
  let r: Response;
  try {
    r = await fetch(address(path, a.query), { method, headers, body, signal: a.signal, credentials: "same-origin" });
  } catch (e) {
    if (e instanceof DOMException && e.name === "AbortError") throw e;
    throw new Trouble(away());
  }
  if (r.ok) return r;
  throw new Trouble(await problemOf(r));
}

export async function ask<T>(method: string, path: string, a: Asking = {}): Promise<T> {
  const r = await send(method, path, a);
  return (r.status === 204 ? undefined : await r.json()) as T;
}

async function problemOf(r: Response): Promise<Problem> {
  try {
    const p = (await r.json()) as Partial<Problem>;
    if (typeof p.code === "string") return p as Problem;
  } catch {
    // not JSON: said below
  }
  return {
    code: r.status === 401 ? "unauthenticated" : "internal",
    detail: `the answer was ${r.status}`,
    retryable: r.status >= 500,
    status: r.status,
    title: "No readable answer",
    type: "about:blank",
    what: `the answer was ${r.status}`,
  };
}

/** What is told when nobody answers. */
export function away(): Problem {
  return {
    code: "unavailable",
    detail: "no response",
    hint: "We try again when it is back. To look whether Retake runs: retake status",
    next_steps: ["retake status"],
    retryable: true,
    safe: "Nothing was changed.",
    status: 0,
    title: "No response",
    type: "about:blank",
    what: "Retake does not answer",
  };
}
