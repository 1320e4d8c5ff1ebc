// Keys, the same as in the terminal. No key applies anything; keys only move and open.
import { useEffect, useRef } from "react";

export type KeyMap = Record<string, (e: KeyboardEvent) => void>;

const typing = (e: KeyboardEvent) => {
  const t = e.target as HTMLElement | null;
  return !!t && (t.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(t.tagName));
};

/** useKeys hears single keys while the component is there. In a field only Escape is heard, and
 *  while a dialog is open nothing is: its keys are its own, and Escape closes it. */
export function useKeys(map: KeyMap, on = true) {
  const latest = useRef(map);
  latest.current = map;
  useEffect(() => {
    if (!on) return;
    const hear = (e: KeyboardEvent) => {
      if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented || document.querySelector("dialog[open]")) return;
      if (typing(e) && e.key !== "Escape") return;
      const act = latest.current[e.key];
      if (!act) return;
      e.preventDefault();
      act(e);
    };
    addEventListener("keydown", hear);
    return () => removeEventListener("keydown", hear);
  }, [on]);
}

/** What the keys do, for the page of keys. */
export const keyWords: [string, string][] = [
  ["j k ↓ ↑", "next, previous checkpoint"],
  ["g G", "newest, start"],
  ["enter", "open"],
  ["esc", "back; changes nothing, ever"],
  ["/", "find"],
  ["d", "diff with the checkpoint before"],
  ["D", "diff with now"],
  ["c", "mark, then compare"],
  ["r", "plan of a restore"],
  ["u", "plan of an undo"],
  ["f", "fork"],
  ["v", "good only"],
  ["n N", "next, previous good"],
  ["h", "show or hide replaced checkpoints"],
  ["1–4", "parts of a checkpoint"],
  ["?", "these keys"],
];
