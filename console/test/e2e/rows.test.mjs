// A migration lost rows: a person opens that checkpoint and its database, and sees which ones.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { browser, Home, newPage } from "./bed.mjs";

let b, home, ws, lost;
before(async () => {
  b = await browser();
  home = new Home();
  lost = home.json(["demo", join(home.dir, "demo")]).lost;
  const dir = join(home.dir, "demo", "shopfront");
  ws = home.json(["status"], { cwd: dir }).workspace.id;
});
after(async () => {
  await b?.close();
  home?.end();
});

for (const [size, viewport] of Object.entries({ wide: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } })) {
  test(`the lost rows are seen, ${size}`, async () => {
    const page = await newPage(b, { viewport });
    await page.goto(home.console());
    const base = new URL(page.url()).origin;
    await page.goto(`${base}/w/${ws}/m/${lost}?path=${encodeURIComponent("data/shop.db")}`);
    if (size === "phone") await page.getByRole("button", { name: /^Diff/ }).click();
    const region = page.getByRole("region", { name: "Rows of orders that differ" });
    await region.waitFor();
    assert.deepEqual(await region.getByRole("columnheader").evaluateAll((all) => all.map((th) => th.scope)), ["col", "col", "col", "col", "col", "col"]);
    const first = region.getByRole("row").nth(1);
    await first.getByRole("rowheader", { name: "1001" }).waitFor();
    assert.match(await first.innerText(), /order 1001/);
    assert.equal(await region.getByRole("row", { name: /^−?\s*deleted/ }).count(), 100);
    await page.getByText(/^\d+ more deleted rows\./).waitFor();
    await page.getByRole("button", { name: /^Show .*deleted rows/ }).click();
    await region.getByRole("row").nth(150).waitFor();
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.equal(wide, 0, "the page itself does not scroll sideways");
    assert.deepEqual(page.troubles, []);
    await page.context().close();
  });
}
