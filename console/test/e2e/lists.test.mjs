// Long lists: only what is in sight is in the page, each row tells its place, and who
// stands in a row with the keyboard stands there after scrolling, wherever it went.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { browser, Home, newPage } from "./bed.mjs";

const files = 600;
const saves = 40;
let home, b, page, ws, base;

before(async () => {
  home = new Home();
  b = await browser();
  const dir = join(home.dir, "many");
  mkdirSync(dir);
  writeFileSync(join(dir, "first.txt"), "first\n");
  home.retake(["init", "--yes"], { cwd: dir });
  for (let d = 0; d < files / 100; d++) {
    mkdirSync(join(dir, `d${d}`));
    for (let i = 0; i < 100; i++) writeFileSync(join(dir, `d${d}`, `f${i}.txt`), `${i}\n`);
  }
  home.retake(["save", "many files"], { cwd: dir });
  for (let i = 0; i < saves; i++) {
    writeFileSync(join(dir, "first.txt"), `step ${i}\n`);
    home.retake(["save", `step ${i}`], { cwd: dir });
  }
  ws = home.json(["status"], { cwd: dir }).workspace.id;
  page = await newPage(b);
  await page.goto(home.console(dir));
  base = new URL(page.url()).origin;
});

after(async () => {
  await b?.close();
  home?.end();
});

/** Scrolls what scrolls a row to a place, and waits until it is drawn there. */
const scroll = (row, end) =>
  row.evaluate((e, end) => {
    let box = e.parentElement;
    while (!(box.scrollHeight > box.clientHeight + 100 && /auto|scroll/.test(getComputedStyle(box).overflowY))) box = box.parentElement;
    return new Promise((done) => {
      const again = (n) => {
        box.scrollTop = end ? box.scrollHeight : 0; // what is chosen is still being brought into sight
        if (n === 0) done();
        else requestAnimationFrame(() => again(n - 1));
      };
      again(20);
    });
  }, end);

const standing = () => page.evaluate(() => document.activeElement?.closest("li")?.getAttribute("aria-posinset"));

async function stays(path, list, least, at, open) {
  await page.goto(base + path);
  await open?.();
  const rowsOf = page.getByRole("list", { name: list }).first().locator("> li");
  await rowsOf.nth(9).waitFor();
  await page.getByText("are read so far").waitFor({ state: "detached" }); // the first paths stand alone for a moment
  const rows = Number(await rowsOf.first().getAttribute("aria-setsize"));
  assert.ok(rows >= least, `${rows} rows`);
  const row = rowsOf.locator(at).first();
  await row.focus();
  const was = await standing();
  assert.ok(Number(was) > 0, `nobody stands in a row: ${was}`);
  const handle = await row.elementHandle();
  await scroll(handle, true);
  await page.locator(`li[aria-posinset="${rows}"]`).first().waitFor();
  assert.equal(await standing(), was, "after scrolling to the end");
  assert.ok((await page.evaluate(() => document.querySelectorAll("*").length)) <= 1500);
  await scroll(handle, false);
  assert.equal(await standing(), was, "after scrolling back");
}

test("a list in a box", () => stays(`/w/${ws}/m/2?by=path`, "Files", files, "button"));

test("a list in the page", () => stays(`/w/${ws}/plan?course=restore&ref=1`, /^Delete/, files, "button", () => page.getByRole("button", { name: /^List all/ }).click()));

test("the timeline", () => stays(`/w/${ws}`, "Checkpoints, newest first", saves, "a"));

test("control: a row without the focus goes", async () => {
  await page.goto(`${base}/w/${ws}/m/2?by=path&path=d0%2Ff1.txt`);
  const files = page.getByRole("list", { name: "Files" });
  await files.locator("[aria-current]").waitFor();
  await scroll(await files.elementHandle(), true);
  await files.locator('> li[aria-posinset="1"]').waitFor({ state: "detached" });
});
