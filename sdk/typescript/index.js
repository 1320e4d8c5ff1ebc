// Retake: checkpoints that an agent can go back to.
//
//   const r = new Retake(url, key);
//   const cp = await r.save("before the migration");
//   await r.restore(cp.id);

export { RetakeError } from "./src/errors.js";
export { Retake } from "./src/history.js";
export { verifyWebhook } from "./src/webhooks.js";
