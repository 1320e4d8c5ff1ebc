// Where checkpoints also go, as commits of a git remote. A backup that fails is loud.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { dropBackup, sendBackup } from "../../api/office.ts";
import type { Backup as Kept, BackupTrouble, WorkspaceState } from "../../api/types.ts";
import { Copy } from "../../parts/Copy.tsx";
import { Icon } from "../../parts/Icon.tsx";
import { Flag } from "../../parts/marks.tsx";
import { shown } from "../../words/escape.ts";
import { count, several } from "../../words/number.ts";
import { ago, clock, until, whole } from "../../words/time.ts";
import { Confirm, Said, useDeed } from "./Ask.tsx";
import { Head, Lacks, useOnce } from "./frame.tsx";
import { Part, useOffice } from "./office.tsx";
import { backupsAsked, useBackups } from "./troubles.ts";
import { leaveWords, sentence as sentenceOf } from "./words.ts";

interface One {
  ws: WorkspaceState;
  backup: Kept;
}

export function Backup() {
  const { all, left, settled, list } = useBackups();
  const ready = useOnce(settled);
  return (
    <Part asked={{ ...list, data: ready ? all : undefined }} what="backups">
      {(known) => <Told all={known} left={left} />}
    </Part>
  );
}

function Told({ all, left }: { all: ReturnType<typeof useBackups>["all"]; left: number }) {
  const set = all.filter((x): x is One & { error: unknown } => !!x.backup).sort((a, b) => Number(!!b.backup.trouble) - Number(!!a.backup.trouble));
  const none = all.filter((x) => x.backup === null);
  const unread = all.filter((x) => x.backup === undefined);
  const said = sentence(set, none.length);
  return (
    <>
      <Head title={said.head} bad={said.bad}>
        {said.rest}
        {left > 0 ? ` Looked at the ${count(backupsAsked)} most recently used workspaces; ${several(left, "more")} not.` : ""}
        {unread.length > 0 ? ` ${several(unread.length, "backup")} could not be read.` : ""}
      </Head>
      <Lacks power="decide" what="Setting, sending and ending a backup" />
      {set.length > 0 ? (
        <div className="ops-stack">
          {set.map((x) => (
            <Card key={x.ws.id} {...x} />
          ))}
        </div>
      ) : null}
      <section className="card ops-card" aria-labelledby="nobackup-title">
        <header>
          <h2 id="nobackup-title">Without a backup</h2>
          <span className="dimmer">{count(none.length)}</span>
        </header>
        <ul className="ops-names" aria-label="Workspaces without a backup">
          {none.slice(0, 40).map((x) => (
            <li key={x.ws.id}>
              <Link className="link" to="/w/$ws" params={{ ws: x.ws.id }}>
                {shown(x.ws.name)}
              </Link>
            </li>
          ))}
          {none.length > 40 ? <li className="dim">and {several(none.length - 40, "more")}</li> : null}
          {none.length === 0 ? <li className="dim">none</li> : null}
        </ul>
        <div className="ops-note">
          <p>A backup is set where the host's key can be compared by a person:</p>
          <Copy text={`retake backup set git@HOST:PATH --workspace ${shellWord(none[0]?.ws.name ?? set[0]?.ws.name ?? "NAME")}`} />
        </div>
      </section>
    </>
  );
}

const shellWord = (s: string) => (/^[\w./-]+$/.test(s) ? s : `'${s.replaceAll("'", `'\\''`)}'`);

function sentence(set: One[], none: number): { head: string; rest: string; bad: boolean } {
  if (set.length === 0) return { head: "No workspace has a git backup", rest: "Checkpoints are saved on this server alone. A backup sends them to a git remote as well, without likely secrets.", bad: false };
  const failing = set.filter((x) => x.backup.trouble);
  const behind = set.reduce((n, x) => n + x.backup.behind, 0);
  const rest = [behind > 0 ? `${several(behind, "checkpoint")} ${behind === 1 ? "is" : "are"} not there yet.` : "Every checkpoint is there, read back after it was sent.", none > 0 ? `${several(none, "workspace")} ${none === 1 ? "has" : "have"} no backup.` : ""];
  if (failing.length > 0) {
    const since = failing.map((x) => x.backup.trouble!.since).sort()[0]!;
    const head = failing.length === 1 ? `The backup of ${shown(failing[0]!.ws.name)} fails since ${clock(since)}` : `${failing.length} of ${several(set.length, "backup")} fail, the first since ${clock(since)}`;
    return { head, rest: rest.filter(Boolean).join(" "), bad: true };
  }
  return { head: set.length === 1 ? `${shown(set[0]!.ws.name)} is backed up` : `All ${set.length} backups are in order`, rest: rest.filter(Boolean).join(" "), bad: false };
}

function Card({ ws, backup: b }: One) {
  const { may } = useOffice();
  const [ending, setEnding] = useState(false);
  const stale = [["ws", ws.id]];
  const send = useDeed(() => sendBackup(ws.id), stale);
  return (
    <section className="card ops-card" aria-label={`Backup of ${shown(ws.name)}`}>
      <header className="ops-wrap">
        <h2>
          <Link to="/w/$ws" params={{ ws: ws.id }}>
            {shown(ws.name)}
          </Link>
        </h2>
        {b.trouble ? <Flag family="bad">failing</Flag> : b.behind > 0 ? <Flag family="risky">behind</Flag> : <Flag family="good">there</Flag>}
        <span className="mono dim grow cut" title={shown(b.url)}>
          {shown(b.url)}
        </span>
        {may("decide") ? (
          <>
            <button type="button" className="button ops-small" disabled={send.isPending} onClick={() => send.mutate(undefined)}>
              {send.isPending ? "Sending" : "Send now"}
            </button>
            <button type="button" className="button ops-small" onClick={() => setEnding(true)}>
              End…
            </button>
          </>
        ) : null}
      </header>
      {b.trouble ? <Failing t={b.trouble} /> : null}
      <Said error={send.error} />
      <Facts b={b} />
      {ending ? (
        <Confirm title={`End the backup of ${shown(ws.name)}`} verb="End the backup" stale={stale} close={() => setEnding(false)} deed={() => dropBackup(ws.id)}>
          New checkpoints go nowhere else any more, and the key that the remote lets in is forgotten here. The remote keeps what it has.
        </Confirm>
      ) : null}
    </section>
  );
}

/** Loud, since the newest checkpoints are in one place only. */
function Failing({ t }: { t: BackupTrouble }) {
  return (
    <div className="ops-err" role="alert">
      <Icon name="warn" />
      <p>
        <b>{sentenceOf(t.what).replace(/\.$/, "")}</b>
        <span>
          {t.hint ? `${sentenceOf(t.hint)} ` : ""}
          {several(t.tries, "try", "tries")} since {clock(t.since)}, the last {ago(t.at)}. {t.next ? `Next try ${until(t.next)}.` : "Retake tries again when something changes."}
        </span>
      </p>
    </div>
  );
}

function Facts({ b }: { b: Kept }) {
  return (
    <dl className="ops-facts">
      <div>
        <dt>Newest there</dt>
        <dd>
          {b.pushed ? (
            <>
              <b className="num">{b.pushed.number}</b>, read back <span title={whole(b.pushed.at)}>{ago(b.pushed.at)}</span>, commit <span className="mono">{shown(b.pushed.commit.slice(0, 10))}</span>
            </>
          ) : (
            "nothing is sent yet"
          )}
          {b.behind > 0 ? <span className="risky">; {several(b.behind, "checkpoint")} behind</span> : null}
        </dd>
      </div>
      <div>
        <dt>Branch</dt>
        <dd className="mono">{shown(b.branch)}</dd>
      </div>
      <div>
        <dt>Left out</dt>
        <dd>{b.left.length === 0 ? "nothing" : b.left.map((l) => `${count(l.count)} ${leaveWords[l.reason] ?? shown(l.reason)}`).join(", ")}</dd>
      </div>
      {b.host ? (
        <div>
          <dt>Host</dt>
          <dd className="mono cut">{shown(b.host.print)}</dd>
        </div>
      ) : null}
    </dl>
  );
}
