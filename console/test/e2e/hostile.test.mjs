// Whatever a workspace, an agent or a command says, it is text on every screen: no script
// runs, nothing is fetched from elsewhere, no character turns or hides what stands there.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { browser, Home, newPage, uuid7 } from "./bed.mjs";
import { hostile, hostileName } from "./hostile.mjs";

const turns = Number(process.env.TURNS ?? 8); // each holds about 250 strings
let home, b, page, ws, base;
let used = 0; // strings so far
const next = () => hostile(used++);
const nextName = () => hostileName(used++);

before(async () => {
  home = new Home();
  b = await browser();
  const dir = join(home.dir, "shop");
  mkdirSync(dir);
  writeFileSync(join(dir, "plain.txt"), "plain\n");
  home.retake(["init", "--yes"], { cwd: dir });
  page = await newPage(b);
  page.strangers = [];
  page.on("request", (r) => !r.url().startsWith("http://127.0.0.1:") && !r.url().startsWith("blob:") && page.strangers.push(r.url()));
  await page.addInitScript(() => {
    window.violations = [];
    addEventListener("securitypolicyviolation", (e) => window.violations.push(`${e.violatedDirective} ${e.blockedURI} ${e.sample}`));
  });
  await page.goto(home.console(dir));
  base = new URL(page.url()).origin;
  ws = home.json(["status"], { cwd: dir }).workspace.id;
  for (let t = 0; t < turns; t++) await turn(dir, t);
});

after(async () => {
  await b?.close();
  home?.end();
});

/** Asks the API as the page does. */
const ask = (method, path, body) =>
  page.evaluate(
    async ([method, path, body]) => {
      const headers = { "X-Retake-Console": "1", "Content-Type": "application/json" };
      const r = await fetch(path, { method, headers, body: body && JSON.stringify(body) });
      if (!r.ok) throw new Error(`${method} ${path}: ${r.status} ${await r.text()}`);
      return r.status === 204 ? null : r.json();
    },
    [method, path, body],
  );

async function turn(dir, t) {
  const session = `session-${t}`; // names of sessions are checked at the door
  const signal = (kind, more) => ask("POST", "/v1/signals", { id: `sg_${uuid7()}`, kind, time: new Date().toISOString(), agent: t % 2 ? "claude-code" : "codex", session, dir, ...more });
  await signal("prompt", { prompt: next() });
  for (let i = 0; i < 40; i++) {
    const sub = join(dir, nextName());
    mkdirSync(sub, { recursive: true });
    for (let k = 0; k < 3; k++) writeFileSync(join(sub, nextName()), `${next()}\n${next()}\n`);
  }
  writeFileSync(join(dir, ".env"), `${next().replaceAll("\n", " ")}=1\n`);
  for (let i = 0; i < 5; i++) {
    const call = { id: uuid7(), kind: "shell", tool: next(), command: i === 0 ? `git push ${next()}` : `rm -rf ${next()}`, output: next() };
    await signal("call", { call });
    await signal("called", { call });
  }
  await signal("tasks", { tasks: [1, 2, 3].map((i) => ({ id: String(i), title: next(), status: i === 1 ? "completed" : "pending" })) });
  await signal("turn-end", { message: next() });
  const saved = await ask("POST", `/v1/workspaces/${ws}/checkpoints`, { intent: next() });
  const about = { ref: String(saved.checkpoint.number), name: next().slice(0, 60), command: next(), output: Array.from({ length: 20 }, next).join("\n"), started: new Date().toISOString() };
  await ask("POST", `/v1/workspaces/${ws}/verifications`, { ...about, exit: t % 2, took: 1e9 });
}

/** What is wrong with the page as it stands. */
const wrong = () =>
  page.evaluate(() => {
    const found = [];
    if (window.hit !== undefined) found.push(`ran: ${window.hit}`);
    found.push(...window.violations);
    if (document.cookie.includes("hit")) found.push("a cookie was set");
    const hidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/u;
    const walk = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
    for (let n = walk.nextNode(); n; n = walk.nextNode()) {
      if (n.nodeType === Node.TEXT_NODE) {
        if (hidden.test(n.data)) found.push(`hidden character in ${JSON.stringify(n.data.slice(0, 80))}`);
        continue;
      }
      for (const a of n.attributes) {
        if (/^on/i.test(a.name)) found.push(`a handler in ${n.tagName}`);
        if (["href", "src", "action", "formaction", "srcdoc"].includes(a.name) && /^\s*(javascript|data:text)|</i.test(a.value)) found.push(`a script address in ${n.tagName}`);
        if (["title", "aria-label", "alt"].includes(a.name) && hidden.test(a.value)) found.push(`hidden character in ${a.name} of ${n.tagName}.${n.className}: ${JSON.stringify(a.value.slice(0, 80))}`);
      }
    }
    return found;
  });

async function visit(path) {
  await page.goto(base + path);
  await page.locator("main").waitFor();
  await page.waitForFunction(() => document.querySelector("main")?.innerText.trim() && !document.querySelector(".bars"));
  await page.evaluate(() => new Promise((done) => requestIdleCallback(done, { timeout: 1000 })));
  assert.deepEqual(await wrong(), [], path.slice(0, 120));
}

test("strings of a workspace, an agent and a command are text on every screen", async () => {
  const log = await ask("GET", `/v1/workspaces/${ws}/checkpoints`);
  const screens = [`/`, `/w/${ws}`, `/w/${ws}?group=task`, `/w/${ws}?group=session`, `/w/${ws}/effects`, `/w/${ws}/tasks`, `/w/${ws}/forks`, `/w/${ws}/settings`, `/storage`, `/remotes`, `/w/${ws}/compare?from=1`, `/w/${ws}/plan?course=restore&ref=1`, `/w/${ws}/plan?course=undo`];
  for (const c of log.checkpoints.filter((c) => c.changed.added > 0)) {
    screens.push(`/w/${ws}?at=${c.number}`, `/w/${ws}/m/${c.number}`, `/w/${ws}/m/${c.number}?by=path`);
    const diff = await ask("GET", `/v1/workspaces/${ws}/diff?to=${c.number}`);
    for (const change of diff.changes.filter((x) => x.after?.kind === "file").slice(0, 3)) {
      const path = encodeURIComponent(change.path);
      screens.push(`/w/${ws}/m/${c.number}?path=${path}`, `/w/${ws}/history?path=${path}`, `/w/${ws}/compare?from=1&to=${c.number}&path=${path}&view=split`);
    }
  }
  for (const s of screens) await visit(s);
  const shown = page.troubles.filter((t) => !t.includes("Failed to load resource"));
  assert.deepEqual(shown, []);
  assert.deepEqual(page.strangers, []);
  console.log(`${used} strings, ${screens.length} screens`);
  assert.ok(used >= turns * 240, `${used} strings`);
});

test("what a remote is called and what it says is text", async () => {
  const time = new Date().toISOString();
  const trouble = () => ({ at: time, since: time, next: time, tries: 3, kind: next(), what: next(), hint: `${next()}\n${next()}` });
  const check = () => ({ at: time, checkpoints: 1, objects: 1, bytes: 1, failed: Array.from({ length: 8 }, next) });
  const remotes = Array.from({ length: 13 }, (_, i) => ({
    name: next(), url: next(), created: time, uploaded: i % 3 ? time : undefined, sent: 1, pending: i % 2, damaged: i, limited: i % 2 > 0, protection: { refuses: true },
    trouble: i % 4 ? undefined : trouble(), check: i % 2 ? undefined : check(), workspaces: [{ workspace: i % 2 ? ws : next(), name: next(), newest: 3, uploaded: 2, pending: i % 2 }],
  }));
  const changed = (more) => async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...(await answer.json()), ...more } });
  };
  const upload = () => ({ upload: { remote: next(), through: 1000 } });
  await page.route("**/v1/remotes", changed({ remotes }));
  await page.route("**/status", changed({ remotes }));
  await page.route("**/view/timeline?*", changed(upload()));
  await page.route("**/checkpoints?*", changed(upload()));
  for (const s of [`/remotes`, `/`, `/w/${ws}/settings`, `/w/${ws}?at=1`, `/w/${ws}/m/1`]) await visit(s);
  await page.goto(`${base}/remotes`);
  await page.locator(".rm-card").nth(remotes.length - 1).waitFor();
  await page.unrouteAll({ behavior: "wait" });
});

/** Whether a string runs something when it is taken for markup. */
async function runs(text, timeout) {
  const bare = await newPage(b);
  await bare.setContent("<main></main>");
  await bare.evaluate((s) => {
    document.querySelector("main").innerHTML = s;
  }, text);
  const hit = await bare.waitForFunction(() => window.hit !== undefined, null, { timeout }).then(() => true, () => false);
  await bare.context().close();
  return hit;
}

test("control: the same strings as markup are caught", async () => {
  await page.goto(`${base}/`);
  let ran = 0;
  for (const timeout of [300, 3000]) { // some never run, and a busy machine needs longer for the others
    for (let n = 0; n < 13 && ran < 4; n++) ran += (await runs(hostile(n), timeout)) ? 1 : 0;
    if (ran >= 4) break;
    ran = 0;
  }
  assert.ok(ran >= 4, `${ran} of 13 ran`);
  await page.evaluate(() => {
    document.body.innerHTML = '<a href="javascript:1" onclick="1" title="\u202e">\u001b</a>';
  });
  assert.ok((await wrong()).length >= 3);
});
