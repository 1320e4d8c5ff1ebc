// Files by path: the changed ones, or all of a checkpoint, read as directories are opened.
import { useQueries } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { entriesOf } from "../../api/queries.ts";
import type { Change } from "../../api/types.ts";
import { signOf } from "../../diff/sign.ts";
import { Icon } from "../../parts/Icon.tsx";
import { List } from "../../parts/List.tsx";
import { useNarrow } from "../../parts/media.ts";
import { shown } from "../../words/escape.ts";
import { count } from "../../words/number.ts";
import { useSteps, type ChangesProps } from "./Changes.tsx";
import { above, allRows, changedRows, type TreeRow } from "./tree.ts";

export function Tree(p: ChangesProps & { changes: Change[] }) {
  const [all, setAll] = useState(p.changes.length === 0 && !!p.browse);
  const [turned, setTurned] = useState<ReadonlySet<string>>(new Set());
  const turn = (path: string) =>
    setTurned((t) => {
      const next = new Set(t);
      if (!next.delete(path)) next.add(path);
      return next;
    });
  return (
    <>
      {p.browse ? (
        <label className="checkpoint-all">
          <input type="checkbox" checked={all} onChange={(e) => setAll(e.target.checked)} />
          All files, not only changed ones
        </label>
      ) : null}
      {all && p.browse ? <All {...p} browse={p.browse} /> : <Changed {...p} turned={turned} turn={turn} />}
    </>
  );
}

function Changed(p: ChangesProps & { changes: Change[]; turned: ReadonlySet<string>; turn: (path: string) => void }) {
  const rows = useMemo(() => changedRows(p.changes, p.turned), [p.changes, p.turned]);
  if (rows.length === 0) return <p className="checkpoint-none dim">No file changed.</p>;
  return <Branches rows={rows} {...p} />;
}

function All(p: ChangesProps & { changes: Change[]; browse: string }) {
  const [opened, setOpened] = useState<ReadonlySet<string>>(() => new Set(above(p.chosen)));
  const dirs = useMemo(() => ["", ...[...opened].sort()], [opened]);
  const read = useQueries({ queries: dirs.map((d) => entriesOf(p.ws, p.browse, d.replace(/\/$/, ""))) });
  const gone = read.map((q) => (q.isError ? [] : q.data));
  const listings = useMemo(() => new Map(dirs.map((d, i) => [d, gone[i]])), [dirs, ...gone]);
  const rows = useMemo(() => allRows(listings, opened, p.changes), [listings, opened, p.changes]);
  const turn = (path: string) =>
    setOpened((o) => {
      const next = new Set(o);
      if (!next.delete(path)) next.add(path);
      return next;
    });
  return <Branches rows={rows} {...p} turn={turn} />;
}

function Branches({ rows, chosen, choose, turn }: { rows: TreeRow[]; chosen: string; choose: (path: string) => void; turn: (path: string) => void }) {
  const narrow = useNarrow();
  const paths = useMemo(() => rows.filter((r) => !r.dir && !r.waiting).map((r) => r.path), [rows]);
  useSteps(paths, chosen, choose);
  const at = rows.findIndex((r) => r.path === chosen);
  return (
    <List count={rows.length} height={() => (narrow ? 40 : 25)} version={narrow} label="Files" className="checkpoint-list" shown={at}>
      {(i) => <Branch row={rows[i]!} chosen={rows[i]!.path === chosen} act={() => (rows[i]!.dir ? turn(rows[i]!.path) : choose(rows[i]!.path))} />}
    </List>
  );
}

function Branch({ row, chosen, act }: { row: TreeRow; chosen: boolean; act: () => void }) {
  const indent = { paddingInlineStart: 8 + Math.min(row.depth, 14) * 14 };
  if (row.waiting) {
    return (
      <p className="checkpoint-file dimmer" style={indent}>
        reading
      </p>
    );
  }
  const s = signOf(row.what);
  return (
    <button type="button" className="checkpoint-file" style={indent} onClick={act} aria-current={chosen ? "true" : undefined} aria-expanded={row.dir ? row.open : undefined}>
      {row.dir ? <Icon name={row.open ? "down" : "right"} small /> : null}
      <Icon name={row.dir ? "folder" : "file"} small />
      <span className="mono cut grow" title={shown(row.path)}>
        {shown(row.name)}
      </span>
      {row.dir && row.inside > 0 ? <span className="aside num">{count(row.inside)}</span> : null}
      {!row.dir && row.what ? (
        <>
          <span className={`sign ${s.family}`} aria-hidden="true">
            {s.glyph}
          </span>
          <span className="sr">{s.word}</span>
        </>
      ) : null}
    </button>
  );
}
