// The rows of one table that differ. They are asked for when the table is opened, and
// more of them when somebody wants more.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { rowsOf } from "../api/queries.ts";
import type { CellValue, RowChange, TableColumn, TableRows as Rows } from "../api/types.ts";
import { Waiting, Wrong } from "../parts/states.tsx";
import { shown } from "../words/escape.ts";
import { count, several } from "../words/number.ts";
import { signOf } from "./sign.ts";
import { joinedRows, left, turnedRows, type Kind } from "./tables.ts";
import type { Ends } from "./Tables.tsx";

/** What the page holds of one table; whoever needs more asks the terminal. */
const mostShown = 1000;

export function TableRows({ ws, ends, name }: { ws: string; ends: Ends; name: string }) {
  const { turned, ...asked } = ends;
  const q = { ...asked, table: name };
  const client = useQueryClient();
  const [more, setMore] = useState<RowChange[]>([]);
  const [error, setError] = useState<unknown>();
  const first = useQuery(rowsOf(ws, q));
  if (first.isLoadingError) return <Wrong error={first.error} again={() => void first.refetch()} />;
  if (!first.data) return <Waiting what="the rows" />;
  const right = turned ? turnedRows(first.data) : first.data;
  const table = right.tables[0];
  if (!table) return <p className="table-note">Its rows are not compared: {shown(right.why ?? "there are none")}.</p>;
  const rows = joinedRows(table.rows, more);
  const next = async (kind: Kind) => {
    const skip = rows.filter((r) => r.what === kind).length;
    const what = turned && kind !== "edited" ? (kind === "deleted" ? "added" : "deleted") : kind;
    try {
      const got = await client.fetchQuery(rowsOf(ws, { ...q, what, skip }));
      const page = (turned ? turnedRows(got) : got).tables[0]?.rows ?? [];
      setMore((old) => joinedRows(old, page));
      setError(undefined);
    } catch (e) {
      setError(e);
    }
  };
  return (
    <>
      <div className="table-rows" role="region" tabIndex={0} aria-label={`Rows of ${shown(name)} that differ`}>
        <table>
          <Head columns={table.columns} />
          <tbody>
            {rows.map((r, i) => (
              <Row key={i} row={r} columns={table.columns} />
            ))}
          </tbody>
        </table>
      </div>
      <Rest table={table} rows={rows} next={(kind) => void next(kind)} />
      {error ? <Wrong error={error} /> : null}
    </>
  );
}

function Head({ columns }: { columns: readonly TableColumn[] }) {
  return (
    <thead>
      <tr>
        <th scope="col">
          <span className="sr">what</span>
        </th>
        {columns.map((c, i) => (
          <th scope="col" key={i} className={c.what === "added" ? "add" : c.what === "deleted" ? "del" : undefined}>
            {c.what ? <span aria-hidden="true">{signOf(c.what).glyph} </span> : null}
            {shown(c.name)}
            {c.what ? <span className="sr">, a column that was {c.what}</span> : null}
            {c.key ? <span className="table-key">key</span> : null}
          </th>
        ))}
      </tr>
    </thead>
  );
}

const classOf: Record<string, string> = { deleted: "del", added: "add", edited: "edit" };
const glyphs: Record<string, string> = { deleted: "−", added: "+", edited: "~" };

function Row({ row, columns }: { row: RowChange; columns: readonly TableColumn[] }) {
  const named = Math.max(0, columns.findIndex((c) => c.key)); // the cell that says which row it is
  return (
    <tr className={classOf[row.what]}>
      <td className="sg">
        <span aria-hidden="true">{glyphs[row.what]}</span>
        <span className="sr">{row.what}</span>
      </td>
      {columns.map((_, i) => {
        const cell = <Cell before={row.before?.[i]} after={row.after?.[i]} edited={row.cells?.includes(i) ?? false} />;
        return i === named ? (
          <th scope="row" key={i}>
            {cell}
          </th>
        ) : (
          <td key={i}>{cell}</td>
        );
      })}
    </tr>
  );
}

function Cell({ before, after, edited }: { before?: CellValue; after?: CellValue; edited: boolean }) {
  const one = after ?? before;
  if (!edited || !before || !after) return one ? <Value value={one} /> : null;
  return (
    <>
      <del>
        <Value value={before} />
      </del>{" "}
      <span aria-hidden="true">→</span>{" "}
      <ins>
        <Value value={after} />
      </ins>
    </>
  );
}

function Value({ value: v }: { value: CellValue }) {
  switch (v.kind) {
    case "none":
      return (
        <span className="dimmer">
          <span aria-hidden="true">–</span>
          <span className="sr">no such column</span>
        </span>
      );
    case "null":
    case "blob":
      return <i className="dimmer">{shown(v.text)}</i>;
  }
  if (v.text === "") return <i className="dimmer">empty</i>;
  return (
    <>
      {shown(v.text)}
      {v.more ? <span className="dimmer"> … {count(v.more)} more</span> : null}
    </>
  );
}

/** Rest says what is not shown: rows, columns. */
function Rest({ table, rows, next }: { table: Rows; rows: readonly RowChange[]; next: (kind: Kind) => void }) {
  return (
    <>
      {left(table, rows).map(({ kind, n }) => (
        <p className="table-note" key={kind}>
          {count(n)} more {kind} {n === 1 ? "row" : "rows"}.{" "}
          {rows.length < mostShown ? (
            <button type="button" className="link" onClick={() => next(kind)}>
              Show {n > 100 ? "100 more" : n === 1 ? "it" : "them"}
              <span className="sr">: {kind} rows</span>
            </button>
          ) : (
            "The page shows no more; the API gives all."
          )}
        </p>
      ))}
      {table.unlisted ? <p className="table-note">{several(table.unlisted, "more column")}, compared and not shown.</p> : null}
      {table.computed?.length ? <p className="table-note">Not compared, because the database computes them: {table.computed.map(shown).join(", ")}.</p> : null}
    </>
  );
}
