// One remote: how far it is, what it promises, and what is wrong with it.
import { Link } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { usePowers } from "../../api/powers.ts";
import { syncRemote } from "../../api/remotes.ts";
import type { BackupTrouble, Remote, RemoteCheck, WorkspaceState } from "../../api/types.ts";
import { Copy } from "../../parts/Copy.tsx";
import { Icon, type IconName } from "../../parts/Icon.tsx";
import { commandLine } from "../../words/command.ts";
import { shown } from "../../words/escape.ts";
import { bytes, count, orNone, several, upper } from "../../words/number.ts";
import { failedCheck, isComplete, isUnavailable, protectionText } from "../../words/remote.ts";
import { ago, clock, until, whole } from "../../words/time.ts";
import { Said, useDeed } from "../operations/Ask.tsx";
import { Lacks } from "../operations/frame.tsx";
import { inOrder, shareOf } from "./sum.ts";

const stale = [["remotes"], ["ws"]];

export function RemoteCard({ remote: r, all }: { remote: Remote; all: readonly WorkspaceState[] }) {
  const { may } = usePowers();
  const sync = useDeed(() => syncRemote(r.name), stale);
  const away = isUnavailable(r);
  return (
    <section className="card ops-card rm-card" aria-label={`Remote ${shown(r.name)}`}>
      <header>
        <i className={failedCheck(r) ? "rm-dot bad" : away ? "rm-dot risky" : isComplete(r) ? "rm-dot good" : "rm-dot"} aria-hidden="true" />
        <h2 className="cut">{shown(r.name)}</h2>
        <span className="mono dim cut grow" title={shown(r.url)}>
          {shown(r.url)}
        </span>
        <span className="rm-state">
          <State remote={r} busy={sync.isPending} />
        </span>
        {may("maintain") ? (
          <button type="button" className="button ops-small" disabled={sync.isPending} onClick={() => sync.mutate(undefined)}>
            {sync.isPending ? "Uploading…" : away ? "Try now" : "Upload now"}
            <span className="sr">, {shown(r.name)}</span>
          </button>
        ) : null}
      </header>
      <Said error={sync.error} />
      <Sums remote={r} all={all} />
      <div className="rm-two">
        <div>
          {r.trouble ? <Trouble trouble={r.trouble} pending={r.pending} /> : null}
          <Row icon="shield" title="Protection">
            {protectionText(r.protection)}
          </Row>
          <Checked name={r.name} check={r.check} />
          {(r.damaged ?? 0) > 0 ? (
            <Row icon="warn" family="bad" title={`${several(r.damaged!, "object")} ${r.damaged === 1 ? "is" : "are"} damaged here and not there`}>
              <Copy text="retake doctor --repair" label="Copy the command that repairs the store" />
            </Row>
          ) : null}
          <Lacks power="maintain" what="Uploading now" />
        </div>
        <Workspaces remote={r} />
      </div>
    </section>
  );
}

function State({ remote: r, busy }: { remote: Remote; busy: boolean }) {
  if (busy) return <span className="verify">uploading</span>;
  if (isUnavailable(r)) {
    return (
      <span className="verify rm-risky" title={whole(r.trouble!.since)}>
        <Icon name="warn" small />
        unavailable since {clock(r.trouble!.since)}
      </span>
    );
  }
  if (failedCheck(r)) {
    return (
      <span className="verify failed">
        <Icon name="cross" small />
        last check failed
      </span>
    );
  }
  if (r.pending > 0 || !r.uploaded) {
    return (
      <span className="verify">
        <Icon name="clock" small />
        {r.pending > 0 ? `${count(r.pending)} pending` : "nothing uploaded yet"}
      </span>
    );
  }
  return (
    <span className="verify passed">
      <Icon name="check" small />
      all uploaded
    </span>
  );
}

function Sums({ remote: r, all }: { remote: Remote; all: readonly WorkspaceState[] }) {
  const { there, total } = shareOf(r, all);
  return (
    <dl className="rm-sums">
      <Sum name="Uploaded" value={count(there)} more={`of ${several(total, "checkpoint")}`} />
      <Sum name="Pending" value={orNone(r.pending)} more={r.pending > 0 ? "saved on this machine" : "nothing waits"} />
      <Sum name="Last upload" value={r.uploaded ? clock(r.uploaded) : "–"} more={r.uploaded ? `everything, ${ago(r.uploaded)}` : "never complete yet"} title={r.uploaded && whole(r.uploaded)} />
      <Sum name="Sent" value={bytes(r.sent)} more={`since ${clock(r.created)}`} title={whole(r.created)} />
    </dl>
  );
}

function Sum({ name, value, more, title }: { name: string; value: string; more: string; title?: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd title={title}>
        <b className="num">{value}</b>
        <small>{more}</small>
      </dd>
    </div>
  );
}

function Row({ icon, family, title, children }: { icon: IconName; family?: "bad" | "risky" | "good"; title: string; children: ReactNode }) {
  return (
    <div className="rm-row">
      <span className={family ?? "dimmer"}>
        <Icon name={icon} />
      </span>
      <div className="grow">
        <h3>{title}</h3>
        <div className="dim">{children}</div>
      </div>
    </div>
  );
}

function Trouble({ trouble: t, pending }: { trouble: BackupTrouble; pending: number }) {
  const next = t.next ? (Date.parse(t.next) > Date.now() ? `Next try ${until(t.next)}.` : "The next try is due.") : "Retake tries again after the next change.";
  return (
    <Row icon="clock" family="risky" title={pending > 0 ? `${several(pending, "checkpoint")} ${pending === 1 ? "waits" : "wait"} here` : "Nothing waits, but the last try failed"}>
      <p>
        {upper(shown(t.what))}, {several(t.tries, "try", "tries")} since {clock(t.since)}. {next} Saving is not delayed.
      </p>
      {(t.hint ?? "")
        .split("\n")
        .filter((line) => line.trim() !== "")
        .map((line, i) => (
          <p key={i}>{upper(shown(line))}</p>
        ))}
    </Row>
  );
}

/** So many failures of a check are listed. */
const failures = 5;

function Checked({ name, check: c }: { name: string; check?: RemoteCheck }) {
  const command = <Copy text={commandLine(["retake", "remote", "check", name])} label={`Copy the command that checks ${shown(name)}`} />;
  if (!c) {
    return (
      <Row icon="eye" title="Not checked yet">
        <p>A check reads a part of the copy back and compares it.</p>
        {command}
      </Row>
    );
  }
  const failed = c.failed ?? [];
  return (
    <Row icon={failed.length > 0 ? "cross" : "check"} family={failed.length > 0 ? "bad" : "good"} title={failed.length > 0 ? `Last check: ${count(failed.length)} failed` : "Last check"}>
      <p title={whole(c.at)}>
        {upper(ago(c.at))}: {several(c.checkpoints, "checkpoint")} and {several(c.objects, "object")} read back ({bytes(c.bytes)}), {count(failed.length)} failed.
      </p>
      {failed.slice(0, failures).map((line, i) => (
        <p key={i} className="mono rm-failed">
          {shown(line)}
        </p>
      ))}
      {failed.length > failures ? <p>{count(failed.length - failures)} more</p> : null}
      {failed.length > 0 ? command : null}
    </Row>
  );
}

const first = 8;

function Workspaces({ remote: r }: { remote: Remote }) {
  const [more, setMore] = useState(first);
  const rows = inOrder(r.workspaces);
  return (
    <div className="rm-rooms">
      <table className="ops-table">
        <thead>
          <tr>
            <th scope="col">{r.limited ? "Only these workspaces" : "Workspace"}</th>
            <th scope="col" className="right">
              Newest
            </th>
            <th scope="col" className="right">
              Uploaded
            </th>
            <th scope="col" className="right">
              Pending
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, more).map((w) => (
            <tr key={w.workspace}>
              <th scope="row">
                <Link to="/w/$ws" params={{ ws: w.workspace }} className="cut">
                  {shown(w.name)}
                </Link>
              </th>
              <td className="num right" data-label="newest">
                {w.newest}
              </td>
              <td className="right" data-label="uploaded">
                <span className={w.pending === 0 ? "verify passed num" : "verify num"}>
                  {w.pending === 0 ? <Icon name="check" small /> : null}
                  {w.uploaded > 0 ? w.uploaded : "none"}
                </span>
              </td>
              <td className="num right" data-label="pending">
                {orNone(w.pending)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length === 0 ? <p className="ops-none">No workspace has a checkpoint yet.</p> : null}
      {rows.length > more ? (
        <p className="ops-note">
          <button type="button" className="link" onClick={() => setMore(more + 40)}>
            Show {several(Math.min(40, rows.length - more), "more workspace")} of {count(rows.length - more)}
          </button>
        </p>
      ) : null}
    </div>
  );
}
