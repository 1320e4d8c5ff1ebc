// It carries the size that was asked for: 10,000 checkpoints, a tree of 100,000 files, a diff
// of 5,000. First content within a second, no task over 50 ms while scrolling, at most
// 1,500 elements, at most 300 kB before the first diff is opened. A smaller run is told by
// CHECKPOINTS, TREE and DIFF; with TIMES=told times are only told, for machines with other work.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { Agent } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { browser, Home, newPage } from "./bed.mjs";

const checkpoints = Number(process.env.CHECKPOINTS ?? 10_000);
const tree = Number(process.env.TREE ?? 100_000);
const diff = Number(process.env.DIFF ?? 5_000);
const bars = { first: 1000, task: 50, nodes: 1500, kilobytes: 300 };
let home, b, long, wide;

before(async () => {
  home = new Home();
  b = await browser();
  long = join(home.dir, "long");
  mkdirSync(long);
  writeFileSync(join(long, "a.txt"), "0\n");
  home.retake(["init", "--yes"], { cwd: long });
  wide = join(home.dir, "wide");
  for (let i = 0; i < tree; i++) {
    const dir = join(wide, `d${i % 100}`, `e${Math.floor(i / 100) % 20}`);
    if (i < 2000) mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, `f${i}.txt`), `file ${i}\n`);
  }
  home.retake(["init", "--yes", "--accept", "size"], { cwd: wide });
  for (let i = 0; i < diff; i++) writeFileSync(join(wide, `d${i % 100}`, `e${Math.floor(i / 100) % 20}`, `f${i}.txt`), `file ${i}, changed\n`);
  home.retake(["save", "many files"], { cwd: wide });
  await fill();
});

after(async () => {
  await b?.close();
  home?.end();
});

/** Saves checkpoint after checkpoint over the daemon's socket, as an agent would. */
async function fill() {
  const ws = home.json(["status"], { cwd: long }).workspace.id;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let i = 1; i < checkpoints; i++) {
    writeFileSync(join(long, "a.txt"), `${i}\n`);
    await home.post(agent, `/v1/workspaces/${ws}/checkpoints`, { intent: `step ${i}` });
  }
  agent.destroy();
}

/** A page that notes long tasks, and how many elements it had at most. */
async function measured(dir) {
  const page = await newPage(b);
  await page.addInitScript(() => {
    window.tasks = [];
    new PerformanceObserver((l) => window.tasks.push(...l.getEntries().map((e) => e.duration))).observe({ type: "longtask", buffered: false });
  });
  await page.goto(home.console(dir));
  return page;
}

/** The bytes of the page, its programs and styles as they were sent, also when this time they came from the cache. */
const bytes = (page) =>
  page.evaluate(() => {
    const programs = performance.getEntriesByType("resource").filter((e) => /\.(js|css)$/.test(new URL(e.name).pathname));
    return [...performance.getEntriesByType("navigation"), ...programs].reduce((sum, e) => sum + e.encodedBodySize, 0);
  });

const elements = (page) => page.evaluate(() => document.querySelectorAll("*").length);

/** Scrolls the longest list of the page from its top to its end and back. */
async function scroll(page) {
  await page.evaluate(() => (window.tasks.length = 0));
  let most = 0;
  const box = await page.evaluateHandle(() => [...document.querySelectorAll("*")].filter((e) => e.scrollHeight > e.clientHeight + 200 && /auto|scroll/.test(getComputedStyle(e).overflowY)).sort((x, y) => y.scrollHeight - x.scrollHeight)[0]);
  const height = await box.evaluate((e) => e.scrollHeight);
  for (let i = 0; i <= 60; i++) {
    const at = i <= 30 ? i * 400 : ((i - 30) / 30) * height;
    await box.evaluate((e, at) => new Promise((done) => {
      e.scrollTop = at;
      requestAnimationFrame(() => requestAnimationFrame(done));
    }), at);
    if (i % 6 === 0) most = Math.max(most, await elements(page));
  }
  return { most, height, tasks: await page.evaluate(() => window.tasks) };
}

/** Opens a page and scrolls through it. Settle: what a person does before the list is whole. */
async function look(page, path, content, settle) {
  const began = Date.now();
  await page.goto(new URL(page.url()).origin + path, { waitUntil: "commit" });
  await page.getByText(content).first().waitFor();
  const first = Date.now() - began;
  await page.waitForFunction(() => !document.querySelector(".bars"));
  await settle();
  const s = await scroll(page);
  return { ...s, first, longest: Math.max(0, ...s.tasks), bytes: await bytes(page) };
}

/** A task that the page itself makes long is there every time it is opened; one that the
 *  machine made long is not. So times are judged by the best of three, and all are told. */
async function judge(name, page, path, content, settle = async () => {}) {
  const looks = [];
  const late = (l) => l.first > bars.first || l.longest > bars.task;
  do looks.push(await look(page, path, content, settle));
  while (process.env.TIMES !== "told" && looks.length < 3 && looks.every(late));
  const most = Math.max(...looks.map((l) => l.most));
  const all = (f) => looks.map(f).join(", ");
  console.log(`${name}: first content ${all((l) => l.first)} ms, ${most} elements at most, ${all((l) => l.tasks.length)} long tasks while scrolling (longest ${all((l) => l.longest.toFixed(0))} ms), ${looks[0].height} px`);
  assert.ok(most <= bars.nodes, `${most} elements`);
  if (process.env.TIMES !== "told") assert.ok(!looks.every(late), "late every time");
  return looks[0];
}

test("a timeline of many checkpoints", async () => {
  const page = await measured(long);
  const ws = home.json(["status"], { cwd: long }).workspace.id;
  const s = await judge(`${checkpoints} checkpoints`, page, `/w/${ws}`, `step ${checkpoints - 1}`);
  assert.ok(s.height >= checkpoints * 30, `the list is ${s.height} px high`);
  console.log(`${(s.bytes / 1000).toFixed(0)} kB of program and style before a diff`);
  assert.ok(s.bytes > 50_000 && s.bytes <= bars.kilobytes * 1000, `${s.bytes} bytes`);
});

test("a diff of many files, and a tree of many more", async () => {
  const page = await measured(wide);
  const ws = home.json(["status"], { cwd: wide }).workspace.id;
  const s = await judge(`a diff of ${diff} files`, page, `/w/${ws}/compare?from=1&to=2`, "f0.txt", async () => {
    await page.getByRole("button", { name: "path", exact: true }).click();
    await page.getByText("are read so far").waitFor({ state: "detached", timeout: 30_000 });
  });
  assert.ok(s.height >= diff * 10, `the list is ${s.height} px high`);
  await judge(`a tree of ${tree} files`, page, `/w/${ws}/m/2?by=path`, "many files");
});

test("control: a page with everything in it is caught", async () => {
  const page = await measured(long);
  await page.locator("main").waitFor();
  await page.evaluate(() => {
    const end = performance.now() + 120;
    setTimeout(() => { while (performance.now() < end + 200); });
    document.querySelector("main").append(...Array.from({ length: 2000 }, () => document.createElement("p")));
  });
  await page.waitForFunction(() => window.tasks.length > 0);
  assert.ok((await elements(page)) > bars.nodes);
  assert.ok((await page.evaluate(() => Math.max(...window.tasks))) > bars.task);
});
