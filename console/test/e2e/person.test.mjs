// A person opens the console, sees which checkpoint was good, reads why, goes back, takes that
// back, forks and adopts; on a laptop and on a server.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { browser, Home, newPage, Person, server, sum } from "./bed.mjs";

let b;
before(async () => {
  b = await browser();
});
after(async () => b?.close());

/** The button that does what the plan says; its words repeat the deletions. */
const confirmed = (page) => page.locator("main button").filter({ hasText: /^(Delete|Restore|Undo|Redo|Adopt|Bring|Change|Finish|Take)/ }).last();

/** Consents to what is asked, goes on, and confirms. */
async function through(page) {
  await page.getByText("Nothing has been changed yet").waitFor();
  for (const box of await page.getByRole("checkbox").all()) await box.check();
  await page.getByRole("button", { name: /^Continue/ }).click();
  await page.getByRole("button", { name: /^Back/ }).waitFor();
  await confirmed(page).click();
  await page.getByRole("link", { name: /^(Undo this restore|Undo|Redo)…/ }).first().waitFor({ timeout: 20_000 });
}

describe("on a laptop", () => {
  let home, dir, ws, page;
  before(async () => {
    home = new Home();
    home.retake(["demo", join(home.dir, "demo")]);
    dir = join(home.dir, "demo", "shopfront");
    ws = home.json(["status"], { cwd: dir }).workspace.id;
    page = await newPage(b);
  });
  after(() => home?.end());

  test("three clicks from opening to the plan of the right restore", async () => {
    const good = home.json(["show", "good"], { cwd: dir }).checkpoint.number;
    await page.goto(home.console());
    const me = new Person(page);
    await me.click("link", /shopfront/);
    await page.getByRole("heading", { level: 1, name: new RegExp(`^${good} is good`) }).waitFor(); // without a click
    await me.click("link", new RegExp(`^Restore ${good}…`));
    await me.sees("Nothing has been changed yet");
    assert.ok(me.clicks <= 3, `${me.clicks} clicks`);
    console.log(`${me.clicks} clicks`);
  });

  test("reads why it was good", async () => {
    await page.goto(new URL(page.url()).origin + `/w/${ws}/m/good`);
    await page.getByText("Checks run by Retake").first().waitFor();
    const output = home.json(["show", "good"], { cwd: dir });
    assert.ok(output.checkpoint.number > 0);
    await page.getByText("passed").first().waitFor();
  });

  test("restores, and takes it back", async () => {
    const was = sum(dir);
    const good = home.json(["show", "good"], { cwd: dir }).checkpoint.number;
    await page.goto(new URL(page.url()).origin + `/w/${ws}/plan?course=restore&ref=good`);
    await through(page);
    const left = home.json(["restore", String(good), "--plan"], { cwd: dir });
    assert.deepEqual([left.writes, left.deletes, left.merges], [[], [], []]);
    assert.notEqual(sum(dir), was);
    await page.getByRole("link", { name: /^Undo this restore…/ }).first().click();
    await through(page);
    assert.equal(sum(dir), was);
  });

  test("a plan that was overtaken is not applied", async () => {
    await page.goto(new URL(page.url()).origin + `/w/${ws}/plan?course=restore&ref=1`);
    await page.getByText("Nothing has been changed yet").waitFor();
    for (const box of await page.getByRole("checkbox").all()) await box.check();
    await page.getByRole("button", { name: /^Continue/ }).click();
    writeFileSync(join(dir, "README.md"), "written in between\n");
    await confirmed(page).click();
    await page.getByText(/moved|changed since/i).first().waitFor();
    assert.equal(readFileSync(join(dir, "README.md"), "utf8"), "written in between\n");
  });

  test("forks, and adopts", async () => {
    await page.goto(new URL(page.url()).origin + `/w/${ws}/forks?from=latest`);
    const place = join(home.dir, "try");
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel(/director/i).fill(place);
    await dialog.getByRole("button", { name: /^Fork|^Make/ }).click();
    await page.getByText(place).first().waitFor({ timeout: 20_000 });
    assert.ok(existsSync(join(place, "README.md")));
    writeFileSync(join(place, "new.txt"), "from the fork\n");
    home.retake(["save", "work in the fork"], { cwd: place });
    await page.goto(new URL(page.url()).origin + `/w/${ws}/forks`);
    const row = page.getByRole("row", { name: /try/ }).or(page.getByRole("listitem").filter({ hasText: "try" })).first();
    await row.getByRole("link", { name: /^Adopt/ }).click();
    await through(page);
    assert.equal(readFileSync(join(dir, "new.txt"), "utf8"), "from the fork\n");
  });

  test("nothing went wrong on the way", () => {
    assert.deepEqual(page.troubles.filter((t) => !/status of (404|409|412|422)/.test(t)), []);
  });
});

describe("on a server", () => {
  let dir, s, page;
  before(async () => {
    dir = mkdtempSync(join(tmpdir(), "rt-"));
    s = await server(dir);
    page = await newPage(b);
  });
  after(async () => {
    await s?.end();
    rmSync(dir, { recursive: true, force: true });
  });
  const key = (kind) => s.begun.keys.find((k) => k.key.kind === kind).secret;

  async function enter(secret) {
    await page.context().clearCookies();
    await page.goto(s.address);
    await page.getByLabel("Key").fill(secret);
    await page.getByRole("button", { name: "Enter" }).click();
  }

  test("who has no key learns nothing, and a wrong key opens nothing", async () => {
    await enter("rtk_agent_nonsense");
    await page.getByRole("alert").filter({ hasText: /./ }).waitFor();
    const r = await page.evaluate(async () => (await fetch("/v1/workspaces", { headers: { "X-Retake-Console": "1" } })).status);
    assert.equal(r, 401);
  });

  test("an operator sees the workspace, restores and takes it back", async () => {
    await enter(key("operator"));
    await page.getByRole("link", { name: /default/ }).first().click();
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    const cookies = await page.context().cookies();
    assert.ok(cookies.length > 0 && cookies.every((c) => c.httpOnly && c.sameSite === "Strict"));
    assert.ok(cookies.every((c) => !c.value.includes("rtk_")));
    const call = (path, body) =>
      page.evaluate(
        async ([path, body]) => {
          const r = await fetch(path, { method: "POST", headers: { "X-Retake-Console": "1", "Content-Type": "application/json" }, body: JSON.stringify(body) });
          if (!r.ok) throw new Error(await r.text());
          return r.json();
        },
        [path, body],
      );
    const ws = new URL(page.url()).pathname.split("/")[2];
    const root = (await page.evaluate(async () => (await fetch("/v1/workspaces", { headers: { "X-Retake-Console": "1" } })).json())).workspaces.find((w) => w.id === ws).root;
    assert.ok(root.startsWith(join(dir, "data")), root);
    writeFileSync(join(root, "a.txt"), "one\n");
    const first = await call(`/v1/workspaces/${ws}/checkpoints`, { intent: "one" });
    writeFileSync(join(root, "a.txt"), "two\n");
    await call(`/v1/workspaces/${ws}/checkpoints`, { intent: "two" });
    await page.goto(`${s.address}/w/${ws}/plan?course=restore&ref=${first.checkpoint.number}`);
    await through(page);
    assert.equal(readFileSync(join(root, "a.txt"), "utf8"), "one\n");
    await page.getByRole("link", { name: /^Undo this restore…/ }).first().click();
    await through(page);
    assert.equal(readFileSync(join(root, "a.txt"), "utf8"), "two\n");
  });

  test("a reader is shown what he may not do", async () => {
    await enter(key("reader"));
    await page.getByRole("link", { name: /default/ }).first().click();
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    const ws = new URL(page.url()).pathname.split("/")[2];
    await page.goto(`${s.address}/w/${ws}/plan?course=restore&ref=1`);
    await page.getByText(/key|may not/i).first().waitFor();
    assert.equal(await page.getByRole("button", { name: /^Continue/, disabled: false }).count(), 0);
  });
});
