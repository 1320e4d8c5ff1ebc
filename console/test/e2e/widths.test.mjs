// Every screen at every width, from a phone to a wide monitor: the page does not scroll
// sideways, and nothing of the top bar stands outside. SHOTS=DIR keeps a picture of each in
// light and dark, for people to look at.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { browser, Home, newPage } from "./bed.mjs";

const widths = [390, 768, 1024, 1280, 1440, 1920];
let home, b, dir, screens;

before(async () => {
  home = new Home();
  b = await browser();
  home.retake(["demo", join(home.dir, "demo")]);
  dir = join(home.dir, "demo", "shopfront");
  mkdirSync(join(home.dir, "copy"));
  home.retake(["remote", "add", join(home.dir, "copy")], { cwd: dir });
  const ws = home.json(["status"], { cwd: dir }).workspace.id;
  screens = {
    workspaces: "/",
    timeline: `/w/${ws}`,
    "timeline-task": `/w/${ws}?group=task`,
    checkpoint: `/w/${ws}/m/3`,
    "checkpoint-split": `/w/${ws}/m/8?view=split`,
    "checkpoint-path": `/w/${ws}/m/3?by=path&part=diff`,
    compare: `/w/${ws}/compare?from=7`,
    history: `/w/${ws}/history?path=src%2Flogin.ts`,
    plan: `/w/${ws}/plan?course=restore&ref=good`,
    forks: `/w/${ws}/forks`,
    effects: `/w/${ws}/effects`,
    tasks: `/w/${ws}/tasks`,
    settings: `/w/${ws}/settings`,
    storage: "/storage",
    remotes: "/remotes",
  };
  if (process.env.SHOTS) mkdirSync(process.env.SHOTS, { recursive: true });
});

after(async () => {
  await b?.close();
  home?.end();
});

/** What does not fit: how far the document is too wide, and what of the top bar is outside. */
const misfits = (page) =>
  page.evaluate(() => {
    const out = [];
    const wide = document.documentElement.scrollWidth - innerWidth;
    if (wide > 0) out.push(`the document is ${wide} px too wide`);
    for (const e of document.querySelectorAll("header.top, header.top *")) {
      const r = e.getBoundingClientRect();
      if (r.width > 1 && (r.left < -0.5 || r.right > innerWidth + 0.5)) out.push(`${e.tagName} ${e.className.baseVal ?? e.className} from ${Math.round(r.left)} to ${Math.round(r.right)}`);
    }
    return out;
  });

const still = (page) =>
  page.waitForFunction(() => document.querySelector("main")?.innerText.trim() && !document.querySelector(".bars") && document.querySelector(".live.live"));

/** Opens a screen in a window of the first width, and makes the window as wide as the others. */
async function opened(name, colorScheme, [first, ...others], found) {
  const page = await newPage(b, { colorScheme, viewport: { width: first, height: first < 500 ? 844 : 900 } });
  await page.goto(home.console(dir));
  await page.goto(new URL(page.url()).origin + screens[name]);
  for (const width of [first, ...others]) {
    if (width !== first) await page.setViewportSize({ width, height: 900 });
    await still(page);
    const m = await misfits(page);
    if (m.length) found[`${width} ${colorScheme}`] = m;
    if (process.env.SHOTS) await page.screenshot({ path: join(process.env.SHOTS, `${name}-${width}-${colorScheme}.png`) });
  }
  await page.context().close();
}

for (const name of ["workspaces", "timeline", "timeline-task", "checkpoint", "checkpoint-split", "checkpoint-path", "compare", "history", "plan", "forks", "effects", "tasks", "settings", "storage", "remotes"]) {
  test(`${name} at ${widths.join(", ")} px`, async () => {
    const found = {};
    for (const colorScheme of process.env.SHOTS ? ["light", "dark"] : ["light"]) {
      await opened(name, colorScheme, [390], found);
      await opened(name, colorScheme, widths.slice(1), found);
    }
    assert.deepEqual(found, {});
  });
}

test("a long name gives way in the top bar, and so does what is wrong", async () => {
  const page = await newPage(b, { viewport: { width: 768, height: 900 } });
  await page.goto(home.console(dir));
  await page.locator(".live.live").waitFor();
  await page.evaluate(() => {
    document.querySelector(".switcher option:checked").textContent = "a-workspace-with-a-name-that-nobody-can-say-in-one-breath";
    const live = document.querySelector(".live");
    live.className = "live away";
    live.querySelector("span").textContent = "away, as of 12:34";
  });
  assert.deepEqual(await misfits(page), []);
  await page.context().close();
});

test("control: a bar that is too wide is found", async () => {
  const page = await newPage(b, { viewport: { width: 768, height: 900 } });
  await page.goto(home.console(dir));
  await page.locator(".live.live").waitFor();
  await page.evaluate(() => {
    const wide = document.createElement("b");
    wide.style.cssText = "display: block; width: 900px";
    document.querySelector("header.top").append(wide);
  });
  assert.ok((await misfits(page)).some((m) => m.startsWith("B ")));
  await page.context().close();
});
