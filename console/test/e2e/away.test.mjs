// A page whose daemon went away keeps what it shows and goes on working with it; what
// cannot be read says so and can be asked for again. And a checkpoint opens on its worst fact.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { browser, Home, newPage } from "./bed.mjs";

describe("a page without its daemon", () => {
  let b, home, dir, page, url;
  before(async () => {
    b = await browser();
    home = new Home();
    home.retake(["demo", join(home.dir, "demo")]);
    dir = join(home.dir, "demo", "shopfront");
    page = await newPage(b);
    await page.goto(home.console(dir));
    url = page.url().replace(/\?.*/, "");
  });
  after(async () => {
    await b?.close();
    home?.end();
  });

  test("X2: a checkpoint opens on its worst fact", async () => {
    await page.goto(`${url}/m/10`);
    await page.locator(".diff-head h2").filter({ hasText: "data/shop.db" }).waitFor();
    await page.locator(".checkpoint-facts .bad").filter({ hasText: "orders 240 → 16 rows" }).waitFor();
    await page.goto(`${url}/m/17`);
    await page.locator(".diff-head h2").filter({ hasText: "public/photos/" }).waitFor();
  });

  test("X3: a story that fails has words and a way to ask again", async () => {
    const failing = (r) => r.fulfill({ status: 500, contentType: "text/plain", body: "no" });
    await page.route(/\/(story|diff)\?/, failing);
    await page.goto(`${url}/m/3`);
    await page.getByRole("heading", { name: "No diff to show yet" }).waitFor();
    assert.equal(await page.getByText("Still reading").count(), 0);
    await page.unroute(/\/(story|diff)\?/, failing);
    await page.getByRole("button", { name: "Try again" }).first().click();
    await page.locator(".diff-head").waitFor();
  });

  test("X3: what is not there yet has its place, and the diff is never white", async () => {
    let go;
    const gate = new Promise((open) => (go = open));
    const late = async (r) => {
      await gate;
      await r.continue().catch(() => undefined);
    };
    await page.route(/\/(find|story|diff|file)\?/, late);
    await page.goto(`${url}/m/2`);
    await page.locator(".checkpoint-facts").waitFor();
    await page.locator(".diff-waiting .bars i").first().waitFor();
    assert.equal(await page.locator(".checkpoint-columns > *").count(), 3);
    go();
    await page.unroute(/\/(find|story|diff|file)\?/, late);
    await page.locator(".diff-head").waitFor();
  });

  test("X3: who goes elsewhere while the daemon is away keeps the page and its data", async () => {
    const loaded = (name) => performance.getEntriesByType("resource").some((r) => r.name.includes(`/${name}-`));
    await page.goto(url);
    await page.getByRole("heading", { level: 1, name: /is good/ }).waitFor();
    for (const name of ["Checkpoint", "Compare", "Plan", "Settings", "FileDiff", "worker"]) await page.waitForFunction(loaded, name); // all screens, when idle
    home.retake(["daemon", "stop"]);
    await page.getByText("has not answered since").waitFor();
    await page.getByRole("link", { name: "Compare", exact: true }).click();
    await page.getByText("Retake does not answer").first().waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: "Timeline", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: /is good/ }).waitFor();
    for (const said of ["make the release small", "print the note on the receipt", "is redis faster"]) await page.getByText(said).first().waitFor();
    assert.ok(page.url().startsWith(url));
    assert.deepEqual(page.troubles.filter((t) => t.startsWith("error:")), []);
  });
});
