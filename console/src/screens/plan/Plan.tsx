// Going back, in steps: a plan is read, confirmed and applied exactly as it was shown. No
// key and no address applies anything.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useCallback, useEffect, useRef, useState } from "react";
import { Trouble } from "../../api/ask.ts";
import { useEvents } from "../../api/live.ts";
import { usePowers } from "../../api/powers.ts";
import { planOf } from "../../api/queries.ts";
import type { Event, PlanBody, RestoreResult, ViewedPlan } from "../../api/types.ts";
import { Waiting, Wrong } from "../../parts/states.tsx";
import { useKeys } from "../../shell/keys.ts";
import { shown } from "../../words/escape.ts";
import { applyExactly, newCheckpoint, onceMore, type Progress } from "./apply.ts";
import { Applying, Confirm } from "./Confirm.tsx";
import { Done } from "./Done.tsx";
import { Heading } from "./Frame.tsx";
import { movedBetween, stillGiven } from "./moved.ts";
import { Review, type Moved } from "./Review.tsx";
import { Section } from "./Sections.tsx";
import "./plan.css";

type Step = "review" | "confirm" | "apply" | "done";

export default function Plan() {
  const { ws } = useParams({ strict: false }) as { ws: string };
  const asked = useSearch({ from: "/w/$ws/plan" });
  const { may } = usePowers();
  const [git, setGit] = useState(false);
  const body: PlanBody = { course: asked.course ?? "restore", ref: asked.ref, paths: asked.paths, fork: asked.fork, git: git || undefined, hunks: hunksOf(asked.hunks), from: asked.from };
  const plan = useQuery({
    queryKey: ["plan", ws, body],
    queryFn: () => planOf(ws, body),
    staleTime: Infinity, // it never changes under who reads it
    gcTime: 0,
    retry: onceMore,
    enabled: may("return"),
  });
  const withGit = useCallback(() => setGit(true), []);
  const leave = { to: "/w/$ws" as const, params: { ws }, search: { at: asked.ref && /^\d+$/.test(asked.ref) ? asked.ref : undefined } };
  if (!may("return")) return <MayNot leave={leave} />;
  if (plan.isPending) return <Waiting what="the plan" />;
  if (plan.isError) return <NoPlan error={plan.error} again={() => void plan.refetch()} leave={leave} />;
  if (plan.data.view.idle) return <Nothing viewed={plan.data} leave={leave} />;
  return (
    <Going key={JSON.stringify(body)} first={plan.data} made={plan.dataUpdatedAt} body={body} leave={leave} withGit={git ? undefined : withGit} />
  );
}

/** Hunks as they stand in an address. What is none is sent as it is, and refused. */
function hunksOf(texts?: string[]): PlanBody["hunks"] {
  return texts?.map((t) => {
    const [old_start = 0, old_lines = 0, new_start = 0, new_lines = 0] = t.split(",").map(Number);
    return { old_start, old_lines, new_start, new_lines };
  });
}

type Leave = { to: "/w/$ws"; params: { ws: string }; search: { at?: string } };

interface GoingProps {
  first: ViewedPlan;
  made: number;
  body: PlanBody;
  leave: Leave;
  withGit?: () => void;
}

function Going({ first, made: firstMade, body, leave, withGit }: GoingProps) {
  const g = useGoing(first, firstMade, body);
  const go = useNavigate();
  const [newer, setNewer] = useState<number>();
  const seen = g.viewed.plan.safety.number;
  const home = first.plan.workspace;
  useEvents(
    useCallback(
      (e: Event) => {
        if (e.data.workspace === home && (e.data.number ?? 0) >= seen) setNewer(e.data.number);
      },
      [home, seen],
    ),
  );
  useKeys({
    Escape: (e) => {
      if (document.querySelector("dialog[open]") || (e.target as HTMLElement | null)?.closest(".find")) return;
      if (g.step === "confirm") g.setStep("review");
      else if (g.step !== "apply") void go(leave);
    },
  });
  const others = (paths: string[] | undefined) => void go({ to: "/w/$ws/plan", params: leave.params, search: { course: body.course, ref: body.ref, fork: body.fork, paths } });
  switch (g.step) {
    case "confirm":
      return <Confirm viewed={g.viewed} back={() => g.setStep("review")} apply={g.apply} />;
    case "apply":
      if (g.wrong) return <NotDone ws={home} error={g.wrong} again={g.apply} back={g.replan} />;
      return <Applying doing={g.viewed.view.doing} progress={g.progress} />;
    case "done":
      return <Done viewed={g.viewed} result={g.result!} took={g.took} />;
  }
  return (
    <Review
      viewed={g.viewed}
      made={g.made}
      moved={g.moved}
      newer={newer}
      again={() => {
        setNewer(undefined);
        g.replan();
      }}
      accepted={g.accepted}
      accept={g.accept}
      removePath={body.paths && !body.hunks ? (path) => others(body.paths!.filter((p) => p !== path)) : undefined}
      allFiles={body.paths ? () => others(undefined) : undefined}
      withGit={withGit}
      leave={leave}
      go={() => g.setStep("confirm")}
    />
  );
}

/** The steps and what is remembered between them. */
function useGoing(first: ViewedPlan, firstMade: number, body: PlanBody) {
  const cache = useQueryClient();
  const [step, setStep] = useState<Step>("review");
  const [viewed, setViewed] = useState(first);
  const { plan } = viewed;
  const [made, setMade] = useState(firstMade);
  const [moved, setMoved] = useState<Moved>();
  const [accepted, setAccepted] = useState<ReadonlySet<string>>(new Set());
  const [progress, setProgress] = useState<Progress>();
  const [wrong, setWrong] = useState<unknown>();
  const [result, setResult] = useState<RestoreResult>();
  const [took, setTook] = useState(0);
  const id = useRef(newCheckpoint()); // one for one plan: repeating it adds nothing
  useEffect(() => {
    document.getElementById("page")?.scrollTo({ top: 0 });
  }, [step]);

  const replan = async () => {
    setWrong(undefined);
    try {
      const next = await planOf(plan.workspace, body);
      if (next.plan.digest !== plan.digest) {
        setMoved(movedBetween(plan, next.plan));
        setAccepted(stillGiven(plan, next.plan, accepted));
        id.current = newCheckpoint();
      }
      setViewed(next);
      setMade(Date.now());
      setStep("review");
    } catch (e) {
      setWrong(e);
      setStep("apply");
    }
  };
  const apply = async () => {
    const began = performance.now();
    setStep("apply");
    setWrong(undefined);
    setProgress(undefined);
    try {
      const done = await applyExactly(plan.workspace, { ...body, digest: plan.digest, accept: [...accepted], id: id.current }, setProgress);
      setTook(performance.now() - began);
      setResult(done);
      setStep("done");
    } catch (e) {
      if (e instanceof Trouble && e.code === "stale_plan") return void replan();
      setWrong(e);
    }
    // also when it went wrong: a restore that was interrupted is told on every screen
    void cache.invalidateQueries({ queryKey: ["ws", plan.workspace] });
    void cache.invalidateQueries({ queryKey: ["workspaces"] });
  };
  const accept = (word: string, yes: boolean) =>
    setAccepted((old) => {
      const next = new Set(old);
      if (yes) next.add(word);
      else next.delete(word);
      return next;
    });
  return { step, setStep, viewed, made, moved, accepted, accept, progress, wrong, result, took, replan: () => void replan(), apply: () => void apply() };
}

/** Something was interrupted before: it is ended first, either way, by a plan too. */
function CutOff({ ws, error }: { ws: string; error: unknown }) {
  if (!(error instanceof Trouble && error.code === "incomplete")) return null;
  return (
    <>
      <Link className="button" to="/w/$ws/plan" params={{ ws }} search={{ course: "unwind" }}>
        Take it back…
      </Link>
      <Link className="button primary" to="/w/$ws/plan" params={{ ws }} search={{ course: "finish" }}>
        Finish it…
      </Link>
    </>
  );
}

function NotDone({ ws, error, again, back }: { ws: string; error: unknown; again: () => void; back: () => void }) {
  return (
    <div className="plan-ask-page">
      <Heading>It is not done</Heading>
      <Wrong error={error} />
      <div className="plan-buttons">
        <button type="button" className="button" onClick={back}>
          Make the plan again
        </button>
        {error instanceof Trouble && !error.problem.retryable ? null : (
          <button type="button" className="button" onClick={again}>
            Ask once more
          </button>
        )}
        <CutOff ws={ws} error={error} />
      </div>
    </div>
  );
}

function MayNot({ leave }: { leave: Leave }) {
  return (
    <div className="plan-ask-page">
      <Heading>You may look, but not go back</Heading>
      <p className="plan-sub">Your key may not return to checkpoints. It takes an API key with the role agent or operator; who administers the server makes one. Nothing was changed.</p>
      <div className="plan-buttons">
        <Link className="button" {...leave}>
          To the timeline
        </Link>
      </div>
    </div>
  );
}

function NoPlan({ error, again, leave }: { error: unknown; again: () => void; leave: Leave }) {
  const go = useNavigate();
  useKeys({ Escape: () => void go(leave) });
  return (
    <div className="plan-ask-page">
      <Heading>There is no plan</Heading>
      <Wrong error={error} again={error instanceof Trouble && error.problem.retryable ? again : undefined} />
      <div className="plan-buttons">
        <Link className="button" {...leave}>
          To the timeline
        </Link>
        <CutOff ws={leave.params.ws} error={error} />
      </div>
    </div>
  );
}

function Nothing({ viewed: { plan, view }, leave }: { viewed: ViewedPlan; leave: Leave }) {
  const go = useNavigate();
  useKeys({ Escape: () => void go(leave) });
  return (
    <div className="plan-ask-page" data-rows>
      <Heading>Nothing differs</Heading>
      <p className="plan-sub">
        {shown(view.headline)} {view.safety.text}.
      </p>
      {view.sections.map((part) => (
        <Section key={part.kind} part={part} around={{ plan, open: new Set(), marked: new Set(), turn: () => undefined }} />
      ))}
      <div className="plan-buttons">
        <Link className="button primary" {...leave}>
          To the timeline
        </Link>
      </div>
    </div>
  );
}
