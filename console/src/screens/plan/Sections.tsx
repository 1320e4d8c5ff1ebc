// The paths of a plan, deletions first. A section is folded by directory and opens on
// click; every path is there, and only what is seen is drawn.
import { Link } from "@tanstack/react-router";
import { memo, useMemo } from "react";
import type { Keep, Plan, Step } from "../../api/types.ts";
import { Icon } from "../../parts/Icon.tsx";
import { Flag, Lines } from "../../parts/marks.tsx";
import { List } from "../../parts/List.tsx";
import { useNarrow } from "../../parts/media.ts";
import { shown } from "../../words/escape.ts";
import { bytes, count, several } from "../../words/number.ts";
import { dirsOf, rowsOf, someNames, type Leaf, type Row } from "./fold.ts";
import { fileNote, packageNote, type Told } from "./told.ts";
import { broughtOf, changedOf, countOf, keepText, mergeText, upper, wordsOf } from "./words.ts";

export interface PathLeaf extends Leaf {
  note: string;
  right: string;
  step?: Step;
  keep?: Keep;
}

export interface Around {
  plan: Plan;
  told: Told;
  open: ReadonlySet<string>; // section and directory
  marked: ReadonlySet<string>; // paths that moved since the plan before
  turn: (keys: string[], open: boolean) => void;
  diff?: (path: string) => { ws: string; from: string; to?: string; path: string };
  withGit?: () => void;
}

interface Part {
  id: string;
  word: string;
  sum: string;
  tone?: string;
  leaves: PathLeaf[];
}

const sizes = (s: Step) => {
  const was = s.now?.size ?? 0;
  const will = s.then?.size ?? 0;
  return bytes(was) === bytes(will) ? bytes(will) : `${bytes(was)} → ${bytes(will)}`;
};

/** Kinds of change that need no words of their own in their section. */
const plain = new Set(["added", "deleted", "edited"]);

const changes: Record<string, string> = { timed: "its time only", retyped: "becomes another kind of file" };

function noteOf(s: Step, steps: readonly Step[], told: Told): string {
  if (s.unit && s.unit !== s.path) return `goes with ${shown(s.unit)}`;
  if (s.unit && steps.filter((x) => x.unit === s.unit).length > 1) return "with its side files, as one unit";
  if (s.what === "moded") return s.now && s.then && s.now.mode !== s.then.mode ? `its rights only, ${s.now.mode.toString(8)} → ${s.then.mode.toString(8)}` : "its rights or owner only";
  const entry = s.then ?? s.now;
  const kind = entry?.kind === "dir" ? "a directory" : entry?.kind === "symlink" ? "a link" : "";
  return changes[s.what] ?? (fileNote(told, s.path) || (plain.has(s.what) ? kind : shown(s.what)));
}

function leavesOf(steps: readonly Step[], told: Told, lines: boolean): PathLeaf[] {
  const parents = new Set<string>();
  for (const s of steps) for (let i = s.path.indexOf("/"); i >= 0; i = s.path.indexOf("/", i + 1)) parents.add(s.path.slice(0, i));
  // a directory that comes or goes is told by what lies in it; an empty one has a line
  const alone = steps.filter((s) => !((s.what === "added" || s.what === "deleted") && (s.then ?? s.now)?.kind === "dir" && parents.has(s.path)));
  return alone.map((s) => {
    const dir = (s.then ?? s.now)?.kind === "dir";
    const known = lines ? told.lines.get(s.path) : undefined;
    const size = s.what === "deleted" ? s.now?.size : s.then?.size;
    const right = dir ? "" : lines ? sizes(s) : bytes(size ?? 0);
    return { path: dir ? `${s.path}/` : s.path, bytes: dir ? 0 : (size ?? 0), ...known, note: noteOf(s, steps, told), right: known ? "" : right, step: s };
  });
}

export function partsOf(p: Plan, told: Told): Part[] {
  const w = wordsOf(p.course);
  const brought = broughtOf(p);
  const changed = changedOf(p);
  const files = (steps: Step[]) => several(countOf(steps), "file");
  const merges = p.merges.map((s): PathLeaf => ({ path: s.path, bytes: 0, note: mergeText(s.merge, p.course), right: "", step: s }));
  const keeps = p.keeps.map((k): PathLeaf => ({ path: k.path, bytes: 0, note: keepText(k), right: "", keep: k }));
  const all: Part[] = [
    { id: "delete", word: "Delete", sum: `${files(p.deletes)}${p.course === "restore" && p.target ? `, not there at ${p.target.number}` : ""}`, tone: "bad", leaves: leavesOf(p.deletes, told, false) },
    { id: "bring", word: upper(w.bring), sum: files(brought), leaves: leavesOf(brought, told, false) },
    { id: "change", word: upper(w.change), sum: files(changed), leaves: leavesOf(changed, told, true) },
    { id: "merge", word: "Merge", sum: `${files(p.merges)} changed on both sides, your lines stay`, leaves: merges },
    { id: "keep", word: "Keep", sum: `${several(p.keeps.length, "place")} that ${p.keeps.length === 1 ? "stays as it is" : "stay as they are"}`, leaves: keeps },
  ];
  return all.filter((s) => s.leaves.length > 0);
}

export function Section({ part, around }: { part: Part; around: Around }) {
  const narrow = useNarrow();
  const { open, turn } = around;
  const opened = useMemo(() => new Set([...open].filter((k) => k.startsWith(part.id + ":")).map((k) => k.slice(part.id.length + 1))), [open, part.id]);
  const rows = useMemo(() => rowsOf(part.leaves, opened), [part.leaves, opened]);
  const dirs = useMemo(() => dirsOf(part.leaves), [part.leaves]);
  const all = dirs.length > 0 && dirs.every((d) => opened.has(d));
  const { told, withGit } = around;
  const heights = useMemo(() => rows.map((r) => (!narrow ? 32 : noteFor(r, told) || asksForGit(r, withGit) ? 60 : 44)), [rows, narrow, told, withGit]);
  return (
    <section className={`plan-part ${part.id}`} aria-labelledby={`part-${part.id}`}>
      <h2 id={`part-${part.id}`}>
        <span className={part.tone}>{part.word}</span>
        <span className="sum">{part.sum}</span>
        <span className="grow" />
        {dirs.length > 0 ? (
          <button type="button" className="link" onClick={() => turn(dirs.map((d) => `${part.id}:${d}`), !all)}>
            {all ? "Fold all" : "List all"}
            <span className="sr"> paths to {part.word.toLowerCase()}</span>
          </button>
        ) : null}
        {part.id === "change" && around.diff ? <DiffLink around={around} path="" text="Read the diff" /> : null}
      </h2>
      <List inPage className="card" label={`${part.word}: ${part.sum}`} count={rows.length} version={heights} keyOf={(i) => rows[i]!.key} height={(i) => heights[i]!}>
        {(i) => <RowLine row={rows[i]!} around={around} part={part.id} />}
      </List>
    </section>
  );
}

const asksForGit = (r: Row<PathLeaf>, withGit: Around["withGit"]) => r.leaf?.keep?.why === "git" && !!withGit;

const noteFor = (r: Row<PathLeaf>, told: Told) => (r.leaf ? r.leaf.note : packageNote(told, r.key) || someNames(r.below.map(shown)));

const RowLine = memo(function RowLine({ row: r, around, part }: { row: Row<PathLeaf>; around: Around; part: string }) {
  const note = noteFor(r, around.told);
  const moved = r.leaf ? around.marked.has(r.leaf.path) : [...around.marked].some((p) => p.startsWith(r.key));
  const inner = (
    <>
      <span className="turn">{r.leaf ? null : <Icon name={r.open ? "down" : "right"} small />}</span>
      <span className="mono name" title={shown(r.leaf?.path ?? r.key)}>
        {r.dir ? <span className="dir">{shown(r.dir)}</span> : null}
        <span className="base">{shown(r.name)}</span>
      </span>
      <span className="n num">{r.leaf ? "" : count(r.count)}</span>
      <span className="what">
        {moved ? <Flag family="partial">moved</Flag> : null}
        <span className="cut">{note}</span>
      </span>
      <Right row={r} around={around} />
    </>
  );
  const style = { paddingLeft: 11 + r.depth * 16 };
  if (r.leaf) {
    return (
      <div className={note || moved ? "plan-row" : "plan-row bare"} style={style}>
        {inner}
      </div>
    );
  }
  return (
    <button type="button" className="plan-row" style={style} aria-expanded={r.open} onClick={() => around.turn([`${part}:${r.key}`], !r.open)}>
      {inner}
    </button>
  );
});

function Right({ row: r, around }: { row: Row<PathLeaf>; around: Around }) {
  const keep = r.leaf?.keep;
  if (keep) {
    if (keep.why !== "git" || !around.withGit) return <span className="right" />;
    return (
      <span className="right">
        <button type="button" className="link" onClick={around.withGit}>
          Restore it too…
        </button>
      </span>
    );
  }
  const step = r.leaf?.step;
  const lines = r.plus + r.minus > 0 ? <Lines plus={r.plus} minus={r.minus} /> : null;
  const inChange = step ? step.what !== "added" && step.what !== "deleted" : false;
  if (step && inChange && around.diff && (step.what === "edited" || step.merge)) {
    return (
      <span className="right num">
        <DiffLink around={around} path={step.path} text={r.leaf?.right || ""} lines={lines} />
      </span>
    );
  }
  return <span className="right num">{lines ?? (r.leaf ? r.leaf.right : r.bytes > 0 ? bytes(r.bytes) : "")}</span>;
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
