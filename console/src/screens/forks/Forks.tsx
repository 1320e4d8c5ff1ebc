// The forks of a workspace: side by side, all of them, and the way to make one.
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { usePowers } from "../../api/powers.ts";
import { forksOf } from "../../api/queries.ts";
import type { WorkspaceState } from "../../api/types.ts";
import { Icon } from "../../parts/Icon.tsx";
import { Empty, Waiting, Wrong } from "../../parts/states.tsx";
import { shown } from "../../words/escape.ts";
import { several } from "../../words/number.ts";
import { ForkList } from "./ForkList.tsx";
import { alive, answer, best, sentence, type Known } from "./judge.ts";
import { useKnown } from "./known.ts";
import { Make } from "./Make.tsx";
import { Side } from "./Side.tsx";
import "./forks.css";

export default function Forks() {
  const { ws } = useParams({ strict: false }) as { ws: string };
  const { from } = useSearch({ from: "/w/$ws/forks" });
  const forks = useQuery(forksOf(ws));
  const go = useNavigate();
  const { may } = usePowers();
  if (forks.isPending) return <Waiting what="the forks" />;
  if (forks.isLoadingError) return <Wrong error={forks.error} again={() => void forks.refetch()} />;
  return (
    <div className="page forks">
      {forks.data.length === 0 ? <None ws={ws} may={may("return")} /> : <Some ws={ws} forks={forks.data} may={may("return")} />}
      {from ? <Make ws={ws} from={from} may={may("return")} taken={forks.data.map((f) => f.name)} close={() => void go({ to: "/w/$ws/forks", params: { ws }, search: {} })} /> : null}
    </div>
  );
}

export const noPower = "Your key may look, but not fork or adopt: it takes one of kind agent or operator.";

function New({ ws, may, filled }: { ws: string; may: boolean; filled?: boolean }) {
  if (!may) {
    return (
      <span className="forks-may">
        <button type="button" className="button" disabled aria-describedby="forks-why">
          <Icon name="fork" small />
          Fork the newest…
        </button>
        <span id="forks-why" className="dim">
          {noPower}
        </span>
      </span>
    );
  }
  return (
    <Link className={filled ? "button primary" : "button"} to="/w/$ws/forks" params={{ ws }} search={{ from: "latest" }}>
      <Icon name="fork" small />
      Fork the newest…
    </Link>
  );
}

function None({ ws, may }: { ws: string; may: boolean }) {
  return (
    <>
      <h1 className="title">Forks</h1>
      <Empty title="No forks yet">
        <p>A fork is a workspace of its own, with the files of a checkpoint. Try something there, by hand or with an agent, while this one stays as it is. What is good comes home by adopting it.</p>
        <p>
          <New ws={ws} may={may} filled />
        </p>
      </Empty>
    </>
  );
}

function Some({ ws, forks, may }: { ws: string; forks: readonly WorkspaceState[]; may: boolean }) {
  const known = useKnown(ws, forks);
  const live = known.filter((k) => alive(k.fork));
  const told = live.filter((k) => k.finding && k.story).slice(0, 3);
  const we = best(live);
  return (
    <>
      <header className="forks-head">
        <div className="grow">
          <h1 className="title">{answer(known)}</h1>
          <p className="forks-sub">{told.map((k) => sentence(k)).join(" ")}</p>
        </div>
        <New ws={ws} may={may} />
      </header>
      {live.length > 1 ? <Beside ws={ws} live={live} we={we} may={may} /> : null}
      <ForkList ws={ws} known={known} we={live.length > 1 ? undefined : we} may={may} />
    </>
  );
}

/** Three at most stand side by side; which ones can be chosen. */
function Beside({ ws, live, we, may }: { ws: string; live: readonly Known[]; we?: Known; may: boolean }) {
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set(live.slice(3).map((k) => k.fork.id)));
  const shownOnes = live.filter((k) => !left.has(k.fork.id)).slice(0, 3);
  const turn = (id: string) =>
    setLeft((old) => {
      const next = new Set(old);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  return (
    <section aria-labelledby="beside">
      <h2 id="beside" className="forks-part">
        Side by side
        {live.length > 3 ? <span className="dimmer">{several(shownOnes.length, "of them", "of them")}, three at most</span> : null}
      </h2>
      {live.length > 2 ? <Chooser live={live} left={left} turn={turn} full={shownOnes.length >= 3} /> : null}
      <Side ws={ws} columns={shownOnes} we={we} may={may} />
    </section>
  );
}

function Chooser({ live, left, turn, full }: { live: readonly Known[]; left: ReadonlySet<string>; turn: (id: string) => void; full: boolean }) {
  return (
    <div className="forks-chooser" role="group" aria-label="Which stand side by side">
      {live.map((k) => {
        const on = !left.has(k.fork.id);
        return (
          <button key={k.fork.id} type="button" className="chip" aria-pressed={on} disabled={!on && full} onClick={() => turn(k.fork.id)}>
            {shown(k.fork.name)}
          </button>
        );
      })}
    </div>
  );
}
