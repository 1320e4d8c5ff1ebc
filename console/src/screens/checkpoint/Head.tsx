// The head of a checkpoint: what it is called, when and by whom, and where one can go from it.
import { Link } from "@tanstack/react-router";
import type { Checkpoint, Finding, Pin, Story, Upload, Verification } from "../../api/types.ts";
import { Icon } from "../../parts/Icon.tsx";
import { Flag, Named, Verify } from "../../parts/marks.tsx";
import { outcomeWord, staysDone } from "../../words/effect.ts";
import { oneLine, shown } from "../../words/escape.ts";
import { titleOf, type Goals } from "../../words/checkpoint.ts";
import { several } from "../../words/number.ts";
import { ago, clock, whole } from "../../words/time.ts";
import { changedWords, circumstances, coverageWords, environmentWords, outputGist, trailOf } from "./words.ts";

export interface Around {
  ws: string;
  c: Checkpoint;
  near: readonly Checkpoint[];
  findings: Record<string, Finding>;
  goals: Goals;
  pins: readonly Pin[];
  best: boolean; // what we would go back to ourselves
  mayReturn: boolean;
  upload?: Upload;
}

const neighbours = (a: Around): [number | undefined, number | undefined] => {
  const older = a.near.filter((x) => x.number < a.c.number).map((x) => x.number);
  const newer = a.near.filter((x) => x.number > a.c.number).map((x) => x.number);
  return [older.length ? Math.max(...older) : undefined, newer.length ? Math.min(...newer) : undefined];
};

export function Head({ around: a }: { around: Around }) {
  const { c } = a;
  const flags = a.findings[c.id]?.gist?.flags ?? [];
  return (
    <header className="checkpoint-head">
      <b className="big num">{c.number}</b>
      <div className="grow">
        <h1 title={titleOf(c, a.goals).text}>
          <Named title={titleOf(c, a.goals).text} />
        </h1>
        <p>
          <time dateTime={c.time} title={whole(c.time)}>
            {clock(c.time)}
          </time>
          , {ago(c.time)}
          {circumstances(c).map((x) => (
            <span key={x}> · {x}</span>
          ))}
          {a.pins.map((p) => (
            <span key={p.name}> · pinned as {shown(p.name)}</span>
          ))}
        </p>
        {flags.map((f) => (
          <p key={f.why}>
            <Flag family="mismatch">mismatch</Flag> {oneLine(f.why)}
          </p>
        ))}
        {c.turn?.risk ? (
          <p>
            <Flag family="risky">risky</Flag> the call that comes next {oneLine(c.turn.risk)}
          </p>
        ) : null}
        {c.turn?.failed ? (
          <p>
            <Flag family="bad">failed</Flag> the turn ended in trouble: {oneLine(c.turn.failed)}
          </p>
        ) : null}
      </div>
      <Steps around={a} />
      <Actions around={a} />
    </header>
  );
}

/** The checkpoints before and after; beside the title, or in the foot of a phone. */
export function Steps({ around: a }: { around: Around }) {
  const [before, after] = neighbours(a);
  return (
    <nav className="checkpoint-steps" aria-label="Neighbours">
      <Step ws={a.ws} to={before} word="Checkpoint before" icon="left" />
      <Step ws={a.ws} to={after} word="Checkpoint after" icon="right" />
    </nav>
  );
}

function Step({ ws, to, word, icon }: { ws: string; to?: number; word: string; icon: "left" | "right" }) {
  if (to === undefined) return null;
  return (
    <Link to="/w/$ws/m/$ref" params={{ ws, ref: String(to) }} search={(s) => ({ by: s.by, view: s.view, part: s.part })} aria-label={`${word}: ${to}`}>
      {icon === "left" ? <Icon name="left" small /> : null}
      <span className="num">{to}</span>
      {icon === "right" ? <Icon name="right" small /> : null}
    </Link>
  );
}

export function Actions({ around: a }: { around: Around }) {
  const ref = String(a.c.number);
  const why = a.mayReturn ? undefined : "Your key may look, and not go back.";
  return (
    <div className="checkpoint-acts">
      <Link className="button" to="/w/$ws/compare" params={{ ws: a.ws }} search={{ from: ref }}>
        Compare…
      </Link>
      {a.mayReturn ? (
        <>
          <Link className="button fork" to="/w/$ws/forks" params={{ ws: a.ws }} search={{ from: ref }}>
            <Icon name="fork" small />
            Fork
          </Link>
          <Link className={a.best ? "button primary" : "button"} to="/w/$ws/plan" params={{ ws: a.ws }} search={{ course: "restore", ref }}>
            <Icon name="back" small />
            Restore {ref}…
          </Link>
        </>
      ) : (
        <>
          <span className="button fork" aria-disabled="true" title={why}>
            Fork
          </span>
          <span className="button" aria-disabled="true" title={why}>
            Restore {ref}…
          </span>
        </>
      )}
    </div>
  );
}

export function Facts({ around: a, story, verifications, gaps }: { around: Around; story?: Story; verifications: readonly Verification[]; gaps: () => void }) {
  const { c } = a;
  const changed = changedWords(story?.counts ?? { ...c.changed, renamed: 0, moded: 0, retyped: 0 });
  const env = environmentWords(story?.facts ?? []);
  const cover = coverageWords(c, a.upload);
  const effects = c.effects ?? [];
  const gravest = effects.find(staysDone) ?? effects[0]!;
  return (
    <dl className="checkpoint-facts">
      <div>
        <dt>Checks run by Retake</dt>
        <Verified around={a} verifications={verifications} />
      </div>
      <div>
        <dt>{story?.from ? `Changed since ${story.from.number}` : "Changed"}</dt>
        <dd className="num">{changed.first}</dd>
        <dd className="num" title={[changed.deleted, changed.rest].filter(Boolean).join(", ")}>
          {changed.deleted ? <span className="bad">{changed.deleted}</span> : null}
          {changed.deleted && changed.rest ? ", " : null}
          {changed.rest}
        </dd>
      </div>
      <div>
        <dt>Environment</dt>
        <dd className={env.lost ? "bad" : undefined} title={story ? env.first : undefined}>
          {story ? env.first : "–"}
        </dd>
        <dd className="two" title={story ? env.second : undefined}>
          <span>{story ? env.second : null}</span>
          {env.secret ? <Flag family="risky">likely secret</Flag> : null}
        </dd>
      </div>
      <div>
        <dt>External actions</dt>
        <dd>{effects.length === 0 ? "none" : several(effects.length, "external action")}</dd>
        <dd>
          {effects.length === 0 ? (
            "nothing left the machine"
          ) : (
            <Link className="link" to="/w/$ws/effects" params={{ ws: a.ws }} title={effects.map((e) => shown(e.text)).join("\n")}>
              {outcomeWord(gravest)}: {oneLine(gravest.text)}
            </Link>
          )}
        </dd>
      </div>
      <div>
        <dt>Coverage</dt>
        <dd className={c.coverage.grade === "partial" ? "partial" : undefined} title={cover.first}>
          {cover.first}
        </dd>
        <dd className="num">
          {(c.coverage.gaps ?? []).length > 0 ? (
            <button type="button" className="link" onClick={gaps}>
              {cover.second}
            </button>
          ) : (
            cover.second
          )}
        </dd>
      </div>
    </dl>
  );
}

function Verified({ around: a, verifications }: { around: Around; verifications: readonly Verification[] }) {
  const answers = a.findings[a.c.id]?.answers ?? [];
  const own = answers.filter((x) => !x.claim);
  const claims = answers.filter((x) => x.claim);
  const failed = own.find((x) => x.verdict === "failed");
  if (answers.length === 0) {
    return (
      <>
        <dd className="dim">not checked</dd>
        <dd>no command was run on these files</dd>
      </>
    );
  }
  return (
    <>
      <dd className="checkpoint-answers">
        {own.map((x) => (
          <Verify key={x.name} answer={x} />
        ))}
        {claims.map((x) => (
          <Verify key={"c" + x.name} answer={x} />
        ))}
      </dd>
      <dd>{failed ? <FailedTrail around={a} name={failed.name} verifications={verifications} /> : own.length === 0 ? "the agent's claim; Retake did not run it" : own.every((x) => x.as) ? "the same content was verified there" : "run on exactly these files"}</dd>
    </>
  );
}

function FailedTrail({ around: a, name, verifications }: { around: Around; name: string; verifications: readonly Verification[] }) {
  const gist = outputGist(verifications.find((v) => v.name === name && !v.claim && v.verdict === "failed"));
  const t = trailOf(name, a.c.number, a.near, a.findings);
  return (
    <>
      {gist}
      {gist && (t.before || t.after) ? "; " : null}
      {t.before ? (
        <>
          passed at <To ws={a.ws} n={t.before} />
        </>
      ) : null}
      {t.before && t.after ? ", again at " : t.after ? "passed again at " : null}
      {t.after ? <To ws={a.ws} n={t.after} /> : null}
    </>
  );
}

const To = ({ ws, n }: { ws: string; n: number }) => (
  <Link className="link num" to="/w/$ws/m/$ref" params={{ ws, ref: String(n) }}>
    {n}
  </Link>
);
