// The chosen checkpoint beside the list: verified by us, what really changed, what was said,
// and how much of it is kept.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Fragment, useEffect, useState } from "react";
import { usePowers } from "../../api/powers.ts";
import { statusOf, storyOf, verificationsOf } from "../../api/queries.ts";
import type { Checkpoint, Upload, Verification } from "../../api/types.ts";
import { Icon } from "../../parts/Icon.tsx";
import { Flag, Lines, Named, Verify } from "../../parts/marks.tsx";
import { oneLine, shown, shownLines } from "../../words/escape.ts";
import { agentName, answerWords } from "../../words/checkpoint.ts";
import { bytes, count, duration, several } from "../../words/number.ts";
import { elsewhere } from "../../words/remote.ts";
import { ago, clock, whole } from "../../words/time.ts";
import type { Read } from "./book.ts";
import { Story } from "./Rows.tsx";
import { parentOf, type Row } from "./rows.ts";
import { familyOf, pieces } from "./story.ts";
import { themesOf, trail, trailName } from "./themes.ts";

interface Props {
  ws: string;
  read: Read;
  at: number; // where it is in the book
  newer?: () => void;
  older?: () => void;
}

export function Preview({ ws, read, at, newer, older }: Props) {
  const row = read.rows[at]!;
  const c = row.checkpoint;
  const calm = useCalm(c.number);
  const ref = String(c.number);
  const before = parentOf(read.rows, row);
  const { may } = usePowers();
  return (
    <aside className="tl-pre" aria-label={`Checkpoint ${c.number}`}>
      <div className="tl-pre-head">
        <span className="big num">{c.number}</span>
        <span className="dim num" title={whole(c.time)}>
          {clock(c.time)} · {ago(c.time)}
        </span>
        <span className="grow" />
        <button type="button" className="icon-button" aria-label="Newer checkpoint" disabled={!newer} onClick={newer}>
          <Icon name="up" />
        </button>
        <button type="button" className="icon-button" aria-label="Older checkpoint" disabled={!older} onClick={older}>
          <Icon name="down" />
        </button>
      </div>
      <div className="tl-pre-body" tabIndex={0} role="region" aria-label={`About checkpoint ${c.number}`}>
        <h2>
          <Named title={shown(row.title)} />
        </h2>
        <Meta row={row} />
        <Checks ws={ws} rows={read.rows} at={at} ready={calm === c.number} />
        <Changed ws={ws} row={row} before={before} ready={calm === c.number} />
        <Said ws={ws} c={c} />
        <Kept ws={ws} row={row} upload={read.upload} />
      </div>
      <div className="tl-pre-foot">
        <Link className="button primary" to="/w/$ws/m/$ref" params={{ ws, ref }}>
          Open<kbd>↵</kbd>
        </Link>
        {may("return") ? (
          <>
            {at === 0 && before ? ( // to restore what is there leads nowhere
              <Link className="button" to="/w/$ws/plan" params={{ ws }} search={{ course: "undo", ref }}>
                Undo {c.number}…
              </Link>
            ) : (
              <Link className="button" to="/w/$ws/plan" params={{ ws }} search={{ course: "restore", ref }}>
                Restore {c.number}…<kbd>r</kbd>
              </Link>
            )}
            <Link className="button" to="/w/$ws/forks" params={{ ws }} search={{ from: ref }}>
              Fork<kbd>f</kbd>
            </Link>
          </>
        ) : (
          <button type="button" className="button" disabled title={mayNot}>
            Restore…<span className="sr">, {mayNot}</span>
          </button>
        )}
        <Link className="button" to="/w/$ws/compare" params={{ ws }} search={{ from: before ? String(before.number) : ref, to: ref }}>
          Diff<kbd>d</kbd>
        </Link>
      </div>
    </aside>
  );
}

/** Why a button is off. */
export const mayNot = "your key may look, and not go back";

/** What is asked for follows a person who moves fast only when they rest. */
function useCalm(n: number): number {
  const [calm, setCalm] = useState(n);
  useEffect(() => {
    const t = setTimeout(() => setCalm(n), 120);
    return () => clearTimeout(t);
  }, [n]);
  return calm;
}

function Meta({ row }: { row: Row }) {
  const c = row.checkpoint;
  const t = c.turn;
  const lines: string[] = [];
  if (t?.prompt && c.trigger !== "turn") lines.push(`In the turn “${oneLine(t.prompt)}”`);
  if (t?.tasks) lines.push(`${t.tasks.done} of ${t.tasks.total} tasks done${t.tasks.failed ? `, ${t.tasks.failed} failed` : ""}${t.tasks.next ? `, next: ${oneLine(t.tasks.next)}` : ""}`);
  const alone = t ? (t.contested?.length ? `, with ${t.contested.map(agentName).join(", ")} at work` : ", no other agent was working") : "";
  lines.push(`${t ? agentName(t.agent) : shown(row.who || "Retake")}${t?.version ? ` ${shown(t.version)}` : ""}${alone}`);
  return (
    <>
      <p className="tl-meta">
        {lines.map((l) => (
          <span key={l}>{l}</span>
        ))}
      </p>
      {row.flags?.map((f) => (
        <p key={f.word} className="tl-why">
          <Flag family={familyOf(f)}>{shown(f.word)}</Flag> {shown(f.why ?? "")}
        </p>
      ))}
    </>
  );
}

function Checks({ ws, rows, at, ready }: { ws: string; rows: readonly Row[]; at: number; ready: boolean }) {
  const c = rows[at]!;
  const answers = c.answers ?? [];
  const runs = useQuery({ ...verificationsOf(ws, String(c.number)), enabled: ready && answers.length > 0 }).data;
  const name = trailName(c);
  const steps = name ? trail(rows, at, name) : [];
  return (
    <section>
      <h3>Checks run by Retake</h3>
      {answers.length === 0 ? <p className="dim">Never checked.</p> : null}
      {answers.map((a) => (
        <div key={a.name + String(a.claim)} className="tl-ver">
          <Verify answer={a} />
          <span>
            {a.claim ? (
              <span className="dimmer">said, not seen by us</span>
            ) : (
              <Outcome run={runs?.find((r) => r.name === a.name && !r.claim)} failed={a.verdict === "failed"} words={answerWords(a)} />
            )}
          </span>
          {a.claim ? null : (
            <Link className="link" to="/w/$ws/m/$ref" params={{ ws, ref: String(c.number) }} aria-label={`Output of ${shown(a.name)}`}>
              Output
            </Link>
          )}
        </div>
      ))}
      {name && steps.length > 1 ? (
        <p className="tl-trail" aria-label={`${shown(name)} over time`} role="group">
          {steps.map((s, i) => (
            <Fragment key={s.number}>
              {i > 0 ? <i /> : null}
              <span className={s.number === c.number ? "here" : undefined}>
                <span className={`verify ${s.verdict}`}>
                  <Icon name={s.verdict === "passed" ? "check" : s.verdict === "failed" ? "cross" : "question"} small />
                  <span className="sr">{s.verdict} at </span>
                  {s.number}
                </span>
              </span>
            </Fragment>
          ))}
        </p>
      ) : null}
    </section>
  );
}

const lastLine = (output: string) => oneLine(output.trimEnd().split("\n").pop() ?? "");

function Outcome({ run, failed, words }: { run?: Verification; failed: boolean; words: string }) {
  if (!run) return <span className="dim">{words}</span>;
  const said = run.why ? shown(run.why) : run.output ? lastLine(run.output) : run.verdict;
  return (
    <>
      <span className={failed ? "strong" : "dim"}>{said}</span> <span className="dim">in {run.took < 1e8 ? "under 0.1 s" : duration(run.took)}</span>
    </>
  );
}

function Changed({ ws, row, before, ready }: { ws: string; row: Row; before?: Row; ready: boolean }) {
  const { checkpoint: c, files } = row;
  const story = useQuery({ ...storyOf(ws, c.parent ?? "", String(c.number)), enabled: ready && !!c.parent && c.trigger !== "init" && files > 0, retry: false });
  const themes = story.data ? themesOf(story.data) : [];
  return (
    <section>
      <h3>
        <span>{c.trigger === "init" ? "The first capture" : `What really changed${before ? ` since ${before.number}` : ""}`}</span>
        <span className="num">{files ? several(files, "file") : ""}</span>
      </h3>
      {themes.length === 0 ? (
        <p className="dim">
          <Story parts={(row.points ?? []).map(pieces)} />
        </p>
      ) : null}
      {themes.map((t) => (
        <div key={t.theme} className="tl-theme">
          <Icon name={t.icon} />
          <b className={t.theme === "deleted" ? "bad" : undefined}>{t.label}</b>
          <div>
            {t.lines.map((l, i) => (
              <div key={i} className="tl-line">
                <span>
                  <Story parts={[l.pieces]} /> {l.secret ? <Flag family="risky">likely secret</Flag> : null}
                </span>
                <Lines plus={l.plus} minus={l.minus} />
              </div>
            ))}
            {t.more > 0 ? <div className="dim">{count(t.more)} more</div> : null}
          </div>
        </div>
      ))}
    </section>
  );
}

/** So much of what was said stands here. */
const mostWords = 600;
const cut = (s: string) => (s.length > mostWords ? `${s.slice(0, mostWords)} …` : s);

function Said({ ws, c }: { ws: string; c: Checkpoint }) {
  const t = c.turn;
  if (!t?.words && !t?.command) return null;
  return (
    <section>
      <h3>
        <span>What was said</span>
        <Link className="link" to="/w/$ws/m/$ref" params={{ ws, ref: String(c.number) }}>
          All of it
        </Link>
      </h3>
      {t.command ? <p className="tl-said mono">{shown(t.command)}</p> : null}
      {t.words ? <p className="tl-said">“{shownLines(cut(t.words)).trim()}”</p> : null}
    </section>
  );
}

function Kept({ ws, row: { checkpoint: c, flags }, upload }: { ws: string; row: Row; upload?: Upload }) {
  const backup = useQuery(statusOf(ws)).data?.backup;
  const complete = c.coverage.grade === "complete";
  return (
    <section>
      <h3>Saved</h3>
      <div className="tl-theme">
        <Icon name="shield" />
        <b className={complete ? undefined : "partial"}>{complete ? "Complete" : "Partial"}</b>
        <div className="dim">
          {complete ? "" : `${shown(flags?.find((f) => f.word === "partial")?.why ?? "")}. `}
          {several(c.files, "file")}, {bytes(c.new_bytes)} new. On this machine, {elsewhere(c.number, upload, backup)}.
        </div>
      </div>
    </section>
  );
}
