// Plays sdk/behaviours.json with this package. Started by test/sdk, which tells where its desk is.

import { readFileSync } from "node:fs";
import { isDeepStrictEqual, parseArgs } from "node:util";

import { Retake, RetakeError, verifyWebhook } from "./index.js";

const LONG = 120_000;

class Failed extends Error {}

function at(value, path) {
  for (const part of path ? path.split(".") : []) {
    if (Array.isArray(value)) value = /^-?\d+$/.test(part) ? value.at(Number(part)) : undefined;
    else if (value !== null && typeof value === "object") value = value[part];
    else return undefined;
  }
  return value;
}

function filled(value, kept) {
  if (typeof value === "string") {
    if (value.startsWith("$")) return at(kept, value.slice(1));
    return value.replace(/\{(\w+(?:\.\w+)*)\}/g, (m, path) => at(kept, path) ?? m);
  }
  if (Array.isArray(value)) return value.map((v) => filled(v, kept));
  if (value !== null && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([k, v]) => [filled(k, kept), filled(v, kept)]));
  return value;
}

const empty = (v) => !v || (typeof v === "object" && Object.keys(v).length === 0);
const contains = (x, v) => (v !== null && typeof v === "object" ? Object.entries(v).every(([k, y]) => holds.is(at(x, k), y)) : x === v);

const holds = {
  is: (got, v) => isDeepStrictEqual(got ?? null, v ?? null),
  not: (got, v) => !isDeepStrictEqual(got ?? null, v ?? null),
  set: (got) => !empty(got),
  empty,
  count: (got, v) => (got ?? []).length === v,
  above: (got, v) => typeof got === "number" && got > v,
  once: (got, v) => (got ?? []).filter((x) => contains(x, v)).length === 1,
  has: (got, v) => (typeof got === "string" ? got.includes(String(v)) : (got ?? []).some((x) => contains(x, v))),
};

function judge(got, want, kept) {
  for (const [path, word, raw] of want ?? []) {
    const value = filled(raw, kept);
    if (!holds[word](at(got, path), value)) {
      throw new Failed(`${path} is ${JSON.stringify(at(got, path))?.slice(0, 300)}, want ${word} ${JSON.stringify(value)}`);
    }
  }
}

/** An argument; one that begins with base64: is bytes. */
function named(v) {
  if (typeof v === "string" && v.startsWith("base64:")) return new Uint8Array(Buffer.from(v.slice(7), "base64"));
  return Array.isArray(v) ? v.map(named) : v;
}

async function gathered(many) {
  const out = [];
  for await (const v of many) out.push(v);
  return out;
}

function bytesOf(data) {
  const raw = Buffer.from(data);
  const text = raw.toString();
  return { base64: raw.toString("base64"), ...(Buffer.from(text).equals(raw) ? { text } : {}) };
}

// How each call of the script is made here.
const calls = {
  save: (r, { intent, if_changed, ...o }) => r.save(intent, { ...o, ifChanged: if_changed }),
  save_result: (r, { intent, if_changed, ...o }) => r.saveResult(intent, { ...o, ifChanged: if_changed }),
  checkpoints: (r, o) => gathered(r.checkpoints(o)),
  timeline: (r, o) => r.timeline(o),
  checkpoint: (r, { ref }) => r.checkpoint(ref),
  status: (r) => r.status(),
  deinit: (r) => r.deinit(),
  diff: (r, { from_ref, to_ref, ...o }) => r.diff(from_ref, to_ref, o),
  story: (r, { from_ref, to_ref, ...o }) => r.story(from_ref, to_ref, o),
  rows: (r, { path, from_ref, to_ref, ...o }) => r.rows(path, { from: from_ref, to: to_ref, ...o }),
  search: (r, { text }) => r.search(text),
  blame: (r, { path, ...o }) => r.blame(path, o),
  chronicle: (r, { kind, ...o }) => r.chronicle(kind, o),
  entries: (r, { dir, ...o }) => r.entries(dir, o),
  read: async (r, { path, ...o }) => bytesOf(await r.read(path, o)),
  stored: async (r, { id }) => bytesOf(await r.stored(id)),
  archive: async (r, { ref }, s, p) => p.ask("/untar", Buffer.concat(await gathered(r.archive(ref)))),
  proof: (r, { ref }) => r.proof(ref),
  plan: (r, { ref, ...o }) => r.plan(ref, o),
  apply: (r, { plan, ...o }) => r.apply(plan, o),
  restore: (r, { ref, ...o }) => r.restore(ref, o),
  fork: (r, { name, ...o }) => r.fork(name, o),
  forks: (r) => r.forks(),
  pins: (r) => r.pins(),
  pin: (r, { name, ref }) => r.pin(name, ref),
  unpin: (r, { name }) => r.unpin(name),
  hold: (r, { name, ref }) => r.hold(name, ref),
  release: (r, { name }) => r.release(name),
  attest: (r, { command, ...o }) => r.attest(command, o),
  verifications: (r, o) => r.verifications(o),
  standing: (r) => r.standing(),
  tasks: (r) => r.tasks(),
  set_tasks: (r, { tasks }) => r.setTasks(tasks),
  observe: (r, { signal }) => r.observe(signal),
  effects: (r, { since }) => r.effects(since),
  state: (r, { ref }) => r.state(ref),
  conversation: async (r, { ref }) => bytesOf(await r.conversation(ref)),
  resume: (r, { ref, ...o }) => r.resume(ref, o),
  follow,
  about: (r) => r.about(),
  namespace: (r) => r.namespace(),
  usage: (r) => r.usage(),
  set_limits: (r, { if_match, ...limits }) => r.setLimits(limits, { ifMatch: if_match }),
  workspaces: (r) => r.workspaces(),
  init: (r, { name, ...o }) => r.init(name, o),
  import_archive: async (r, { files, bytes, ...o }, s, p) => r.importArchive(files ? await p.ask("/tar", files, true) : new TextEncoder().encode(bytes), o),
  write_file: (r, { path, text, ...o }) => r.writeFile(path, new TextEncoder().encode(text), o),
  remove_file: (r, { path }) => r.removeFile(path),
  keys: (r) => r.keys(),
  make_key: (r, { kind, ...o }) => r.makeKey(kind, o),
  revoke_key: (r, { id }) => r.revokeKey(id),
  schedules: (r) => r.schedules(),
  make_schedule: (r, { work, cron, ...o }) => r.makeSchedule(work, cron, o),
  drop_schedule: (r, { id }) => r.dropSchedule(id),
  audit: (r, o) => gathered(r.audit(o)),
  check_audit: (r) => r.checkAudit(),
  deletions: (r) => r.deletions(),
  request_deletion: (r, { refs, ...o }) => r.requestDeletion(refs, o),
  cancel_deletion: (r, { id }) => r.cancelDeletion(id),
  webhooks: (r) => r.webhooks(),
  make_webhook: (r, { url, ...o }) => r.makeWebhook(url, o),
  change_webhook: (r, { id, if_match, ...o }) => r.changeWebhook(id, { ...o, ifMatch: if_match }),
  drop_webhook: (r, { id }) => r.dropWebhook(id),
  rotate_webhook: (r, { id }) => r.rotateWebhook(id),
  deliveries: (r, o) => gathered(r.deliveries(o)),
  delivery: (r, { id }) => r.delivery(id),
  replay: (r, { id }) => r.replay(id),
  events: (r, { after, ...o }) => r.events(after, o),
  verify_webhook: (r, { secret, message, body = message.body, later = 0 }) => verifyWebhook(secret, message.headers, body, Date.now() + later * 1000),
  space: (r) => r.space(),
  space_plan: (r) => r.spacePlan(),
  scrub: (r, { share }) => r.scrub(share),
  sweep: (r) => r.sweep(),
  thin: (r) => r.thin(),
  rebuild: (r) => r.rebuild(),
};

async function follow(r, { after, count }, s, p) {
  const events = [];
  let [last, rising] = [0, true];
  for await (const e of r.follow(after)) {
    rising &&= e.seq > last;
    last = e.seq;
    if (e.data.workspace !== p.kept.w) continue;
    events.push(e);
    if (events.length === 1) await p.steps(s.then ?? []);
    if (events.length === count) break;
  }
  return { events, rising };
}

class Player {
  kept = {};
  runs = 0;

  constructor(desk) {
    this.desk = desk;
  }

  async ask(path, body, raw = false) {
    const init = body === undefined ? {} : { method: "POST", body: body instanceof Uint8Array ? body : JSON.stringify(body) };
    const answer = await fetch(this.desk + path, init);
    if (!answer.ok) throw new Failed(`the desk says ${answer.status}: ${await answer.text()}`);
    return raw ? new Uint8Array(await answer.arrayBuffer()) : answer.json();
  }

  async behave(b) {
    this.kept = { n: `b${++this.runs}`, desk: this.desk };
    await this.ask("/fault", {});
    if (b.files) {
      const made = await this.call({ call: "import_archive", args: { files: b.files, name: this.kept.n } });
      Object.assign(this.kept, { w: made.workspace.id, root: made.workspace.root });
    }
    await this.steps(b.steps);
  }

  async steps(all) {
    for (const [i, s] of all.entries()) {
      try {
        await this.step(s);
      } catch (e) {
        if (!(e instanceof Failed) && !(e instanceof RetakeError)) throw e;
        throw new Failed(`step ${i + 1}, ${s.call ?? ""}: ${e.message}`);
      }
    }
  }

  async step(s) {
    let got;
    if (s.disk) got = await this.ask("/disk", { ...s.disk, root: filled(s.disk.root ?? "$root", this.kept) });
    else if (s.restart) got = await this.ask("/restart", {});
    else if (s.hook) got = await this.ask(`/hook/${filled(s.hook, this.kept)}?count=${s.count}`);
    else return this.called(s);
    if (s.keep) this.kept[s.keep] = got;
    judge(got, s.want, this.kept);
  }

  async called(s) {
    for (const end = Date.now() + LONG; ; ) {
      try {
        return await this.watched(s);
      } catch (e) {
        if (!s.until || Date.now() > end) throw e;
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  async watched(s) {
    if (!s.fault && !s.seen) return this.once(s);
    await this.ask("/fault", s.fault ?? {});
    await this.once(s);
    const seen = await this.ask("/seen");
    if (s.fault && s.fault.do !== "none" && seen.faults === 0) throw new Failed("nothing met the fault");
    judge(seen, s.seen, this.kept);
  }

  async once(s) {
    let got;
    try {
      got = await this.call(s);
    } catch (e) {
      if (!s.error || !(e instanceof RetakeError)) throw e;
      judge({ ...e, next_steps: e.nextSteps, request_id: e.requestId }, s.error, this.kept);
      return;
    }
    if (s.error) throw new Failed("there is no error");
    if (s.keep) this.kept[s.keep] = got;
    judge(got, s.want, this.kept);
  }

  call(s) {
    const key = filled(s.key || "operator", this.kept);
    const workspace = filled(s.in || this.kept.w, this.kept);
    const r = new Retake(this.url, this.keys[key] ?? key, { workspace: workspace === "default" ? undefined : workspace, retries: s.retries ?? 5 });
    const args = Object.fromEntries(Object.entries(filled(s.args ?? {}, this.kept)).map(([k, v]) => [k, named(v)]));
    if (!calls[s.call]) throw new Failed(`no such call: ${s.call}`);
    return calls[s.call](r, args, s, this);
  }
}

const { values: o } = parseArgs({ options: { script: { type: "string" }, desk: { type: "string" }, name: { type: "string", default: "" }, verbose: { type: "boolean" } } });
const player = new Player(o.desk);
Object.assign(player, await player.ask("/bed"));
const count = { done: 0, controls: 0, failed: 0 };
for (const b of JSON.parse(readFileSync(o.script, "utf8")).behaviours) {
  if (!b.name.includes(o.name)) continue;
  if (b.without?.typescript) {
    console.log(`typescript: without: ${b.name}: ${b.without.typescript}`);
    continue;
  }
  let trouble = "";
  try {
    await player.behave(b);
  } catch (e) {
    if (!(e instanceof Failed) && !(e instanceof RetakeError)) throw e;
    trouble = e.message;
  }
  if (b.control) trouble = trouble.includes(b.control) ? "" : `what it breaks was not noticed: ${trouble}`;
  count[b.control ? "controls" : "done"]++;
  if (trouble) {
    count.failed++;
    console.log(`typescript: FAILED: ${b.name}: ${trouble}`);
  } else if (o.verbose) console.log(`typescript: ${b.name}`);
}
console.log(`typescript: ${count.done} behaviours and ${count.controls} controls, ${count.failed} failed`);
process.exitCode = count.failed ? 1 : 0;
