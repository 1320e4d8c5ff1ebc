// What needs no server. The rest is in sdk/behaviours.json.

import assert from "node:assert/strict";
import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { outputs, parseYAML, schemas } from "../generate.mjs";
import { Retake, RetakeError, verifyWebhook } from "../index.js";
import { ask, checkpointId, pathsOf, pause } from "../src/ask.js";
import { Stream } from "../src/stream.js";

test("what is made is current", () => {
  const all = schemas();
  assert.ok(Object.keys(all).length > 100);
  for (const o of outputs) assert.equal(readFileSync(o.path, "utf8"), o.text(all), `${o.path.pathname} is old: run generate.mjs`);
});

test("the description is read as it is written, and what is not known is an error", () => {
  const text = 'a:\n  - x: 1\n    y: "q: \\"r\\""\n  - "null"\n  - []\nb:\n- one\nc: {}\nd: |-\n  l1\n\n  l2\ne: null\n';
  assert.deepEqual(parseYAML(text), { a: [{ x: 1, y: 'q: "r"' }, "null", []], b: ["one"], c: {}, d: "l1\n\nl2", e: null });
  for (const bad of ["a: &x 1\n", "a: >\n  b\n", "a: [1]\n", "a\n", "a: 1\n   b: 2\n"]) assert.throws(() => parseYAML(bad), /line/);
});

test("every call is declared, and every declared call is there", () => {
  const text = readFileSync(new URL("../index.d.ts", import.meta.url), "utf8");
  const [, body] = /export class Retake \{\n(.*?)\n\}/s.exec(text);
  const declared = [...body.matchAll(/^ {2}(\w+)\(/gm)].map((m) => m[1]).filter((n) => n !== "constructor");
  const there = [];
  for (let p = Retake.prototype; p !== Object.prototype; p = Object.getPrototypeOf(p)) {
    there.push(...Object.getOwnPropertyNames(p).filter((n) => n !== "constructor" && !n.startsWith("_")));
  }
  assert.deepEqual(declared.sort(), there.sort());
  assert.ok(there.length > 60);
});

test("addresses", () => {
  const bytes = Uint8Array.of(0xff, 0x61);
  assert.equal(
    ask("GET", ["a", "b/c", ".."], { query: { x: "1 &", y: bytes, z: ["p", "q"], n: undefined, e: "", t: true } }).path,
    "/v1/a/b%2Fc/%2E%2E?x=1%20%26&y=%ff%61&z=p&z=q&t=true",
  );
  assert.throws(() => ask("GET", ["workspaces", ""]), { code: "invalid" });
  assert.deepEqual(pathsOf(["a", bytes]), { paths: ["a", "\ufffda"], paths_raw: ["YQ==", "/2E="] });
  assert.deepEqual(pathsOf("a"), { paths: ["a"], paths_raw: undefined });
});

test("only deeds have a key of their own", () => {
  const [a, b] = [ask("POST", ["keys"]), ask("POST", ["keys"])];
  assert.match(a.headers["Idempotency-Key"], /^[0-9a-f-]{36}$/);
  assert.notEqual(a.headers["Idempotency-Key"], b.headers["Idempotency-Key"]);
  assert.equal(ask("GET", ["keys"]).headers["Idempotency-Key"], undefined);
});

test("pauses grow and differ", () => {
  for (let tries = 0; tries < 8; tries++) {
    const whole = Math.min(100 * 2 ** tries, 5000);
    const waits = new Set(Array.from({ length: 50 }, () => pause(tries)));
    assert.ok(waits.size > 1 && [...waits].every((w) => whole / 2 <= w && w <= whole));
  }
  assert.equal(pause(0, 7000), 7000);
});

test("ids are of version 7", () => {
  const id = checkpointId();
  assert.match(id, /^cp_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  const at = parseInt(id.slice(3, 11) + id.slice(12, 16), 16);
  assert.ok(Math.abs(at - Date.now()) < 60_000);
});

for (const size of [1, 2, 7, 1000]) {
  test(`events in pieces of ${size}`, () => {
    const text = 'retry: 2000\n\n:\n\nid: 4\r\nevent: a\r\ndata: {"x":"\x85\u2028ü"}\r\n\r\ndata: no event\n\nid: 5\nevent: b\ndata: {}\n\nid: 6\n';
    const bytes = new TextEncoder().encode(text);
    const stream = new Stream();
    const got = [];
    for (let i = 0; i < bytes.length; i += size) got.push(...stream.feed(bytes.slice(i, i + size)));
    assert.deepEqual(got, [
      { id: "4", event: "a", data: '{"x":"\x85\u2028ü"}' },
      { id: "5", event: "b", data: "{}" },
    ]);
  });
}

const noon = 1_700_000_000;
const body = '{"type":"checkpoint.created"}';
const headers = (signature, id = "msg_1") => ({ "Webhook-Id": id, "Webhook-Timestamp": String(noon), "Webhook-Signature": signature });

test("messages with a shared secret", async () => {
  const key = Buffer.alloc(32, "k");
  const secret = `whsec_${key.toString("base64")}`;
  const good = `v1,AAAA v1,${createHmac("sha256", key).update(`msg_1.${noon}.${body}`).digest("base64")}`;
  for (const late of [-300, 0, 300]) assert.deepEqual(await verifyWebhook(secret, headers(good), body, (noon + late) * 1000), { type: "checkpoint.created" });
  const bad = {
    late: [secret, headers(good), body, noon + 301],
    early: [secret, headers(good), body, noon - 301],
    body: [secret, headers(good), body + " ", noon],
    id: [secret, headers(good, "msg_2"), body, noon],
    time: [secret, { ...headers(good), "Webhook-Timestamp": "+1700000000" }, body, noon],
    version: [secret, headers(good.replaceAll("v1,", "v2,")), body, noon],
    "too many": [secret, headers("v1,AAAA ".repeat(16) + good), body, noon],
    nothing: [secret, {}, body, noon],
  };
  for (const [name, [s, h, b, now]] of Object.entries(bad)) await assert.rejects(verifyWebhook(s, h, b, now * 1000), { code: "invalid_signature" }, name);
  for (const s of ["", "whsec_AAAA", "whpk_AAAA", `whsec_${"!".repeat(44)}`]) await assert.rejects(verifyWebhook(s, headers(good), body, noon * 1000), { code: "invalid" });
});

test("messages with a pair of keys", async () => {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const secret = `whpk_${Buffer.from(publicKey.export({ format: "jwk" }).x, "base64url").toString("base64")}`;
  const good = `v1a,${sign(null, Buffer.from(`msg_1.${noon}.${body}`), privateKey).toString("base64")}`;
  assert.deepEqual(await verifyWebhook(secret, headers(good), new TextEncoder().encode(body), noon * 1000), { type: "checkpoint.created" });
  await assert.rejects(verifyWebhook(secret, headers(good), body + " ", noon * 1000), { code: "invalid_signature" });
  await assert.rejects(verifyWebhook(secret, headers(good.replace("v1a", "v1")), body, noon * 1000), { code: "invalid_signature" });
});

test("nobody there, and nobody waits", async () => {
  const r = new Retake("http://127.0.0.1:9", "rtk_agent_x", { retries: 1, workspace: "ws_1" });
  await assert.rejects(r.save("x"), (e) => e instanceof RetakeError && e.code === "unavailable" && e.retryable && e.message.includes("the server does not answer"));
  const stopped = new Retake("http://127.0.0.1:9", "rtk_agent_x", { workspace: "ws_1", signal: AbortSignal.abort() });
  await assert.rejects(stopped.save("x"), { code: "canceled" });
});
