// How webhooks do, from the messages of the last day: pure, so that it can be tried.
import type { Delivery, Webhook } from "../../../api/types.ts";
import { shown } from "../../../words/escape.ts";
import { several } from "../../../words/number.ts";
import { clock } from "../../../words/time.ts";

export const hours = 24;
const hour = 3_600_000;

export type HookState = "healthy" | "catching up" | "retrying" | "off" | "quiet";

/** One hour of messages: those that arrived, and those that did not. */
export interface Hour {
  good: number;
  bad: number;
}

export interface Health {
  state: HookState;
  hours: Hour[]; // oldest first
  total: number;
  delivered: number;
  waiting: number;
  dead: number;
  /** The first try that failed, after the last that did not. */
  since?: string;
  /** What the newest try was answered. */
  answer?: string;
  last?: string; // the newest try that worked
  /** The messages that were read do not reach back a day. */
  from?: string;
}

const ms = (at: string) => new Date(at).getTime();

/** What a try was answered: a status, or that there was no answer. */
export function answerOf(t: { status?: number; why?: string }): string {
  if (t.status) return String(t.status);
  return /deadline|time(d)? ?out/i.test(t.why ?? "") ? "time-out" : t.why ? "no answer" : "–";
}

export const worked = (t: { status?: number }): boolean => !!t.status && t.status >= 200 && t.status < 300;

/** healthOf looks at the newest messages of one webhook. Whole says that there are no older ones. */
export function healthOf(h: Webhook, newest: readonly Delivery[], now: number, whole = newest.length < 1000): Health {
  const begin = now - hours * hour;
  const out: Health = { state: "quiet", hours: Array.from({ length: hours }, () => ({ good: 0, bad: 0 })), total: 0, delivered: 0, waiting: 0, dead: 0 };
  for (const d of newest) {
    if (d.state === "waiting") out.waiting++;
    if (d.state === "dead") out.dead++;
    const at = ms(d.created);
    if (at <= begin) continue;
    out.total++;
    const slot = out.hours[Math.min(hours - 1, Math.floor((at - begin) / hour))]!;
    if (d.state === "delivered") {
      out.delivered++;
      slot.good++;
    } else slot.bad++;
  }
  const oldest = newest.at(-1);
  if (!whole && oldest && ms(oldest.created) > begin) out.from = oldest.created;
  tell(out, newest);
  out.state = stateOf(h, out);
  return out;
}

function tell(out: Health, newest: readonly Delivery[]) {
  // A message that was buried because its webhook was off says nothing of the receiver.
  const tries = newest.flatMap((d) => d.tries.filter((t) => t.status || !t.why?.startsWith("the webhook is"))).sort((a, b) => ms(a.at) - ms(b.at));
  const newestTry = tries.at(-1);
  if (!newestTry) return;
  out.answer = answerOf(newestTry);
  const good = tries.findLastIndex(worked);
  if (good >= 0) out.last = tries[good]!.at;
  out.since = tries[good + 1]?.at;
}

function stateOf(h: Webhook, x: Health): HookState {
  if (h.disabled) return "off";
  if (x.since) return "retrying";
  if (x.waiting > 0) return "catching up";
  return x.answer ? "healthy" : "quiet";
}

/** 99.6 %; never 100 when one is missing, never 0 when one arrived. */
export function share(part: number, all: number): string {
  if (all === 0) return "–";
  if (part === all) return "100 %";
  const p = (part / all) * 100;
  if (p > 99.9) return "99.9 %";
  if (part > 0 && p < 0.1) return "0.1 %";
  return p >= 99 || p < 10 ? `${(Math.floor(p * 10) / 10).toFixed(1).replace(".0", "")} %` : `${Math.floor(p)} %`;
}

/** The address without its scheme, as people say it. */
export const place = (url: string): string => shown(url.replace(/^https?:\/\//, "").replace(/\/$/, ""));

export interface Sentence {
  head: string;
  rest: string;
  bad: boolean;
}

/** The answer of the page: what fails and since when, or that nothing does. */
export function sentenceOf(all: readonly { hook: Webhook; health: Health }[], now = new Date()): Sentence {
  if (all.length === 0) return { head: "No webhooks yet", rest: "Add one to receive events: signed, at least once.", bad: false };
  const failing = all.filter((x) => x.health.state === "retrying");
  const off = all.filter((x) => x.health.state === "off");
  const sum = (f: (h: Health) => number, of = all) => of.reduce((n, x) => n + f(x.health), 0);
  const dead = sum((h) => h.dead);
  const letters = dead > 0 ? `${several(dead, "dead letter")} can be replayed.` : "";
  const offs = off.length > 0 ? (off.length === 1 ? `${place(off[0]!.hook.url)} is off.` : `${off.length} are off.`) : "";
  if (failing.length > 0) {
    const since = failing.map((x) => x.health.since!).sort()[0]!;
    const first = failing[0]!;
    const waiting = sum((h) => h.waiting, failing);
    const head = `${failing.length === 1 ? "One webhook is" : `${failing.length} of ${several(all.length, "webhook")} are`} failing since ${clock(since, now)}`;
    const who = failing.length === 1 ? `${place(first.hook.url)} ${first.health.answer === "time-out" || first.health.answer === "no answer" ? "does not answer" : `answers ${first.health.answer}`}.` : "";
    const waits = waiting > 0 ? `Nothing is lost: ${several(waiting, "message")} ${waiting === 1 ? "waits" : "wait"} for the next try.` : "";
    return { head, rest: [who, waits, letters, offs].filter(Boolean).join(" "), bad: true };
  }
  const on = all.length - off.length;
  const waiting = sum((h) => h.waiting);
  if (on === 0) return { head: all.length === 1 ? "The webhook is off" : `All ${all.length} webhooks are off`, rest: "Events are not sent to anybody.", bad: false };
  const quiet = all.every((x) => x.health.state === "quiet" || x.health.state === "off");
  if (quiet) return { head: on === 1 ? "One webhook waits for its first message" : `${on} webhooks wait for their first message`, rest: ["Nothing happened yet that they want to know.", offs].filter(Boolean).join(" "), bad: false };
  const waits = waiting > 0 ? `${several(waiting, "message")} of earlier trouble ${waiting === 1 ? "waits" : "wait"} for the next try.` : "";
  const total = sum((h) => h.total);
  const counted = total > 0 ? `${share(sum((h) => h.delivered), total)} of ${several(total, "message")} of the last day arrived.` : "";
  return { head: on === 1 ? "The webhook delivers" : `All ${on} webhooks deliver`, rest: [counted, waits, letters, offs].filter(Boolean).join(" "), bad: false };
}
