// What verifications said of the files of a checkpoint, with the end of what they printed.
import { useState } from "react";
import { Link } from "@tanstack/react-router";
import type { Checkpoint, Gap, Verification } from "../../api/types.ts";
import { List } from "../../parts/List.tsx";
import { Verify } from "../../parts/marks.tsx";
import { oneLine, shown, shownLines } from "../../words/escape.ts";
import { agentName } from "../../words/checkpoint.ts";
import { duration, several } from "../../words/number.ts";
import { seconds, whole } from "../../words/time.ts";
import { gapWords } from "./words.ts";

/** One card a name: the newest answer; older ones can be opened. Claims stand apart. */
function byName(all: readonly Verification[]): Verification[][] {
  const names = new Map<string, Verification[]>();
  for (const v of all) {
    const key = (v.claim ? "1" : "0") + v.name;
    const list = names.get(key);
    if (list) list.push(v);
    else names.set(key, [v]);
  }
  return [...names.entries()].sort((a, b) => (a[0][0]! < b[0][0]! ? -1 : 1)).map((x) => x[1]);
}

export function Verified({ ws, c, all }: { ws: string; c: Checkpoint; all?: readonly Verification[] }) {
  const cards = byName(all ?? []);
  return (
    <section className="checkpoint-verified" aria-label="Checks" id="verified">
      <header>
        <h2 className="label">Checks</h2>
      </header>
      {all && cards.length === 0 ? (
        <p className="dim">
          No verification ran on these files. In the workspace, <code className="mono">retake at {c.number} -- COMMAND</code> runs one in a fork of this checkpoint.
        </p>
      ) : null}
      {cards.map((list) => (
        <Card key={list[0]!.id} ws={ws} c={c} list={list} />
      ))}
    </section>
  );
}

function ending(v: Verification): string {
  switch (v.verdict) {
    case "could-not-run":
      return "could not run";
    case "changed":
      return "files changed while it ran";
    case "running":
      return "running";
    default:
      return v.score ? `${shown(v.score)} · exit ${v.exit}` : `exit ${v.exit}`;
  }
}

const places: Record<string, string> = { live: "on the live files", fork: "in a fork at the same path", elsewhere: "in a fork elsewhere: it makes no checkpoint good" };

function Card({ ws, c, list }: { ws: string; c: Checkpoint; list: Verification[] }) {
  const [older, setOlder] = useState(false);
  const v = list[0]!;
  return (
    <article className="checkpoint-card">
      <header>
        <Verify answer={{ name: v.name, verdict: v.verdict, claim: v.claim }} />
        {v.command ? (
          <code className="mono cut dim" title={shown(v.command)}>
            {shown(v.command)}
          </code>
        ) : null}
        <span className="grow" />
        {v.claim ? null : <span className="dim">{ending(v)}</span>}
      </header>
      <About ws={ws} c={c} v={v} />
      <Output v={v} />
      {list.length > 1 ? (
        <button type="button" className="link" aria-expanded={older} onClick={() => setOlder(!older)}>
          {several(list.length - 1, "earlier answer")}
        </button>
      ) : null}
      {older
        ? list.slice(1, 40).map((x) => (
            <div key={x.id} className="checkpoint-older">
              <Verify answer={{ name: x.name, verdict: x.verdict, claim: x.claim }} /> {x.claim ? null : <span className="dim">{ending(x)}</span>}
              <About ws={ws} c={c} v={x} />
            </div>
          ))
        : null}
    </article>
  );
}

function About({ ws, c, v }: { ws: string; c: Checkpoint; v: Verification }) {
  if (v.claim) return <p className="dim">A claim of {agentName(v.by)}; Retake did not run it.</p>;
  return (
    <p className="dim">
      <time dateTime={v.started} title={whole(v.started)}>
        {seconds(v.started)}
      </time>
      {v.verdict === "could-not-run" ? "" : `, ran ${duration(v.took)}`}, {places[v.where] ?? shown(v.where)}
      {v.number !== c.number ? (
        <>
          , at{" "}
          <Link className="link num" to="/w/$ws/m/$ref" params={{ ws, ref: String(v.number) }}>
            {v.number}
          </Link>{" "}
          with the same content
        </>
      ) : null}
      {v.why ? <>. {oneLine(v.why)}</> : null}
      {(v.wrote ?? []).length > 0 ? <>. It left {several(v.wrote!.length, "file")} behind.</> : null}
    </p>
  );
}

const tail = 12;

function Output({ v }: { v: Verification }) {
  const [all, setAll] = useState(false);
  const lines = shownLines(v.output ?? "").trimEnd().split("\n");
  if (lines.length === 1 && lines[0] === "") return null;
  const cut = all ? lines : lines.slice(-tail);
  return (
    <pre tabIndex={0} aria-label={`What ${shown(v.name)} printed`}>
      {lines.length > tail && !all ? (
        <button type="button" className="link" onClick={() => setAll(true)}>
          {several(lines.length - tail, "line")} before
        </button>
      ) : null}
      {lines.length > tail && !all ? "\n" : null}
      {cut.map((l, i) => (
        <span key={i} className={/^\s*(✘|✗|×|FAIL|not ok|Error|--- FAIL)/.test(l) ? "bad" : undefined}>
          {l + "\n"}
        </span>
      ))}
    </pre>
  );
}

/** What the checkpoint does not hold, every path of it. */
export function Coverage({ gaps }: { gaps: readonly Gap[] }) {
  if (gaps.length === 0) return null;
  return (
    <section className="checkpoint-coverage" aria-label="Coverage" id="coverage">
      <header>
        <h2 className="label">Left out of this checkpoint</h2>
        <span className="dimmer num">{several(gaps.length, "path")}</span>
      </header>
      <List count={gaps.length} height={() => 40} label="Paths that are left out" className="checkpoint-gaps">
        {(i) => (
          <p>
            <span className="mono cut" title={shown(gaps[i]!.path)}>
              {shown(gaps[i]!.path)}
            </span>
            <span className="dim cut" title={gapWords(gaps[i]!)}>
              {gapWords(gaps[i]!)}
            </span>
          </p>
        )}
      </List>
    </section>
  );
}
