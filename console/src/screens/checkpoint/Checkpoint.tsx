// One checkpoint: what really changed in it, the lines of it, what was said, what verifications said.
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useCallback, useMemo, useRef } from "react";
import { logOf, checkpointOf, stateOf, storyOf, verificationsOf } from "../../api/queries.ts";
import type { Checkpoint, Story } from "../../api/types.ts";
import { DiffWaiting, FileDiff } from "../../diff/index.tsx";
import { useNarrow } from "../../parts/media.ts";
import { Empty, Waiting, Wrong } from "../../parts/states.tsx";
import type { CheckpointSearch } from "../../router.tsx";
import { useKeys } from "../../shell/keys.ts";
import { shown } from "../../words/escape.ts";
import { changedFiles, goalsOf } from "../../words/checkpoint.ts";
import { Changes, Nothing } from "./Changes.tsx";
import { Actions, Facts, Head, Steps, type Around } from "./Head.tsx";
import { useMayReturn } from "./may.ts";
import { Said } from "./Said.tsx";
import { wasOf } from "./story.ts";
import { useStory } from "./useStory.ts";
import { Coverage, Verified } from "./Verified.tsx";
import "./checkpoint.css";

export default function Checkpoint() {
  const { ws, ref } = useParams({ from: "/w/$ws/m/$ref" });
  const checkpoint = useQuery(checkpointOf(ws, ref));
  useQuery({ ...storyOf(ws, "", ref), enabled: /^\d+$/.test(ref) }); // begun at once, read below
  if (checkpoint.isLoadingError) {
    return (
      <>
        <h1 className="sr">Checkpoint {shown(ref)}</h1>
        <Wrong
          error={checkpoint.error}
          again={() => void checkpoint.refetch()}
          out={
            <Link className="button" to="/w/$ws" params={{ ws }}>
              To the timeline
            </Link>
          }
        />
      </>
    );
  }
  if (!checkpoint.data) return <Before title={`Checkpoint ${shown(ref)}`} />;
  return <Opened ws={ws} c={checkpoint.data} key={checkpoint.data.id} />;
}

/** The page before it is known what it shows, with its parts where they will be. */
function Before({ title }: { title: string }) {
  return (
    <div className="checkpoint" aria-busy="true">
      <h1 className="sr">{title}</h1>
      <header className="checkpoint-head" aria-hidden="true">
        <div className="grow">
          <i className="bar wide" />
          <i className="bar" />
        </div>
      </header>
      <dl className="checkpoint-facts" aria-hidden="true">
        {["Checks run by Retake", "Changed", "Environment", "External actions", "Coverage"].map((word) => (
          <div key={word}>
            <dt>{word}</dt>
            <dd>
              <i className="bar" />
            </dd>
            <dd />
          </div>
        ))}
      </dl>
      <div className="checkpoint-columns">
        <div className="checkpoint-column side">
          <Waiting what={title.toLowerCase()} />
        </div>
        <section className="checkpoint-column">
          <DiffWaiting />
        </section>
        <aside className="checkpoint-column talk" />
      </div>
    </div>
  );
}

/** Checkpoints that are read around this one, for neighbours and trails. */
const reach = 30;

const parts = ["story", "diff", "said", "verified"] as const;
const partWords = { story: "Summary", diff: "Diff", said: "Conversation", verified: "Checks" };
export type Part = (typeof parts)[number];

function useAround(ws: string, c: Checkpoint): { around: Around; root: string } {
  const log = useQuery({
    ...logOf(ws, { before: c.number + reach + 1, limit: reach * 2 + 1 }),
    refetchInterval: (q) => ((q.state.data?.upload?.through ?? c.number) < c.number ? 10_000 : false), // no event says that it was uploaded
  });
  const mayReturn = useMayReturn();
  return useMemo(() => {
    const near = log.data?.checkpoints ?? [];
    const best = log.data?.good?.id === c.id && near[0] !== undefined && near[0].id !== c.id;
    const pins = (log.data?.pins ?? []).filter((p) => p.checkpoint === c.id);
    const around: Around = { ws, c, near, findings: log.data?.findings ?? {}, goals: goalsOf([...near, c], log.data?.workspace), pins, best, mayReturn, upload: log.data?.upload };
    return { around, root: log.data?.workspace.root ?? "" };
  }, [log.data, ws, c, mayReturn]);
}

function Opened({ ws, c }: { ws: string; c: Checkpoint }) {
  const ref = String(c.number);
  const { around, root } = useAround(ws, c);
  const told = useStory(ws, "", ref, changedFiles(c) > 1000);
  const state = useQuery(stateOf(ws, ref));
  const verifications = useQuery(verificationsOf(ws, ref));
  const search = useSearch({ from: "/w/$ws/m/$ref" });
  const go = useNavigate({ from: "/w/$ws/m/$ref" });
  const narrow = useNarrow();
  const box = useRef<HTMLDivElement>(null);
  const set = useCallback((s: CheckpointSearch) => void go({ search: (old) => ({ ...old, ...s }), replace: true, resetScroll: false }), [go]);
  const choose = useCallback((path: string) => set(narrow ? { path, part: "diff" } : { path }), [set, narrow]);
  const part = (parts as readonly string[]).includes(search.part ?? "") ? (search.part as Part) : "story";
  const path = search.path ?? told.first;
  const show = (p: Part) => {
    set({ part: p });
    requestAnimationFrame(() => box.current?.querySelector<HTMLElement>(`#checkpoint-${p}, #${p}`)?.focus());
  };
  useCheckpointKeys(ws, ref, show);
  return (
    <div className={`checkpoint at-${part}`} ref={box}>
      <Head around={around} />
      <Facts around={around} story={told.story} verifications={verifications.data ?? []} gaps={() => show("verified")} />
      <PartTabs part={part} show={show} />
      <div className={`checkpoint-columns show-${part}`}>
        <div className="checkpoint-column side" id="checkpoint-story" tabIndex={-1}>
          <Changes ws={ws} from="" to={ref} story={told.story} error={told.error} again={told.again} meanwhile={told.meanwhile} more={told.more} by={search.by ?? ""} setBy={(by) => set({ by })} chosen={path} choose={choose} browse={ref} />
        </div>
        <section className="checkpoint-column" id="checkpoint-diff" tabIndex={-1} aria-label="Diff">
          <Middle ws={ws} c={c} path={path} story={told.story} failed={!!told.error} again={told.again} view={search.view} set={set} choose={choose} />
        </section>
        <aside className="checkpoint-column talk" tabIndex={0} aria-label="Checks and conversation">
          <div id="checkpoint-verified" tabIndex={-1}>
            <Verified ws={ws} c={c} all={verifications.data} />
            <Coverage gaps={c.coverage.gaps ?? []} />
          </div>
          <div id="checkpoint-said" tabIndex={-1}>
            <Said ws={ws} c={c} near={around.near} state={state.data} root={root} path={path} />
          </div>
        </aside>
      </div>
      <footer className="checkpoint-foot">
        <Steps around={around} />
        <Actions around={around} />
      </footer>
    </div>
  );
}

function useCheckpointKeys(ws: string, ref: string, show: (p: Part) => void) {
  const go = useNavigate();
  useKeys({
    "1": () => show("story"),
    "2": () => show("diff"),
    "3": () => show("said"),
    "4": () => show("verified"),
    d: () => show("diff"),
    D: () => void go({ to: "/w/$ws/compare", params: { ws }, search: { from: ref } }),
    c: () => void go({ to: "/w/$ws/compare", params: { ws }, search: { from: ref } }),
    r: () => void go({ to: "/w/$ws/plan", params: { ws }, search: { course: "restore", ref } }),
    f: () => void go({ to: "/w/$ws/forks", params: { ws }, search: { from: ref } }),
    Escape: () => void go({ to: "/w/$ws", params: { ws }, search: { at: ref } }),
  });
}

/** On a phone one part is in front. */
function PartTabs({ part, show }: { part: Part; show: (p: Part) => void }) {
  return (
    <nav className="checkpoint-tabs" aria-label="Parts of this checkpoint">
      {parts.map((p) => (
        <button key={p} type="button" aria-current={p === part ? "true" : undefined} onClick={() => show(p)}>
          {partWords[p]}
        </button>
      ))}
    </nav>
  );
}

function NoStory({ again }: { again: () => void }) {
  return (
    <Empty title="No diff to show yet">
      <p>What changed in this checkpoint could not be read. Nothing was changed by looking.</p>
      <p className="row">
        <button type="button" className="button" onClick={again}>
          Try again
        </button>
      </p>
    </Empty>
  );
}

interface MiddleProps {
  ws: string;
  c: Checkpoint;
  path: string;
  story?: Story;
  failed: boolean; // the story could not be read
  again: () => void;
  view?: string;
  set: (s: CheckpointSearch) => void;
  choose: (path: string) => void;
}

function Middle({ ws, c, path, story, failed, again, view, set, choose }: MiddleProps) {
  const ref = String(c.number);
  const folder = path.endsWith("/");
  if (path === "" && failed) return <NoStory again={again} />;
  if (path === "") return story ? <Nothing since={story.from ? String(story.from.number) : "the checkpoint before"} browse={() => set({ by: "path", part: "story" })} /> : <DiffWaiting />;
  const actions = folder ? null : (
    <Link className="button ghost" to="/w/$ws/history" params={{ ws }} search={{ path, at: ref }}>
      History
    </Link>
  );
  return <FileDiff ws={ws} from="" to={ref} path={path} was={wasOf(story, path)} facts={story?.facts ?? []} view={view} onView={(v) => set({ view: v })} onOpen={choose} actions={actions} />;
}
