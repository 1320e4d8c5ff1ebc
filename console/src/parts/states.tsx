// What a screen says while it waits, when something is wrong, and when there is nothing.
import { useEffect, useState, type ReactNode } from "react";
import { Trouble } from "../api/ask.ts";
import { shown, shownLines } from "../words/escape.ts";

/** Waiting keeps the layout: bars after 300 ms, a sentence after 5 s, no spinner. */
export function Waiting({ what }: { what: string }) {
  const [stage, setStage] = useState(0);
  useEffect(() => {
    const a = setTimeout(() => setStage(1), 300);
    const b = setTimeout(() => setStage(2), 5000);
    return () => {
      clearTimeout(a);
      clearTimeout(b);
    };
  }, []);
  return (
    <div className="bars" role="status" aria-label={`Reading ${what}`}>
      {stage > 0 ? Array.from({ length: 6 }, (_, i) => <i key={i} />) : null}
      {stage > 1 ? <p className="dim">Still reading {what}.</p> : null}
    </div>
  );
}

/** Wrong says what happened, whether anything was changed, and what to do. */
export function Wrong({ error, again }: { error: unknown; again?: () => void }) {
  const p = error instanceof Trouble ? error.problem : undefined;
  return (
    <section className="card note" role="alert">
      <h2>{shown(p?.what ?? String(error))}</h2>
      <p>{p?.safe ? shown(p.safe) : "Nothing was changed by looking."}</p>
      {p?.cause ? <pre>{shownLines(p.cause)}</pre> : null}
      {p?.hint ? <p>{shown(p.hint)}</p> : null}
      {(p?.next_steps ?? []).map((s) => (
        <pre key={s}>{shownLines(s)}</pre>
      ))}
      {again ? (
        <p>
          <button type="button" className="button" onClick={again}>
            Try again
          </button>
        </p>
      ) : null}
    </section>
  );
}

/** Empty says why there is nothing and what fills it; page: it is all there is. */
export function Empty({ title, page, children }: { title: string; page?: boolean; children: ReactNode }) {
  return (
    <section className="card note">
      {page ? <h1 className="answer">{title}</h1> : <h2>{title}</h2>}
      <div className="dim">{children}</div>
    </section>
  );
}
