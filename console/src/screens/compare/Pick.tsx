// Chooses a checkpoint out of any number: by its number, a word of its title, or a ref.
import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useMemo, useRef, useState } from "react";
import { logOf, searchOf } from "../../api/queries.ts";
import type { Answer, Checkpoint } from "../../api/types.ts";
import { Icon } from "../../parts/Icon.tsx";
import { List } from "../../parts/List.tsx";
import { Named, Verify } from "../../parts/marks.tsx";
import { goalsOf, titleOf } from "../../words/checkpoint.ts";
import { clock } from "../../words/time.ts";

export interface PickProps {
  ws: string;
  label: string; // from, to
  value: string; // what is chosen, in words
  now?: boolean; // now may be chosen
  choose: (ref: string) => void; // "": now
}

export function Pick(p: PickProps) {
  const box = useRef<HTMLDialogElement>(null);
  const [open, setOpen] = useState(false);
  const show = () => {
    setOpen(true);
    requestAnimationFrame(() => box.current?.showModal());
  };
  const close = () => box.current?.close();
  return (
    <>
      <button type="button" className="chip" aria-haspopup="dialog" onClick={show}>
        <span className="dimmer">{p.label}</span>{" "}
        <b className="num">{p.value}</b>
        <Icon name="down" small />
        <span className="sr">, choose another</span>
      </button>
      {open ? (
        <dialog ref={box} className="card dialog compare-pick" aria-label={`Choose the checkpoint ${p.label}`} onClose={() => setOpen(false)} onClick={(e) => e.target === box.current && close()}>
          <Choices {...p} done={close} />
        </dialog>
      ) : null}
    </>
  );
}

function Choices({ ws, label, now, choose, done }: PickProps & { done: () => void }) {
  const [text, setText] = useState("");
  const wanted = useDeferredValue(text.trim());
  const log = useQuery(logOf(ws));
  const hits = useQuery({ ...searchOf(ws, wanted), enabled: wanted.length > 1 && !/^\d+$/.test(wanted) });
  const goals = useMemo(() => goalsOf(log.data?.checkpoints ?? [], log.data?.workspace), [log.data]);
  const found = useMemo(() => {
    const all = log.data?.checkpoints ?? [];
    if (wanted === "") return all;
    const low = wanted.toLowerCase();
    const near = all.filter((c) => String(c.number).startsWith(wanted) || titleOf(c, goals).text.toLowerCase().includes(low));
    const more = (hits.data ?? []).map((h) => h.checkpoint).filter((c) => !near.some((x) => x.id === c.id));
    return [...near, ...new Map(more.map((c) => [c.id, c])).values()];
  }, [log.data, wanted, hits.data, goals]);
  const take = (ref: string) => {
    choose(ref);
    done();
  };
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault();
        if (wanted) take(/^\d+$/.test(wanted) || !found[0] ? wanted : String(found[0].number));
      }}
    >
      <label className="field">
        <span className="label">Compare {label}: a number, a word, a time, or good, start, latest</span>
        <input className="text" autoFocus value={text} onChange={(e) => setText(e.target.value)} />
      </label>
      {now ? (
        <button type="button" className="compare-one" onClick={() => take("")}>
          <b className="num">now</b>
          <span className="grow">the files as they are, not a checkpoint yet</span>
        </button>
      ) : null}
      <List count={found.length} height={() => 36} label="Checkpoints" className="compare-found">
        {(i) => <One c={found[i]!} goals={goals} answer={told(log.data?.findings[found[i]!.id]?.answers ?? [])} take={() => take(String(found[i]!.number))} />}
      </List>
      {log.data && found.length === 0 ? <p className="dim">No checkpoint is called so. Enter tries it as a ref.</p> : null}
      <button type="button" className="button" onClick={done}>
        Close
      </button>
    </form>
  );
}

/** What we saw ourselves goes before what was claimed. */
const told = (answers: readonly Answer[]): Answer | undefined => answers.find((a) => !a.claim) ?? answers[0];

function One({ c, goals, answer, take }: { c: Checkpoint; goals: ReadonlyMap<string, string>; answer?: Answer; take: () => void }) {
  return (
    <button type="button" className="compare-one" onClick={take}>
      <b className="num">{c.number}</b>
      <span className="dimmer num">{clock(c.time)}</span>
      <span className="grow cut">
        <Named title={titleOf(c, goals).text} />
      </span>
      {answer ? <Verify answer={answer} /> : null}
    </button>
  );
}
