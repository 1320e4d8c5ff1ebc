// The paths of a plan, deletions first. A section is folded by directory and opens on
// click; every path is there, and only what is seen is drawn.
import { Link } from "@tanstack/react-router";
import { memo, useMemo } from "react";
import type { Plan, PlanRow, PlanSection } from "../../api/types.ts";
import { Icon } from "../../parts/Icon.tsx";
import { Flag, Lines } from "../../parts/marks.tsx";
import { List } from "../../parts/List.tsx";
import { useNarrow } from "../../parts/media.ts";
import { shown } from "../../words/escape.ts";
import { bytes, count } from "../../words/number.ts";
import { dirsOf, noteOf, rowsOf, type Lines as LinesOf, type Row } from "./rows.ts";

export interface Around {
  plan: Plan;
  lines?: LinesOf;
  open: ReadonlySet<string>; // section and directory
  marked: ReadonlySet<string>; // paths that moved since the plan before
  turn: (keys: string[], open: boolean) => void;
  diff?: (path: string) => { ws: string; from: string; to?: string; path: string };
  withGit?: () => void;
}

export function Section({ part, around }: { part: PlanSection; around: Around }) {
  const narrow = useNarrow();
  const { open, turn } = around;
  const opened = useMemo(() => new Set([...open].filter((k) => k.startsWith(part.kind + ":")).map((k) => k.slice(part.kind.length + 1))), [open, part.kind]);
  const rows = useMemo(() => rowsOf(part, opened), [part, opened]);
  const dirs = useMemo(() => dirsOf(part), [part]);
  const all = dirs.length > 0 && dirs.every((d) => opened.has(d));
  const { withGit } = around;
  const heights = useMemo(() => rows.map((r) => (!narrow ? 32 : noteOf(part, r) || asksForGit(r, withGit) ? 60 : 44)), [rows, narrow, part, withGit]);
  return (
    <section className={`plan-part ${part.kind}`} aria-labelledby={`part-${part.kind}`}>
      <h2 id={`part-${part.kind}`}>
        <span className={part.kind === "delete" ? "bad" : undefined}>{part.title}</span>
        <span className="sum">{part.about}</span>
        <span className="grow" />
        {dirs.length > 0 ? (
          <button type="button" className="link" onClick={() => turn(dirs.map((d) => `${part.kind}:${d}`), !all)}>
            {all ? "Fold all" : "List all"}
            <span className="sr"> paths to {part.title.toLowerCase()}</span>
          </button>
        ) : null}
        {part.kind === "change" && around.diff ? <DiffLink around={around} path="" text="Read the diff" /> : null}
      </h2>
      <List inPage className="card" label={`${part.title}: ${part.about}`} count={rows.length} version={heights} keyOf={(i) => (rows[i]!.below > 0 ? "" : "=") + rows[i]!.path} height={(i) => heights[i]!}>
        {(i) => <RowLine row={rows[i]!} above={above(rows, i)} around={around} part={part} isOpen={opened.has(rows[i]!.path)} />}
      </List>
    </section>
  );
}

const asksForGit = (r: PlanRow, withGit: Around["withGit"]) => r.why === "git" && !!withGit;

/** The directory that a row is drawn in, of which it does not repeat the name. */
function above(rows: readonly PlanRow[], i: number): string {
  for (let j = i - 1; j >= 0; j--) if (rows[j]!.depth < rows[i]!.depth) return rows[j]!.path;
  return "";
}

const RowLine = memo(function RowLine({ row: r, above, around, part, isOpen }: { row: Row; above: string; around: Around; part: PlanSection; isOpen: boolean }) {
  const note = shown(noteOf(part, r));
  const moved = r.below === 0 ? around.marked.has(r.path) : [...around.marked].some((p) => p.startsWith(r.path));
  const name = r.path.slice(above.length);
  const cut = name.replace(/\/$/, "").lastIndexOf("/") + 1;
  const inner = (
    <>
      <span className="turn">{r.below === 0 ? null : <Icon name={isOpen ? "down" : "right"} small />}</span>
      <span className="mono name" title={shown(r.path)}>
        {cut > 0 ? <span className="dir">{shown(name.slice(0, cut))}</span> : null}
        <span className="base">{shown(name.slice(cut))}</span>
      </span>
      <span className="n num">{r.below === 0 ? "" : count(r.count)}</span>
      <span className="what">
        {moved ? <Flag family="partial">moved</Flag> : null}
        <span className="cut">{note}</span>
      </span>
      <Right row={r} around={around} />
    </>
  );
  const style = { paddingLeft: 11 + r.depth * 16 };
  if (r.below === 0) {
    return (
      <div className={note || moved ? "plan-row" : "plan-row bare"} style={style}>
        {inner}
      </div>
    );
  }
  return (
    <button type="button" className="plan-row" style={style} aria-expanded={isOpen} onClick={() => around.turn([`${part.kind}:${r.path}`], !isOpen)}>
      {inner}
    </button>
  );
});

function Right({ row: r, around }: { row: PlanRow; around: Around }) {
  if (asksForGit(r, around.withGit)) {
    return (
      <span className="right">
        <button type="button" className="link" onClick={around.withGit}>
          Restore it too…
        </button>
      </span>
    );
  }
  const known = around.lines?.get(r.path);
  const lines = known ? <Lines plus={known.plus} minus={known.minus} /> : null;
  if (r.what === "edited" && around.diff) {
    return (
      <span className="right num">
        <DiffLink around={around} path={r.path} text="Diff" lines={lines} />
      </span>
    );
  }
  return <span className="right num">{lines ?? (r.bytes > 0 ? bytes(r.bytes) : "")}</span>;
}

function DiffLink({ around, path, text, lines }: { around: Around; path: string; text: string; lines?: React.ReactNode }) {
  const to = around.diff!(path);
  return (
    <Link className="link" to="/w/$ws/compare" params={{ ws: to.ws }} search={{ from: to.from, to: to.to, path: to.path || undefined }}>
      {lines ?? text}
      {path ? <span className="sr"> Diff of {shown(path)}</span> : null}
    </Link>
  );
}
