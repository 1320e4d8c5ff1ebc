// Prints what the console shows of plans, as lines: node plans.mjs file-of-plans.json. The Go
// tests compare it with the terminal.
import { readFileSync } from "node:fs";
import { close, load } from "./load.mjs";

try {
  const { rowsOf, dirsOf, noteOf, safetyText } = await load("screens/plan/rows.ts");
  const { shown } = await load("words/escape.ts");
  const { bytes, count } = await load("words/number.ts");
  const section = (s) => {
    const rows = rowsOf(s, new Set(dirsOf(s))).filter((r) => r.below === 0);
    const right = (r) => noteOf(s, r) || (r.bytes > 0 ? bytes(r.bytes) : "");
    return [`${s.title} ${count(s.count)}`, ...rows.map((r) => `${r.path} ${right(r)}`)];
  };
  const lines = (v) => [v.action, v.headline, v.untouched, v.edits ?? "", safetyText(v), v.question, ...v.asks.map((a) => a.deed), ...v.sections.flatMap(section)];
  const all = JSON.parse(readFileSync(process.argv[2], "utf8"));
  process.stdout.write(JSON.stringify(all.map((p) => lines(p.view).map((t) => shown(t).trim()).filter((t) => t !== ""))));
} finally {
  close();
}
