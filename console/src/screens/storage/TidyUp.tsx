// The next cleanup: what it drops and gives back, and doing it now in two steps.
import { useState } from "react";
import { sweep, thin } from "../../api/office.ts";
import { usePowers } from "../../api/powers.ts";
import type { SpacePlan, SweepReport, ThinReport, WorkspaceState } from "../../api/types.ts";
import { Icon } from "../../parts/Icon.tsx";
import { bytes, count, duration, several } from "../../words/number.ts";
import { Confirm } from "../operations/Ask.tsx";
import { Drops, dropsSentence } from "../operations/Drops.tsx";
import { Lacks } from "../operations/frame.tsx";
import { dropWords, namesOf } from "../operations/words.ts";
import { byReason } from "./room.ts";

const stale = [["space"], ["office", "usage"], ["workspaces"], ["ws"]];

export function TidyUp({ plan, all }: { plan: SpacePlan; all: WorkspaceState[] }) {
  const { may } = usePowers();
  const [asked, setAsked] = useState<"thin" | "sweep">();
  const [done, setDone] = useState("");
  const close = () => setAsked(undefined);
  const n = plan.drops?.length ?? 0;
  return (
    <section className="card ops-card" aria-labelledby="tidy-title">
      <header className="ops-wrap">
        <h2 id="tidy-title">Next cleanup</h2>
        <span className="dim grow">{dropsSentence(plan)}</span>
        {may("maintain") ? (
          <>
            <button type="button" className="button ops-small" onClick={() => setAsked("sweep")}>
              Give back garbage…
            </button>
            {n > 0 ? (
              <button type="button" className="button ops-small" onClick={() => setAsked("thin")}>
                Tidy up now…
              </button>
            ) : null}
          </>
        ) : null}
      </header>
      {done ? (
        <p className="ops-done" role="status">
          <Icon name="check" small />
          {done}
        </p>
      ) : null}
      <Drops plan={plan} names={namesOf(all)} />
      <Lacks power="maintain" what="Tidying up now" />
      {asked === "sweep" ? (
        <Confirm calm title="Give back garbage" verb="Give it back" stale={stale} close={close} deed={async () => setDone(swept(await sweep()))}>
          About {bytes(plan.garbage)} that no checkpoint needs are given back. No checkpoint is dropped. Saves go on meanwhile; it may take a while.
        </Confirm>
      ) : null}
      {asked === "thin" ? (
        <Confirm title="Tidy up now" verb={`Drop ${several(n, "checkpoint")}`} stale={stale} close={close} deed={async () => setDone(thinned(await thin()))}>
          <p>
            {several(n, "checkpoint")} of {several(new Set(plan.drops?.map((d) => d.workspace)).size, "workspace")} {n === 1 ? "is" : "are"} dropped (
            {byReason(plan.drops ?? [])
              .map((r) => `${count(r.count)} ${dropWords[r.why] ?? r.why}`)
              .join(", ")}
            ), and about {bytes(plan.frees)} are given back. Dropped checkpoints do not come back.
          </p>
          <p className="dim">Starts, pins, the latest good ones, bases of forks and what undo needs stay. Pin what you want to keep first.</p>
        </Confirm>
      ) : null}
    </section>
  );
}

const swept = (r: SweepReport) => `Gave back ${bytes(Math.max(0, r.before - r.after))} in ${duration(r.took)}; the store takes ${bytes(r.after)}.`;

const thinned = (r: ThinReport) =>
  `Dropped ${several(r.forgotten, "checkpoint")}. ${swept(r.sweep)}${r.over ? ` It is still ${bytes(r.over)} over its limit: what is kept on purpose takes more.` : ""}`;
