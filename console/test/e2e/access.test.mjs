// Everybody can use it: axe finds nothing on any screen, in light and dark, wide and
// narrow; and the keyboard alone goes back.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { browser, Home, newPage, sum } from "./bed.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let home, b, dir, ws, screens;

before(async () => {
  home = new Home();
  b = await browser();
  home.retake(["demo", join(home.dir, "demo")]);
  dir = join(home.dir, "demo", "shopfront");
  ws = home.json(["status"], { cwd: dir }).workspace.id;
  const log = home.json(["log"], { cwd: dir }).checkpoints;
  const busy = log.find((c) => c.turn && c.changed.edited > 1) ?? log[0];
  screens = {
    workspaces: "/",
    timeline: `/w/${ws}`,
    "timeline by task": `/w/${ws}?group=task`,
    moment: `/w/${ws}/m/${busy.number}`,
    "moment by path": `/w/${ws}/m/${busy.number}?by=path&view=split`,
    compare: `/w/${ws}/compare?from=1`,
    history: `/w/${ws}/history?path=README.md`,
    plan: `/w/${ws}/plan?course=restore&ref=good`,
    "plan of an undo": `/w/${ws}/plan?course=undo`,
    forks: `/w/${ws}/forks`,
    "new fork": `/w/${ws}/forks?from=good`,
    effects: `/w/${ws}/effects`,
    tasks: `/w/${ws}/tasks`,
    settings: `/w/${ws}/settings`,
    storage: "/storage",
    "no such page": "/nowhere",
  };
});

after(async () => {
  await b?.close();
  home?.end();
});

async function violations(page) {
  await page.evaluate(axe);
  const r = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return r.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target.join(" ")).slice(0, 3).join(" | ")}`);
}

for (const [name, options] of Object.entries({
  "light, wide": { colorScheme: "light" },
  "dark, wide": { colorScheme: "dark" },
  "light, phone": { colorScheme: "light", viewport: { width: 390, height: 844 } },
  "dark, phone": { colorScheme: "dark", viewport: { width: 390, height: 844 } },
})) {
  test(`axe finds nothing: ${name}`, async () => {
    const page = await newPage(b, { ...options, bypassCSP: true }); // axe is put into the page
    await page.goto(home.console(dir));
    const base = new URL(page.url()).origin;
    const found = {};
    for (const [screen, path] of Object.entries(screens)) {
      await page.goto(base + path);
      await page.locator("main").waitFor();
      await page.waitForFunction(() => document.querySelector("main")?.innerText.trim() && !document.querySelector(".bars"));
      const v = await violations(page);
      if (v.length) found[screen] = v;
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (wide > 0) (found[screen] ??= []).push(`${wide} px too wide`);
    }
    assert.deepEqual(found, {});
    await page.context().close();
  });
}

test("control: axe finds a button without a name", async () => {
  const page = await newPage(b);
  await page.setContent("<html lang=en><title>x</title><main><button></button></main></html>");
  assert.ok((await violations(page)).some((v) => v.startsWith("button-name")));
});

test("the keyboard alone restores, and takes it back", async () => {
  const page = await newPage(b);
  await page.goto(home.console(dir));
  await page.getByRole("heading", { level: 1 }).waitFor();
  const was = sum(dir);
  await page.keyboard.press("n"); // the next good one
  await page.keyboard.press("r");
  await throughPlan(page);
  assert.notEqual(sum(dir), was);
  await page.goto(new URL(page.url()).origin + `/w/${ws}`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.keyboard.press("u");
  await throughPlan(page);
  assert.equal(sum(dir), was);
});

/** Reads a plan, consents, and confirms, by Tab, Space and Enter. */
async function throughPlan(page) {
  await page.getByText("Nothing has been changed yet").waitFor();
  for (let i = 0; i < 200; i++) {
    const at = await page.evaluate(() => {
      const e = document.activeElement;
      return { box: e?.type === "checkbox" && !e.checked, text: e?.textContent ?? "", off: e?.disabled || e?.ariaDisabled === "true" };
    });
    if (at.box) await page.keyboard.press("Space");
    if (/^Continue/.test(at.text) && !at.off) break;
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("Enter");
  const question = page.getByRole("button", { name: /^Back/ });
  await question.waitFor();
  for (let i = 0; i < 20; i++) {
    if (await page.evaluate(() => /^(Delete|Restore|Undo|Redo|Adopt|Bring|Change|Finish|Take)/.test(document.activeElement?.textContent ?? "") && document.activeElement?.tagName === "BUTTON")) break;
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: /^(Undo|Redo)…/ }).first().waitFor({ timeout: 20_000 });
}
