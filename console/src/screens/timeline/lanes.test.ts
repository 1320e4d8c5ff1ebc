import assert from "node:assert/strict";
import { test } from "node:test";
import { holds, lanesOf, layout, laying, mostLanes, strokeAt, type Spot, type Twig } from "./lanes.ts";
import { dice } from "./sample.ts";

const none = -1;
const grew = (...parents: number[]): Twig[] => parents.map((parent) => ({ parent, into: none, fork: false }));
const twig = (parent: number, into: number, fork: boolean): Twig => ({ parent, into, fork });

/** The signs of the terminal: what a row shows on each of its lanes. */
function picture(spots: Spot[]): string[] {
  return spots.map((s) => {
    const ends = Array.from({ length: mostLanes }, (_, k) => k).filter((k) => holds(s.joins | s.opens, k));
    const last = Math.max(s.lane, ...ends);
    let line = "";
    for (let k = 0; k < mostLanes; k++) {
      const across = k >= s.lane && k < last;
      let sign = strokeAt(s.through, k) ? "│" : " ";
      if (k === s.lane) sign = "○";
      else if (holds(s.joins, k)) sign = k < last ? "┴" : "╯";
      else if (holds(s.opens, k)) sign = k < last ? "┬" : "╮";
      line += sign + (across ? "─" : " ");
    }
    return line.trimEnd();
  });
}

const drawn = (twigs: Twig[], tip: number, ...want: string[]) => assert.deepEqual(picture(layout(twigs, tip)), want);

test("a line", () => {
  drawn(grew(1, 2, none), 0, "○", "○", "○");
  drawn(grew(1, 2, 3), 0, "○", "○", "○"); // it goes on below
  drawn([], 0);
});

test("a line left behind", () => drawn(grew(3, 2, 3, none), 0, "○", "│ ○", "│ ○", "○─╯"));

test("two lines left behind: what is left once more grows beside, and both join where they left", () => {
  drawn(grew(5, 5, 3, 4, 5, none), 0, "○", "│ ○", "│ │ ○", "│ │ ○", "│ │ ○", "○─┴─╯");
  // A line that was left holds one that was left before.
  drawn(grew(4, 3, 3, 4, none), 0, "○", "│ ○", "│ │ ○", "│ ○─╯", "○─╯");
});

test("a target that is not known: its line goes on below", () => drawn(grew(3, 2, 3), 0, "○", "│ ○", "│ ○"));

test("the third line that was left from one checkpoint finds no lane down to it, and says so", () => {
  const twigs = grew(7, 7, 3, 7, 5, 6, 7, none);
  drawn(twigs, 0, "○", "│ ○", "│ ○", "│ ○", "│ │ ○", "│ │ ○", "│ │ ○", "○─┴─╯");
  assert.deepEqual(layout(twigs, 0).map((s) => s.loose), [false, true, false, false, false, false, false, false]);
});

test("forks, and one that was taken in", () => {
  const forks = [twig(1, none, false), twig(4, none, false), twig(4, 1, true), twig(4, none, true), twig(none, none, false)];
  drawn(forks, 0, "○", "○─╮", "│ ○", "│ │ ○", "○─┴─╯");
  // Of the newest checkpoint: the forks stand above it.
  drawn([twig(1, none, true), twig(2, none, false), twig(none, none, false)], 1, "  ○", "○─╯", "○");
});

test("bunches that do not touch are laid out by themselves", () => {
  const one = grew(3, 2, 3, none); // rows 0 to 3, then the same again below
  const two = [...one.slice(0, 3), twig(4, none, false), ...one.map((t) => twig(t.parent < 0 ? none : t.parent + 4, none, false))];
  drawn(two, 0, "○", "│ ○", "│ ○", "○─╯", "○", "│ ○", "│ ○", "○─╯");
});

test("how many lanes there are", () => {
  assert.equal(lanesOf(layout(grew(1, 2, none), 0)), 1);
  assert.equal(lanesOf(layout(grew(3, 2, 3, none), 0)), 2);
  assert.equal(lanesOf(layout(grew(5, 5, 3, 4, 5, none), 0)), 3);
});

/** Rows of which each forked from one further down, and forks that some row further up may
 *  have taken in. */
function anyTree(roll: () => number, most: number): { twigs: Twig[]; tip: number } {
  const n = 1 + Math.floor(roll() * most);
  const between = (a: number, b: number) => a + Math.floor(roll() * (b - a + 1));
  const twigs = Array.from({ length: n }, (_, i) => {
    const t = twig(none, none, roll() < 1 / 6);
    if (i < n - 1 || roll() < 0.5) t.parent = between(i + 1, n);
    if (roll() < 2 / 3 && i < n - 1) t.parent = i + 1;
    if (t.fork && i > 0 && roll() < 0.5) t.into = between(0, i - 1);
    return t;
  });
  return { twigs, tip: between(0, n - 1) };
}

/** Follows a row to the one it forked from: along its lane and through no other row, and
 *  into it where that has another lane. */
function checkLine(twigs: Twig[], spots: Spot[], i: number) {
  const s = spots[i]!;
  const parent = twigs[i]!.parent;
  if (parent === none) return assert.equal(strokeAt(s.below, s.lane), 0, `row ${i} forked from nothing, and a line goes on`);
  if (s.loose) return;
  for (let row = i; row < Math.min(parent, twigs.length); row++) {
    const at = spots[row]!;
    assert.ok(strokeAt(at.below, s.lane), `the line of row ${i} ends at row ${row}, and it forked from ${parent}`);
    if (row > i) assert.ok(at.lane !== s.lane && strokeAt(at.through, s.lane), `the line of row ${i} meets row ${row} on its way to ${parent}`);
  }
  if (parent < twigs.length && spots[parent]!.lane !== s.lane) assert.ok(holds(spots[parent]!.joins, s.lane), `the line of row ${i} does not join row ${parent}`);
}

test("whatever forked from whatever, every row has a lane and every line its way", () => {
  for (let seed = 1; seed <= 3000; seed++) {
    const { twigs, tip } = anyTree(dice(seed), 24);
    const spots = layout(twigs, tip);
    assert.equal(spots.length, twigs.length);
    spots.forEach((s, i) => {
      assert.ok(s.lane >= 0 && s.lane < mostLanes, `seed ${seed}: row ${i} is on lane ${s.lane}`);
      assert.equal(strokeAt(s.through, s.lane), 0, `seed ${seed}: a line crosses row ${i}`);
      checkLine(twigs, spots, i);
    });
  }
});

test("a wild tree of 2,000 rows is laid out in short steps", () => {
  const { twigs, tip } = anyTree(dice(7), 2000);
  while (twigs.length < 2000) twigs.push(...anyTree(dice(twigs.length), 2000).twigs.map((t) => twig(t.parent < 0 ? none : t.parent + twigs.length, none, false)));
  let longest = 0;
  for (const steps = laying(twigs, tip); ; ) {
    const began = performance.now();
    const { done } = steps.next();
    longest = Math.max(longest, performance.now() - began);
    if (done) break;
  }
  assert.ok(longest < 50, `a step took ${longest.toFixed(1)} ms`);
});
