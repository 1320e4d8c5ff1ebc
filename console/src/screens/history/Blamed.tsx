// Which checkpoint wrote each line of a file, as it is in the newest checkpoint.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Checkpoint } from "../../api/types.ts";
import { languageOf } from "../../diff/languages.ts";
import { pieces, spansOf, statesOf } from "../../diff/tokens.ts";
import { List } from "../../parts/List.tsx";
import { Empty, Waiting, Wrong } from "../../parts/states.tsx";
import { oneLine, shownLines } from "../../words/escape.ts";
import { titleOf, whoMade } from "../../words/checkpoint.ts";
import { clock, whole } from "../../words/time.ts";
import { blameRows, type BlameRow } from "./blame.ts";
import { blameOf } from "./query.ts";

export function Blamed({ ws, path }: { ws: string; path: string }) {
  const blame = useQuery(blameOf(ws, path, ""));
  const rows = useMemo(() => blameRows(blame.data?.lines ?? [], (blame.data?.moments ?? []).map((m) => m.number)), [blame.data]);
  const language = languageOf(path);
  const states = useMemo(() => statesOf(rows.map((r) => r.text), language), [rows, language]);
  if (blame.isLoadingError) return <Wrong error={blame.error} again={() => void blame.refetch()} />;
  if (!blame.data) return <Waiting what="the lines" />;
  if (rows.length === 0) return <Empty title="No lines">{blame.data.why ? oneLine(blame.data.why) : "The file is empty."}</Empty>;
  const checkpoints = new Map((blame.data.moments ?? []).map((m) => [m.number, m]));
  return (
    <List count={rows.length} height={() => 20} label="Lines and the checkpoints that wrote them" className="history-blame">
      {(i) => <Line row={rows[i]!} c={checkpoints.get(rows[i]!.number)} ws={ws} path={path} open={states[i] ?? 0} language={language} />}
    </List>
  );
}

function Line({ row, c, ws, path, open, language }: { row: BlameRow; c?: Checkpoint; ws: string; path: string; open: number; language: string }) {
  const text = row.text.length > 2000 ? row.text.slice(0, 2000) : row.text;
  return (
    <div className={row.first ? "history-line first" : "history-line"}>
      <span className="age" style={{ opacity: 1 - row.age * 0.85 }} aria-hidden="true" />
      <span className="who">
        {row.first ? (
          <Link to="/w/$ws/m/$ref" params={{ ws, ref: String(row.number) }} search={{ path }} title={c ? `${whole(c.time)}, ${whoMade(c)}` : undefined}>
            <b className="num">{row.number}</b>
            <span className="cut">{c ? titleOf(c).text : ""}</span>
            <span className="dimmer num">{c ? clock(c.time) : ""}</span>
          </Link>
        ) : null}
      </span>
      <span className="ln" data-n={row.line} />
      <code>
        {pieces(text, spansOf(text, open, language), []).map((p, i) => (p.hue ? <i key={i} className={`t${p.hue}`}>{shownLines(p.text)}</i> : shownLines(p.text)))}
      </code>
    </div>
  );
}
