// A server, a key and, for what is of a workspace, which one.

import { PAGE, ask, parsed, send } from "./ask.js";
import { RetakeError } from "./errors.js";

export class Core {
  #o;
  #workspace;

  constructor(url, key, { workspace, retries = 5, timeout = 300_000, fetch: given, signal } = {}) {
    this.#o = { url: String(url).replace(/\/+$/, ""), key, retries, timeout, signal, fetch: given ?? ((...a) => globalThis.fetch(...a)) };
    this.#workspace = workspace;
  }

  /** The same server and key, for another workspace. */
  workspace(id) {
    const { url, key, ...rest } = this.#o;
    return new this.constructor(url, key, { ...rest, workspace: id });
  }

  async _id() {
    this.#workspace ??= (await this._json(ask("GET", ["namespace"]))).default;
    return this.#workspace;
  }

  async _at(...parts) {
    return ["workspaces", await this._id(), ...parts];
  }

  /** The workspace that was chosen; undefined: none yet. */
  get _chosen() {
    return this.#workspace;
  }

  get _retries() {
    return this.#o.retries;
  }

  get _signal() {
    return this.#o.signal;
  }

  _send(a, take) {
    return send(this.#o, a, take);
  }

  async _json(a) {
    return parsed(await this._send(a, (answer) => answer.text()));
  }

  _bytes(a) {
    a.headers.Accept = "*/*";
    return this._send(a, async (answer) => new Uint8Array(await answer.arrayBuffer()));
  }

  /** Bytes as they come. A good end is told from a bad one by the connection. */
  async *_chunks(a) {
    a.headers.Accept = "*/*";
    a.signal = new AbortController().signal; // it lasts as long as there are bytes
    const answer = await this._send(a, (answer) => answer);
    try {
      for await (const chunk of answer.body) yield chunk;
    } catch (e) {
      throw new RetakeError("unavailable", "the bytes broke off", { hint: "try again", cause: e.message, retryable: true, error: e });
    }
  }

  /** The elements of a list, which is fetched in parts as they are needed. */
  async *_pages(parts, { limit = Infinity, page = PAGE, ...query } = {}) {
    let cursor = "";
    for (let left = limit; left > 0; ) {
      const answer = await this._json(ask("GET", parts, { query: { ...query, limit: Math.min(page, left), cursor } }));
      yield* answer.data;
      left -= answer.data.length;
      cursor = answer.next_cursor;
      if (!cursor) return;
    }
  }

  async _all(...parts) {
    const out = [];
    for await (const v of this._pages(parts)) out.push(v);
    return out;
  }

  /** Ends something. Not found after a lost answer: it said that it is gone. */
  async _drop(a) {
    try {
      await this._send(a, (answer) => answer.arrayBuffer());
    } catch (e) {
      if (!a.doubt || !["not_found", "not-found"].includes(e.code)) throw e;
    }
  }
}
