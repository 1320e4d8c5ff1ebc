// Every button that leads to a plan says what that plan does: on files that were added,
// deleted, changed or all of it, for the side before a checkpoint and the side after.
import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { browser, Home, newPage } from "./bed.mjs";

describe("X1: labels of going back", () => {
  let b, home, page, url;
  before(async () => {
    b = await browser();
    home = new Home();
    const dir = join(home.dir, "w");
    mkdirSync(dir);
    const write = (path, text) => {
      mkdirSync(join(dir, path, ".."), { recursive: true });
      writeFileSync(join(dir, path), text);
    };
    for (const n of [1, 2, 3]) write(`gone/photos/${n}.png`, `picture ${n}`);
    for (const n of [1, 2]) write(`edit/${n}.txt`, "old\n");
    for (const name of ["gone", "edit"]) write(`mix/${name}.txt`, "old\n");
    home.retake(["init"], { cwd: dir }); // 1
    rmSync(join(dir, "gone"), { recursive: true });
    rmSync(join(dir, "mix/gone.txt"));
    for (const path of ["new/1.txt", "new/2.txt", "new/3.txt", "new/4.txt", "mix/new.txt"]) write(path, "new\n");
    for (const path of ["edit/1.txt", "edit/2.txt", "mix/edit.txt"]) write(path, "another line\n");
    home.retake(["save", "all kinds"], { cwd: dir }); // 2
    const status = home.json(["status"], { cwd: dir });
    page = await newPage(b);
    await page.goto(home.console(dir));
    url = `${new URL(page.url()).origin}/w/${status.workspace.id}`;
    page.cwd = dir;
  });
  after(async () => {
    await b?.close();
    home?.end();
  });

  /** The labels on a path of checkpoint 2, and of each what the plan says that it opens. */
  async function labels(path) {
    const ways = page.locator('.diff-head a[href*="/plan?"]');
    const known = async () => {
      await page.locator(".diff-head").waitFor();
      await page.waitForFunction((n) => document.querySelectorAll(".diff-head .bare-bar").length === 0 && performance.getEntriesByType("resource").filter((r) => r.name.endsWith("/view/plan")).length >= n, 2);
    };
    await page.goto(`${url}/m/2?path=${encodeURIComponent(path)}`);
    await known();
    const out = [];
    for (const text of await ways.allTextContents()) {
      await ways.filter({ hasText: text }).click();
      await page.getByText("Nothing has been changed yet").waitFor();
      const sums = await page.locator(".plan-balance dd").evaluateAll((list) => list.map((d) => parseInt(d.textContent, 10)));
      out.push([text, sums.slice(0, 3).join(" ")]);
      await page.goBack();
      await known();
    }
    return out;
  }

  test("the side before, while the files are as after", async () => {
    assert.deepEqual(await labels("gone/photos/"), [["Bring back 3 photos, as in 1…", "0 3 0"]]);
    assert.deepEqual(await labels("new/"), [["Delete 4 files, as in 1…", "4 0 0"]]);
    assert.deepEqual(await labels("edit/"), [["Change back 2 files, as in 1…", "0 0 2"]]);
    assert.deepEqual(await labels("mix/"), [["Delete 1, bring back 1 and change back 1 file, as in 1…", "1 1 1"]]);
    assert.deepEqual(await labels("gone/photos/2.png"), [["Bring it back, as in 1…", "0 1 0"]]);
    assert.deepEqual(await labels("new/1.txt"), [["Delete it, as in 1…", "1 0 0"]]);
    assert.deepEqual(await labels("edit/1.txt"), [["Change it back, as in 1…", "0 0 1"]]);
  });

  test("the side after, when the files went back", async () => {
    home.retake(["restore", "1", "--yes", "--accept", "mass-delete"], { cwd: page.cwd });
    assert.deepEqual(await labels("gone/photos/"), [["Delete 3 photos, as in 2…", "3 0 0"]]);
    assert.deepEqual(await labels("new/"), [["Bring back 4 files, as in 2…", "0 4 0"]]);
    assert.deepEqual(await labels("edit/"), [["Change back 2 files, as in 2…", "0 0 2"]]);
    assert.deepEqual(await labels("mix/"), [["Delete 1, bring back 1 and change back 1 file, as in 2…", "1 1 1"]]);
  });

  test("both sides, when the file is like neither", async () => {
    writeFileSync(join(page.cwd, "edit/1.txt"), "a third line\n");
    assert.deepEqual(await labels("edit/1.txt"), [["Change it back, as in 1…", "0 0 1"], ["Change it back, as in 2…", "0 0 1"]]);
    assert.deepEqual(page.troubles.filter((t) => !t.includes("Failed to load resource")), []);
  });
});
