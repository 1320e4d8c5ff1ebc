// What is known of the tables of one database: by the facts of a story, and by its rows.
import type { Fact, RowChange, RowsDiff, TableRows } from "../api/types.ts";
import { several } from "../words/number.ts";

export interface TableChange {
  kind: "table" | "index";
  name: string;
  what: string;
  before?: string; // columns; undefined: it was not there, or they did not change
  after?: string;
  rowsBefore?: string;
  rowsAfter?: string;
  rows?: TableRows; // how many of its rows differ
}

const rowsText = (n?: string): string | undefined => (n === undefined || n === "" ? undefined : /^\d+$/.test(n) ? several(Number(n), "row") : n);

/** tablesOf puts the facts of a table into one row. Deleted ones come first. */
export function tablesOf(facts: readonly Fact[], path: string, rows?: RowsDiff): TableChange[] {
  const all = new Map<string, TableChange>();
  const at = (kind: TableChange["kind"], name: string): TableChange => {
    const known = all.get(kind + " " + name);
    if (known) return known;
    const t: TableChange = { kind, name, what: "edited" };
    all.set(kind + " " + name, t);
    return t;
  };
  for (const f of facts) {
    if (f.path !== path || !["table", "rows", "index"].includes(f.kind)) continue;
    const t = at(f.kind === "index" ? "index" : "table", f.name);
    if (f.kind === "rows") {
      t.rowsBefore = rowsText(f.before);
      t.rowsAfter = rowsText(f.after);
      continue;
    }
    t.what = f.what;
    if (f.what !== "added") t.before = f.before ?? "";
    if (f.what !== "deleted") t.after = f.after ?? "";
  }
  for (const r of rows?.tables ?? []) {
    const t = at("table", r.name);
    t.rows = r;
    if (r.what === "added" || r.what === "deleted") t.what = r.what;
  }
  const order = ["deleted", "added", "edited"];
  const kinds = ["table", "index"];
  return [...all.values()].sort((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind) || lost(b) - lost(a) || order.indexOf(a.what) - order.indexOf(b.what) || (a.name < b.name ? -1 : 1));
}

/** What lost rows comes first: somebody is looking for them. */
const lost = (t: TableChange): number => ((t.rows?.deleted ?? 0) > 0 ? 1 : 0);

/** How many tables that lost rows are open from the beginning. */
const openAtFirst = 3;

/** opened are the tables whose rows are shown without a click. */
export const opened = (tables: readonly TableChange[]): string[] =>
  tables
    .filter((t) => lost(t) > 0)
    .slice(0, openAtFirst)
    .map((t) => t.name);

export type Kind = "deleted" | "edited" | "added";
export const kinds: readonly Kind[] = ["deleted", "edited", "added"];

/** left tells how many rows of each kind are not in a list. */
export function left(t: TableRows, listed: readonly RowChange[]): { kind: Kind; n: number }[] {
  return kinds.map((kind) => ({ kind, n: t[kind] - listed.filter((r) => r.what === kind).length })).filter((x) => x.n > 0);
}

/** joined puts a further page where its kind ends. */
export const joinedRows = (a: readonly RowChange[], b: readonly RowChange[]): RowChange[] => kinds.flatMap((kind) => [...a, ...b].filter((r) => r.what === kind));

const other = (what?: string) => (what === "added" ? "deleted" : what === "deleted" ? "added" : what);

const turnedTable = (t: TableRows): TableRows => ({
  ...t,
  what: other(t.what),
  added: t.deleted,
  deleted: t.added,
  columns: t.columns.map((c) => ({ ...c, what: other(c.what) })),
  rows: joinedRows(t.rows.map((r) => ({ ...r, what: other(r.what)!, before: r.after, after: r.before })), []),
});

/** turnedRows is a comparison that was asked the other way round. */
export const turnedRows = (d: RowsDiff): RowsDiff => ({ ...d, from: d.to, to: d.from, tables: d.tables.map(turnedTable) });
