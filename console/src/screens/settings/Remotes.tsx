// The remotes that get this workspace, and how far each is.
import { Link } from "@tanstack/react-router";
import type { Remote, Status } from "../../api/types.ts";
import { Flag } from "../../parts/marks.tsx";
import { shown } from "../../words/escape.ts";
import { count, upper } from "../../words/number.ts";
import { failedCheck, isComplete, isUnavailable, protectionText } from "../../words/remote.ts";
import { ago, clock, until } from "../../words/time.ts";
import { Part } from "./Part.tsx";

export function RemotesCard({ status: st }: { status: Status }) {
  const all = st.remotes ?? [];
  if (all.length === 0) {
    return (
      <Part title="Remotes" commands={[["Add a remote", "retake remote add s3://my-bucket/retake"]]}>
        <p className="dim">None. A remote has an encrypted copy of all checkpoints, for when this machine is lost.</p>
      </Part>
    );
  }
  const commands: [string, string][] = [["Upload now and wait", "retake remote sync"]];
  if (all.some((r) => !r.key_confirmed)) commands.unshift(["Recovery key not confirmed", "retake remote key --confirm"]);
  return (
    <Part title="Remotes" aside={<Sign all={all} />} commands={commands}>
      <dl className="settings-list">
        {all.map((r) => (
          <div key={r.name}>
            <dt>{shown(r.name)}</dt>
            <dd>
              <p>{farText(r)}</p>
              {r.trouble ? <p className={isUnavailable(r) ? "risky" : "dim"}>{troubleText(r)}</p> : null}
              {failedCheck(r) ? <p className="bad">The last check failed, {ago(r.check!.at)}.</p> : null}
              <p className="dim">{protectionText(r.protection)}</p>
            </dd>
          </div>
        ))}
      </dl>
      <p>
        <Link className="link" to="/remotes">
          All remotes
        </Link>
      </p>
    </Part>
  );
}

function Sign({ all }: { all: readonly Remote[] }) {
  if (all.some(isUnavailable)) return <Flag family="risky">unavailable</Flag>;
  if (all.some(failedCheck)) return <Flag family="bad">check failed</Flag>;
  return all.every(isComplete) ? <Flag family="good">uploaded</Flag> : <Flag family="partial">pending</Flag>;
}

function farText(r: Remote): string {
  const w = r.workspaces?.[0];
  if (!w) return "no checkpoint yet";
  const far = w.uploaded > 0 ? `${w.uploaded} of ${w.newest} uploaded` : "nothing uploaded yet";
  return r.pending > 0 ? `${far}, ${count(r.pending)} pending` : `${far}${r.uploaded ? `, ${ago(r.uploaded)}` : ""}`;
}

function troubleText(r: Remote): string {
  const t = r.trouble!;
  return `${upper(shown(t.what))}, since ${clock(t.since)}.${t.next ? ` Next try ${until(t.next)}.` : ""} Saving is not delayed.`;
}
