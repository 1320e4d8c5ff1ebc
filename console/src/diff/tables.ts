// What the facts of a story say of one database.
import type { Fact } from "../api/types.ts";
import { several } from "../words/number.ts";

export interface TableChange {
  kind: "table" | "index";
  name: string;
  what: string;
  before?: string; // columns; undefined: it was not there, or they did not change
  after?: string;
  rowsBefore?: string;
  rowsAfter?: string;
}

const rowsText = (n?: string): string | undefined => (n === undefined || n === "" ? undefined : /^\d+$/.test(n) ? several(Number(n), "row") : n);

/** tablesOf puts the facts of a table into one row. Deleted ones come first. */
export function tablesOf(facts: readonly Fact[], path: string): TableChange[] {
  const all = new Map<string, TableChange>();
  for (const f of facts) {
    if (f.path !== path || !["table", "rows", "index"].includes(f.kind)) continue;
    const kind = f.kind === "index" ? "index" : "table";
    const key = kind + " " + f.name;
    const t = all.get(key) ?? { kind, name: f.name, what: "edited" };
    all.set(key, t);
    if (f.kind === "rows") {
      t.rowsBefore = rowsText(f.before);
      t.rowsAfter = rowsText(f.after);
      continue;
    }
    t.what = f.what;
    if (f.what !== "added") t.before = f.before ?? "";
    if (f.what !== "deleted") t.after = f.after ?? "";
  }
  const order = ["deleted", "added", "edited"];
  return [...all.values()].sort((a, b) => order.indexOf(a.what) - order.indexOf(b.what) || (a.name < b.name ? -1 : 1));
}
