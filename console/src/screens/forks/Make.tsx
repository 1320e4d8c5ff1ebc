// Making a fork: a name, what will happen, and where it is then.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { usePowers } from "../../api/powers.ts";
import { checkpointOf, statusOf } from "../../api/queries.ts";
import type { Checkpoint, ForkBody, ForkResult, Workspace } from "../../api/types.ts";
import { Copy } from "../../parts/Copy.tsx";
import { Icon } from "../../parts/Icon.tsx";
import { Waiting, Wrong } from "../../parts/states.tsx";
import { inDir } from "../../words/command.ts";
import { shown } from "../../words/escape.ts";
import { titleOf } from "../../words/checkpoint.ts";
import { count, several } from "../../words/number.ts";
import { clock } from "../../words/time.ts";
import { goOn, onceMore, told, type Progress } from "../plan/apply.ts";
import { TalkOn } from "../plan/Done.tsx";
import { beside, freeName, nameFault } from "./judge.ts";
import "../plan/plan.css";

export function Make({ ws, from, may, taken, close }: { ws: string; from: string; may: boolean; taken: readonly string[]; close: () => void }) {
  const box = useRef<HTMLDialogElement>(null);
  const checkpoint = useQuery(checkpointOf(ws, from));
  const status = useQuery(statusOf(ws));
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    if (!box.current?.open) box.current?.showModal();
  }, []);
  return (
    <dialog ref={box} className="card dialog forks-make" aria-labelledby="make-title" onClose={close} onCancel={(e) => (busy ? e.preventDefault() : undefined)}>
      {checkpoint.isError ? <Wrong error={checkpoint.error} /> : null}
      {checkpoint.isPending || status.isPending ? <Waiting what="the checkpoint" /> : null}
      {checkpoint.data && status.data ? <Making ws={ws} origin={checkpoint.data} home={status.data.workspace} may={may} taken={taken} setBusy={setBusy} close={() => box.current?.close()} /> : null}
    </dialog>
  );
}

interface MakingProps {
  ws: string;
  origin: Checkpoint;
  home: Workspace;
  may: boolean;
  taken: readonly string[];
  setBusy: (busy: boolean) => void;
  close: () => void;
}

function Making(p: MakingProps) {
  const cache = useQueryClient();
  const [progress, setProgress] = useState<Progress>();
  const [doing, setDoing] = useState(false);
  const [wrong, setWrong] = useState<unknown>();
  const [made, setMade] = useState<ForkResult>();
  const make = async (body: ForkBody) => {
    setDoing(true);
    p.setBusy(true);
    setWrong(undefined);
    try {
      setMade(await told<ForkResult>(`/v1/workspaces/${encodeURIComponent(p.ws)}/forks`, body, setProgress));
      void cache.invalidateQueries({ queryKey: ["ws", p.ws, "forks"] });
      void cache.invalidateQueries({ queryKey: ["workspaces"] });
    } catch (e) {
      setWrong(e);
    }
    setDoing(false);
    p.setBusy(false);
  };
  if (made) return <Made ws={p.ws} result={made} close={p.close} />;
  return <Form {...p} doing={doing} progress={progress} wrong={wrong} make={(body) => void make(body)} />;
}

function Form(p: MakingProps & { doing: boolean; progress?: Progress; wrong: unknown; make: (body: ForkBody) => void }) {
  const { server } = usePowers();
  const [name, setName] = useState(freeName(p.home.name, p.taken));
  const [dir, setDir] = useState<string>(); // as long as it follows the name
  const place = dir ?? beside(p.home.root, name);
  const fault = nameFault(name);
  const o = p.origin;
  const submit = (e: React.FormEvent) => {
    e.preventDefault();
    if (!fault && p.may && !p.doing) p.make({ ref: o.id, name, dir: server ? undefined : place });
  };
  return (
    <form className="forks-form" onSubmit={submit}>
      <h2 id="make-title" className="answer">
        Fork {o.number}{" "}
        <span className="dim">
          · {clock(o.time)} · {titleOf(o).text}
        </span>
      </h2>
      <label className="field">
        <span className="label">Name</span>
        <input className="text" value={name} maxLength={200} required autoFocus aria-invalid={fault !== ""} aria-describedby="make-fault" onChange={(e) => setName(e.target.value)} />
      </label>
      {server ? null : (
        <label className="field">
          <span className="label">Directory, which must not exist or be empty</span>
          <input className="text mono" value={place} onChange={(e) => setDir(e.target.value)} required />
        </label>
      )}
      <p id="make-fault" className="bad" role="alert">
        {fault}
      </p>
      <ul className="forks-happens">
        <li>
          <Icon name="folder" small />
          <span>
            {server ? "The server makes a directory" : "A directory is made"} with the {several(o.files, "file")} of checkpoint {o.number}. Where the disk can, they share disk space.
          </span>
        </li>
        <li>
          <Icon name="shield" small />
          <span>This workspace is not touched. The fork has a timeline of its own.</span>
        </li>
        <li>
          <Icon name="fork" small />
          <span>What is good in it comes home later by Adopt…, which shows a plan first.</span>
        </li>
      </ul>
      {p.wrong ? <Wrong error={p.wrong} /> : null}
      <p className="dim num" role="status">
        {p.doing ? (p.progress ? `${count(p.progress.files)}${p.progress.total ? ` of ${count(p.progress.total)}` : ""} files` : "Beginning.") : p.may ? "" : "Your key may not fork: it takes one of kind agent or operator."}
      </p>
      <div className="plan-buttons">
        <button type="button" className="button" onClick={p.close} disabled={p.doing}>
          Leave, make nothing
        </button>
        <button type="submit" className="button primary" disabled={p.doing || !p.may || fault !== ""}>
          Make the fork
        </button>
      </div>
    </form>
  );
}

function Made({ ws, result: r, close }: { ws: string; result: ForkResult; close: () => void }) {
  const head = useRef<HTMLHeadingElement>(null);
  const talk = useQuery({ queryKey: ["checkpoint", ws, "go-on", r.workspace.id], queryFn: () => goOn(ws, { ref: r.origin.id, dir: r.workspace.root }), retry: onceMore, staleTime: Infinity });
  useEffect(() => head.current?.focus(), []);
  return (
    <div className="forks-form">
      <h2 id="make-title" className="answer" ref={head} tabIndex={-1}>
        <span className="good">
          <Icon name="check" />
        </span>{" "}
        {shown(r.workspace.name)} forked from {r.origin.number}
      </h2>
      <p className="dim">
        {several(r.checkpoint.files, "file")}
        {r.cloned > 0 ? `, ${count(r.cloned)} share disk space` : ""}
        {r.copied > 0 ? `, ${count(r.copied)} written` : ""}. It is protected from now on.
      </p>
      <Copy text={inDir(r.workspace.root, [])} />
      {talk.data ? <TalkOn talk={talk.data} /> : null}
      {r.warnings.map((w) => (
        <p key={w.code + w.text} className="risky">
          {shown(w.text)}
        </p>
      ))}
      <div className="plan-buttons">
        <button type="button" className="button" onClick={close}>
          Close
        </button>
        <Link className="button primary" to="/w/$ws" params={{ ws: r.workspace.id }}>
          Open its timeline
        </Link>
      </div>
    </div>
  );
}
