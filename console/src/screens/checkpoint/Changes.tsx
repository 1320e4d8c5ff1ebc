// What really changed, to choose from: by meaning, or by path.
import { useMemo, useState } from "react";
import type { Change, Story } from "../../api/types.ts";
import { signOf } from "../../diff/sign.ts";
import { Icon } from "../../parts/Icon.tsx";
import { List } from "../../parts/List.tsx";
import { Flag, Lines, Path } from "../../parts/marks.tsx";
import { useNarrow } from "../../parts/media.ts";
import { Empty, Waiting, Wrong } from "../../parts/states.tsx";
import { useKeys } from "../../shell/keys.ts";
import { shown } from "../../words/escape.ts";
import { count } from "../../words/number.ts";
import { pathsOf, storyRows, type StoryRow } from "./story.ts";
import { Tree } from "./Tree.tsx";
import { useChanges } from "./useChanges.ts";

export interface ChangesProps {
  ws: string;
  from: string; // as in FileDiff
  to: string;
  story?: Story;
  error?: unknown;
  again?: () => void; // asks for the story once more
  meanwhile?: Change[]; // the first of the paths, while the story is being read
  more?: boolean; // there are other paths
  by: string; // "path", else meaning
  setBy: (by: "meaning" | "path") => void;
  chosen: string;
  choose: (path: string) => void;
  browse?: string; // a checkpoint whose whole tree can be looked at
}

export function Changes(p: ChangesProps) {
  const path = p.by === "path";
  return (
    <nav className="checkpoint-changes" aria-label="What really changed">
      <header>
        <h2 className="label">What really changed, by</h2>
        <div className="segments" role="group" aria-label="Order of the changes">
          <button type="button" aria-pressed={!path} onClick={() => p.setBy("meaning")}>
            meaning
          </button>
          <button type="button" aria-pressed={path} onClick={() => p.setBy("path")}>
            path
          </button>
        </div>
      </header>
      {path ? <ByPath {...p} /> : <ByMeaning {...p} />}
    </nav>
  );
}

/** useSteps moves through paths with j and k. */
export function useSteps(paths: readonly string[], chosen: string, choose: (path: string) => void) {
  const step = (by: number) => {
    const at = paths.indexOf(chosen);
    const next = paths[at < 0 ? 0 : Math.min(Math.max(at + by, 0), paths.length - 1)];
    if (next !== undefined && next !== chosen) choose(next);
  };
  useKeys({ j: () => step(1), k: () => step(-1) });
}

function ByPath(p: ChangesProps) {
  const paths = useChanges(p.ws, p.from, p.to === "now" ? "" : p.to, { all: true });
  if (paths.error && !paths.changes) return <Wrong error={paths.error} />;
  if (!paths.changes) return <Waiting what="the changes" />;
  return (
    <>
      {paths.error ? <Wrong error={paths.error} /> : paths.more ? <Reading text={`These are the first paths; ${count(paths.read)} are read so far.`} /> : null}
      <Tree {...p} changes={paths.changes} />
    </>
  );
}

function turnedWith(set: ReadonlySet<string>, key: string): Set<string> {
  const next = new Set(set);
  if (!next.delete(key)) next.add(key);
  return next;
}

const heights = { head: 32, file: 25, fact: 20, fold: 25 };
const tall = { head: 44, file: 40, fact: 24, fold: 40 };

function ByMeaning(p: ChangesProps) {
  if (p.error && !p.meanwhile) return <Wrong error={p.error} again={p.again} />;
  if (p.story) return <Themes story={p.story} chosen={p.chosen} choose={p.choose} />;
  if (!p.meanwhile) return <Waiting what="the story" />;
  return (
    <>
      {p.error ? <Unread again={p.again} /> : <Reading text={`What it means is still being read; these are the ${p.more ? "first of the " : ""}paths.`} />}
      <Tree {...p} browse={undefined} changes={p.meanwhile} />
    </>
  );
}

/** The meaning could not be read; the paths below stand without it. */
const Unread = ({ again }: { again?: () => void }) => (
  <p className="checkpoint-all" role="alert">
    What the changes mean could not be read. These are the paths.{" "}
    {again ? (
      <button type="button" className="link" onClick={again}>
        Try again
      </button>
    ) : null}
  </p>
);

const Reading = ({ text }: { text: string }) => (
  <p className="checkpoint-all" role="status">
    {text}
  </p>
);

function Themes({ story, chosen, choose }: { story: Story; chosen: string; choose: (path: string) => void }) {
  const [turned, setTurned] = useState<ReadonlySet<string>>(new Set());
  const rows = useMemo(() => storyRows(story, turned), [story, turned]);
  const paths = useMemo(() => pathsOf(rows), [rows]);
  const narrow = useNarrow();
  const version = useMemo(() => ({}), [rows, narrow]); // another one for other rows
  useSteps(paths, chosen, choose);
  if (rows.length === 0) return <p className="checkpoint-none dim">No file changed.</p>;
  const h = narrow ? tall : heights;
  const at = rows.findIndex((r) => r.kind === "file" && r.path === chosen);
  return (
    <List count={rows.length} height={(i) => h[rows[i]!.kind]} version={version} label="Changes by meaning" className="checkpoint-list" shown={at}>
      {(i) => <OneRow row={rows[i]!} chosen={chosen} choose={choose} turn={(key) => setTurned((t) => turnedWith(t, key))} />}
    </List>
  );
}

function OneRow({ row, chosen, choose, turn }: { row: StoryRow; chosen: string; choose: (path: string) => void; turn: (key: string) => void }) {
  switch (row.kind) {
    case "head":
      return (
        <button type="button" className={row.bad ? "checkpoint-theme bad" : "checkpoint-theme"} aria-expanded={row.open} onClick={() => turn(row.key)}>
          <Icon name={row.icon} />
          <span>{row.word}</span>
          <Icon name={row.open ? "down" : "right"} small />
          <span className="num">{row.count}</span>
        </button>
      );
    case "fact":
      return (
        <p className="checkpoint-fact cut" title={`${row.name} ${row.text}`.trim()}>
          {row.what === "deleted" ? "−" : ""}
          <b>{row.name}</b> {row.text}
        </p>
      );
    case "fold":
      return (
        <button type="button" className="checkpoint-file" aria-expanded={row.open} onClick={() => turn(row.key)}>
          <Icon name={row.open ? "down" : "right"} small />
          <span className="dim">{row.text}</span>
        </button>
      );
    default:
      return <FileRow row={row} chosen={row.path === chosen || (row.path.endsWith("/") && chosen.startsWith(row.path))} choose={choose} />;
  }
}

function FileRow({ row, chosen, choose }: { row: StoryRow & { kind: "file" }; chosen: boolean; choose: (path: string) => void }) {
  const s = signOf(row.what);
  return (
    <button type="button" className="checkpoint-file" aria-current={chosen ? "true" : undefined} onClick={() => choose(row.path)}>
      <span className={`sign ${s.family}`} aria-hidden="true">
        {s.glyph}
      </span>
      <span className="sr">{s.word}: </span>
      <Path path={row.path} />
      {row.secret ? <Flag family="risky">likely secret</Flag> : null}
      {row.note ? <span className="aside cut">{row.note}</span> : null}
      {row.from ? <span className="aside cut">from {shown(row.from)}</span> : <Lines plus={row.plus} minus={row.minus} />}
    </button>
  );
}

/** Said where a checkpoint changed nothing. */
export function Nothing({ since, browse }: { since: string; browse: () => void }) {
  return (
    <Empty title="No file changed">
      <p>The files of this checkpoint are those of {since}.</p>
      <p className="row">
        <button type="button" className="button" onClick={browse}>
          Look at its files
        </button>
      </p>
    </Empty>
  );
}
