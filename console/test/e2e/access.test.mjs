// Everybody can use it: axe finds nothing on any screen of a laptop or a server, in light
// and dark, wide and narrow; and the keyboard alone goes back.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { browser, Home, newPage, server, sum } from "./bed.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let home, b, dir, ws, screens;

before(async () => {
  home = new Home();
  b = await browser();
  const { lost } = home.json(["demo", join(home.dir, "demo")]);
  dir = join(home.dir, "demo", "shopfront");
  mkdirSync(join(home.dir, "copy"));
  home.retake(["remote", "add", join(home.dir, "copy")], { cwd: dir });
  ws = home.json(["status"], { cwd: dir }).workspace.id;
  const log = home.json(["log"], { cwd: dir }).checkpoints;
  const busy = log.find((c) => c.turn && c.changed.edited > 1) ?? log[0];
  screens = {
    workspaces: "/",
    timeline: `/w/${ws}`,
    "timeline by task": `/w/${ws}?group=task`,
    checkpoint: `/w/${ws}/m/${busy.number}`,
    "checkpoint by path": `/w/${ws}/m/${busy.number}?by=path&view=split`,
    "rows of a database": `/w/${ws}/m/${lost}?path=data%2Fshop.db`,
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
    remotes: "/remotes",
    "no such page": "/nowhere",
    "no such checkpoint": `/w/${ws}/m/9999`,
    "a filter that finds nothing": `/w/${ws}?path=nowhere`,
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

const all = {
  "light, wide": { colorScheme: "light" },
  "dark, wide": { colorScheme: "dark" },
  "light, phone": { colorScheme: "light", viewport: { width: 390, height: 844 } },
  "dark, phone": { colorScheme: "dark", viewport: { width: 390, height: 844 } },
};
// LOOKS=two leaves out the two whose colours and width are both in another one.
const looks = process.env.LOOKS === "two" ? { "light, wide": all["light, wide"], "dark, phone": all["dark, phone"] } : all;

/** What is wrong with what is shown now: rules of axe, and a page that is too wide. */
async function wrong(page) {
  await page.locator("main").waitFor();
  await page.waitForFunction(() => document.querySelector("main")?.innerText.trim() && !document.querySelector(".bars"));
  const found = await violations(page);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  return wide > 0 ? [...found, `${wide} px too wide`] : found;
}

for (const [name, options] of Object.entries(looks)) {
  test(`axe finds nothing: ${name}`, async () => {
    const page = await newPage(b, { ...options, bypassCSP: true }); // axe is put into the page
    await page.goto(home.console(dir));
    const base = new URL(page.url()).origin;
    const found = {};
    for (const [screen, path] of Object.entries(screens)) {
      await page.goto(base + path);
      const v = await wrong(page);
      if (v.length) found[screen] = v;
    }
    assert.deepEqual(found, {});
    await page.context().close();
  });
}

for (const [name, options] of Object.entries(looks)) {
  test(`axe finds nothing over a screen: ${name}`, async () => {
    const page = await newPage(b, { ...options, bypassCSP: true });
    await page.goto(home.console(dir));
    await page.locator("[data-number]").first().waitFor();
    await page.keyboard.press("?");
    await page.locator("dialog[open]").waitFor();
    const found = { keys: await wrong(page) };
    await page.keyboard.press("Escape");
    await page.locator("dialog[open]").waitFor({ state: "detached" });
    await page.keyboard.press("/");
    await page.keyboard.type("zzq");
    await page.getByText("Nothing here says “zzq”").waitFor();
    found["nothing found"] = await wrong(page);
    await page.keyboard.press("Enter");
    await page.getByText("No checkpoint changed zzq").waitFor();
    await page.route("**/v1/events*", (route) => route.abort());
    await page.reload();
    await page.getByText("Retake has not answered since").waitFor();
    found.away = await wrong(page);
    await page.unroute("**/v1/events*");
    await page.getByText("Retake has not answered since").waitFor({ state: "detached" });
    assert.deepEqual(found, { keys: [], "nothing found": [], away: [] });
    await page.context().close();
  });
}

describe("on a server", () => {
  let data, s;
  const key = (kind) => s.begun.keys.find((k) => k.key.kind === kind).secret;

  before(async () => {
    data = mkdtempSync(join(tmpdir(), "rt-"));
    s = await server(data);
    await fill(s.address, key("operator"), key("admin"));
  });

  after(async () => {
    await s?.end();
    rmSync(data, { recursive: true, force: true });
  });

  for (const [name, options] of Object.entries(looks)) {
    test(`axe finds nothing: ${name}`, async () => {
      const page = await newPage(b, { ...options, bypassCSP: true });
      const found = {};
      const look = async (screen) => {
        const v = await wrong(page);
        if (v.length) found[screen] = v;
      };
      await page.goto(s.address);
      await page.getByLabel("Key").waitFor();
      found["sign in"] = await violations(page);
      await enter(page, key("admin"));
      for (const part of ["hooks", "retention", "schedules", "backup", "limits", "deletions", "namespace", "nowhere"]) {
        await page.goto(`${s.address}/operations/${part}`);
        await look(part);
        for await (const opened of opens(page, part)) await look(`${part}: ${opened}`);
      }
      for (const path of ["/", "/storage"]) {
        await page.goto(s.address + path);
        await look(path);
      }
      await page.context().clearCookies();
      await page.goto(s.address);
      await enter(page, key("reader"));
      await page.goto(`${s.address}/operations/hooks`);
      await look("hooks, for a reader");
      for (const [screen, v] of Object.entries(found)) if (v.length === 0) delete found[screen];
      assert.deepEqual(found, {});
      await page.context().close();
    });
  }

  test("control: axe finds a name that was taken from such a screen", async () => {
    const page = await newPage(b, { bypassCSP: true });
    await page.goto(s.address);
    await enter(page, key("admin"));
    await page.goto(`${s.address}/operations/hooks`);
    await page.getByRole("button", { name: "New key" }).evaluate((e) => (e.textContent = ""));
    assert.ok((await wrong(page)).some((v) => v.startsWith("button-name")));
    await page.context().close();
  });
});

async function enter(page, secret) {
  await page.getByLabel("Key").fill(secret);
  await page.getByRole("button", { name: "Enter" }).click();
  await page.getByRole("navigation").first().waitFor(); // the page was loaded again
}

/** What a part opens over itself or in itself, one after the other. */
const within = {
  hooks: [
    ["a message", (page) => page.getByRole("button", { name: "checkpoint.created" }).first()],
    ["a new webhook", (page) => page.getByRole("button", { name: "Add endpoint" })],
    ["a new key", (page) => page.getByRole("button", { name: "New key" })],
    ["revoking a key", (page) => page.getByRole("button", { name: /^Revoke/ }).first()],
  ],
  schedules: [
    ["a new schedule", (page) => page.getByRole("button", { name: /^Add a schedule/ })],
    ["dropping one", (page) => page.getByRole("button", { name: /^Drop/ }).first()],
  ],
  limits: [["changing them", (page) => page.getByRole("button", { name: /^Change limits/ })]],
  deletions: [["asking for one", (page) => page.getByRole("button", { name: /^Ask for a deletion/ })]],
};

async function* opens(page, part) {
  for (const [name, button] of within[part] ?? []) {
    await button(page).click();
    if (name === "a message") {
      await page.getByRole("button", { name: "checkpoint.created", expanded: true }).waitFor();
      yield name;
      continue;
    }
    await page.locator("dialog[open]").waitFor();
    yield name;
    await page.keyboard.press("Escape");
    await page.locator("dialog[open]").waitFor({ state: "detached" });
  }
}

/** Gives every part of operations something to show. */
async function fill(address, operator, admin) {
  const ask = async (secret, method, path, body) => {
    const r = await fetch(address + path, { method, headers: { Authorization: `Bearer ${secret}`, "Content-Type": "application/json" }, body: body && JSON.stringify(body) });
    if (!r.ok) throw new Error(`${method} ${path}: ${r.status} ${await r.text()}`);
    return r.status === 204 ? null : r.json();
  };
  await ask(admin, "POST", "/v1/webhooks", { url: "https://hooks.example.com/retake" });
  await ask(admin, "POST", "/v1/webhooks", { url: "https://other.example.com/retake", types: ["checkpoint.created"] });
  const w = (await ask(operator, "GET", "/v1/workspaces")).workspaces[0];
  for (const text of ["one", "two", "three"]) {
    writeFileSync(join(w.root, "a.txt"), `${text}\n`);
    await ask(operator, "POST", `/v1/workspaces/${w.id}/checkpoints`, { intent: text });
  }
  await ask(admin, "POST", "/v1/schedules", { work: "save", cron: "0 * * * *", workspace: w.id });
  await ask(admin, "POST", "/v1/schedules", { work: "retain", cron: "0 3 * * *" });
  await ask(admin, "POST", "/v1/keys", { kind: "agent", name: "ci" });
  await ask(admin, "POST", "/v1/deletions", { workspace: w.id, refs: ["1"], why: "held a key" });
  for (const end = Date.now() + 60_000; ; ) {
    assert.ok(Date.now() < end, "messages were tried");
    const log = (await ask(admin, "GET", "/v1/deliveries")).data;
    if (log.length > 0 && log.every((d) => d.tries.length > 0)) return;
    await new Promise((done) => setTimeout(done, 50)); // until each message was tried
  }
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
  await page.getByRole("link", { name: /^(Undo this restore|Undo|Redo)…/ }).first().waitFor({ timeout: 20_000 });
}
