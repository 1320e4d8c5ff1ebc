// Takes the pictures of the documents from the demo, on a laptop and on a server:
//   node console/test/e2e/pictures.mjs docs/pictures/console
// Six screens wide and narrow, light and dark; the others once.
import { mkdirSync, rmSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { browser, Home, newPage, server } from "./bed.mjs";

const out = process.argv[2];
mkdirSync(out, { recursive: true });
const sizes = { wide: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } };
const b = await browser();
const home = new Home();

async function shoot(page, name) {
  await page.waitForFunction(() => document.querySelector("main")?.innerText.trim() && !document.querySelector(".bars"));
  await page.evaluate(() => new Promise((done) => setTimeout(done, 700))); // what comes after the first content
  await page.screenshot({ path: join(out, `${name}.png`) });
}

try {
  home.retake(["demo", join(home.dir, "demo")]);
  const dir = join(home.dir, "demo", "shopfront");
  const ws = home.json(["status"], { cwd: dir }).workspace.id;
  const six = {
    workspaces: "/",
    timeline: `/w/${ws}`,
    checkpoint: `/w/${ws}/m/3`,
    compare: `/w/${ws}/compare?from=7`,
    plan: `/w/${ws}/plan?course=restore&ref=good`,
    forks: `/w/${ws}/forks`,
  };
  for (const [size, viewport] of Object.entries(sizes)) {
    for (const colorScheme of ["light", "dark"]) {
      const page = await newPage(b, { viewport, colorScheme });
      await page.goto(home.console(dir));
      const base = new URL(page.url()).origin;
      for (const [name, path] of Object.entries(six)) {
        await page.goto(base + path);
        await shoot(page, `${name}-${size}-${colorScheme}`);
      }
      await page.context().close();
    }
  }
  const page = await newPage(b);
  await page.goto(home.console(dir));
  const base = new URL(page.url()).origin;
  const once = {
    "checkpoint-split": `/w/${ws}/m/8?view=split`,
    "checkpoint-image": `/w/${ws}/m/6?path=${encodeURIComponent("public/logo.png")}`,
    "checkpoint-database": `/w/${ws}/m/10?path=${encodeURIComponent("data/shop.db")}`,
    history: `/w/${ws}/history?path=src%2Flogin.ts`,
    effects: `/w/${ws}/effects`,
    tasks: `/w/${ws}/tasks`,
    settings: `/w/${ws}/settings`,
    storage: "/storage",
  };
  for (const [name, path] of Object.entries(once)) {
    await page.goto(base + path);
    await shoot(page, name);
  }
  await page.context().close();
} finally {
  home.end();
}

const dir = mkdtempSync(join(tmpdir(), "rt-"));
const s = await server(dir);
try {
  const page = await newPage(b);
  await page.goto(s.address);
  await page.getByLabel("Key").waitFor();
  await page.screenshot({ path: join(out, "signin.png") });
  await page.getByLabel("Key").fill(s.begun.keys.find((k) => k.key.kind === "admin").secret);
  await page.getByRole("button", { name: "Enter" }).click();
  await page.getByRole("navigation").first().waitFor();
  for (const part of ["hooks", "retention", "schedules", "backup", "limits", "deletions", "namespace"]) {
    await page.goto(`${s.address}/operations/${part}`);
    await shoot(page, `operations-${part}`);
  }
} finally {
  await s.end();
  rmSync(dir, { recursive: true, force: true });
  await b.close();
}
