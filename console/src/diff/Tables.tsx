// A database before and after: its tables, and below each the rows that differ.
import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { rowsOf } from "../api/queries.ts";
import type { Fact } from "../api/types.ts";
import { Icon } from "../parts/Icon.tsx";
import { shown } from "../words/escape.ts";
import { count, several } from "../words/number.ts";
import type { Sides } from "./content.ts";
import { sizes } from "./Other.tsx";
import { signOf } from "./sign.ts";
import { TableRows } from "./TableRows.tsx";
import { opened, tablesOf, turnedRows, type TableChange } from "./tables.ts";
import "./tables.css";

interface TablesProps {
  ws: string;
  from: string; // as in FileDiff
  to: string;
  path: string;
  was?: string;
  head: ReactNode;
  sides: Sides;
  facts: readonly Fact[];
}

/** Ends are how the two checkpoints are asked for; turned: the other way round. */
export interface Ends {
  from: string;
  to: string;
  path: string;
  turned: boolean;
}

const endsOf = (p: TablesProps): Ends =>
  p.from === "now" ? { from: p.to, to: "", path: p.path, turned: true } : { from: p.from, to: p.to === "now" ? "" : p.to, path: p.path, turned: false };

export function Tables(p: TablesProps) {
  const ends = endsOf(p);
  const renamed = !!p.was && !!p.sides.change;
  const { from, to, path } = ends;
  const { data, isPending, error } = useQuery({ ...rowsOf(p.ws, { from, to, path }), enabled: !renamed });
  const rows = data && ends.turned ? turnedRows(data) : data;
  const tables = tablesOf(p.facts, p.path, rows);
  const first = opened(tables);
  const why = rows?.why ?? (error ? "they could not be asked for" : "");
  return (
    <div className="diff-scroll" tabIndex={0} role="region" aria-label="The database before and after">
      {p.head}
      <p className="diff-note">A database, {sizes(p.sides)}. Its files are kept and restored as one.</p>
      {why ? <p className="diff-note">Its rows are not compared: {shown(why)}.</p> : null}
      {tables.map((t) => (
        <Table key={t.kind + t.name} ws={p.ws} ends={ends} table={t} first={first.includes(t.name)} />
      ))}
      {isPending && !renamed ? (
        <p className="diff-note" role="status">
          Comparing its rows.
        </p>
      ) : tables.length === 0 ? (
        <p className="diff-other dim">{p.sides.change ? "No table, row or index changed that could be read; the bytes did." : "Nothing in it changed."}</p>
      ) : null}
      {rows && rows.same > 0 ? <p className="diff-note">{several(rows.same, "table")} with the same rows.</p> : null}
    </div>
  );
}

function Table({ ws, ends, table: t, first }: { ws: string; ends: Ends; table: TableChange; first: boolean }) {
  const [chosen, setOpen] = useState<boolean>();
  const open = chosen ?? first;
  const sign = signOf(t.what);
  const rows = t.rows;
  const differs = !!rows && rows.deleted + rows.edited + rows.added > 0;
  const head = (
    <>
      <span className={`sign ${sign.family}`} aria-hidden="true">
        {sign.glyph}
      </span>
      <span className="sr">{sign.word}: </span>
      <span className="dimmer">{t.kind}</span> <span className="mono">{shown(t.name)}</span>
      <Counts table={t} />
    </>
  );
  return (
    <section className="table-part">
      <h3 className="table-head">
        {differs ? (
          <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
            <Icon name={open ? "down" : "right"} small />
            {head}
          </button>
        ) : (
          <span className="table-flat">{head}</span>
        )}
      </h3>
      <Columns table={t} />
      {rows?.why ? <p className="table-note">Not all of its rows are compared: {shown(rows.why)}.</p> : null}
      {open && differs ? <TableRows ws={ws} ends={ends} name={t.name} /> : null}
    </section>
  );
}

/** Counts is 240 rows before, 36 rows after · −204 ~2. */
function Counts({ table: t }: { table: TableChange }) {
  const both = [t.rowsBefore && `${t.rowsBefore} before`, t.rowsAfter && `${t.rowsAfter} after`].filter((x) => x).join(", ");
  const r = t.rows;
  return (
    <>
      {both ? <span className="dim num">{both}</span> : null}
      {r ? (
        <span className="lines">
          {r.deleted > 0 ? <Count className="minus" sign="−" n={r.deleted} word="deleted" /> : null}
          {r.edited > 0 ? <Count className="dim" sign="~" n={r.edited} word="edited" /> : null}
          {r.added > 0 ? <Count className="plus" sign="+" n={r.added} word="added" /> : null}
        </span>
      ) : null}
    </>
  );
}

function Count({ className, sign, n, word }: { className: string; sign: string; n: number; word: string }) {
  return (
    <span className={className} title={`${several(n, "row")} ${word}`}>
      {sign}
      {count(n)}
      <span className="sr"> {word} </span>
    </span>
  );
}

/** Columns are told when they changed, or when the table came or went. */
function Columns({ table: t }: { table: TableChange }) {
  if (t.kind === "index" || (!t.before && !t.after)) return null;
  return (
    <p className="table-columns mono">
      {t.before ? (
        <span className="del">
          <span aria-hidden="true">−</span>
          <span className="sr">columns before: </span> {shown(t.before)}
        </span>
      ) : null}
      {t.after ? (
        <span className="add">
          <span aria-hidden="true">+</span>
          <span className="sr">columns after: </span> {shown(t.after)}
        </span>
      ) : null}
    </p>
  );
}
