// What the receiver of a webhook does: Standard Webhooks 1.0, signatures v1 and v1a.

import { RetakeError } from "./errors.js";

const TOLERANCE = 300; // seconds
const MOST = 16; // signatures that are looked at
const denied = (what) => new RetakeError("invalid_signature", what, { hint: "do not trust this message" });

export async function verifyWebhook(secret, headers, body, now = Date.now()) {
  const raw = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const fits = await checker(secret);
  const given = new Headers(headers);
  const [id, stamp, list] = ["id", "timestamp", "signature"].map((n) => given.get(`webhook-${n}`) ?? "");
  if (!id || !list || !/^[0-9]{1,15}$/.test(stamp)) throw denied("headers are missing or make no sense");
  if (Math.abs(Math.floor(now / 1000) - Number(stamp)) > TOLERANCE) throw denied("the message is too old or from the future");
  const head = new TextEncoder().encode(`${id}.${stamp}.`);
  const text = new Uint8Array(head.length + raw.length);
  text.set(head);
  text.set(raw, head.length);
  for (const s of list.split(/\s+/).filter(Boolean).slice(0, MOST)) {
    const comma = s.indexOf(",");
    const signature = bytes(s.slice(comma + 1));
    if (signature && (await fits(s.slice(0, comma), text, signature))) return JSON.parse(new TextDecoder().decode(raw));
  }
  throw denied("no signature fits");
}

/** How signatures are checked with a secret: its prefix says the scheme. */
async function checker(secret) {
  const [, kind, encoded] = /^(whsec_|whpk_)(.*)$/s.exec(secret) ?? [];
  const key = kind && bytes(encoded);
  if (kind === "whsec_" && key && key.length >= 24 && key.length <= 64) {
    const made = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
    return async (version, text, sig) => version === "v1" && (await crypto.subtle.verify("HMAC", made, sig, text));
  }
  if (kind === "whpk_" && key && key.length === 32) {
    const made = await crypto.subtle.importKey("raw", key, { name: "Ed25519" }, false, ["verify"]);
    return async (version, text, sig) => version === "v1a" && sig.length === 64 && (await crypto.subtle.verify("Ed25519", made, sig, text));
  }
  throw new RetakeError("invalid", "the secret is not one of a webhook");
}

function bytes(encoded) {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) return null;
  try {
    return Uint8Array.from(atob(encoded), (c) => c.charCodeAt(0));
  } catch {
    return null;
  }
}
