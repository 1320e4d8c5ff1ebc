import assert from "node:assert/strict";
import { test } from "node:test";
import type { Delivery, Webhook } from "../../../api/types.ts";
import { answerOf, healthOf, sentenceOf, share } from "./health.ts";

const now = Date.UTC(2026, 10, 3, 12, 0, 0);
const at = (minutesAgo: number) => new Date(now - minutesAgo * 60_000).toISOString();
const hook = (more: Partial<Webhook> = {}): Webhook => ({ id: "wh_1", url: "https://ci.example.com/events", types: [], scheme: "v1", created: at(9999), ...more });

/** A message that was made some minutes ago, with the answers of its tries, a minute apart. */
function message(ago: number, state: string, ...answers: number[]): Delivery {
  const tries = answers.map((status, i) => ({ at: at(ago - i), took: 1e6, ...(status ? { status } : { why: "context deadline exceeded" }) }));
  return { id: `msg_${ago}`, webhook: "wh_1", event: 1, type: "checkpoint.created", state, tries, created: at(ago) };
}

test("a webhook whose newest try failed is failing, since the first failure after the last success", () => {
  const h = healthOf(hook(), [message(5, "waiting", 503), message(30, "waiting", 503, 503), message(90, "delivered", 204)], now);
  assert.equal(h.state, "retrying");
  assert.equal(h.since, at(30));
  assert.equal(h.answer, "503");
  assert.equal(h.last, at(90));
  assert.deepEqual([h.total, h.delivered, h.waiting], [3, 1, 2]);
});

test("one that answers again while older messages wait is catching up", () => {
  const h = healthOf(hook(), [message(1, "delivered", 200), message(30, "waiting", 503)], now);
  assert.equal(h.state, "catching up");
  assert.equal(h.since, undefined);
});

test("a message that was buried while the webhook was off blames nobody", () => {
  const buried = message(5, "dead");
  buried.tries = [{ at: at(5), took: 0, why: "the webhook is disabled: asked for" }];
  const h = healthOf(hook(), [buried, message(60, "delivered", 204)], now);
  assert.equal(h.state, "healthy");
  assert.equal(h.dead, 1);
});

test("off is off, and without a message it is quiet", () => {
  assert.equal(healthOf(hook({ disabled: at(3) }), [message(1, "waiting", 503)], now).state, "off");
  assert.equal(healthOf(hook(), [], now).state, "quiet");
});

test("hours hold the messages of a day and no older ones", () => {
  const h = healthOf(hook(), [message(1, "delivered", 204), message(61, "dead", 500), message(23 * 60 + 30, "delivered", 204), message(25 * 60, "delivered", 204)], now);
  assert.equal(h.total, 3);
  assert.deepEqual(h.hours[23], { good: 1, bad: 0 });
  assert.deepEqual(h.hours[22], { good: 0, bad: 1 });
  assert.deepEqual(h.hours[0], { good: 1, bad: 0 });
  assert.equal(h.from, undefined);
  assert.equal(healthOf(hook(), [message(1, "delivered", 204)], now, false).from, at(1));
});

test("a share is never rounded to all or to none", () => {
  assert.deepEqual([share(0, 0), share(5, 5), share(99_999, 100_000), share(996, 1000), share(81, 100), share(1, 100_000), share(0, 7), share(4, 1000)], ["–", "100 %", "99.9 %", "99.6 %", "81 %", "0.1 %", "0 %", "0.4 %"]);
});

test("an answer is a status, a time-out, or none", () => {
  assert.deepEqual([answerOf({ status: 204 }), answerOf({ why: "context deadline exceeded" }), answerOf({ why: "connection refused" }), answerOf({})], ["204", "time-out", "no answer", "–"]);
});

test("the sentence says what fails first", () => {
  const of = (...list: [Webhook, Delivery[]][]) => sentenceOf(list.map(([h, d]) => ({ hook: h, health: healthOf(h, d, now) })), new Date(now));
  const bad = of([hook(), [message(40, "waiting", 503)]], [hook({ id: "wh_2" }), [message(1, "delivered", 204)]]);
  assert.match(bad.head, /^One webhook is failing since \d\d:\d\d$/);
  assert.equal(bad.bad, true);
  assert.match(bad.rest, /^ci\.example\.com\/events answers 503\. Nothing is lost: 1 message waits/);
  assert.equal(of().head, "No webhooks yet");
  assert.equal(of([hook(), [message(1, "delivered", 204)]]).head, "The webhook delivers");
  const fine = of([hook(), [message(1, "delivered", 204)]], [hook(), [message(1, "delivered", 204)]], [hook({ disabled: at(9), url: "https://b.example.com" }), []]);
  assert.equal(fine.head, "All 2 webhooks deliver");
  assert.match(fine.rest, /b\.example\.com is off/);
  assert.equal(of([hook({ disabled: at(9) }), []]).head, "The webhook is off");
  assert.equal(of([hook(), []]).head, "One webhook waits for its first message");
});
