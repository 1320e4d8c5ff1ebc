// What the tests of the console stand on: a real daemon or a real server with a home of
// its own, and Debian's Chromium. Nothing here knows how a screen looks.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { chromium } from "playwright-core";

const repository = new URL("../../..", import.meta.url).pathname;

let built;
/** The program, built once for a run. */
export function program() {
  if (process.env.RETAKE) return process.env.RETAKE;
  if (!built) {
    const dir = mkdtempSync(join(tmpdir(), "rt-"));
    built = join(dir, "retake");
    execFileSync("go", ["build", "-o", dir + "/", "./cmd/retake", "./cmd/retaked"], { cwd: repository, stdio: "inherit" });
  }
  return built;
}

/** A user of a laptop with nothing on it. */
export class Home {
  constructor() {
    this.dir = mkdtempSync(join(tmpdir(), "rt-"));
    this.env = { PATH: process.env.PATH, HOME: join(this.dir, "home"), XDG_RUNTIME_DIR: join(this.dir, "run"), NO_COLOR: "1", LANG: "C.UTF-8" };
    mkdirSync(this.env.HOME);
    mkdirSync(this.env.XDG_RUNTIME_DIR, { mode: 0o700 });
  }

  /** Runs a command and gives what it printed; a failure is an error unless it is asked for. */
  retake(args, { cwd = this.dir, input, fails } = {}) {
    const r = spawnSync(program(), args, { cwd, env: this.env, input, encoding: "utf8", maxBuffer: 1 << 28 });
    if ((r.status !== 0) !== !!fails) throw new Error(`retake ${args.join(" ")}: ${r.status}\n${r.stdout}\n${r.stderr}`);
    return r.stdout;
  }

  json(args, more) {
    return JSON.parse(this.retake([...args, "--json"], more));
  }

  /** Where the console is open, for one browser. */
  console(cwd) {
    return this.json(["console", "--no-open"], { cwd }).url;
  }

  /** Sends a request to the daemon and gives its answer. */
  post(agent, path, body) {
    const run = join(this.env.XDG_RUNTIME_DIR, "retake");
    const socketPath = join(run, readdirSync(run).find((n) => n.endsWith(".sock")));
    return new Promise((resolve, reject) => {
      const r = request({ agent, socketPath, path, method: "POST", headers: { "Content-Type": "application/json" } }, (answer) => {
        let text = "";
        answer.setEncoding("utf8");
        answer.on("data", (s) => (text += s));
        answer.on("end", () => (answer.statusCode < 300 ? resolve(JSON.parse(text)) : reject(new Error(text))));
      });
      r.on("error", reject);
      r.end(JSON.stringify(body));
    });
  }

  end() {
    spawnSync(program(), ["daemon", "stop"], { cwd: this.dir, env: this.env });
    rmSync(this.dir, { recursive: true, force: true });
  }
}

/** A server on one directory, and the key of its operator. */
export async function server(dir) {
  const env = { PATH: process.env.PATH, HOME: dir, XDG_RUNTIME_DIR: dir, NO_COLOR: "1" };
  const child = spawn(program(), ["serve", "--data", join(dir, "data"), "--listen", "127.0.0.1:0", "--json"], { env, stdio: ["ignore", "pipe", "inherit"] });
  const first = await new Promise((resolve, reject) => {
    let text = "";
    child.stdout.setEncoding("utf8");
    child.stdout.on("data", (s) => {
      text += s;
      const line = text.split("\n").find((l) => l.startsWith("{") && l.endsWith("}"));
      if (line) resolve(JSON.parse(line));
    });
    child.on("exit", (code) => reject(new Error(`retake serve ends with ${code}\n${text}`)));
  });
  const end = () =>
    new Promise((resolve) => {
      child.on("exit", resolve);
      child.kill();
    });
  return { ...first, end };
}

/** One browser for a file of tests. */
export async function browser() {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
}

/** A page that tells of every error in it. */
export async function newPage(b, options = {}) {
  const context = await b.newContext({ viewport: { width: 1440, height: 900 }, colorScheme: "light", ...options });
  const page = await context.newPage();
  page.troubles = [];
  page.on("pageerror", (e) => page.troubles.push(`error: ${e.message}`));
  page.on("console", (m) => m.type() === "error" && page.troubles.push(`console: ${m.text()}`));
  page.on("dialog", (d) => {
    page.troubles.push(`dialog: ${d.message()}`);
    void d.dismiss();
  });
  return page;
}

/** Somebody who counts his clicks. */
export class Person {
  clicks = 0;
  constructor(page) {
    this.page = page;
  }
  async click(role, name) {
    this.clicks++;
    await this.page.getByRole(role, { name }).first().click();
  }
  async sees(text) {
    await this.page.getByText(text).first().waitFor({ timeout: 10_000 });
  }
}

/** A UUID of version 7: time first. */
export function uuid7() {
  const b = randomBytes(16);
  b.writeUIntBE(Date.now(), 0, 6);
  b[6] = (b[6] & 0x0f) | 0x70;
  b[8] = (b[8] & 0x3f) | 0x80;
  return b.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** A sum over names, kinds, modes and bytes of everything below a directory. */
export function sum(dir) {
  const h = createHash("sha256");
  const walk = (at) => {
    for (const name of readdirSync(at).sort()) {
      const path = join(at, name);
      const s = lstatSync(path);
      h.update(`${relative(dir, path)}\0${s.mode}\0`);
      if (s.isDirectory()) walk(path);
      else if (s.isSymbolicLink()) h.update(readlinkSync(path));
      else if (s.isFile()) h.update(readFileSync(path));
    }
  };
  walk(dir);
  return h.digest("hex");
}
