import assert from "node:assert/strict";
import { test } from "node:test";
import type { Limits } from "../../api/types.ts";
import { changesOf, changeWords, drops, fieldOf, limits, type LimitName } from "./limits.ts";

const day = 86_400e9;
const now: Limits = { within: 30 * day, moment: 34_359_738_368, store: 274_877_906_944, workspaces: 1000, per_second: 50, restore_hour: 60, gone_after: 0, grace: 7 * day, workspace_share: 50, key_share: 50 };
const field = (name: LimitName) => fieldOf(limits.find((l) => l.name === name)!, now[name]);

test("a form that nobody touched changes nothing, also where its numbers are rounded", () => {
  const same = Object.fromEntries(limits.map((l) => [l.name, fieldOf(l, now[l.name])]));
  assert.deepEqual(changesOf(now, same), {});
  assert.deepEqual(changesOf(now, {}), {});
  assert.equal(field("store"), "274.878");
});

test("only what was changed is sent, in the units of the API", () => {
  assert.deepEqual(changesOf(now, { within: "7", store: "0.5", workspaces: "1000", per_second: " 20 " }), { within: 7 * day, store: 500_000_000, per_second: 20 });
  assert.deepEqual(changesOf(now, { store: "0" }), { store: 0 });
  assert.deepEqual(changesOf(now, { key_share: "0", workspace_share: "20" }), { key_share: 0, workspace_share: 20 });
});

test("what cannot be set is said before it is asked for", () => {
  for (const f of [{ within: "-1" }, { within: "" }, { within: "many" }, { grace: "6" }, { moment: "35" }, { moment: "0" }, { key_share: "101" }]) {
    assert.equal(typeof changesOf(now, f), "string", JSON.stringify(f));
  }
});

test("less time and less room let checkpoints go, more does not", () => {
  assert.equal(drops(now, { within: 7 * day }), true);
  assert.equal(drops(now, { within: 60 * day }), false);
  assert.equal(drops(now, { within: 0 }), false); // for ever
  assert.equal(drops({ ...now, within: 0 }, { within: 365 * day }), true);
  assert.equal(drops(now, { store: 1 }), true);
  assert.equal(drops(now, { workspaces: 1, grace: 8 * day }), false);
});

test("a change is said with what was", () => {
  assert.deepEqual(changeWords(now, { within: 7 * day, store: 0 }), ["All checkpoints: no bound instead of 275 GB", "Checkpoints are kept: 7 days instead of 30 days"]);
});
