// Loads a module of the console into Node, for scripts that the Go tests run.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";

const src = join(dirname(fileURLToPath(import.meta.url)), "../src");
const out = mkdtempSync(join(tmpdir(), "console-modules-"));

/** load bundles a module and imports it. */
export async function load(name) {
  const bundle = await rolldown({ input: join(src, name), platform: "node", logLevel: "warn" });
  const file = join(out, name.replaceAll("/", "-") + ".mjs");
  await bundle.write({ file, format: "esm" });
  await bundle.close();
  return import(pathToFileURL(file).href);
}

/** close removes what was bundled. */
export const close = () => rmSync(out, { recursive: true, force: true });
