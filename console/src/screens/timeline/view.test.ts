import assert from "node:assert/strict";
import { test } from "node:test";
import type { Checkpoint, RowPlace, TimelineRow } from "../../api/types.ts";
import { paths, type Drawn } from "./draw.ts";
import { idOf, line, row, sample, straight } from "./sample.ts";
import { build, building, heightOf, type Input, type Item } from "./view.ts";
import type { Row } from "./rows.ts";

function input(rows: Row[], m: Partial<Input> = {}): Input {
  return { rows, graph: straight(rows), lanes: 1, wanted: {}, shut: new Set(), now: false, rest: 0, beyond: 0, ...m };
}

/** Rows in short: numbers, runs as 2–5, forks by title, effects by id. */
function short(items: Item[]): string[] {
  return items.map((x) => {
    if (x.kind === "checkpoint") return `${x.row.number}${x.left ? " left" : ""}`;
    if (x.kind === "fold") return `${x.row.first}–${x.row.number} ${x.row.kind}`;
    if (x.kind === "fork" || x.kind === "more") return x.row.title;
    if (x.kind === "effect") return x.effect.id;
    return x.kind === "head" ? `[${x.title} ${x.n}]` : x.kind;
  });
}

const listed = (rows: Row[], m?: Partial<Input>) => short(build(input(rows, m)).items);
const place = (kind: string, number: number, place: RowPlace, more: Partial<TimelineRow> = {}): TimelineRow => ({ kind, key: `${kind}-${number}`, number, title: "", files: 0, place, ...more });
const said = (of: Partial<Checkpoint>) => (n: number) => row(n, {}, of);

// 6 and 5 went back to 2; 4 and 3 were left behind
const branched = [
  place("checkpoint", 6, { lane: 0, below: [1] }),
  place("checkpoint", 5, { lane: 0, below: [1] }),
  place("checkpoint", 4, { lane: 1, replaced: true, below: [1, 2] }),
  place("checkpoint", 3, { lane: 1, replaced: true, below: [1, 2] }),
  place("checkpoint", 2, { lane: 0, joins: [1], joint: [0, 2], below: [1] }),
  place("checkpoint", 1, { lane: 0 }),
];

test("rows stand where the graph puts them, and what is folded can be found in its row", () => {
  const graph = [place("checkpoint", 6, { lane: 0, below: [1] }), place("quiet", 5, { lane: 0, below: [1] }, { first: 2, count: 4 }), place("checkpoint", 1, { lane: 0 })];
  const v = build(input(line(6), { graph }));
  assert.deepEqual(short(v.items), ["6", "2–5 quiet", "1"]);
  assert.deepEqual([v.matched, v.rows.get(3), v.rows.get(1)], [6, 1, 2]);
  assert.deepEqual(listed(line(6), { graph: branched, lanes: 2 }), ["6", "5", "4 left", "3 left", "2", "1"]);
});

test("a checkpoint that came after its page was read waits for the next reading", () => {
  assert.deepEqual(listed(line(5), { graph: branched }), ["5", "4 left", "3 left", "2", "1"]);
});

test("a filter also shows what was replaced", () => {
  assert.deepEqual(listed(line(6, (n) => row(n, { good: n === 3 })), { graph: branched, wanted: { show: "good" } }), ["3 left"]);
  const folded = [place("checkpoint", 6, { lane: 0 }), place("replaced", 4, { lane: 1 }, { first: 3, count: 2 })];
  assert.deepEqual(listed(line(6, (n) => row(n, { good: n === 3 })), { graph: folded, wanted: { show: "good" } }), ["3 left"]);
});

test("effects stand below their checkpoint, and now hangs above the newest", () => {
  const rows = line(2, (n) => row(n, {}, n === 2 ? { effects: [{ id: "e1", text: "a", time: "" }, { id: "e2", text: "b", time: "" }] } : {}));
  assert.deepEqual(listed(rows, { now: true }), ["now", "2", "e2", "e1", "1"]);
  const fork = place("fork", 0, { lane: 1, below: [0, 1] }, { title: "fork f" });
  const v = build(input(rows, { now: true, lanes: 2, graph: [fork, place("checkpoint", 2, { lane: 0, joins: [1], joint: [0, 1], below: [1] }), place("checkpoint", 1, { lane: 0 })] }));
  assert.deepEqual(short(v.items), ["now", "fork f", "2", "e2", "e1", "1"]);
  assert.deepEqual(v.items.map((x) => !!x.hangs), [false, true, true, false, false, false]);
  assert.deepEqual(v.items[1]!.below, [1, 1]);
});

test("groups, and what is not read yet", () => {
  const rows = line(5, (n) => row(n, {}, { turn: n > 2 ? { agent: "codex", session: n > 3 ? "abcdef" : "123456" } : undefined }));
  assert.deepEqual(listed(rows, { group: "session" }), ["[Codex, session abcd 2]", "5", "4", "[Codex, session 1234 1]", "3", "[outside turns 2]", "2", "1"]);
  assert.deepEqual(listed(rows, { group: "session", shut: new Set(["head-4"]) }).slice(0, 2), ["[Codex, session abcd 2]", "[Codex, session 1234 1]"]);
  const within = line(6, (n) => said(n === 5 || n === 2 ? { turn: { agent: "codex", session: "abcdef" } } : {})(n));
  assert.deepEqual(listed(within, { group: "session" }), ["[outside turns 1]", "6", "[Codex, session abcd 4]", "5", "4", "3", "2", "[outside turns 1]", "1"]);
  assert.deepEqual(listed(rows, { rest: 7 }).at(-1), "rest");
  assert.deepEqual(listed(rows, { beyond: 7 }).at(-1), "end");
});

test("filters", () => {
  const rows = sample(400);
  const all = (m: Partial<Input>) => build(input(rows, m));
  const v = all({});
  for (const show of ["good", "failed", "risky", "flagged"] as const) assert.equal(all({ wanted: { show } }).matched, v.census.kinds[show], show);
  assert.ok(v.census.kinds.good > 20 && v.census.kinds.failed > 5);
  assert.equal(all({ wanted: { agent: "codex" } }).matched, v.census.agents.get("codex"));
  assert.equal(all({ wanted: { ids: new Set([idOf(3), idOf(9)]) } }).matched, 2);
  assert.deepEqual([v.matched, v.rows.size], [400, 400]);
});

test("lines that are drawn meet, and dashes stand still", () => {
  const lanes = { x: (k: number) => 22 + 21 * k, bend: 9 };
  const drawn = (items: Item[], from: number): Drawn[] => {
    let top = 0;
    return items.map((item) => ({ item, top: (top += 43) - 43, height: 43 })).slice(from);
  };
  const { items } = build(input(line(6), { graph: branched, lanes: 2 }));
  const all = paths(drawn(items, 0), 2, lanes);
  assert.equal(all.main, "M22 21.5V236.5");
  assert.match(all.left, /^M43 108V184.5/); // on a multiple of the dashes, down to the bend
  assert.match(all.left, /M22 193.5H34Q43 193.5 43 184.5$/);
  assert.match(paths(drawn(items, 3), 2, lanes).left, /^M43 132V184.5/);
});

/** How long each step takes at best: what else the machine does is not counted. */
function steps(make: () => Generator<void, unknown>): number[] {
  const best: number[] = [];
  for (let run = 0; run < 8; run++) {
    const g = make();
    for (let k = 0; ; k++) {
      const at = performance.now();
      const { done } = g.next();
      best[k] = Math.min(best[k] ?? Infinity, performance.now() - at);
      if (done) break;
    }
  }
  return best;
}

test("10,000 checkpoints in slices", () => {
  const rows = sample(10_000, 3);
  const told: Record<string, Partial<Input>> = { all: {}, good: { wanted: { show: "good" } }, sessions: { group: "session" } };
  for (const [name, m] of Object.entries(told)) {
    const took = steps(() => building(input(rows, m)));
    const longest = Math.max(...took);
    console.log(`${name}: ${took.reduce((a, b) => a + b, 0).toFixed(0)} ms in ${took.length} steps, the longest ${longest.toFixed(1)} ms`);
    assert.ok(longest < 50, `${name}: a step took ${longest.toFixed(1)} ms`);
  }
  const height = build(input(rows)).items.reduce((sum, x) => sum + heightOf(x, false), 0);
  assert.ok(height > 100_000);
});
