// What is of one workspace: its checkpoints, their files, and going back.

import { PAGE, ask, checkpointId, pathsOf, present } from "./ask.js";
import { Office } from "./office.js";

export class Retake extends Office {
  async save(intent, options) {
    return (await this.saveResult(intent, options)).checkpoint;
  }

  async saveResult(intent, { pin, ifChanged, trigger, budget, id = checkpointId() } = {}) {
    const body = present({ id, intent, pin, if_changed: ifChanged, trigger, budget });
    return this._json(ask("POST", await this._at("checkpoints"), { body }));
  }

  async *checkpoints({ limit = Infinity, page = PAGE, before, ...query } = {}) {
    for (let left = limit; left > 0; ) {
      const size = Math.min(page, left);
      const found = (await this.timeline({ ...query, before, limit: size })).checkpoints ?? [];
      yield* found;
      if (found.length < size) return;
      left -= found.length;
      before = found.at(-1).number;
    }
  }

  async timeline({ since, before, good, path, session, limit } = {}) {
    const query = { since: since instanceof Date ? since.toISOString() : since, before, good, path, session, limit };
    return this._json(ask("GET", await this._at("checkpoints"), { query }));
  }

  async checkpoint(ref = "latest") {
    return this._json(ask("GET", await this._at("find"), { query: { ref } }));
  }

  async status() {
    return this._json(ask("GET", await this._at("status")));
  }

  async deinit() {
    return this._json(ask("DELETE", await this._at(), { again: false }));
  }

  async diff(from, to, { paths = [] } = {}) {
    return this._json(ask("GET", await this._at("diff"), { query: { from, to, path: [paths].flat() } }));
  }

  async story(from, to, { paths = [] } = {}) {
    return this._json(ask("GET", await this._at("story"), { query: { from, to, path: [paths].flat() } }));
  }

  async rows(path, { from, to, table, what, skip, limit } = {}) {
    return this._json(ask("GET", await this._at("rows"), { query: { path, from, to, table, what, skip, limit } }));
  }

  async search(text, { limit } = {}) {
    return (await this._json(ask("GET", await this._at("search"), { query: { text, limit } }))).hits;
  }

  async blame(path, { ref } = {}) {
    return this._json(ask("GET", await this._at("blame"), { query: { path, ref } }));
  }

  async chronicle(kind, { name, limit } = {}) {
    return (await this._json(ask("GET", await this._at("chronicle"), { query: { kind, name, limit } }))).mentions;
  }

  async entries(dir, { ref = "latest" } = {}) {
    return (await this._json(ask("GET", await this._at("list"), { query: { dir, ref } }))).entries;
  }

  async read(path, { ref = "latest" } = {}) {
    return this._bytes(ask("GET", await this._at("file"), { query: { path, ref } }));
  }

  async writeFile(path, content, { mode } = {}) {
    const a = ask("PUT", await this._at("file"), { query: { path, mode } });
    a.headers["Content-Type"] = "application/octet-stream";
    a.body = content;
    return this._json(a);
  }

  async removeFile(path) {
    return this._drop(ask("DELETE", await this._at("file"), { query: { path } }));
  }

  async *archive(ref) {
    yield* this._chunks(ask("GET", await this._at("checkpoints", ref, "archive")));
  }

  async plan(ref, { course = "restore", paths, git, fork } = {}) {
    const body = present({ course, ref, git, fork, ...pathsOf(paths) });
    return this._json(ask("POST", await this._at("plans"), { body }));
  }

  async apply(plan, { accept, git } = {}) {
    const { course, digest, target, paths, paths_raw, fork } = plan;
    const body = present({ course, digest, ref: target?.id, paths, paths_raw, fork: fork?.id, git, accept, id: checkpointId() });
    return this._json(ask("POST", await this._at("restores"), { body }));
  }

  async restore(ref, { paths, accept = ["changed", "mass-delete", "held", "git"], course = "restore", git, fork } = {}) {
    const body = present({ course, ref, git, fork, accept, id: checkpointId(), ...pathsOf(paths) });
    return this._json(ask("POST", await this._at("restore"), { body }));
  }

  async fork(name, { ref = "latest", dir, throwaway } = {}) {
    return this._json(ask("POST", await this._at("forks"), { body: present({ name, ref, dir, throwaway }) }));
  }

  async forks() {
    return (await this._json(ask("GET", await this._at("forks")))).forks;
  }

  async pins() {
    return (await this.timeline({ limit: 1 })).pins ?? [];
  }

  async pin(name, ref) {
    const a = ask("PUT", await this._at("pins", name), { body: { ref } });
    try {
      return await this._json(a);
    } catch (e) {
      if (!a.doubt || !["already_exists", "exists"].includes(e.code)) throw e;
      const wanted = (await this.checkpoint(ref)).id; // an answer was lost: it may be ours
      const found = (await this.pins()).find((p) => p.name === name && p.checkpoint === wanted);
      if (!found) throw e;
      return found;
    }
  }

  async unpin(name) {
    return this._drop(ask("DELETE", await this._at("pins", name)));
  }

  async hold(name, ref) {
    return this._json(ask("POST", await this._at("holds"), { body: { name, ref } }));
  }

  async release(name) {
    return this._drop(ask("DELETE", await this._at("holds"), { query: { name } }));
  }

  async attest(command, { exit = 0, ...more } = {}) {
    return this._json(ask("POST", await this._at("verifications"), { body: present({ command, exit, ...more }) }));
  }

  async verifications({ ref, name, command, limit } = {}) {
    return (await this._json(ask("GET", await this._at("verifications"), { query: { ref, name, command, limit } }))).verifications;
  }

  async standing() {
    return (await this._json(ask("GET", await this._at("standing")))).standing;
  }

  async tasks() {
    return (await this._json(ask("GET", await this._at("tasks")))).tasks;
  }

  async setTasks(tasks) {
    return this._json(ask("PUT", await this._at("tasks"), { body: { tasks } }));
  }

  async effects(since) {
    return (await this._json(ask("GET", await this._at("effects"), { query: { since } }))).effects;
  }

  async approve(effect) {
    return this._json(ask("POST", await this._at("effects", effect, "approve")));
  }

  async state(ref = "latest") {
    return this._json(ask("GET", await this._at("state"), { query: { ref } }));
  }

  async conversation(ref = "latest") {
    return this._bytes(ask("GET", await this._at("conversation"), { query: { ref } }));
  }

  async resume(ref, { dir, look } = {}) {
    return this._json(ask("POST", await this._at("resume"), { body: present({ ref, dir, look }) }));
  }

  async proof(ref = "latest") {
    return this._json(ask("GET", await this._at("proof"), { query: { ref } }));
  }

  async requestDeletion(refs, { why } = {}) {
    return this._json(ask("POST", ["deletions"], { body: present({ workspace: await this._id(), refs, why }) }));
  }
}
