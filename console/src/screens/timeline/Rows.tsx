// The rows of the list. Each checkpoint is one link; what the graph shows is said in words too.
import { Link } from "@tanstack/react-router";
import { memo, type MouseEvent, type ReactNode } from "react";
import type { Checkpoint, Finding } from "../../api/types.ts";
import { Icon } from "../../parts/Icon.tsx";
import { Flag, Named, Verify } from "../../parts/marks.tsx";
import { outcomeWord, staysDone } from "../../words/effect.ts";
import { shown } from "../../words/escape.ts";
import { changedFiles, titleOf, whoMade, type Goals } from "../../words/checkpoint.ts";
import { count, orNone, several } from "../../words/number.ts";
import { clock, whole } from "../../words/time.ts";
import { filesOf, flagsOf, marks, nodeOf, storyLine, type Piece } from "./story.ts";
import type { Item } from "./view.ts";

export interface RowProps<K extends Item["kind"] = Item["kind"]> {
  ws: string;
  item: Item & { kind: K };
  finding?: Finding;
  goals: Goals;
  pins?: readonly string[];
  chosen?: boolean;
  newest?: boolean;
  marked?: boolean;
  fresh?: boolean;
  choose: (number: number, e: MouseEvent) => void;
  open: (key: string) => void;
}

const looks = { path: "mono", bad: "bad", plus: "tl-plus", minus: "tl-minus", dim: "dimmer" } as const;

/** Story sets parts with commas between. */
export function Story({ parts }: { parts: readonly (readonly Piece[])[] }) {
  const out: ReactNode[] = [];
  parts.forEach((part, i) => {
    if (i > 0) out.push(", ");
    part.forEach((p, k) => out.push(p.look ? <span key={`${i}.${k}`} className={looks[p.look]}>{p.text}</span> : p.text));
  });
  return <>{out}</>;
}

/** Mix is a bar of what went, came and changed; its length is the logarithm of the count. */
export function Mix({ c }: { c: Checkpoint }) {
  const total = changedFiles(c);
  if (total === 0) return null;
  const { deleted, added, edited } = c.changed;
  const part = (n: number) => ({ flexGrow: Math.max(n / total, 0.06) });
  return (
    <span className="tl-mix" style={{ width: Math.round(6 + Math.min(1, Math.log10(total) / 3) * 38) }} title={`${count(deleted)} deleted, ${count(added)} added, ${count(edited)} changed`}>
      {deleted ? <i className="gone" style={part(deleted)} /> : null}
      {added ? <i className="came" style={part(added)} /> : null}
      {edited ? <i style={part(edited)} /> : null}
    </span>
  );
}

function Marks({ finding }: { finding?: Finding }) {
  const m = marks(finding, 2);
  if (m.shown.length === 0) {
    return (
      <span className="tl-marks dimmer">
        –<span className="sr"> not checked</span>
      </span>
    );
  }
  return (
    <span className="tl-marks">
      {m.shown.map((a) => (
        <Verify key={a.name + String(a.claim)} answer={a} />
      ))}
      {m.more > 0 ? <span className="dimmer">+{m.more}</span> : null}
    </span>
  );
}

const nodeWords = { good: "good", inherited: "good, same content as another", failed: "failed", plain: "", safety: "kept by Retake" } as const;

/** What the graph shows of a checkpoint, in words. */
function inWords(p: RowProps<"checkpoint">): string {
  const { item } = p;
  const words: string[] = [nodeWords[nodeOf(item.c, p.finding)]];
  if (p.newest) words.push("your files are here");
  if (item.left) words.push("replaced");
  if (p.marked) words.push("marked");
  return words.filter(Boolean).join(", ");
}

/** Told is what a row tells of a checkpoint, its own or the newest of a fork: when, a title and flags,
 *  who, what really changed, what was verified, how many files. */
function Told({ c, finding, flags, work, children }: { c: Checkpoint; finding?: Finding; flags: ReturnType<typeof flagsOf>; work?: string; children: ReactNode }) {
  return (
    <>
      <time className="tl-t num" dateTime={c.time} title={whole(c.time)}>
        {clock(c.time)}
      </time>
      <span className="tl-b">
        <span className="tl-w">
          {children}
          <span className="tl-who">{whoMade(c)}</span>
        </span>
        <span className="tl-s">
          <span className="tl-t2 num">{clock(c.time)} </span>
          <Story parts={storyLine(c, finding, flags, work)} />
        </span>
      </span>
      <Marks finding={finding} />
      <span className="tl-f num">
        {orNone(filesOf(c, finding))}
        <span className="sr"> files</span>
        <Mix c={c} />
      </span>
    </>
  );
}

export const CheckpointRow = memo(function CheckpointRow(p: RowProps<"checkpoint">) {
  const { c } = p.item;
  const title = titleOf(c, p.goals);
  const flags = flagsOf(c, p.finding);
  const kind = ["tl-row", p.item.left && "left", p.chosen && "chosen", p.fresh && "fresh", !title.said && "unsaid"].filter(Boolean).join(" ");
  return (
    <a className={kind} href={`/w/${p.ws}/m/${c.number}`} data-number={c.number} aria-current={p.chosen ? "true" : undefined} onClick={(e) => p.choose(c.number, e)} draggable={false}>
      <b className="tl-n num">{c.number}</b>
      <Told c={c} finding={p.finding} flags={flags} work={p.item.work}>
        <span className="tl-x"><Named title={title.text} /></span>
        <span className="sr"> {inWords(p)} </span>
        {flags.slice(0, 2).map((f) => (
          <Flag key={f.word} family={f.family}>{f.word}</Flag>
        ))}
        {flags.length > 2 ? <span className="dimmer">+{flags.length - 2}</span> : null}
        {p.pins?.map((name) => <Flag key={name} family="unknown">{`pin ${shown(name)}`}</Flag>)}
        {p.item.left && p.item.loose ? <Flag family="unknown">replaced</Flag> : null}
        {p.marked ? <Flag family="unknown">marked</Flag> : null}
      </Told>
    </a>
  );
});

export const ForkRow = memo(function ForkRow(p: RowProps<"fork">) {
  const { state, adopted } = p.item.fork;
  const c = state.latest!;
  const flags = flagsOf(c, p.finding);
  return (
    <Link className="tl-row fork" to="/w/$ws" params={{ ws: state.id }} preload={false}>
      <b className="tl-n" />
      <Told c={c} finding={p.finding} flags={flags}>
        <span className="tl-x">
          fork <b>{shown(state.name)}</b>, {several(state.count, "checkpoint")}
        </span>
        {adopted.length > 0 ? <span className="sr"> adopted</span> : null}
        {state.ended ? <Flag family="unknown">ended</Flag> : null}
      </Told>
    </Link>
  );
});

export const EffectRow = memo(function EffectRow({ ws, item }: RowProps<"effect">) {
  const { effect } = item;
  return (
    <Link className={item.left ? "tl-row effect left" : "tl-row effect"} to="/w/$ws/effects" params={{ ws }} preload={false}>
      <b className="tl-n num">{shown(effect.id)}</b>
      <time className="tl-t num" dateTime={effect.time} title={whole(effect.time)}>
        {clock(effect.time)}
      </time>
      <span className="tl-b tl-w">
        <span className="sr">an effect outside: </span>
        <span className="tl-x">{shown(effect.text)}</span>
        <Flag family={staysDone(effect) ? "risky" : "unknown"}>{outcomeWord(effect)}</Flag>
        {item.left ? <span className="sr"> replaced by a restore</span> : null}
      </span>
    </Link>
  );
});

/** FoldRow is a run of checkpoints in one row; it opens. */
export const FoldRow = memo(function FoldRow({ item, open }: RowProps<"quiet" | "left-fold">) {
  const { run } = item;
  const newest = run[0]!;
  const oldest = run[run.length - 1]!;
  const until = clock(newest.time);
  const own = run.some((c) => c.trigger === "quiet");
  const quiet = `${count(run.length)} auto-checkpoints until ${until}: ${own ? "your own edits between turns" : "talk, and files that always move"}`;
  const words = item.kind === "quiet" ? quiet : `${several(run.length, "checkpoint")} replaced by a restore, until ${until}`;
  return (
    <button type="button" className="tl-row fold" aria-expanded="false" onClick={() => open(item.key)}>
      <span className="tl-n num">
        {oldest.number}–{newest.number}
      </span>
      <time className="tl-t num" dateTime={oldest.time}>
        {clock(oldest.time)}
      </time>
      <span className="tl-b tl-x">{words}</span>
      <Icon name="down" small />
    </button>
  );
});

export const MoreRow = memo(function MoreRow({ ws, item }: RowProps<"more">) {
  return (
    <Link className="tl-row fold" to="/w/$ws/forks" params={{ ws }} preload={false}>
      <span className="tl-n" />
      <span className="tl-t" />
      <span className="tl-b tl-x">
        +{several(item.n, "fork")} of {item.origin.number}
      </span>
      <Icon name="right" small />
    </Link>
  );
});

export const HeadRow = memo(function HeadRow({ item, open }: RowProps<"head">) {
  const span = clock(item.first) === clock(item.last) ? clock(item.first) : `${clock(item.first)}–${clock(item.last)}`;
  const facts = [several(item.n, "checkpoint"), item.failed ? `${count(item.failed)} failed` : "", item.good ? `${count(item.good)} good` : "", span].filter(Boolean).join(", ");
  return (
    <button type="button" className="tl-row head" aria-expanded={!item.shut} onClick={() => open(item.key)}>
      <Icon name={item.shut ? "right" : "down"} small />
      <b className="tl-x">{item.quoted ? `“${item.title}”` : item.title}</b>
      <span className="dimmer num">{facts}</span>
    </button>
  );
});

export function RestRow({ n }: { n: number }) {
  return (
    <div className="tl-rest" role="status">
      Reading {several(n, "older checkpoint")}.
    </div>
  );
}

export function EndRow({ n }: { n: number }) {
  return (
    <div className="tl-end">
      {several(n, "older checkpoint")} {n === 1 ? "is" : "are"} kept and not listed here. Find reaches them, and so does <code className="mono">retake log</code>.
    </div>
  );
}
