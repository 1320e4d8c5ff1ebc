// What the parts of operations share with storage: the head that answers, who may do what.
import { useQuery } from "@tanstack/react-query";
import { useRef, type ReactNode } from "react";
import { namespace, usage } from "../../api/office.ts";
import { usePowers } from "../../api/powers.ts";
import { about } from "../../api/queries.ts";
import { Icon } from "../../parts/Icon.tsx";
import { shown } from "../../words/escape.ts";
import { kindFor, kinds, kindWords } from "./words.ts";

/** Head is the answer of a page, and a line of what lies behind it. */
export function Head({ title, bad, children, actions }: { title: string; bad?: boolean; children?: ReactNode; actions?: ReactNode }) {
  return (
    <header className="ops-head">
      <div className="grow">
        <h1 className={bad ? "bad" : undefined}>
          {bad ? <Icon name="warn" /> : null}
          {title}
        </h1>
        {children ? <p className="dim">{children}</p> : null}
      </div>
      {actions ? <div className="ops-actions">{actions}</div> : null}
    </header>
  );
}

/** Lacks says which kind of key could, where this one cannot. */
export function Lacks({ power, what }: { power: string; what: string }) {
  const { may } = usePowers();
  if (may(power)) return null;
  return (
    <p className="ops-lacks">
      <Icon name="key" small />
      <span>
        {what} needs {article(kindFor[power] ?? power)} <b>{kindFor[power] ?? power}</b> key.
      </span>
    </p>
  );
}

/** Closed stands in for a page whose every line needs a power that this key lacks. */
export function Closed({ power, title }: { power: string; title: string }) {
  const me = useQuery(about);
  const kind = me.data?.key?.kind;
  const other = kindFor[power] ?? power;
  return (
    <>
      <Head title={title}>
        {kind ? `You are here with ${article(kind)} ${shown(kind)} key. ` : ""}
        {article(other).replace(/^a/, "A")} {other} key shows this page: sign in with one, or ask who has it.
      </Head>
      <section className="card ops-card ops-slim" aria-labelledby="kinds-title">
        <header>
          <h2 id="kinds-title">Kinds of keys</h2>
        </header>
        <dl className="ops-facts">
          {kinds.map((k) => (
            <div key={k}>
              <dt>{k}</dt>
              <dd>
                {kindWords[k]}
                {k === kind ? <span className="dimmer">, yours</span> : null}
                {k === other ? <b>, shows this page</b> : null}
              </dd>
            </div>
          ))}
        </dl>
        <p className="ops-note">No key both writes and deletes history.</p>
      </section>
    </>
  );
}

const article = (word: string) => (/^[aeiou]/.test(word) ? "an" : "a");

/** Once a page was there it stays: what is asked again must not take an open dialog away. */
export function useOnce(ready: boolean): boolean {
  const was = useRef(false);
  was.current ||= ready;
  return was.current;
}

/** What the namespace takes. Its limits come from the namespace itself: there a change is seen at once. */
export function useUsage(on = true) {
  const use = useQuery({ ...usage, enabled: on });
  const ns = useQuery({ ...namespace, enabled: on });
  const data = use.data && ns.data ? { ...use.data, limits: ns.data.limits } : use.data;
  return { data, isLoadingError: use.isLoadingError, error: use.error, refetch: use.refetch };
}

