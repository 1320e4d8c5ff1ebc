// The screens of the console. Each is a file of its own that is loaded when it is first
// opened, and all of them when the browser has nothing to do: a page whose server went
// away can then go everywhere with what it knows. The page is never loaded anew by itself.
import { useEffect, useReducer, useState, type ComponentType } from "react";
import { away, Trouble } from "../api/ask.ts";
import { useLiveness } from "../api/live.ts";
import { loadDiff } from "../diff/index.tsx";
import { Waiting, Wrong } from "../parts/states.tsx";

type Load = () => Promise<{ default: ComponentType }>;

const all: (() => Promise<unknown>)[] = [];

/** loadScreens loads what is not there yet, one after the other. What fails is loaded when it is opened. */
export async function loadScreens(): Promise<void> {
  for (const load of [...all, loadDiff]) await load().catch(() => undefined);
}

export function screen(load: Load) {
  let known: ComponentType | undefined;
  let waits: Promise<void> | undefined;
  const loaded = () =>
    (waits ??= load().then(
      (m) => void (known = m.default),
      (e: unknown) => {
        waits = undefined; // it may be asked for again
        throw e;
      },
    ));
  all.push(loaded);

  function Screen() {
    const [, drawn] = useReducer((n: number) => n + 1, 0);
    const [missing, setMissing] = useState(false);
    const live = useLiveness();
    useEffect(() => {
      if (known || (missing && live === "away")) return;
      loaded().then(drawn, () => setMissing(true));
    }, [live, missing]);
    if (known) {
      const Known = known;
      return <Known />;
    }
    // A newer server has other files: then only the whole page can be asked for again.
    if (missing) return <Wrong error={new Trouble(away())} again={() => (live === "away" ? setMissing(false) : window.location.reload())} />;
    return <Waiting what="this page" />;
  }
  Screen.preload = () => loaded().catch(() => undefined);
  return Screen;
}
