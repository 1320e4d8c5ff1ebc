import assert from "node:assert/strict";
import { test } from "node:test";
import type { Entry, Plan, Step, ViewedPlan } from "../api/types.ts";
import { backLabel } from "./label.ts";

const entry = (kind = "file"): Entry => ({ name: "n", kind, mode: 420, uid: 0, gid: 0, size: 1, mod_time: 1, object: "o" });
const gone = (path: string, kind = "file"): Step => ({ path, what: "deleted", now: entry(kind) });
const back = (path: string, kind = "file"): Step => ({ path, what: "added", then: entry(kind) });
const edit = (path: string, what = "edited"): Step => ({ path, what, now: entry(), then: entry() });
const many = (n: number, of: (path: string) => Step, dir = "src", ext = "ts") => Array.from({ length: n }, (_, i) => of(`${dir}/f${i}.${ext}`));
const plan = (p: Partial<Plan>) => ({ course: "restore", deletes: [], writes: [], merges: [], times: [], keeps: [], obstacles: [], effects: [], holders: [], safety: { number: 18, there: false }, ...p }) as unknown as Plan;
const files = (steps: Step[]) => steps.filter((s) => (s.then ?? s.now)?.kind !== "dir").length || steps.length;
const viewed = (p: Plan) => ({ plan: p, view: { counts: { deleted: files(p.deletes), brought: files(p.writes.filter((s) => s.what === "added")), changed: files(p.writes.filter((s) => s.what !== "added")), merged: 0, beside: 0 } } }) as unknown as ViewedPlan;

test("X1: the label of a button names what its plan does and as in which checkpoint", () => {
  const label = (p: Partial<Plan>) => backLabel(viewed(plan(p)), "16");
  assert.equal(label({ writes: many(25, back, "public/photos", "png") }), "Bring back 25 photos, as in 16…");
  assert.equal(label({ writes: [back("public/photos", "dir"), ...many(25, back, "public/photos", "png")] }), "Bring back 25 photos, as in 16…");
  assert.equal(label({ deletes: many(25, gone, "public/photos", "png") }), "Delete 25 photos, as in 16…");
  assert.equal(label({ writes: [edit("a.ts")] }), "Change it back, as in 16…");
  assert.equal(label({ writes: [back("a.ts")] }), "Bring it back, as in 16…");
  assert.equal(label({ writes: [back("d", "dir"), back("d/a.ts")] }), "Bring it back, as in 16…");
  assert.equal(label({ deletes: [gone("a.ts")] }), "Delete it, as in 16…");
  assert.equal(label({ deletes: many(3, gone), writes: [...many(2, back, "x"), edit("y.ts")] }), "Delete 3, bring back 2 and change back 1 file, as in 16…");
  assert.equal(label({ writes: many(2, back, "art", "svg") }), "Bring back 2 images, as in 16…");
  assert.equal(label({ writes: [back("empty", "dir")] }), "Bring back 1 directory, as in 16…");
  assert.equal(label({ writes: [edit("a.ts", "timed")] }), "Put its time back, as in 16…");
  assert.equal(label({}), "");
});

test("X1: each combination of deeds is in its label, with the numbers of the plan", () => {
  for (let mask = 1; mask < 8; mask++) {
    for (const n of [1, 2, 30]) {
      const p = plan({ deletes: mask & 1 ? many(n, gone, "d") : [], writes: [...(mask & 2 ? many(n, back, "b") : []), ...(mask & 4 ? many(n, edit, "e") : [])] });
      const label = backLabel(viewed(p), "7").toLowerCase();
      const t = viewed(p).view.counts;
      const alone = t.deleted + t.brought + t.changed === 1;
      const has = (verb: string, it: string, files: number) => (files === 0 ? !label.includes(verb) && !label.includes(it) : label.includes(alone ? it : `${verb} ${files}`));
      assert.ok(has("delete", "delete it", t.deleted) && has("bring back", "bring it back", t.brought) && has("change back", "change it back", t.changed), label);
      assert.ok(label.endsWith(", as in 7…"), label);
    }
  }
});
