// Home: which workspaces are protected, and how each of them stands.
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { spacePlan } from "../../api/office.ts";
import { usePowers } from "../../api/powers.ts";
import { workspaces } from "../../api/queries.ts";
import type { WorkspaceState } from "../../api/types.ts";
import { Copy } from "../../parts/Copy.tsx";
import { List } from "../../parts/List.tsx";
import { useNarrow } from "../../parts/media.ts";
import { Empty, Waiting, Wrong } from "../../parts/states.tsx";
import { several } from "../../words/number.ts";
import { Icon } from "../../parts/Icon.tsx";
import { answerOf, rowsOf, type Row } from "./rows.ts";
import { Machine } from "./Machine.tsx";
import { WorkspaceRow } from "./WorkspaceRow.tsx";
import "./workspaces.css";

export default function Workspaces() {
  const all = useQuery(workspaces);
  if (all.isError && !all.data) return <Wrong error={all.error} again={() => void all.refetch()} />;
  if (!all.data) return <Waiting what="the workspaces" />;
  if (all.data.length === 0) return <Nothing />;
  return <Home all={all.data} />;
}

function Nothing() {
  return (
    <Empty title="Nothing is protected yet">
      <p>In the directory that your agents work in:</p>
      <Copy text="retake init" />
      <p>To look around first, with a project made for it:</p>
      <Copy text="retake demo" />
    </Empty>
  );
}

function Home({ all }: { all: readonly WorkspaceState[] }) {
  const [open, setOpen] = useState(false);
  const [adding, setAdding] = useState(false);
  const { server } = usePowers();
  const phone = useNarrow();
  const space = useQuery({ ...spacePlan, retry: false }).data;
  const answer = answerOf(all, space?.store);
  const days = new Map(space?.workspaces?.map((w) => [w.workspace, w.days ?? []]));
  const rows = useMemo(() => rowsOf(all, open), [all, open]);
  const heights = useMemo(() => rows.map((r) => heightOf(r, phone)), [rows, phone]);
  return (
    <div className="page ws">
      <header className="ws-head">
        <div className="grow">
          <h1 className="title">{answer.title}</h1>
          {answer.more ? <p className="ws-more">{answer.more}</p> : null}
        </div>
        {server ? null : (
          <button type="button" className="button" aria-expanded={adding} onClick={() => setAdding(!adding)}>
            <Icon name="plus" small />
            Protect a directory
          </button>
        )}
      </header>
      {adding ? (
        <div className="card ws-add">
          <p>In that directory:</p>
          <Copy text="retake init" />
        </div>
      ) : null}
      <Machine all={all} space={space} server={server} />
      <section className="ws-table" aria-label="Workspaces">
        <div className="ws-cols" aria-hidden="true">
          <span>Protection</span>
          <span>Workspace</span>
          <span>Last checkpoint</span>
          <span>Last good</span>
          <span>Changed since</span>
          <span>Checkpoints, 30 days</span>
          <span className="end">Size</span>
        </div>
        <List inPage label="Workspaces, the last used first" className="ws-rows" count={rows.length} version={heights} keyOf={(i) => keyOf(rows[i]!)} height={(i) => heights[i]!}>
          {(i) => {
            const r = rows[i]!;
            return r.kind === "ended" ? <EndedRow n={r.n} open={r.open} turn={() => setOpen(!open)} /> : <WorkspaceRow ws={r.ws} depth={r.depth} days={days.get(r.ws.id)} store={space?.store} />;
          }}
        </List>
      </section>
    </div>
  );
}

const keyOf = (r: Row) => (r.kind === "ended" ? "ended" : r.ws.id);

function heightOf(r: Row, phone: boolean): number {
  if (r.kind === "ended") return phone ? 44 : 40;
  return phone ? 108 : r.depth > 0 ? 44 : 57;
}

function EndedRow({ n, open, turn }: { n: number; open: boolean; turn: () => void }) {
  return (
    <button type="button" className="ws-ended" aria-expanded={open} onClick={turn}>
      <Icon name={open ? "down" : "right"} small />
      {several(n, "workspace")} no longer protected; {n === 1 ? "its" : "their"} checkpoints are kept
    </button>
  );
}
