// Step 1: the plan, read before anything is done.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo, useState, type ReactNode } from "react";
import { forksOf, logOf, checkpointOf, storyOf } from "../../api/queries.ts";
import type { Checkpoint, Plan, PlanView, ViewedPlan } from "../../api/types.ts";
import { Icon } from "../../parts/Icon.tsx";
import { Named } from "../../parts/marks.tsx";
import { oneLine, shown } from "../../words/escape.ts";
import { standing, titleOf, type Goals } from "../../words/checkpoint.ts";
import { bytes, count, someNames } from "../../words/number.ts";
import { clock, seconds, whole } from "../../words/time.ts";
import { Section, type Around } from "./Sections.tsx";
import { Asks, ComesBack, StaysDone, StillRuns } from "./Side.tsx";
import { digestText, Heading, Steps } from "./Frame.tsx";
import { linesOf, safetyText, type Lines } from "./rows.ts";

export interface Moved {
  marked: ReadonlySet<string>;
  gone: string[];
}

interface ReviewProps {
  viewed: ViewedPlan;
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
  const { plan, view } = p.viewed;
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const lines = useLines(view);
  const bad = useStanding(plan) === "failed";
  const marked = p.moved?.marked ?? none;
  const { withGit } = p;
  const around = useMemo(
    (): Around => ({ plan, lines, open, marked, withGit, diff: diffOf(view), turn: (keys, yes) => setOpen((old) => turned(old, keys, yes)) }),
    [plan, view, lines, open, marked, withGit],
  );
  return (
    <div className="plan-all">
      <div className="plan-page" data-rows>
        <Steps at={1} />
        <Head viewed={p.viewed} bad={bad} />
        {p.moved ? <MovedNote moved={p.moved} /> : null}
        {p.newer && !p.moved ? <Newer number={p.newer} again={p.again} /> : null}
        {plan.paths?.length ? <Chosen paths={plan.paths} remove={p.removePath} all={p.allFiles} /> : null}
        {view.beside ? (
          <p className="plan-note">
            <Icon name="warn" small />
            <span>{view.beside}</span>
          </p>
        ) : null}
        <Balance view={view} />
        <div className="plan-two">
          <div>
            {view.sections.map((part) => (
              <Section key={part.kind} part={part} around={around} />
            ))}
          </div>
          <div className="plan-side">
            <Asks viewed={p.viewed} accepted={p.accepted} accept={p.accept} />
            <StaysDone effects={plan.effects} />
            <ComesBack plan={plan} />
            <StillRuns holders={plan.holders} />
          </div>
        </div>
      </div>
      <Foot viewed={p.viewed} made={p.made} lacks={view.asks.filter((a) => !p.accepted.has(a.class)).length} bad={bad} leave={p.leave} go={p.go} />
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

function useLines(view: PlanView): Lines {
  const at = view.compare;
  const story = useQuery({ ...storyOf(at?.workspace ?? "", at?.from ?? "", at?.to ?? ""), enabled: !!at, retry: false, staleTime: Infinity });
  return useMemo(() => linesOf(at && story.data, !!at?.back), [story.data, at]);
}

/** How the checkpoint gone to was verified; other courses go to no checkpoint. */
export function useStanding(plan: Plan) {
  const n = plan.course === "restore" ? plan.target?.number : undefined;
  const log = useQuery({ ...logOf(plan.workspace, { before: (n ?? 0) + 1, limit: 1 }), enabled: n !== undefined });
  const found = plan.target ? log.data?.findings[plan.target.id] : undefined;
  return standing(found);
}

function diffOf({ compare: at }: PlanView): Around["diff"] {
  return at ? (path) => ({ ws: at.workspace, from: at.from, to: at.to || undefined, path }) : undefined;
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

function Head({ viewed: { plan, view }, bad }: { viewed: ViewedPlan; bad: boolean }) {
  const more = about(plan, useGoals(plan));
  return (
    <>
      <Heading>
        {shown(view.action)}
        {more ? (
          <span title={plan.target ? whole(plan.target.time) : undefined}>
            {" · "}
            {more}
          </span>
        ) : null}
      </Heading>
      <p className="plan-sub">
        {shown(view.headline).replace(/\.?$/, ".")} <b>{view.untouched}</b> {safetyText(view)} {view.edits}
      </p>
      {bad ? <Failing plan={plan} /> : null}
    </>
  );
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

function Balance({ view: { counts: t, sections } }: { view: PlanView }) {
  const title = (kind: string, or: string) => sections.find((s) => s.kind === kind)?.title ?? or;
  const changed = t.changed + t.merged;
  const weight = (n: number) => (n > 0 ? `, ${bytes(n)}` : "");
  return (
    <dl className="plan-balance">
      <Sum of="d" title={title("delete", "Delete")} n={t.deleted} about={weight(t.deleted_bytes)} />
      <Sum of="a" title={title("bring", "Bring back")} n={t.brought} about={weight(t.brought_bytes)} />
      <Sum of="c" title={title("change", "Change")} n={changed} about={t.merged > 0 ? `, ${count(t.merged)} merged` : ""} />
      {t.beside > 0 ? <Sum of="c" title="Put beside" n={t.beside} noun="new file" /> : null}
      <Sum of="k" title={title("keep", "Leave as is")} n={t.kept} noun="place" />
    </dl>
  );
}

function Sum({ of, title, n, noun = "file", about = "" }: { of: string; title: string; n: number; noun?: string; about?: string }) {
  return (
    <div className={n > 0 ? of : `${of} none`}>
      <dt>{title}</dt>
      <dd>
        {count(n)}
        <small>
          {n === 1 ? noun : `${noun}s`}
          {about}
        </small>
      </dd>
    </div>
  );
}

function Foot(p: { viewed: ViewedPlan; made: number; lacks: number; bad: boolean; leave: ReviewProps["leave"]; go: () => void }) {
  const { view } = p.viewed;
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
          Plan <span className="mono">{digestText(p.viewed.plan.digest)}</span> made {seconds(new Date(p.made).toISOString())}. Applied exactly as shown, or not at all.
        </span>
        <span className="grow" />
        <span className="why" id="plan-why" role="status">
          {p.lacks > 0 ? `${count(p.lacks)} more to confirm` : ""}
        </span>
        <Link className="button" {...p.leave}>
          Leave, change nothing<kbd>esc</kbd>
        </Link>
        <button type="button" className={p.bad || view.beside ? "button" : "button primary"} aria-disabled={p.lacks > 0} aria-describedby="plan-why" onClick={go}>
          {["Continue", view.numbers.join(", ")].filter((t) => t !== "").join(": ")}
        </button>
      </div>
    </footer>
  );
}
