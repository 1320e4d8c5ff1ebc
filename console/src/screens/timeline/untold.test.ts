import assert from "node:assert/strict";
import { mock, test } from "node:test";
import type { Row } from "./rows.ts";
import { Untold, untoldOf } from "./untold.ts";

const now = Date.parse("2026-01-01T12:00:00Z");
const row = (number: number, secondsAgo: number, counted = true) => ({ number, time: new Date(now - secondsAgo * 1000).toISOString(), counted }) as Row;

test("untold are checkpoints that came, or are young, and were only counted", () => {
  const page = [row(9, 1), row(8, 2, false), row(7, 3, false), row(6, 600), row(5, 900)];
  assert.deepEqual(untoldOf(page, 5, now), [9, 6]);
  assert.deepEqual(untoldOf(page, 9, now), [9]);
});

/** A page that is seen or not, and what was asked of it. */
function bed(t: { after: (f: () => void) => void }, seen = true) {
  mock.timers.enable({ apis: ["setTimeout"] });
  t.after(() => mock.timers.reset());
  const asked: number[][] = [];
  let waiting: (() => void) | undefined;
  const untold: Untold = new Untold(
    (n) => {
      asked.push(n);
      untold.expect(n); // the answer has no story either
    },
    (act) => {
      if (seen) act();
      else waiting = act;
      return () => void (waiting = undefined);
    },
  );
  return { asked, untold, comeBack: () => waiting?.() };
}

test("it asks after 1.5 s and after 5 s, and not any more", (t) => {
  const { asked, untold } = bed(t);
  untold.expect([4]);
  mock.timers.tick(1499);
  assert.equal(asked.length, 0);
  mock.timers.tick(1);
  assert.deepEqual(asked, [[4]]);
  mock.timers.tick(3499);
  assert.equal(asked.length, 1);
  mock.timers.tick(1);
  assert.deepEqual(asked, [[4], [4]]);
  mock.timers.tick(600_000);
  assert.equal(asked.length, 2);
});

test("what has its story by then is not asked about", (t) => {
  const { asked, untold } = bed(t);
  untold.expect([4, 5]);
  untold.expect([]);
  mock.timers.tick(600_000);
  assert.deepEqual(asked, []);
});

test("nobody is asked while nobody looks", (t) => {
  const { asked, untold, comeBack } = bed(t, false);
  untold.expect([4]);
  mock.timers.tick(600_000);
  assert.deepEqual(asked, []);
  comeBack();
  assert.deepEqual(asked, [[4]]);
});
