// What a screen says while it waits, when something is wrong, and when there is nothing.
import { useEffect, useState, type ReactNode } from "react";
import { Trouble } from "../api/ask.ts";
import { shown, shownLines } from "../words/escape.ts";
import { hintLines } from "../words/hints.ts";

/** Waiting keeps the layout: bars after 300 ms or at once, a sentence after 5 s, no spinner. */
export function Waiting({ what, at = 0 }: { what: string; at?: 0 | 1 }) {
  const [stage, setStage] = useState<number>(at);
  useEffect(() => {
    const a = setTimeout(() => setStage((s) => Math.max(s, 1)), 300);
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

const upper = (s: string) => s.slice(0, 1).toUpperCase() + s.slice(1);

/** Wrong says what happened, whether anything was changed, and what to do. To ask again is offered where
 *  the answer can be another; out: ways that lead elsewhere. */
export function Wrong({ error, again, out }: { error: unknown; again?: () => void; out?: ReactNode }) {
  const p = error instanceof Trouble ? error.problem : undefined;
  const retry = again && (!p || p.retryable || p.status >= 500) ? again : undefined;
  return (
    <section className="card note" role="alert">
      <h2>{upper(shown(p?.what ?? String(error)))}</h2>
      <p>{p?.safe ? shown(p.safe) : "Nothing was changed by looking."}</p>
      {p?.cause ? <pre>{shownLines(p.cause)}</pre> : null}
      {hintLines(p).map((h) => (
        <p key={h.words + h.command}>
          {shown(h.words)}
          {h.command ? <code className="mono">{shown(h.command)}</code> : null}
        </p>
      ))}
      {retry || out ? (
        <p className="row">
          {retry ? (
            <button type="button" className="button" onClick={retry}>
              Try again
            </button>
          ) : null}
          {out}
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
