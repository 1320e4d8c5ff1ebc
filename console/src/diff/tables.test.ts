/// <reference types="node" />
import assert from "node:assert/strict";
import { test } from "node:test";
import type { RowsDiff, TableRows } from "../api/types.ts";
import { joinedRows, left, opened, tablesOf, turnedRows } from "./tables.ts";

const path = "data/shop.db";
const table = (name: string, more: Partial<TableRows> = {}): TableRows => ({ name, columns: [], deleted: 0, edited: 0, added: 0, equal: 0, rows: [], ...more });
const diff = (...tables: TableRows[]): RowsDiff => ({ tables, same: 0 });

test("facts and rows of one table are one thing, and what lost rows comes first", () => {
  const facts = [
    { kind: "rows", what: "edited", name: "orders", before: "240", after: "36", path },
    { kind: "table", what: "deleted", name: "old", before: "id", path },
    { kind: "index", what: "added", name: "by_id", path },
  ];
  const all = tablesOf(facts, path, diff(table("quiet", { edited: 2, what: "edited" }), table("orders", { deleted: 204, what: "edited" }), table("old", { what: "deleted" })));
  assert.deepEqual(
    all.map((t) => [t.kind, t.name, t.what, t.rowsBefore, t.rows?.deleted]),
    [
      ["table", "orders", "edited", "240 rows", 204],
      ["table", "old", "deleted", undefined, 0],
      ["table", "quiet", "edited", undefined, 0],
      ["index", "by_id", "added", undefined, undefined],
    ],
  );
  assert.deepEqual(opened(all), ["orders"]);
});

test("of many tables that lost rows three are open", () => {
  const many = tablesOf([], path, diff(...["a", "b", "c", "d"].map((n) => table(n, { deleted: 1 }))));
  assert.deepEqual(opened(many), ["a", "b", "c"]);
});

test("what is not listed is counted, and pages go where their kind ends", () => {
  const row = (what: string, id: string) => ({ what, before: [{ kind: "integer", text: id }] });
  const t = table("t", { deleted: 3, edited: 1, added: 0 });
  const first = [row("deleted", "1"), row("edited", "9")];
  assert.deepEqual(left(t, first), [{ kind: "deleted", n: 2 }]);
  const all = joinedRows(first, [row("deleted", "2"), row("deleted", "3")]);
  assert.deepEqual(
    all.map((r) => r.what + r.before![0]!.text),
    ["deleted1", "deleted2", "deleted3", "edited9"],
  );
  assert.deepEqual(left(t, all), []);
});

test("turned round, what came went, and twice is as it was", () => {
  const d = diff(
    table("t", {
      what: "added",
      added: 2,
      deleted: 1,
      columns: [{ name: "id", key: true }, { name: "note", what: "added" }],
      rows: [
        { what: "deleted", before: [{ kind: "integer", text: "1" }] },
        { what: "edited", before: [{ kind: "integer", text: "2" }], after: [{ kind: "integer", text: "3" }], cells: [0] },
        { what: "added", after: [{ kind: "integer", text: "4" }] },
      ],
    }),
  );
  const t = turnedRows(d).tables[0]!;
  assert.deepEqual([t.what, t.added, t.deleted, t.columns[1]!.what], ["deleted", 1, 2, "deleted"]);
  assert.deepEqual(
    t.rows.map((r) => [r.what, r.before?.[0]?.text, r.after?.[0]?.text]),
    [
      ["deleted", "4", undefined],
      ["edited", "3", "2"],
      ["added", undefined, "1"],
    ],
  );
  const twice = turnedRows(turnedRows(d)).tables[0]!;
  assert.deepEqual(twice.rows.map((r) => r.what), d.tables[0]!.rows.map((r) => r.what));
});
