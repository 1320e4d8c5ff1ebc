import assert from "node:assert/strict";
import { test } from "node:test";
import { bars, firstWindow, nearest, rangeOf, spans, ticks, windowOf, zoomFor } from "./overview.ts";
import { checkpoint, line, sample } from "./sample.ts";

const cs = line(5); // one a minute, from 09:01
const at = (n: number) => Date.parse(checkpoint(n).time);

test("the checkpoints of a window", () => {
  assert.deepEqual(rangeOf(cs, { from: at(2), to: at(4) }), [1, 4]);
  assert.deepEqual(rangeOf(cs, { from: at(6), to: at(9) }), [0, 0]);
  assert.deepEqual(rangeOf([], { from: 0, to: 1 }), [0, 0]);
});

test("the nearest checkpoint", () => {
  assert.equal(nearest(cs, at(3) + 10_000)?.number, 3);
  assert.equal(nearest(cs, at(3) + 50_000)?.number, 4);
  assert.equal(nearest(cs, at(9))?.number, 5);
  assert.equal(nearest(cs, at(-9))?.number, 1);
  assert.equal(nearest([], 0), undefined);
});

test("a zoom shows up to now, and follows what is chosen", () => {
  const now = at(5) + 60_000;
  assert.equal(zoomFor(cs, now), "hour");
  assert.equal(zoomFor(cs, now + 30 * 24 * spans.hour), "month");
  const w = windowOf(cs, "hour", now);
  assert.ok(w.from < at(1) && w.from > at(0) && w.to > now);
  const past = windowOf(cs, "hour", now + 10 * spans.day, at(3));
  assert.ok(past.from < at(1) && past.to > at(5) && past.to < now + spans.hour);
});

test("a burst of checkpoints long ago is shown by itself", () => {
  const w = firstWindow(cs, at(5) + spans.hour);
  assert.ok(w.broken && w.from < at(1) && w.to > at(5) && w.to - w.from < 6 * 60_000);
  assert.ok(!firstWindow(cs, at(5) + 60_000).broken);
});

test("bars of many checkpoints stay few", () => {
  const rows = sample(10_000);
  const w = windowOf(rows, "year", Date.parse(rows[0]!.time));
  const b = bars(rows, new Set(), w, { width: 846, top: 4, base: 44, sessions: 49 });
  assert.equal(b.count, 10_000);
  const drawn = Object.values(b.paths).join("").split("M").length - 1;
  assert.ok(drawn > 150 && drawn <= 846 / 4.5, `${drawn} bars`);
  assert.equal(b.agents.length, 3);
});

test("ticks are round and few", () => {
  const t = ticks({ from: at(1), to: at(1) + 2 * spans.hour }, 6);
  assert.ok(t.length >= 3 && t.length <= 6);
  assert.ok(t.every((x) => new Date(x.at).getMinutes() % 30 === 0 && x.unit === "minute"));
  assert.ok(ticks({ from: 0, to: spans.year }, 6).every((x) => x.unit === "day"));
});
