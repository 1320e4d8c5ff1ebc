import assert from "node:assert/strict";
import { test } from "node:test";
import { cadenceWords, nextTimes, parse } from "./cron.ts";

const next = (line: string, after: string, n = 1) => nextTimes(parse(line)!, new Date(after), n).map((d) => d.toISOString().slice(0, 16));

// The same pairs as the server's own test has, as far as they lie within a year.
test("the next time is the server's", () => {
  for (const [line, after, want] of [
    ["* * * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:01"],
    ["* * * * *", "2026-01-01T00:00:59Z", "2026-01-01T00:01"],
    ["0 3 * * *", "2026-01-01T03:00:00Z", "2026-01-02T03:00"],
    ["*/15 * * * *", "2026-01-01T00:14:00Z", "2026-01-01T00:15"],
    ["5/20 * * * *", "2026-01-01T00:05:00Z", "2026-01-01T00:25"],
    ["0 0 1 1 *", "2026-01-01T00:00:00Z", "2027-01-01T00:00"],
    ["0 0 31 * *", "2026-01-31T00:00:00Z", "2026-03-31T00:00"],
    ["0 0 13 * fri", "2026-01-01T00:00:00Z", "2026-01-02T00:00"],
    ["0 9-17/4 * * MON-FRI", "2026-01-02T17:00:00Z", "2026-01-05T09:00"],
    ["30 1 * mar,oct sun", "2026-03-28T00:00:00Z", "2026-03-29T01:30"],
    ["0 0 30 2 0", "2026-01-01T00:00:00Z", "2026-02-01T00:00"],
  ] as const) {
    assert.deepEqual(next(line, after), [want], `${line} after ${after}`);
  }
});

test("times come one after another, and a day that never comes gives none", () => {
  assert.deepEqual(next("*/30 23 * * *", "2026-05-01T23:10:00Z", 3), ["2026-05-01T23:30", "2026-05-02T23:00", "2026-05-02T23:30"]);
  assert.deepEqual(next("0 0 30 2 *", "2026-01-01T00:00:00Z", 3), []);
});

test("what makes no sense is not read", () => {
  for (const line of ["", "*", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *", "* * * * 7", "-1 * * * *", "5-1 * * * *", "1-2-3 * * * *", "*/0 * * * *", "1//2 * * * *", ", * * * *", "1, * * * *", "*-5 * * * *", "@daily", "* * ? * *", "1.5 * * * *"]) {
    assert.equal(parse(line), undefined, line);
  }
});

test("usual lines have words, others none", () => {
  const words: Record<string, string> = {
    "* * * * *": "every minute",
    "*/5 * * * *": "every 5 minutes",
    "*/7 * * * *": "",
    "0 * * * *": "every hour",
    "5 * * * *": "every hour at :05",
    "0 3 * * *": "every day at 03:00 UTC",
    "30 4 * * 0": "every Sunday at 04:30 UTC",
    "0 9 * * 1-5": "Monday to Friday at 09:00 UTC",
    "0 */6 * * *": "every 6 hours",
    "0 3 1 * *": "",
    "no cron": "",
  };
  for (const [line, want] of Object.entries(words)) assert.equal(cadenceWords(line), want, line);
});
