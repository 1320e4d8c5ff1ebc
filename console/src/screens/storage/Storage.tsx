// How much room moments take, how fast it goes, what would be dropped; and giving it back.
import { useQueries, useQuery } from "@tanstack/react-query";
import { recentOf, spacePlan } from "../../api/office.ts";
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
import { growthOf, sentenceOf, span, sumDays, type Growth } from "./room.ts";
import { TidyUp } from "./TidyUp.tsx";
import "../operations/operations.css";
import "./storage.css";

/** Growth is read of the busiest ones: the API tells no bytes of a workspace. */
const busiest = 8;

export default function Storage() {
  const { server } = usePowers();
  const plan = useQuery(spacePlan);
  const list = useQuery(workspaces);
  const use = useUsage(server);
  const growth = useGrowth(plan.data);
  if (list.data?.length === 0) return <Nothing />;
  if (plan.isLoadingError) return <Wrong error={plan.error} again={() => void plan.refetch()} />;
  if (list.isLoadingError) return <Wrong error={list.error} again={() => void list.refetch()} />;
  if (!plan.data || !list.data) return <Waiting what="what moments take" />;
  const p = plan.data;
  const budget = p.budget || use.data?.limits.store || 0;
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

/** How fast the busiest workspaces of the last days grow. */
function useGrowth(p?: SpacePlan): Growth | undefined {
  const busy = (p?.workspaces ?? [])
    .map((w) => ({ id: w.workspace, n: (w.days ?? []).slice(-span).reduce((a, b) => a + b, 0) }))
    .filter((w) => w.n > 1)
    .sort((a, b) => b.n - a.n);
  const asked = busy.slice(0, busiest);
  const got = useQueries({ queries: asked.map((w) => recentOf(w.id, span)) });
  if (asked.length === 0 || got.some((q) => q.isPending)) return undefined;
  const recent = got.map((q) => ({ moments: q.data?.checkpoints ?? [], cut: (q.data?.checkpoints?.length ?? 0) >= 200 }));
  const g = growthOf(recent, Date.now());
  return g && { ...g, part: g.part || busy.length > asked.length };
}

function Plot({ plan, budget }: { plan: SpacePlan; budget: number }) {
  const days = sumDays((plan.workspaces ?? []).map((w) => w.days));
  const total = days.reduce((a, b) => a + b, 0);
  return (
    <section className="card st-card" aria-label="Moments by day">
      <header className="st-big">
        <b className="num">{bytes(plan.store.bytes)}</b>
        <span className="dim grow">{budget > 0 ? `of ${bytes(budget)}, all workspaces` : "all workspaces, no budget"}</span>
        <span className="dimmer">{several(total, "moment")} of 30 days are kept</span>
      </header>
      {budget > 0 ? (
        <span className="ops-meter" aria-hidden="true">
          <i className={plan.need === "budget" ? "bad" : "firm"} style={{ width: `${Math.min(100, Math.max(0.5, (plan.store.bytes / budget) * 100))}%` }} />
        </span>
      ) : null}
      <Days days={days} />
    </section>
  );
}

function Facts({ plan, budget, growth }: { plan: SpacePlan; budget: number; growth?: Growth }) {
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
        <Fact good={plan.need !== "budget"} name="Budget">
          {budget > 0 ? `${bytes(budget)}, ${share(s.bytes, budget)} taken` : "none is set"}
        </Fact>
        <Fact name="Growth">{growth ? `at most about ${bytes(growth.perDay)} a day${growth.part ? ", of the busiest" : ""}` : `no new moment in ${span} days`}</Fact>
        <Fact name="Garbage">about {bytes(plan.garbage)} belong to no moment</Fact>
        <Fact name="Last tidy-up">
          {plan.last ? (
            <span title={whole(plan.last.at)}>
              {ago(plan.last.at)}: gave back {bytes(plan.last.gave)}, {plan.last.forgotten > 0 ? `dropped ${several(plan.last.forgotten, "moment")}` : "dropped none"}
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

