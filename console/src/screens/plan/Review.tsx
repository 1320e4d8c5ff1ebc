// Step 1: the plan, read before anything is done.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo, useState, type ReactNode } from "react";
import { forksOf, logOf, checkpointOf, storyOf } from "../../api/queries.ts";
import type { Checkpoint, Plan } from "../../api/types.ts";
import { Icon } from "../../parts/Icon.tsx";
import { Named } from "../../parts/marks.tsx";
import { oneLine, shown } from "../../words/escape.ts";
import { standing, titleOf, type Goals } from "../../words/checkpoint.ts";
import { bytes, count } from "../../words/number.ts";
import { clock, seconds, whole } from "../../words/time.ts";
import { someNames } from "./fold.ts";
import { partsOf, Section, type Around } from "./Sections.tsx";
import { Asks, ComesBack, StaysDone, StillRuns } from "./Side.tsx";
import { Heading, Steps } from "./Frame.tsx";
import { storyAsked, toldBy, type Told } from "./told.ts";
import { besideText, digestText, goalOf, goOnLabel, missing, missingText, onlyBeside, tallyOf, upper, wordsOf } from "./words.ts";

export interface Moved {
  marked: ReadonlySet<string>;
  gone: string[];
}

interface ReviewProps {
  plan: Plan;
  made: number;
  moved?: Moved;
  newer?: number; // a checkpoint that was made since
  again: () => void;
  accepted: ReadonlySet<string>;
  accept: (word: string, yes: boolean) => void;
  removePath?: (path: string) => void;
  allFiles?: () => void;
  withGit?: () => void;
  leave: { to: "/w/$ws"; params: { ws: string }; search: { at?: string } };
  go: () => void;
}

export function Review(p: ReviewProps) {
  const { plan } = p;
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const told = useTold(plan);
  const parts = useMemo(() => partsOf(plan, told), [plan, told]);
  const bad = useStanding(plan) === "failed";
  const marked = p.moved?.marked ?? none;
  const { withGit } = p;
  const around = useMemo(
    (): Around => ({ plan, told, open, marked, withGit, diff: diffOfPlan(plan), turn: (keys, yes) => setOpen((old) => turned(old, keys, yes)) }),
    [plan, told, open, marked, withGit],
  );
  return (
    <div className="plan-all">
      <div className="plan-page" data-rows>
        <Steps at={1} />
        <Head plan={plan} bad={bad} />
        {p.moved ? <MovedNote moved={p.moved} /> : null}
        {p.newer && !p.moved ? <Newer number={p.newer} again={p.again} /> : null}
        {plan.paths?.length ? <Chosen paths={plan.paths} remove={p.removePath} all={p.allFiles} /> : null}
        {onlyBeside(plan) ? (
          <p className="plan-note">
            <Icon name="warn" small />
            <span>{besideText(plan)}</span>
          </p>
        ) : null}
        <Balance plan={plan} />
        <div className="plan-two">
          <div>
            {parts.map((part) => (
              <Section key={part.id} part={part} around={around} />
            ))}
          </div>
          <div className="plan-side">
            <Asks plan={plan} accepted={p.accepted} accept={p.accept} />
            <StaysDone effects={plan.effects} />
            <ComesBack plan={plan} />
            <StillRuns holders={plan.holders} />
          </div>
        </div>
      </div>
      <Foot plan={plan} made={p.made} lacks={missing(plan, p.accepted)} bad={bad} leave={p.leave} go={p.go} />
    </div>
  );
}

const none: ReadonlySet<string> = new Set();

function turned(old: ReadonlySet<string>, keys: string[], yes: boolean): ReadonlySet<string> {
  const next = new Set(old);
  for (const k of keys) {
    if (yes) next.add(k);
    else next.delete(k);
  }
  return next;
}

function useTold(plan: Plan): Told {
  const asked = storyAsked(plan);
  const story = useQuery({ ...storyOf(asked?.ws ?? plan.workspace, asked?.from ?? "latest", asked?.to ?? ""), enabled: !!asked, retry: false, staleTime: Infinity });
  return useMemo(() => toldBy(asked ? story.data : undefined, !!asked?.against), [story.data, asked?.against, !!asked]);
}

/** How the checkpoint gone to was verified; other courses go to no checkpoint. */
export function useStanding(plan: Plan) {
  const n = plan.course === "restore" ? plan.target?.number : undefined;
  const log = useQuery({ ...logOf(plan.workspace, { before: (n ?? 0) + 1, limit: 1 }), enabled: n !== undefined });
  const found = plan.target ? log.data?.findings[plan.target.id] : undefined;
  return standing(found);
}

function diffOfPlan(plan: Plan): Around["diff"] {
  const asked = storyAsked(plan);
  return asked ? (path) => ({ ws: asked.ws, from: asked.from, to: asked.to || undefined, path }) : undefined;
}

/** What the checkpoint of a plan went to itself, so that its title can name it. */
function useGoals(plan: Plan): Goals {
  const r = plan.target?.return;
  const home = !!r && r.course !== "adopt";
  const checkpoint = useQuery({ ...checkpointOf(plan.workspace, r?.target ?? ""), enabled: home, retry: false });
  const forks = useQuery({ ...forksOf(plan.workspace), enabled: !!r && !home });
  const fork = forks.data?.find((f) => f.latest?.id === r?.target);
  const name = home ? checkpoint.data && String(checkpoint.data.number) : fork && shown(fork.name);
  return useMemo(() => new Map(r && name ? [[r.target, name]] : []), [r, name]);
}

function about(plan: Plan, goals: Goals): ReactNode {
  if (plan.course === "adopt" && plan.fork) return plan.fork.origin ? `forked from ${plan.fork.origin.number}, ${shown(plan.fork.root)}` : shown(plan.fork.root);
  const t = plan.target;
  if (!t) return "";
  return (
    <>
      {clock(t.time)} · <Named title={titleOf(t, goals).text} />
      {t.coverage.grade === "partial" ? " · partial" : ""}
    </>
  );
}

function Head({ plan, bad }: { plan: Plan; bad: boolean }) {
  const more = about(plan, useGoals(plan));
  return (
    <>
      <Heading>
        {wordsOf(plan.course).now} {goalOf(plan)}
        {more ? (
          <span title={plan.target ? whole(plan.target.time) : undefined}>
            {" · "}
            {more}
          </span>
        ) : null}
      </Heading>
      <p className="plan-sub">
        <b>{plan.course === "finish" || plan.course === "unwind" ? "This plan has changed nothing yet." : "Nothing has been changed yet."}</b> {safetyText(plan)}
      </p>
      {bad ? <Failing plan={plan} /> : null}
    </>
  );
}

function safetyText(p: Plan): string {
  const back = p.course === "unwind" ? "." : p.course === "undo" ? ", so redo brings it again." : ", so an undo brings it back.";
  return p.safety.there ? `Checkpoint ${p.safety.number} has everything you have now${back}` : `Everything you have now is saved first as checkpoint ${p.safety.number}${back}`;
}

/** What failed is not what we would go to; where there is a good one, it is named. */
function Failing({ plan }: { plan: Plan }) {
  const log = useQuery(logOf(plan.workspace, { before: plan.target!.number + 1, limit: 1 }));
  const names = (log.data?.findings[plan.target!.id]?.answers ?? []).filter((a) => !a.claim && a.verdict === "failed").map((a) => shown(a.name));
  const good: Checkpoint | undefined = log.data?.good;
  return (
    <p className="plan-note bad">
      <Icon name="cross" small />
      <span>
        {plan.target!.number} failed {someNames(names)}.
        {good ? (
          <>
            {" "}
            The newest good one is {good.number}, {clock(good.time)}{titleOf(good).said ? <>, <Named title={titleOf(good).text} /></> : ""}:{" "}
            <Link className="link" to="/w/$ws/plan" params={{ ws: plan.workspace }} search={{ course: "restore", ref: String(good.number), paths: plan.paths }}>
              restore {good.number} instead…
            </Link>
          </>
        ) : null}
      </span>
    </p>
  );
}

function MovedNote({ moved }: { moved: Moved }) {
  const n = moved.marked.size + moved.gone.length;
  return (
    <div className="plan-note partial" role="alert">
      <Icon name="warn" small />
      <span>
        <b>The files moved on while you read. Nothing was changed.</b>{" "}
        {n === 0 ? "The plan below is made of what is there now." : `${count(n)} ${n === 1 ? "path differs" : "paths differ"} from the plan you confirmed: `}
        {moved.marked.size > 0 ? `${count(moved.marked.size)} marked “moved” below` : ""}
        {moved.marked.size > 0 && moved.gone.length > 0 ? ", " : ""}
        {moved.gone.length > 0 ? (
          <>
            not in it any more: <span className="mono">{moved.gone.map(shown).join(", ")}</span>
          </>
        ) : null}
        {n === 0 ? "" : "."} Read it again.
      </span>
    </div>
  );
}

function Newer({ number, again }: { number: number; again: () => void }) {
  return (
    <div className="plan-note" role="status">
      <Icon name="clock" small />
      <span className="grow">Checkpoint {count(number)} was created after this plan. If a file changed, the plan is refused and nothing happens.</span>
      <button type="button" className="link" onClick={again}>
        Make the plan again
      </button>
    </div>
  );
}

function Chosen({ paths, remove, all }: { paths: readonly string[]; remove?: (path: string) => void; all?: () => void }) {
  return (
    <div className="plan-chosen" role="group" aria-label="Only these paths">
      <span className="dim">Only {paths.length === 1 ? "this path" : `these ${count(paths.length)} paths`}:</span>
      {paths.map((path) => (
        <span className="plan-path" key={path}>
          <span className="mono">{oneLine(path)}</span>
          {remove && paths.length > 1 ? (
            <button type="button" aria-label={`Leave ${shown(path)} out`} onClick={() => remove(path)}>
              <Icon name="cross" small />
            </button>
          ) : null}
        </span>
      ))}
      {all ? (
        <button type="button" className="link" onClick={all}>
          All files instead
        </button>
      ) : null}
    </div>
  );
}

function Balance({ plan }: { plan: Plan }) {
  const t = tallyOf(plan);
  const w = wordsOf(plan.course);
  const files = (n: number) => (n === 1 ? "file" : "files");
  const weight = (n: number) => (n > 0 ? `, ${bytes(n)}` : "");
  return (
    <dl className="plan-balance">
      <div className={t.deleted > 0 ? "d" : "d none"}>
        <dt>Delete</dt>
        <dd>
          {count(t.deleted)}
          <small>
            {files(t.deleted)}
            {weight(t.deletedBytes)}
          </small>
        </dd>
      </div>
      <div className={t.brought > 0 ? "a" : "a none"}>
        <dt>{upper(w.bring)}</dt>
        <dd>
          {count(t.brought)}
          <small>
            {files(t.brought)}
            {weight(t.broughtBytes)}
          </small>
        </dd>
      </div>
      <div className={t.changed > 0 ? "c" : "c none"}>
        <dt>{upper(w.change)}</dt>
        <dd>
          {count(t.changed)}
          <small>
            {files(t.changed)}
            {t.merged > 0 ? `, ${count(t.merged)} merged` : ""}
          </small>
        </dd>
      </div>
      {t.beside > 0 ? (
        <div className="c">
          <dt>Put beside</dt>
          <dd>
            {count(t.beside)}
            <small>{t.beside === 1 ? "new file" : "new files"}</small>
          </dd>
        </div>
      ) : null}
      <div className={t.kept > 0 ? "k" : "k none"}>
        <dt>Keep as it is</dt>
        <dd>
          {count(t.kept)}
          <small>{t.kept === 1 ? "place" : "places"}</small>
        </dd>
      </div>
    </dl>
  );
}

function Foot(p: { plan: Plan; made: number; lacks: number; bad: boolean; leave: ReviewProps["leave"]; go: () => void }) {
  const go = () => {
    if (p.lacks === 0) return p.go();
    // what lacks is shown, and the keyboard goes there
    const open = [...document.querySelectorAll<HTMLInputElement>("[data-ask]")].find((box) => !box.checked);
    open?.focus();
  };
  return (
    <footer className="plan-foot">
      <div>
        <span className="digest">
          Plan <span className="mono">{digestText(p.plan.digest)}</span> made {seconds(new Date(p.made).toISOString())}. Applied exactly as shown, or not at all.
        </span>
        <span className="grow" />
        <span className="why" id="plan-why" role="status">
          {missingText(p.lacks)}
        </span>
        <Link className="button" {...p.leave}>
          Leave, change nothing<kbd>esc</kbd>
        </Link>
        <button type="button" className={p.bad || onlyBeside(p.plan) ? "button" : "button primary"} aria-disabled={p.lacks > 0} aria-describedby="plan-why" onClick={go}>
          {goOnLabel(p.plan)}
        </button>
      </div>
    </footer>
  );
}
