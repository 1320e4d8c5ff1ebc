// The rows of the list. Each checkpoint is one link; what the graph shows is said in words too.
import { Link } from "@tanstack/react-router";
import { memo, type MouseEvent, type ReactNode } from "react";
import type { Checkpoint, TimelineRow } from "../../api/types.ts";
import { Icon } from "../../parts/Icon.tsx";
import { Flag, Named, Verify } from "../../parts/marks.tsx";
import { outcomeWord, staysDone } from "../../words/effect.ts";
import { shown } from "../../words/escape.ts";
import { changedFiles } from "../../words/checkpoint.ts";
import { count, orNone, several } from "../../words/number.ts";
import { clock, whole } from "../../words/time.ts";
import { rangeText } from "./rows.ts";
import { familyOf, marks, nodeOf, storyLine, type Piece } from "./story.ts";
import type { Item } from "./view.ts";

export interface RowProps<K extends Item["kind"] = Item["kind"]> {
  ws: string;
  item: Item & { kind: K };
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

function Marks({ row }: { row: TimelineRow }) {
  const m = marks(row, 2);
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
  const words: string[] = [nodeWords[nodeOf(item.row)]];
  if (p.newest) words.push("your files are here");
  if (item.left) words.push("replaced");
  if (p.marked) words.push("marked");
  return words.filter(Boolean).join(", ");
}

/** Told is what a row tells of a checkpoint, its own or the newest of a fork: when, a title and flags,
 *  who, what really changed, what was checked, how many files. */
function Told({ row, of, children }: { row: TimelineRow; of: Checkpoint; children: ReactNode }) {
  return (
    <>
      <time className="tl-t num" dateTime={of.time} title={whole(of.time)}>
        {clock(of.time)}
      </time>
      <span className="tl-b">
        <span className="tl-w">
          {children}
          <span className="tl-who">{shown(row.who ?? "")}</span>
        </span>
        <span className="tl-s">
          <span className="tl-t2 num">{clock(of.time)} </span>
          <Story parts={storyLine(row)} />
        </span>
      </span>
      <Marks row={row} />
      <span className="tl-f num">
        {orNone(row.files)}
        <span className="sr"> files</span>
        <Mix c={of} />
      </span>
    </>
  );
}

export const CheckpointRow = memo(function CheckpointRow(p: RowProps<"checkpoint">) {
  const { row, left, loose } = p.item;
  const flags = row.flags ?? [];
  const kind = ["tl-row", left && "left", p.chosen && "chosen", p.fresh && "fresh", !row.written && "unsaid"].filter(Boolean).join(" ");
  return (
    <a className={kind} href={`/w/${p.ws}/m/${row.number}`} data-number={row.number} aria-current={p.chosen ? "true" : undefined} onClick={(e) => p.choose(row.number, e)} draggable={false}>
      <b className="tl-n num">{row.number}</b>
      <Told row={row} of={row.checkpoint}>
        <span className="tl-x"><Named title={shown(row.title)} /></span>
        <span className="sr"> {inWords(p)} </span>
        {flags.slice(0, 2).map((f) => (
          <Flag key={f.word} family={familyOf(f)}>{shown(f.word)}</Flag>
        ))}
        {flags.length > 2 ? <span className="dimmer">+{flags.length - 2}</span> : null}
        {row.pins?.map((name) => <Flag key={name} family="unknown">{`pin ${shown(name)}`}</Flag>)}
        {left && loose ? <Flag family="unknown">replaced</Flag> : null}
        {p.marked ? <Flag family="unknown">marked</Flag> : null}
      </Told>
    </a>
  );
});

export const ForkRow = memo(function ForkRow({ item: { row } }: RowProps<"fork">) {
  const fork = row.fork!;
  return (
    <Link className="tl-row fork" to="/w/$ws" params={{ ws: fork.id }} preload={false}>
      <b className="tl-n" />
      <Told row={row} of={fork.latest!}>
        <span className="tl-x">{shown(row.title)}</span>
        {row.adopted ? <span className="sr"> adopted</span> : null}
        {fork.ended ? <Flag family="unknown">ended</Flag> : null}
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
export const FoldRow = memo(function FoldRow({ item: { row }, open }: RowProps<"fold">) {
  const until = clock(row.until!);
  const words = row.kind === "quiet" ? `${row.title} until ${until}: ${row.about}` : `${several(row.count!, "checkpoint")} ${row.title}, until ${until}`;
  return (
    <button type="button" className="tl-row fold" aria-expanded="false" onClick={() => open(row.key)}>
      <span className="tl-n num">{rangeText(row)}</span>
      <time className="tl-t num" dateTime={row.time}>
        {clock(row.time!)}
      </time>
      <span className="tl-b tl-x">{shown(words)}</span>
      <Icon name="down" small />
    </button>
  );
});

export const MoreRow = memo(function MoreRow({ ws, item: { row } }: RowProps<"more">) {
  return (
    <Link className="tl-row fold" to="/w/$ws/forks" params={{ ws }} preload={false}>
      <span className="tl-n" />
      <span className="tl-t" />
      <span className="tl-b tl-x">
        {row.title} of {row.number}
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
