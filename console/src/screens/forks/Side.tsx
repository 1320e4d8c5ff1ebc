// Forks in columns: what was verified, what changed, and whether to bring it home.
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Icon } from "../../parts/Icon.tsx";
import { Lines, Verify } from "../../parts/marks.tsx";
import { shown } from "../../words/escape.ts";
import { agentName } from "../../words/checkpoint.ts";
import { count, several } from "../../words/number.ts";
import { clock } from "../../words/time.ts";
import { databaseText, filesOf, packagesText, settingsText, standsAs, type Known } from "./judge.ts";

const letters = ["A", "B", "C"];

export function Side({ ws, columns, we, may }: { ws: string; columns: readonly Known[]; we?: Known; may: boolean }) {
  const row = (name: string, cell: (k: Known) => ReactNode, tone?: (k: Known) => string) => (
    <tr>
      <th scope="row">{name}</th>
      {columns.map((k) => (
        <td key={k.fork.id} className={tone?.(k)}>
          {cell(k)}
        </td>
      ))}
    </tr>
  );
  const facts = (k: Known, text: string) => (k.story ? text ? <span>{text}</span> : <span className="dim">none</span> : <span className="dimmer">…</span>);
  return (
    <div className="card forks-side" tabIndex={0} role="group" aria-label="Forks side by side">
      <table>
        <thead>
          <tr>
            <td />
            {columns.map((k, i) => (
              <th key={k.fork.id} scope="col">
                <Head ws={ws} known={k} letter={letters[i]!} filled={k === we} may={may} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {row("Checks", (k) => <Verified known={k} />, (k) => ({ good: "ok", inherited: "ok", failed: "no" })[standsAs(k) as string] ?? "")}
          {row("Changed", (k) => <Changed known={k} />)}
          {row("Packages", (k) => facts(k, packagesText(k.story?.facts ?? [])))}
          {row("Settings", (k) => facts(k, settingsText(k.story?.facts ?? [])))}
          {row("Database", (k) => facts(k, databaseText(k.story?.facts ?? [])))}
          {row("Grew from", (k) => (k.fork.origin ? <Origin ws={ws} number={k.fork.origin.number} /> : "–"))}
        </tbody>
      </table>
    </div>
  );
}

export const Origin = ({ ws, number }: { ws: string; number: number }) => (
  <Link className="link num" to="/w/$ws/m/$ref" params={{ ws, ref: String(number) }}>
    {count(number)}
  </Link>
);

function Head({ ws, known: k, letter, filled, may }: { ws: string; known: Known; letter: string; filled: boolean; may: boolean }) {
  const l = k.fork.latest;
  const who = l?.turn?.agent ? `${agentName(l.turn.agent)}, ` : "";
  return (
    <div className="forks-col">
      <div className="grow">
        <p className="name">
          <em className={letter.toLowerCase()}>{letter}</em>
          {shown(k.fork.name)}
        </p>
        <p className="dim about">
          {who}
          {several(k.fork.count, "checkpoint")}
          {l ? `, last ${clock(l.time)}` : ""}
          {k.adopted !== undefined ? `, adopted at ${k.adopted}` : ""}
        </p>
      </div>
      <Link className="button" to="/w/$ws/compare" params={{ ws: k.fork.id }} search={{ from: "start", to: l ? String(l.number) : undefined }}>
        Diff<span className="sr"> of {shown(k.fork.name)}</span>
      </Link>
      <Adopt ws={ws} known={k} filled={filled} may={may} />
    </div>
  );
}

export function Adopt({ ws, known: k, filled, may }: { ws: string; known: Known; filled?: boolean; may: boolean }) {
  const inner = (
    <>
      <Icon name="fork" small />
      Adopt…<span className="sr"> {shown(k.fork.name)}</span>
    </>
  );
  if (!may) {
    return (
      <button type="button" className="button" disabled>
        {inner}
      </button>
    );
  }
  return (
    <Link className={filled ? "button primary" : "button"} to="/w/$ws/plan" params={{ ws }} search={{ course: "adopt", fork: k.fork.id }}>
      {inner}
    </Link>
  );
}

export function Verified({ known: k }: { known: Known }) {
  const answers = k.finding?.answers ?? [];
  if (!k.finding) return <span className="dimmer">…</span>;
  if (answers.length === 0) return <span className="dim">never checked</span>;
  return (
    <span className="forks-answers">
      {answers.map((a) => (
        <Verify key={a.name + (a.claim ? "c" : "")} answer={a} />
      ))}
    </span>
  );
}

export function Changed({ known: k }: { known: Known }) {
  if (!k.story) return <span className="dimmer">…</span>;
  const n = filesOf(k.story);
  const gone = k.story.counts.deleted;
  if (n === 0) return <span className="dim">nothing changed</span>;
  return (
    <span className="num">
      {several(n, "file")}
      {gone > 0 ? <span className="bad">, {count(gone)} deleted</span> : null} <Lines plus={k.story.counts.plus} minus={k.story.counts.minus} />
    </span>
  );
}
