import assert from "node:assert/strict";
import { test } from "node:test";
import type { Checkpoint, Finding, WorkspaceState } from "../../api/types.ts";
import { paths, type Row } from "./draw.ts";
import type { ForkLine } from "./fold.ts";
import { idOf, checkpoint, sample } from "./sample.ts";
import { build, building, heightOf, type Input, type Item } from "./view.ts";

interface Making extends Partial<Omit<Input, "told">> {
  forks?: ForkLine[];
  pins?: { checkpoint: string; name: string; number: number; time: string }[];
  open?: string[];
  leftFolded?: boolean;
}

function input(checkpoints: Checkpoint[], m: Making = {}): Input {
  const findings = m.findings ?? new Map<string, Finding>();
  return {
    checkpoints, findings, wanted: {}, shut: new Set(), names: new Map(), now: false, rest: 0, beyond: 0, ...m,
    told: { checkpoints, findings, pins: m.pins ?? [], forks: m.forks ?? [], open: new Set(m.open), leftFolded: !!m.leftFolded },
  };
}

/** Rows in short: numbers, runs as 2–5, forks by name, effects by id. */
function short(items: Item[]): string[] {
  return items.map((x) => {
    if (x.kind === "checkpoint") return `${x.c.number}${x.left ? " left" : ""}`;
    if (x.kind === "quiet" || x.kind === "left-fold") return `${x.run[x.run.length - 1]!.number}–${x.run[0]!.number} ${x.kind}`;
    if (x.kind === "fork") return `fork ${x.fork.state.name}`;
    if (x.kind === "effect") return x.effect.id;
    if (x.kind === "head") return `[${x.title} ${x.n}]`;
    return x.kind === "more" ? `+${x.n} forks` : x.kind;
  });
}

const line = (n: number, more: (n: number) => Partial<Checkpoint> = () => ({})) => Array.from({ length: n }, (_, i) => checkpoint(n - i, more(n - i)));
const rows = (checkpoints: Checkpoint[], m?: Making) => short(build(input(checkpoints, m)).items);

function fork(name: string, of: number, last: number, adopted: string[] = []): ForkLine {
  const latest = checkpoint(last, { workspace: name });
  return { state: { id: name, name, root: `/${name}`, dev: 0, ino: 0, created: latest.time, count: 2, gone: false, latest, origin: { checkpoint: idOf(of), number: of, workspace: "ws_1" } } as WorkspaceState, adopted };
}

test("auto-checkpoints are one row", () => {
  assert.deepEqual(rows(line(6)), ["6", "2–5 quiet", "1"]);
  assert.deepEqual(rows(line(4)), ["4", "3", "2", "1"]); // two are too few
  assert.deepEqual(rows(line(6), { open: ["fold-5"] }), ["6", "5", "4", "3", "2", "1"]);
});

test("what says something has a row of its own, also among quiet ones", () => {
  const at4 = (more: Partial<Checkpoint>) => line(8, (n) => (n === 4 ? more : {}));
  const finding = (f: Finding) => ({ findings: new Map([[idOf(4), f]]) });
  const cases: Record<string, [Checkpoint[], Making]> = {
    "an intent": [at4({ intent: "x" }), {}],
    "an effect": [at4({ effects: [{ id: "e1", text: "push", time: checkpoint(4).time }] }), {}],
    "a gap": [at4({ coverage: { grade: "partial" } }), {}],
    "a change": [at4({ changed: { added: 0, deleted: 0, edited: 1 } }), {}],
    "a risk": [at4({ turn: { agent: "a", session: "s", risk: "deletes src" } }), {}],
    "a safety point": [at4({ trigger: "safety" }), {}],
    "another answer": [line(8), finding({ answers: [{ name: "test", verdict: "failed", was: "passed" }] })],
    "one that runs": [line(8), finding({ answers: [{ name: "test", verdict: "running" }] })],
    "a mismatch": [line(8), finding({ gist: { v: 1, lead: "", points: [], flags: [{ kind: "mismatch", why: "x" }], counts: { added: 0, deleted: 0, edited: 0, renamed: 0, moded: 0, retyped: 0, timed: 0, plus: 0, minus: 0 } } })],
    "a pin": [line(8), { pins: [{ name: "v1", checkpoint: idOf(4), number: 4, time: "" }] }],
    "a fork": [line(8), { forks: [fork("f", 4, 9)] }],
    "where one left": [line(8, (n) => (n === 8 ? { parent: idOf(4) } : {})), {}],
  };
  for (const [name, [checkpoints, m]] of Object.entries(cases)) assert.ok(rows(checkpoints, m).includes("4"), `${name}: ${rows(checkpoints, m).join(" | ")}`);
});

test("files that always move are quiet, and a checkpoint before a turn beside that of the turn", () => {
  const moving = (n: number): [string, Finding] => [idOf(n), { gist: { v: 1, lead: "app.log", moving: true, points: [], counts: { added: 0, deleted: 0, edited: 1, renamed: 0, moded: 0, retyped: 0, timed: 0, plus: 0, minus: 0 } } }];
  const edited = line(5, (n) => (n > 1 && n < 5 ? { changed: { added: 0, deleted: 0, edited: 1 } } : {}));
  assert.deepEqual(rows(edited, { findings: new Map([2, 3, 4].map(moving)) }), ["5", "2–4 quiet", "1"]);
  const turn = { agent: "codex", session: "s", id: "t" };
  const before = line(5, (n) => (n === 4 ? { turn } : n === 3 ? { trigger: "prompt", intent: "before “x”", turn } : {}));
  assert.deepEqual(rows(before), ["5", "2–4 quiet", "1"]);
});

test("own edits between turns are quiet, unless something went or a setting changed", () => {
  const counts = { added: 0, deleted: 0, edited: 1, renamed: 0, moded: 0, retyped: 0, timed: 0, plus: 0, minus: 0 };
  const own = (edit: Partial<Checkpoint> = {}) => line(7, (n) => (n > 1 && n < 7 ? { trigger: "quiet", changed: { added: 0, deleted: 0, edited: 1 }, ...(n === 3 ? edit : {}) } : {}));
  const point = (theme: string): [string, Finding] => [idOf(3), { gist: { v: 1, lead: "x", points: [{ theme, text: "x" }], counts } } as Finding];
  assert.deepEqual(rows(own()), ["7", "2–6 quiet", "1"]);
  assert.deepEqual(rows(own({ intent: "while files went on changing" })), ["7", "2–6 quiet", "1"]);
  assert.deepEqual(rows(own(), { findings: new Map([point("source")]) }), ["7", "2–6 quiet", "1"]);
  const apart = ["7", "4–6 quiet", "3", "2", "1"];
  assert.deepEqual(rows(own(), { findings: new Map([point("settings")]) }), apart);
  assert.deepEqual(rows(own({ changed: { added: 0, deleted: 1, edited: 1 } })), apart);
  assert.deepEqual(rows(own({ intent: "fix the header" })), apart);
});

const said = (n: number): Partial<Checkpoint> => (n > 1 ? { intent: `step ${n}` } : {});
const restored = (n: number, to: number): Partial<Checkpoint> => ({ trigger: "return", parent: idOf(to), return: { course: "restore", target: idOf(to), before: idOf(n - 1), written: 1, deleted: 0 } });

test("a restore leaves a line behind, which can be folded", () => {
  const cs = line(6, (n) => (n === 5 ? restored(5, 2) : said(n)));
  assert.deepEqual(rows(cs), ["6", "5", "4 left", "3 left", "2", "1"]);
  assert.deepEqual(rows(cs, { leftFolded: true }), ["6", "5", "3–4 left-fold", "2", "1"]);
  assert.deepEqual(rows(cs, { leftFolded: true, open: ["fold-4"] }), ["6", "5", "4 left", "3 left", "2", "1"]);
  assert.deepEqual(rows(cs, { wanted: { show: "good" }, findings: new Map([[idOf(3), { good: true }]]) }), ["3 left"]);
});

test("forks stand above what they forked from, the oldest fold, and one that came back is drawn in", () => {
  const cs = line(3, (n) => (n === 3 ? { trigger: "return", return: { course: "adopt", target: "x", before: idOf(2), written: 1, deleted: 0 } } : said(n)));
  const forks = [fork("old", 2, 4), fork("older", 2, 5), fork("came", 2, 3, [idOf(3)]), fork("new", 2, 9)];
  const v = build(input(cs, { forks }));
  assert.deepEqual(short(v.items), ["3", "+2 forks", "fork came", "fork new", "2", "1"]);
  assert.notEqual(v.items[0]!.opens, 0);
  assert.equal(v.lanes, 3);
});

test("effects stand below their checkpoint, and now hangs above the newest", () => {
  const cs = line(2, (n) => (n === 2 ? { intent: "x", effects: [{ id: "e1", text: "a", time: "" }, { id: "e2", text: "b", time: "" }] } : {}));
  assert.deepEqual(rows(cs, { now: true }), ["now", "2", "e2", "e1", "1"]);
  const v = build(input(cs, { now: true, forks: [fork("f", 2, 9)] }));
  assert.deepEqual(short(v.items), ["now", "fork f", "2", "e2", "e1", "1"]);
  assert.deepEqual(v.items.map((x) => !!x.hangs), [false, true, true, false, false, false]);
});

test("groups, and what is not read yet", () => {
  const cs = line(5, (n) => ({ intent: "x", turn: n > 2 ? { agent: "codex", session: n > 3 ? "abcdef" : "123456" } : undefined }));
  assert.deepEqual(rows(cs, { group: "session" }), ["[Codex, session abcd 2]", "5", "4", "[Codex, session 1234 1]", "3", "[outside turns 2]", "2", "1"]);
  assert.deepEqual(rows(cs, { group: "session", shut: new Set(["head-4"]) }).slice(0, 2), ["[Codex, session abcd 2]", "[Codex, session 1234 1]"]);
  const within = line(6, (n) => ({ intent: "x", turn: n === 5 || n === 2 ? { agent: "codex", session: "abcdef" } : undefined }));
  assert.deepEqual(rows(within, { group: "session" }), ["[outside turns 1]", "6", "[Codex, session abcd 4]", "5", "4", "3", "2", "[outside turns 1]", "1"]);
  assert.deepEqual(rows(cs, { rest: 7 }).at(-1), "rest");
  assert.deepEqual(rows(cs, { beyond: 7 }).at(-1), "end");
});

test("filters", () => {
  const { checkpoints, findings } = sample(400);
  const all = (m: Making) => build(input(checkpoints, { findings, ...m }));
  const v = all({});
  for (const show of ["good", "failed", "risky", "flagged"] as const) assert.equal(all({ wanted: { show } }).matched, v.census.kinds[show], show);
  assert.ok(v.census.kinds.good > 20 && v.census.kinds.failed > 5);
  assert.equal(all({ wanted: { agent: "codex" } }).matched, v.census.agents.get("codex"));
  assert.equal(all({ wanted: { ids: new Set([idOf(3), idOf(9)]) } }).matched, 2);
  assert.equal(v.matched, 400);
  assert.equal(v.rows.size, 400);
});

test("lines that are drawn meet, and dashes stand still", () => {
  const cs = line(6, (n) => (n === 5 ? restored(5, 2) : said(n)));
  const lanes = { x: (k: number) => 22 + 21 * k, bend: 9 };
  const place = (items: Item[], from: number): Row[] => {
    let top = 0;
    return items.map((item) => ({ item, top: (top += 43) - 43, height: 43 })).slice(from);
  };
  const { items } = build(input(cs));
  const all = paths(place(items, 0), lanes);
  assert.equal(all.main, "M22 21.5V236.5");
  assert.match(all.left, /^M43 108V184.5/); // on a multiple of the dashes, down to the bend
  assert.match(all.left, /M22 193.5H34Q43 193.5 43 184.5$/);
  assert.match(paths(place(items, 3), lanes).left, /^M43 132V184.5/);
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
  const { checkpoints, findings } = sample(10_000, 3);
  const told: Record<string, Making> = { all: {}, good: { wanted: { show: "good" } }, sessions: { group: "session" }, folded: { leftFolded: true } };
  for (const [name, m] of Object.entries(told)) {
    const took = steps(() => building(input(checkpoints, { findings, ...m })));
    const longest = Math.max(...took);
    console.log(`${name}: ${took.reduce((a, b) => a + b, 0).toFixed(0)} ms in ${took.length} steps, the longest ${longest.toFixed(1)} ms`);
    assert.ok(longest < 50, `${name}: a step took ${longest.toFixed(1)} ms`);
  }
  const height = build(input(checkpoints, { findings })).items.reduce((sum, x) => sum + heightOf(x, false), 0);
  assert.ok(height > 100_000);
});
