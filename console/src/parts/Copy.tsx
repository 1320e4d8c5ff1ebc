import { useRef, useState } from "react";
import { shownLines } from "../words/escape.ts";
import { Icon } from "./Icon.tsx";

/** Copy shows a command and puts it on the clipboard, as it is. */
export function Copy({ text, label = "Copy the command" }: { text: string; label?: string }) {
  const [done, setDone] = useState(false);
  const code = useRef<HTMLElement>(null);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // Plain HTTP to another host has no clipboard: then it is marked, for the person to copy.
      getSelection()?.selectAllChildren(code.current!);
      return;
    }
    setDone(true);
    setTimeout(() => setDone(false), 2000);
  };
  return (
    <div className="copy">
      <code className="mono" ref={code}>{shownLines(text)}</code>
      <button type="button" className="icon-button" aria-label={label} onClick={() => void copy()}>
        <Icon name={done ? "check" : "copy"} />
      </button>
      <span className="sr" role="status">
        {done ? "Copied" : ""}
      </span>
    </div>
  );
}
