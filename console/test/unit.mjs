// Runs the tests of the pure parts: every src/**/*.test.ts is bundled to a file of its
// own in a temporary directory, and given to node --test. A name in the arguments picks.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const under = (dir) => readdirSync(dir, { recursive: true }).map((name) => join(dir, String(name)));
const wanted = process.argv[2] ?? "";
const tests = under(join(root, "src")).filter((file) => file.endsWith(".test.ts") && file.includes(wanted));
const out = mkdtempSync(join(tmpdir(), "console-tests-"));
try {
  for (const [n, input] of tests.entries()) {
    const bundle = await rolldown({ input, platform: "node", logLevel: "warn" });
    await bundle.write({ file: join(out, `${n}.test.mjs`), format: "esm", sourcemap: "inline" });
    await bundle.close();
  }
  const ran = spawnSync(process.execPath, ["--enable-source-maps", "--test", out], { stdio: "inherit" });
  process.exitCode = ran.status ?? 1;
} finally {
  rmSync(out, { recursive: true, force: true });
}
