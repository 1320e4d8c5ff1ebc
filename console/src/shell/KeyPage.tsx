import { useEffect, useRef } from "react";
import { keyWords } from "./keys.ts";

/** KeyPage lists the keys. It is a native dialog: Escape closes it, and focus goes back. */
export function KeyPage({ close }: { close: () => void }) {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => box.current?.showModal(), []);
  return (
    <dialog ref={box} className="card dialog" aria-labelledby="keys-title" onClose={close}>
      <header>
        <h2 id="keys-title">Keys</h2>
      </header>
      <dl className="keys">
        {keyWords.map(([key, what]) => (
          <div key={key}>
            <dt>
              {key.split(" ").map((k) => (
                <kbd key={k}>{k}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <p className="dim">No key changes a file. Restores are always a plan first.</p>
      <form method="dialog">
        <button className="button" type="submit">
          Close
        </button>
      </form>
    </dialog>
  );
}
