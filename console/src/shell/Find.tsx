// Find a checkpoint: words over intents, prompts, paths and facts; a number goes there.
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useDeferredValue, useMemo, useRef, useState } from "react";
import { logOf, searchOf } from "../api/queries.ts";
import { Icon } from "../parts/Icon.tsx";
import { Named } from "../parts/marks.tsx";
import { oneLine, shown } from "../words/escape.ts";
import { goalsOf, titleOf } from "../words/checkpoint.ts";
import { count } from "../words/number.ts";
import { clock } from "../words/time.ts";
import { useKeys } from "./keys.ts";

/** So many are listed; the rest is counted. */
const most = 12;

export function Find({ ws }: { ws?: string }) {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  const wanted = useDeferredValue(text.trim());
  const field = useRef<HTMLInputElement>(null);
  const go = useNavigate();
  const hits = useQuery({ ...searchOf(ws ?? "", wanted), enabled: !!ws && wanted.length > 1 });
  const log = useQuery({ ...logOf(ws ?? ""), enabled: !!hits.data?.some((h) => h.checkpoint.return) }).data; // what was gone to has a number
  const goals = useMemo(() => goalsOf(log?.checkpoints ?? [], log?.workspace), [log]);
  useKeys({ "/": () => field.current?.focus() });
  if (!ws) return null;
  const found = wanted.length > 1 ? (hits.data ?? []).slice(0, most) : [];
  const more = (hits.data ?? []).length - found.length;
  const close = () => {
    setText("");
    field.current?.blur();
  };
  const open = (ref: string) => {
    close();
    void go({ to: "/w/$ws/m/$ref", params: { ws, ref } });
  };
  const byPath = () => {
    close();
    void go({ to: "/w/$ws", params: { ws }, search: { path: wanted } });
  };
  const key = (e: React.KeyboardEvent) => {
    if (e.key === "Escape") close();
    else if (e.key === "ArrowDown") setChosen((c) => Math.min(c + 1, found.length - 1));
    else if (e.key === "ArrowUp") setChosen((c) => Math.max(c - 1, 0));
    else if (e.key === "Enter") {
      const hit = found[chosen];
      if (/^\d+$/.test(wanted)) open(wanted);
      else if (hit) open(String(hit.checkpoint.number));
      else if (hits.isSuccess && wanted.length > 1) byPath();
    } else return;
    e.preventDefault();
  };
  return (
    <div className="find" role="search">
      <Icon name="search" />
      <input
        ref={field}
        value={text}
        placeholder="Find a checkpoint, file, package"
        aria-label="Find a checkpoint, file or package"
        role="combobox"
        aria-expanded={found.length > 0}
        aria-controls="found"
        aria-activedescendant={found[chosen] ? `found-${chosen}` : undefined}
        onChange={(e) => {
          setText(e.target.value);
          setChosen(0);
        }}
        onKeyDown={key}
      />
      <kbd aria-hidden="true">/</kbd>
      {wanted.length > 1 && hits.isError ? (
        <p className="found card told" role="alert">
          <b>It could not be looked up.</b> {shown(hits.error.message)}
        </p>
      ) : null}
      {wanted.length > 1 && hits.isSuccess && found.length === 0 ? <None text={wanted} byPath={byPath} /> : null}
      {found.length > 0 && hits.isSuccess ? (
        <ul id="found" className="found card" role="listbox" aria-label="Checkpoints found">
          {found.map((h, i) => (
            <li key={`${h.checkpoint.id}${h.where}${h.text}`} id={`found-${i}`} role="option" aria-selected={i === chosen} onMouseDown={() => open(String(h.checkpoint.number))}>
              <b className="num">{h.checkpoint.number}</b>
              <span className="dimmer num">{clock(h.checkpoint.time)}</span>
              <span className="grow cut">
                <Named title={titleOf(h.checkpoint, goals).text} />
              </span>
              <span className="cut dim">
                {h.where} <span className={h.where === "path" ? "mono" : undefined}>{oneLine(h.text)}</span>
              </span>
            </li>
          ))}
          {more > 0 ? (
            <li className="dim rest" role="option" aria-selected="false" aria-disabled="true">
              {count(more)} more. Another word makes them fewer.
            </li>
          ) : null}
        </ul>
      ) : null}
    </div>
  );
}

/** Where nothing is found: where it was looked for, and where else it can be. */
function None({ text, byPath }: { text: string; byPath: () => void }) {
  return (
    <div className="found card told" role="status">
      <b>Nothing here says “{oneLine(text)}”</b>
      <p className="dim">Looked in intents, prompts, paths and facts. What is inside files is not searched.</p>
      <button type="button" className="link" onMouseDown={(e) => e.preventDefault()} onClick={byPath}>
        Checkpoints that changed the path <span className="mono">{oneLine(text)}</span>
        <kbd>enter</kbd>
      </button>
    </div>
  );
}
