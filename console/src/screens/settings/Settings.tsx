// What is set for a workspace, and the command that changes it. Nothing is set from here:
// what decides how history is kept is decided by who sits at the machine.
import { queryOptions, useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { ask } from "../../api/ask.ts";
import { usePowers } from "../../api/powers.ts";
import { logOf, statusOf } from "../../api/queries.ts";
import type { SpacePlan, Standing, StandingList, Status } from "../../api/types.ts";
import { Icon } from "../../parts/Icon.tsx";
import { Waiting, Wrong } from "../../parts/states.tsx";
import { word } from "../../words/command.ts";
import { shown } from "../../words/escape.ts";
import { bytes, several } from "../../words/number.ts";
import { ago, clock, whole } from "../../words/time.ts";
import { BackupCard } from "./Backup.tsx";
import { Pins, Retention } from "./Kept.tsx";
import { Part } from "./Part.tsx";
import { RemotesCard } from "./Remotes.tsx";
import { answer, levelText, trackingText } from "./words.ts";
import "./settings.css";

const standingOf = (ws: string) =>
  queryOptions({
    queryKey: ["ws", ws, "standing"],
    queryFn: async ({ signal }) => (await ask<StandingList>("GET", `/v1/workspaces/${encodeURIComponent(ws)}/standing`, { signal })).standing,
  });

const spacePlan = queryOptions({ queryKey: ["space-plan"], queryFn: ({ signal }) => ask<SpacePlan>("GET", "/v1/space/plan", { signal }) });

export default function Settings() {
  const { ws } = useParams({ strict: false }) as { ws: string };
  const status = useQuery(statusOf(ws));
  const standing = useQuery(standingOf(ws));
  const plan = useQuery({ ...spacePlan, retry: false });
  const log = useQuery(logOf(ws));
  const { server } = usePowers();
  if (status.isPending) return <Waiting what="the settings" />;
  if (status.isLoadingError) return <Wrong error={status.error} again={() => void status.refetch()} />;
  const st = status.data;
  return (
    <div className="page settings">
      <h1 className="title">{answer(st, server)}</h1>
      <p className="settings-sub">What is set, and the command that changes it. Nothing is changed from this page.</p>
      <div className="settings-two">
        <div>
          <Workspace status={st} server={server} />
          <Protection status={st} />
          <Verifying standing={standing.data} error={standing.error} server={server} />
          {server ? null : <RemotesCard status={st} />}
          <BackupCard status={st} />
        </div>
        <div>
          {plan.data ? <Retention plan={plan.data} ws={ws} server={server} /> : null}
          <Pins pins={log.data?.pins ?? []} ws={ws} server={server} />
          <Store status={st} plan={plan.data} server={server} />
        </div>
      </div>
    </div>
  );
}

function Workspace({ status: st, server }: { status: Status; server: boolean }) {
  const w = st.workspace;
  return (
    <Part title="Workspace" commands={server ? undefined : [["End the protection; the history stays", `retake deinit ${word(w.name)}`]]}>
      <dl className="settings-list">
        <div>
          <dt>Name</dt>
          <dd>{shown(w.name)}</dd>
        </div>
        <div>
          <dt>Directory</dt>
          <dd className="mono">{shown(w.root)}</dd>
        </div>
        <div>
          <dt>Id</dt>
          <dd className="mono">{shown(w.id)}</dd>
        </div>
        <div>
          <dt>Protected since</dt>
          <dd title={whole(w.created)}>
            {clock(w.created)}, {several(st.count, "checkpoint")}
          </dd>
        </div>
        {w.origin ? (
          <div>
            <dt>Grew from</dt>
            <dd>checkpoint {w.origin.number} of another workspace</dd>
          </div>
        ) : null}
      </dl>
    </Part>
  );
}

function Protection({ status: st }: { status: Status }) {
  const level = levelText(st.protection, !!st.remotes?.length);
  const t = st.tracking;
  return (
    <Part title="Protection" commands={[["All of it, checked now", "retake status"]]}>
      <p className={level.sure ? "settings-say good" : "settings-say risky"}>
        <Icon name={level.sure ? "check" : "warn"} small />
        <span>
          <b>{shown(st.protection)}</b> {level.text}
        </span>
      </p>
      <p className="settings-say">
        <Icon name="eye" small />
        <span>
          {trackingText(t)}
          {t.unseen > 0 ? ` ${several(t.unseen, "process", "processes")} cannot be looked into: what ${t.unseen === 1 ? "it maps" : "they map"} shows when the file is closed.` : ""}
          {t.check ? ` Cross-checked ${ago(t.check.at)}: ${several(t.check.files, "file")}, ${(t.check.missed ?? []).length === 0 ? "none was missed" : `${several((t.check.missed ?? []).length, "was", "were")} missed`}.` : ""}
        </span>
      </p>
      {st.drill ? (
        <p className="settings-say">
          <Icon name={st.drill.verdict === "passed" ? "check" : "warn"} small />
          <span>
            {st.drill.number} {st.drill.verdict === "passed" ? "was proven restorable" : "did not pass when it was restored"} in a fork, {ago(st.drill.at)}.
          </span>
        </p>
      ) : null}
    </Part>
  );
}

function Verifying({ standing, error, server }: { standing?: readonly Standing[]; error: unknown; server: boolean }) {
  const commands: [string, string][] = [["Run it after every turn", "retake config verify.test 'npm test'"], ["Remove one", "retake config verify.test ''"]];
  return (
    <Part title="Checks" commands={server ? undefined : commands}>
      {error ? <p className="dim">They cannot be read at present.</p> : null}
      {standing?.length === 0 ? <p className="dim">No checks yet. A check is a command that runs after every turn and shows which checkpoints are good.</p> : null}
      {standing?.length ? (
        <dl className="settings-list">
          {standing.map((s) => (
            <div key={s.name}>
              <dt>{shown(s.name)}</dt>
              <dd className="mono">{shown(s.command)}</dd>
            </div>
          ))}
        </dl>
      ) : null}
    </Part>
  );
}

function Store({ status: st, plan, server }: { status: Status; plan?: SpacePlan; server: boolean }) {
  const low = st.store.free < st.store.floor;
  const commands: [string, string][] = [["Storage limit", "retake config budget 20GB"], ["Minimum free space", "retake config floor 10GB"]];
  return (
    <Part title="Store" commands={server ? undefined : commands}>
      <dl className="settings-list">
        <div>
          <dt>Takes</dt>
          <dd className="num">
            {bytes(st.store.bytes)}
            {plan?.budget ? ` of ${bytes(plan.budget)}` : ""}, of all workspaces
          </dd>
        </div>
        <div>
          <dt>Disk</dt>
          <dd className={low ? "num risky" : "num"}>
            {bytes(st.store.free)} free{low ? ", less than the minimum: nothing is saved" : ""}
          </dd>
        </div>
        <div>
          <dt>Minimum free</dt>
          <dd className="num">{bytes(st.store.floor)}</dd>
        </div>
        {plan && plan.garbage > 0 ? (
          <div>
            <dt>Garbage</dt>
            <dd className="num">about {bytes(plan.garbage)}, given back by the next cleanup</dd>
          </div>
        ) : null}
      </dl>
    </Part>
  );
}
