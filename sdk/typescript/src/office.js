// What is of the namespace: keys, webhooks, schedules, events, the audit log, the store.

import { ask, parsed, pause, present, sleep } from "./ask.js";
import { Core } from "./core.js";
import { RetakeError } from "./errors.js";
import { Stream } from "./stream.js";

const QUIET = 45_000; // a stream without a sign of life for so long is dead; the server gives one every 15 s

export class Office extends Core {
  about() {
    return this._json(ask("GET", ["about"]));
  }

  namespace() {
    return this._json(ask("GET", ["namespace"]));
  }

  usage() {
    return this._json(ask("GET", ["usage"]));
  }

  setLimits(limits, { ifMatch } = {}) {
    return this._json(ask("PUT", ["namespace", "limits"], { body: limits, ifMatch }));
  }

  async workspaces() {
    return (await this._json(ask("GET", ["workspaces"]))).workspaces;
  }

  init(name, { dir, accept, mark } = {}) {
    return this._json(ask("POST", ["workspaces"], { body: present({ name, dir, accept, mark }) }));
  }

  importArchive(archive, { name, intent } = {}) {
    const a = ask("POST", ["import"], { query: { name, intent }, again: false });
    delete a.headers["Idempotency-Key"];
    a.headers["Content-Type"] = "application/x-tar";
    a.body = archive;
    return this._json(a);
  }

  keys() {
    return this._all("keys");
  }

  makeKey(kind, { name, workspaces, expires } = {}) {
    return this._json(ask("POST", ["keys"], { body: present({ kind, name, workspaces, expires }) }));
  }

  revokeKey(id) {
    return this._json(ask("DELETE", ["keys", id]));
  }

  webhooks() {
    return this._all("webhooks");
  }

  makeWebhook(url, { types, scheme } = {}) {
    return this._json(ask("POST", ["webhooks"], { body: present({ url, types, scheme }) }));
  }

  changeWebhook(id, { url, types, disabled, ifMatch }) {
    return this._json(ask("PUT", ["webhooks", id], { body: present({ url, types, disabled }), ifMatch }));
  }

  dropWebhook(id) {
    return this._drop(ask("DELETE", ["webhooks", id]));
  }

  rotateWebhook(id) {
    return this._json(ask("POST", ["webhooks", id, "rotate"]));
  }

  deliveries({ webhook, state, limit, page } = {}) {
    return this._pages(["deliveries"], { webhook, state, limit, page });
  }

  delivery(id) {
    return this._json(ask("GET", ["deliveries", id]));
  }

  replay(id) {
    return this._json(ask("POST", ["deliveries", id, "replay"]));
  }

  async events(after = 0, { limit, wait } = {}) {
    return (await this._json(ask("GET", ["events"], { query: { after: after || undefined, limit, wait } }))).data;
  }

  async *follow(after = 0) {
    for (let idle = 0; ; idle++) {
      try {
        for await (const sent of this.#stream(after)) {
          const value = parsed(sent.data);
          if (sent.event === "problem") throw value.retryable && idle <= this._retries ? new Broken(value.what) : RetakeError.of(value);
          yield value;
          after = value.seq;
          idle = 0;
        }
      } catch (e) {
        if (!(e instanceof Broken)) throw e;
      }
      await sleep(pause(Math.min(idle, 5)), this._signal);
    }
  }

  /** One stream, until it breaks off. */
  async *#stream(after) {
    const quiet = new AbortController();
    const a = ask("GET", ["events"]);
    Object.assign(a.headers, { Accept: "text/event-stream", "Last-Event-ID": String(after) });
    a.signal = quiet.signal;
    let timer = setTimeout(() => quiet.abort(), QUIET);
    try {
      const answer = await this._send(a, (answer) => answer);
      const reader = answer.body.getReader();
      const events = new Stream();
      for (;;) {
        clearTimeout(timer);
        timer = setTimeout(() => quiet.abort(), QUIET);
        const { done, value } = await reader.read().catch((e) => {
          throw new Broken(e.message);
        });
        if (done) return;
        yield* events.feed(value);
      }
    } finally {
      clearTimeout(timer);
      quiet.abort(); // who stops listening leaves no connection behind
    }
  }

  schedules() {
    return this._all("schedules");
  }

  makeSchedule(work, cron, { workspace = this._chosen, jitter } = {}) {
    return this._json(ask("POST", ["schedules"], { body: present({ work, cron, workspace, jitter }) }));
  }

  dropSchedule(id) {
    return this._drop(ask("DELETE", ["schedules", id]));
  }

  audit({ limit, page } = {}) {
    return this._pages(["audit"], { limit, page });
  }

  checkAudit() {
    return this._json(ask("GET", ["audit", "check"]));
  }

  deletions() {
    return this._all("deletions");
  }

  cancelDeletion(id) {
    return this._json(ask("DELETE", ["deletions", id], { again: false }));
  }

  observe(signal) {
    return this._json(ask("POST", ["signals"], { body: signal }));
  }

  stored(id) {
    return this._bytes(ask("GET", ["objects", id]));
  }

  space() {
    return this._json(ask("GET", ["space"]));
  }

  spacePlan() {
    return this._json(ask("GET", ["space", "plan"]));
  }

  scrub(share = 0) {
    return this._json(ask("POST", ["scrub"], { body: { share } }));
  }

  sweep() {
    return this._json(ask("POST", ["sweep"]));
  }

  thin() {
    return this._json(ask("POST", ["thin"]));
  }

  rebuild() {
    return this._json(ask("POST", ["rebuild"]));
  }
}

/** A stream that is taken up again. */
class Broken extends Error {}
