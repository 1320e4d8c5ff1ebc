// Applying a plan, and what is asked around it. The work tells how far it is by events;
// its id is made here, so that asking again after a broken line adds nothing.
import { ask, send, Trouble } from "../../api/ask.ts";
import type { Problem, RestoreBody, RestoreResult, Resumption } from "../../api/types.ts";

export interface Progress {
  files: number;
  total: number; // 0 while it is not known
  bytes: number;
}

const at = (ws: string, rest: string) => `/v1/workspaces/${encodeURIComponent(ws)}/${rest}`;

export const newCheckpoint = (): string => `cp_${crypto.randomUUID()}`;

export const applyExactly = (ws: string, body: RestoreBody, tell: (p: Progress) => void) => told<RestoreResult>(at(ws, "restores"), body, tell);

/** The fork of a conversation is written beside the agent's own, so that the command works. */
export const goOn = (ws: string, body: { ref: string; dir?: string }) => ask<Resumption>("POST", at(ws, "resume"), { body });

/** Asking again writes nothing twice, so a line that broke is tried once more. */
export const onceMore = (n: number, e: unknown): boolean => n < 1 && e instanceof Trouble && e.problem.retryable;

/** told asks for events and gives the result; a problem, in whichever form, is thrown. */
export async function told<R>(path: string, body: unknown, tell: (p: Progress) => void): Promise<R> {
  const r = await send("POST", path, { body, headers: { Accept: "text/event-stream" } });
  if (!r.headers.get("Content-Type")?.includes("text/event-stream")) return (await r.json()) as R;
  const heard = new Blocks();
  try {
    const reader = r.body!.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await within(silence, reader.read());
      if (done) break;
      for (const { event, data } of heard.more(value)) {
        if (event === "progress") tell(JSON.parse(data) as Progress);
        if (event === "result") return JSON.parse(data) as R;
        if (event === "problem") throw new Trouble(JSON.parse(data) as Problem);
      }
    }
  } catch (e) {
    if (e instanceof Trouble) throw e;
  }
  throw new Trouble(brokenOff);
}

/** A sign of life comes every 15 s. Longer silence is a line that broke without a word. */
const silence = 50_000;

function within<T>(ms: number, p: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout>;
  const late = new Promise<never>((_, no) => (timer = setTimeout(() => no(new Error("nothing was heard")), ms)));
  return Promise.race([p, late]).finally(() => clearTimeout(timer));
}

const brokenOff: Problem = {
  code: "unavailable",
  detail: "the answer broke off",
  hint: "Ask again: the same restore is not done twice.",
  retryable: true,
  safe: "Whether it was done is not known here. What you had is kept.",
  status: 0,
  title: "The answer broke off",
  type: "about:blank",
  what: "The answer broke off before the end",
};

/** Blocks takes a stream of events apart; a block that is not whole yet waits. */
export class Blocks {
  private rest = "";

  more(text: string): { event: string; data: string }[] {
    this.rest += text.replace(/\r\n/g, "\n");
    const out: { event: string; data: string }[] = [];
    for (let end = this.rest.indexOf("\n\n"); end >= 0; end = this.rest.indexOf("\n\n")) {
      const lines = this.rest.slice(0, end).split("\n");
      this.rest = this.rest.slice(end + 2);
      const field = (name: string) => lines.filter((l) => l.startsWith(name + ":")).map((l) => l.slice(name.length + 1).replace(/^ /, ""));
      const data = field("data").join("\n");
      if (data) out.push({ event: field("event")[0] ?? "message", data });
    }
    return out;
  }
}
