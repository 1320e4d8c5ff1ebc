// All forks; those that are ended or gone are folded to one line.
import { Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { Flag } from "../../parts/marks.tsx";
import { List } from "../../parts/List.tsx";
import { useNarrow } from "../../parts/media.ts";
import { shown } from "../../words/escape.ts";
import { several } from "../../words/number.ts";
import { ago, clock, whole } from "../../words/time.ts";
import { alive, type Known } from "./judge.ts";
import { Adopt, Changed, Origin, Verified } from "./Side.tsx";

export function ForkList({ ws, known, we, may }: { ws: string; known: readonly Known[]; we?: Known; may: boolean }) {
  const [all, setAll] = useState(false);
  const narrow = useNarrow();
  const over = useMemo(() => known.filter((k) => !alive(k.fork)), [known]);
  const rows = useMemo(() => [...known.filter((k) => alive(k.fork)), ...(all ? over : [])], [known, all, over]);
  return (
    <section aria-labelledby="all-forks" data-rows>
      <h2 id="all-forks" className="forks-part">
        All forks
        {over.length > 0 ? (
          <button type="button" className="link" aria-expanded={all} onClick={() => setAll(!all)}>
            {all ? "Hide" : "Show"} {several(over.length, "that is", "that are")} ended or gone
          </button>
        ) : null}
      </h2>
      {rows.length === 0 ? (
        <p className="dim">None is open.</p>
      ) : (
        <div className="card">
          <List inPage measured label="Forks, newest first" count={rows.length} version={rows} keyOf={(i) => rows[i]!.fork.id} height={narrow ? 176 : 64}>
            {(i) => <Line ws={ws} known={rows[i]!} filled={rows[i] === we} may={may} />}
          </List>
        </div>
      )}
    </section>
  );
}

function Line({ ws, known: k, filled, may }: { ws: string; known: Known; filled: boolean; may: boolean }) {
  const f = k.fork;
  return (
    <div className={alive(f) ? "forks-row" : "forks-row over"}>
      <div className="what">
        <p className="name cut">
          <b title={shown(f.name)}>{shown(f.name)}</b>
          {f.ended ? <Flag family="unknown">{`ended ${clock(f.ended)}`}</Flag> : null}
          {f.gone ? <Flag family="partial">directory gone</Flag> : null}
          {k.adopted !== undefined ? <Flag family="good">{`adopted at ${k.adopted}`}</Flag> : null}
        </p>
        <p className="mono cut dim" title={shown(f.root)}>
          {shown(f.root)}
        </p>
      </div>
      <div className="grew">
        <p>
          from {f.origin ? <Origin ws={ws} number={f.origin.number} /> : "–"}, <span title={whole(f.created)}>{clock(f.created)}</span>
        </p>
        <p className="dim">
          {several(f.count, "checkpoint")}
          {f.latest ? `, last ${ago(f.latest.time)}` : ""}
        </p>
      </div>
      <div className="proof">
        {alive(f) ? <Verified known={k} /> : null}
        {alive(f) ? <Changed known={k} /> : null}
      </div>
      <div className="acts">
        <Link className="button" to="/w/$ws" params={{ ws: f.id }}>
          Open<span className="sr"> the timeline of {shown(f.name)}</span>
        </Link>
        {alive(f) ? <Adopt ws={ws} known={k} filled={filled} may={may} /> : null}
      </div>
    </div>
  );
}
