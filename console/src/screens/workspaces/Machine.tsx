// What all workspaces share: the store and its room, how safe it is, and whether going back
// was proven.
import { useQueries, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { statusOf } from "../../api/queries.ts";
import { remotes } from "../../api/remotes.ts";
import type { Remote, SpacePlan, Status, WorkspaceState } from "../../api/types.ts";
import { Icon } from "../../parts/Icon.tsx";
import { shown } from "../../words/escape.ts";
import { bytes, several } from "../../words/number.ts";
import { ago } from "../../words/time.ts";
import { dayBars, elsewhereOf, storeFits, storeText } from "./rows.ts";

/** So many workspaces are asked for proofs and copies. */
const looked = 8;

/** Fewer days than this are no picture. */
const enough = 3;

export function Machine({ all, space, server }: { all: readonly WorkspaceState[]; space?: SpacePlan; server: boolean }) {
  const living = all.filter((w) => !w.ended && !w.gone && !w.origin).slice(0, looked);
  const told = useQueries({ queries: living.map((w) => ({ ...statusOf(w.id), retry: false })) });
  const known = told.flatMap((t) => (t.data ? [t.data] : []));
  const copies = useQuery({ ...remotes, enabled: !server, retry: false });
  const days = Array.from({ length: 30 }, (_, i) => (space?.workspaces ?? []).reduce((n, w) => n + (w.days?.[i] ?? 0), 0));
  return (
    <div className="ws-sum">
      {space && days.filter((n) => n > 0).length >= enough ? <Days space={space} days={days} /> : null}
      <section className="card ws-machine">
        <h2>
          {server ? "On this server" : "On this machine"}
          <Link className="link" to="/storage">
            Storage
          </Link>
        </h2>
        <dl>
          {space ? (
            <Fact fine={storeFits(space)} name="Store">
              {storeText(space)}
            </Fact>
          ) : null}
          {space ? (
            <Fact fine={space.store.free >= space.store.floor} name="Disk">
              {bytes(space.store.free)} free, floor {bytes(space.store.floor)}
            </Fact>
          ) : null}
          <Proven known={known} />
          {known[0] ? (
            <Fact fine={known[0].protection !== "same-user"} name="Level">
              {known[0].protection === "same-user" ? "same-user: a program that runs as you could delete the store" : shown(known[0].protection)}
            </Fact>
          ) : null}
          {known.length > 0 ? <Elsewhere known={known} remotes={copies.data ?? []} server={server} /> : null}
        </dl>
      </section>
    </div>
  );
}

/** Fact is fine, wants a look, or is not known. */
function Fact({ fine, name, children }: { fine?: boolean; name: string; children: ReactNode }) {
  const [look, icon, word] = fine ? (["good", "check", "fine"] as const) : fine === false ? (["risky", "warn", "mind"] as const) : (["unknown", "clock", "not yet"] as const);
  return (
    <div>
      <dt>
        <span className={look}>
          <Icon name={icon} />
          <span className="sr">{word}: </span>
        </span>
        {name}
      </dt>
      <dd>{children}</dd>
    </div>
  );
}

function Proven({ known }: { known: readonly Status[] }) {
  const failed = known.find((s) => s.drill && s.drill.verdict !== "passed");
  const proven = known.filter((s) => s.drill?.verdict === "passed");
  if (failed) return <Fact fine={false} name="Restorable">{`${shown(failed.workspace.name)}: ${failed.drill!.number} could not be proven ${ago(failed.drill!.at)}`}</Fact>;
  if (proven.length === 0) return known.length > 0 ? <Fact name="Restorable">not proven yet</Fact> : null;
  return <Fact fine name="Restorable">{`${proven.map((s) => shown(s.workspace.name)).join(", ")}: proven ${ago(proven[0]!.drill!.at)}`}</Fact>;
}

/** Whether the history is at another place, too. */
function Elsewhere(p: { known: readonly Status[]; remotes: readonly Remote[]; server: boolean }) {
  const { fine, text } = elsewhereOf(p.known, p.remotes, p.server);
  return (
    <Fact fine={fine} name="Remote copy">
      {p.server ? text : (
        <Link className="link" to="/remotes">
          {text}
        </Link>
      )}
    </Fact>
  );
}

/** The checkpoints that are kept, of each of the last thirty days. */
function Days({ space, days }: { space: SpacePlan; days: readonly number[] }) {
  const sum = days.reduce((a, b) => a + b, 0);
  const most = Math.max(...days);
  return (
    <section className="card ws-store">
      <h2>
        <b className="num">{bytes(space.store.bytes)}</b>
        {space.budget > 0 ? ` of ${bytes(space.budget)}` : ""}, all workspaces
      </h2>
      <svg viewBox="0 0 600 92" preserveAspectRatio="none" role="img" aria-label={`${several(sum, "checkpoint")} of the last 30 days are kept, at most ${most} of one day`}>
        <path d="M0 91.5H600" className="base" />
        <path d={dayBars(days, 600, 90)} />
      </svg>
      <p className="ws-axis" aria-hidden="true">
        <span>30 days ago</span>
        <span>{several(sum, "checkpoint")} kept</span>
        <span>today</span>
      </p>
    </section>
  );
}
