// Where else the history is: what is uploaded, and what would be lost with this machine.
import { useQuery } from "@tanstack/react-query";
import { usePowers } from "../../api/powers.ts";
import { workspaces } from "../../api/queries.ts";
import { remotes } from "../../api/remotes.ts";
import { Copy } from "../../parts/Copy.tsx";
import { Icon } from "../../parts/Icon.tsx";
import { Empty, Waiting, Wrong } from "../../parts/states.tsx";
import { Head } from "../operations/frame.tsx";
import { RemoteCard } from "./RemoteCard.tsx";
import { sentenceOf } from "./sum.ts";
import "../operations/operations.css";
import "./remotes.css";

export default function Remotes() {
  const { server } = usePowers();
  const list = useQuery({ ...remotes, enabled: !server });
  const all = useQuery(workspaces);
  if (server) return <OfMachine />;
  if (list.isLoadingError) return <Wrong error={list.error} again={() => void list.refetch()} />;
  if (all.isLoadingError) return <Wrong error={all.error} again={() => void all.refetch()} />;
  if (!list.data || !all.data) return <Waiting what="the remotes" />;
  if (list.data.length === 0) return <None />;
  const said = sentenceOf(list.data, all.data);
  const unconfirmed = list.data.some((r) => !r.key_confirmed);
  return (
    <div className="page rm">
      <Head title={said.head}>{said.rest}</Head>
      {unconfirmed ? <KeyBar many={list.data.length > 1} /> : null}
      {list.data.map((r) => (
        <RemoteCard key={r.name} remote={r} all={all.data} />
      ))}
      <section className="card ops-card rm-more" aria-label="Add a remote">
        <p className="dim">Add another remote: a directory on another disk, a bucket, or a host.</p>
        <Copy text={addCommand} label="Copy the command that adds a remote" />
      </section>
    </div>
  );
}

const addCommand = "retake remote add s3://my-bucket/retake";

function None() {
  return (
    <Empty title="No remotes: the history is on this machine only" page>
      <p>A remote is another disk, a bucket or a host that has an encrypted copy of all checkpoints, for when this machine is lost.</p>
      <Copy text={addCommand} />
    </Empty>
  );
}

function OfMachine() {
  return (
    <Empty title="A server has no remotes" page>
      <p>Remotes are for the history of a machine. This console shows a server.</p>
    </Empty>
  );
}

/** One key opens all copies. It is never shown here: who confirms it types what they kept, in a terminal. */
function KeyBar({ many }: { many: boolean }) {
  return (
    <section className="rm-key" aria-labelledby="rm-key-title">
      <Icon name="key" />
      <div className="grow">
        <h2 id="rm-key-title">Recovery key not confirmed</h2>
        <p>Without it you can’t read {many ? "these copies" : "this copy"} on another machine. Show that you kept it:</p>
      </div>
      <Copy text="retake remote key --confirm" label="Copy the command that confirms the key" />
    </section>
  );
}
