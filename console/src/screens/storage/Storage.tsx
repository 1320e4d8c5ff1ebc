// How much room checkpoints take, how fast it goes, what would be dropped; and giving it back.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { spacePlan } from "../../api/office.ts";
import { usePowers } from "../../api/powers.ts";
import { workspaces } from "../../api/queries.ts";
import type { SpacePlan } from "../../api/types.ts";
import { Icon } from "../../parts/Icon.tsx";
import { Waiting, Wrong } from "../../parts/states.tsx";
import { bytes, several } from "../../words/number.ts";
import { ago, whole } from "../../words/time.ts";
import { Head, useUsage } from "../operations/frame.tsx";
import { share } from "../operations/hooks/health.ts";
import { Days } from "./Chart.tsx";
import { Rooms } from "./Rooms.tsx";
import { growthOf, sentenceOf, span, sumDays } from "./room.ts";
import { TidyUp } from "./TidyUp.tsx";
import "../operations/operations.css";
import "./storage.css";

export default function Storage() {
  const { server } = usePowers();
  const plan = useQuery(spacePlan);
  const list = useQuery(workspaces);
  const use = useUsage(server);
  if (list.data?.length === 0) return <Nothing />;
  if (plan.isLoadingError) return <Wrong error={plan.error} again={() => void plan.refetch()} />;
  if (list.isLoadingError) return <Wrong error={list.error} again={() => void list.refetch()} />;
  if (!plan.data || !list.data) return <Waiting what="what checkpoints take" />;
  const p = plan.data;
  const budget = p.budget || use.data?.limits.store || 0;
  const growth = growthOf(p.workspaces ?? []);
  const said = sentenceOf(p, budget, growth);
  return (
    <div className="page st">
      <Head title={said.head} bad={said.bad}>
        {said.rest}
      </Head>
      <div className="st-sum">
        <Plot plan={p} budget={budget} />
        <Facts plan={p} budget={budget} growth={growth} />
      </div>
      <Rooms plan={p} all={list.data} />
      <TidyUp plan={p} all={list.data} />
    </div>
  );
}

/** Without a workspace there may be no store to ask for. */
function Nothing() {
  return (
    <div className="page st">
      <Head title="Nothing is stored yet">
        The first workspace makes the store: <code className="mono">retake init</code>
      </Head>
    </div>
  );
}

function Plot({ plan, budget }: { plan: SpacePlan; budget: number }) {
  const [what, setWhat] = useState<"bytes" | "checkpoints">("bytes");
  const all = plan.workspaces ?? [];
  const days = sumDays(all.map((w) => (what === "bytes" ? w.brought : w.days)));
  const total = sumDays(all.map((w) => w.days)).reduce((a, b) => a + b, 0);
  return (
    <section className="card st-card" aria-label="Growth by day">
      <header className="st-big">
        <b className="num">{bytes(plan.store.bytes)}</b>
        <span className="dim grow">{budget > 0 ? `of ${bytes(budget)}, all workspaces` : "all workspaces, no limit"}</span>
        <span className="dimmer">{several(total, "checkpoint")} of 30 days are kept</span>
      </header>
      {budget > 0 ? (
        <span className="ops-meter" aria-hidden="true">
          <i className={plan.need === "budget" ? "bad" : "firm"} style={{ width: `${Math.min(100, Math.max(0.5, (plan.store.bytes / budget) * 100))}%` }} />
        </span>
      ) : null}
      <div className="segments st-what" role="group" aria-label="What the bars are">
        <button type="button" aria-pressed={what === "bytes"} onClick={() => setWhat("bytes")}>
          bytes brought
        </button>
        <button type="button" aria-pressed={what === "checkpoints"} onClick={() => setWhat("checkpoints")}>
          checkpoints
        </button>
      </div>
      <Days days={days} what={what} />
    </section>
  );
}

function Facts({ plan, budget, growth }: { plan: SpacePlan; budget: number; growth?: number }) {
  const s = plan.store;
  const tight = plan.need === "room" || plan.need === "floor";
  return (
    <section className="card st-card" aria-labelledby="room-title">
      <h2 id="room-title" className="label">
        Room
      </h2>
      <dl className="st-facts">
        <Fact good={!tight} name="Disk">
          {bytes(s.free)} free, floor {bytes(s.floor)}
        </Fact>
        <Fact good={plan.need !== "budget"} name="Storage limit">
          {budget > 0 ? `${bytes(budget)}, ${share(s.bytes, budget)} taken` : "none is set"}
        </Fact>
        <Fact name="Growth">{growth !== undefined ? `at most about ${bytes(growth)} a day` : `no new checkpoint in ${span} days`}</Fact>
        <Fact name="Garbage">about {bytes(plan.garbage)} belong to no checkpoint</Fact>
        <Fact name="Last cleanup">
          {plan.last ? (
            <span title={whole(plan.last.at)}>
              {ago(plan.last.at)}: gave back {bytes(plan.last.gave)}, {plan.last.forgotten > 0 ? `dropped ${several(plan.last.forgotten, "checkpoint")}` : "dropped none"}
            </span>
          ) : (
            "none yet"
          )}
        </Fact>
      </dl>
    </section>
  );
}

function Fact({ name, good, children }: { name: string; good?: boolean; children: React.ReactNode }) {
  return (
    <div>
      <dt>
        <span className={good === undefined ? "dimmer" : good ? "good" : "risky"}>
          {good === undefined ? <i /> : <Icon name={good ? "check" : "warn"} />}
        </span>
        {name}
      </dt>
      <dd>{children}</dd>
    </div>
  );
}

