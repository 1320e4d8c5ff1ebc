// Whether the checkpoints are commits of a git remote, too.
import type { Status } from "../../api/types.ts";
import { Flag } from "../../parts/marks.tsx";
import { shown } from "../../words/escape.ts";
import { count, several } from "../../words/number.ts";
import { ago, until } from "../../words/time.ts";
import { Part } from "./Part.tsx";

export function BackupCard({ status: st }: { status: Status }) {
  const b = st.backup;
  if (!b || !b.url) {
    return (
      <Part title="Git backup" commands={[["Back up every checkpoint to a git remote", "retake backup set git@host:path"]]}>
        <p className="dim">None is set. It pushes every checkpoint to a git remote, as a commit of a branch.</p>
      </Part>
    );
  }
  const left = b.left.reduce((n, l) => n + l.count, 0);
  return (
    <Part
      title="Git backup"
      aside={b.trouble ? <Flag family="bad">failing</Flag> : b.behind > 0 ? <Flag family="partial">behind</Flag> : <Flag family="good">up to date</Flag>}
      commands={[["Send now", "retake backup now"], ["Stop; what was sent stays there", "retake backup off"]]}
    >
      {b.trouble ? (
        <p className="settings-say bad">
          <span>
            {shown(b.trouble.what)} for {ago(b.trouble.since).replace(" ago", "")}, after {several(b.trouble.tries, "try", "tries")}.{b.trouble.next ? ` Again ${until(b.trouble.next)}.` : ""}{" "}
            {b.trouble.hint ? shown(b.trouble.hint) : ""}
          </span>
        </p>
      ) : null}
      <dl className="settings-list">
        <div>
          <dt>Remote</dt>
          <dd className="mono">{shown(b.url)}</dd>
        </div>
        <div>
          <dt>Branch</dt>
          <dd className="mono">{shown(b.branch)}</dd>
        </div>
        <div>
          <dt>There</dt>
          <dd>
            {b.pushed ? `checkpoint ${b.pushed.number}, read back ${ago(b.pushed.at)}` : "nothing yet"}
            {b.behind > 0 ? `, ${count(b.behind)} behind` : ""}
          </dd>
        </div>
        {left > 0 ? (
          <div>
            <dt>Left out</dt>
            <dd>{b.left.map((l) => `${several(l.count, "path")}, ${shown(l.reason)}`).join("; ")}</dd>
          </div>
        ) : null}
      </dl>
    </Part>
  );
}
