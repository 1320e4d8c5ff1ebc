// Dialogs of deeds: one at a time, native, closed by Escape. What deletes or ends
// something says in a sentence what will happen, and its second button does it.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useId, useRef, type ReactNode } from "react";
import { Trouble } from "../../api/ask.ts";
import { Copy } from "../../parts/Copy.tsx";
import { Icon } from "../../parts/Icon.tsx";
import { sentence } from "./words.ts";

/** Dialog opens as it appears. While it is locked, Escape does not close it. */
export function Dialog({ title, close, locked, children }: { title: string; close: () => void; locked?: boolean; children: ReactNode }) {
  const box = useRef<HTMLDialogElement>(null);
  const name = useId();
  const opener = useRef<Element>(null);
  useEffect(() => {
    const d = box.current;
    if (!d) return;
    opener.current ??= document.activeElement;
    if (!d.open) d.showModal();
    (d.querySelector<HTMLElement>("[data-first]") ?? d).focus();
    // A dialog that is taken away does not give the focus back by itself.
    return () => void (opener.current as HTMLElement | null)?.focus?.();
  }, []);
  return (
    <dialog ref={box} className="card ops-dialog" aria-labelledby={name} onClose={close} onCancel={(e) => locked && e.preventDefault()}>
      <header>
        <h2 id={name} className="grow">
          {title}
        </h2>
        {locked ? null : (
          <button type="button" className="icon-button" aria-label="Close" onClick={() => box.current?.close()}>
            <Icon name="cross" />
          </button>
        )}
      </header>
      {children}
    </dialog>
  );
}

/** useDeed does one thing and makes what was asked before stale. */
export function useDeed<In, Out>(deed: (v: In) => Promise<Out>, stale: string[][], then?: (out: Out) => void) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: deed,
    onSuccess: (out) => {
      for (const queryKey of stale) void cache.invalidateQueries({ queryKey });
      then?.(out);
    },
  });
}

/** Said is why a deed was not done, in the place where it was asked for. */
export function Said({ error }: { error: unknown }) {
  if (!error) return null;
  const p = error instanceof Trouble ? error.problem : undefined;
  return (
    <p className="ops-said" role="alert">
      <Icon name="warn" small />
      <span>
        <b>{sentence(p?.what || String(error))}</b> {sentence(p?.safe ?? "")} {sentence(p?.hint ?? "")}
      </span>
    </p>
  );
}

interface Filled {
  children: ReactNode;
  verb: string;
  ready?: boolean;
  deed: { mutate: (v: undefined) => void; isPending: boolean; error: unknown };
  close: () => void;
}

/** Form is the first step of a deed, or its only one when nothing is lost by it. */
export function Form({ children, verb, ready = true, deed, close }: Filled) {
  return (
    <form
      className="ops-form"
      onSubmit={(e) => {
        e.preventDefault();
        deed.mutate(undefined);
      }}
    >
      {children}
      <Said error={deed.error} />
      <div className="ops-buttons">
        <button type="button" className="button" onClick={close}>
          Back
        </button>
        <button type="submit" className="button primary" disabled={deed.isPending || !ready}>
          {verb}
        </button>
      </div>
    </form>
  );
}

interface Sure {
  title: string;
  children: ReactNode; // what will happen
  verb: string;
  deed: () => Promise<unknown>;
  stale: string[][];
  close: () => void;
  calm?: boolean; // nothing is lost by it
}

/** Confirm is the second step: the sentence, Back in focus, and the button that does it. */
export function Confirm({ title, children, verb, deed, stale, close, calm }: Sure) {
  const act = useDeed(deed, stale, close);
  return (
    <Dialog title={title} close={close}>
      <div className="ops-form">
        <div className="ops-sentence">{children}</div>
        <Said error={act.error} />
        <div className="ops-buttons">
          <button type="button" className="button" data-first onClick={close}>
            Back
          </button>
          <button type="button" className={calm ? "button primary" : "button danger"} disabled={act.isPending} onClick={() => act.mutate(undefined)}>
            {verb}
          </button>
        </div>
      </div>
    </Dialog>
  );
}

/** Secret is shown once: it leaves only by the button that says so. A public key is none. */
export function Secret({ secret, open, children, close }: { secret: string; open?: boolean; children: ReactNode; close: () => void }) {
  return (
    <div className="ops-form">
      {open ? (
        <p>The public key that signatures are checked with. It is no secret.</p>
      ) : (
        <p className="ops-once">
          <Icon name="key" small />
          <span>
            <b>This is shown once.</b> It cannot be shown again.
          </span>
        </p>
      )}
      <Copy text={secret} label={open ? "Copy the key" : "Copy the secret"} />
      <div className="dim">{children}</div>
      <div className="ops-buttons">
        <button type="button" className="button primary" onClick={close}>
          I have it
        </button>
      </div>
    </div>
  );
}
