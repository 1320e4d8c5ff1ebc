import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { Unsent } from "./unsent.ts";

/** What was asked of a page that is seen or not, by an upload that gets no further. */
function bed(t: { after: (f: () => void) => void }, seen = true) {
  mock.timers.enable({ apis: ["setTimeout"] });
  t.after(() => mock.timers.reset());
  const state = { asked: 0, through: 3 };
  let waiting: (() => void) | undefined;
  const unsent: Unsent = new Unsent(
    () => {
      state.asked++;
      unsent.expect(state.through, 5);
    },
    (act) => {
      if (seen) act();
      else waiting = act;
      return () => void (waiting = undefined);
    },
  );
  return { state, unsent, comeBack: () => waiting?.() };
}

test("it is asked soon, then less often, as long as something is not uploaded", (t) => {
  const { state, unsent } = bed(t);
  unsent.expect(3, 5);
  for (const [wait, n] of [[3000, 1], [5000, 2], [10_000, 3], [30_000, 4], [30_000, 5]] as const) {
    mock.timers.tick(wait - 1);
    assert.equal(state.asked, n - 1);
    mock.timers.tick(1);
    assert.equal(state.asked, n);
  }
  state.through = 5;
  mock.timers.tick(30_000);
  mock.timers.tick(600_000);
  assert.equal(state.asked, 6);
});

test("nothing is asked if all is uploaded, or there is no remote", (t) => {
  const { state, unsent } = bed(t);
  unsent.expect(3, 5);
  unsent.expect(undefined, 5);
  mock.timers.tick(600_000);
  unsent.expect(5, 5);
  mock.timers.tick(600_000);
  assert.equal(state.asked, 0);
});

test("nobody is asked while nobody looks", (t) => {
  const { state, unsent, comeBack } = bed(t, false);
  unsent.expect(3, 5);
  mock.timers.tick(600_000);
  assert.equal(state.asked, 0);
  comeBack();
  assert.equal(state.asked, 1);
});
