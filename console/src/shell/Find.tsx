// Find a moment: words over intents, prompts, paths and facts; a number goes there.
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useDeferredValue, useRef, useState } from "react";
import { searchOf } from "../api/queries.ts";
import { Icon } from "../parts/Icon.tsx";
import { oneLine } from "../words/escape.ts";
import { titleOf } from "../words/moment.ts";
import { clock } from "../words/time.ts";
import { useKeys } from "./keys.ts";

export function Find({ ws }: { ws?: string }) {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  const wanted = useDeferredValue(text.trim());
  const field = useRef<HTMLInputElement>(null);
  const go = useNavigate();
  const hits = useQuery({ ...searchOf(ws ?? "", wanted), enabled: !!ws && wanted.length > 1 });
  useKeys({ "/": () => field.current?.focus() });
  if (!ws) return null;
  const found = wanted.length > 1 ? (hits.data ?? []) : [];
  const close = () => {
    setText("");
    field.current?.blur();
  };
  const open = (ref: string) => {
    close();
    void go({ to: "/w/$ws/m/$ref", params: { ws, ref } });
  };
  const key = (e: React.KeyboardEvent) => {
    if (e.key === "Escape") close();
    else if (e.key === "ArrowDown") setChosen((c) => Math.min(c + 1, found.length - 1));
    else if (e.key === "ArrowUp") setChosen((c) => Math.max(c - 1, 0));
    else if (e.key === "Enter") {
      const hit = found[chosen];
      if (/^\d+$/.test(wanted)) open(wanted);
      else if (hit) open(String(hit.checkpoint.number));
    } else return;
    e.preventDefault();
  };
  return (
    <div className="find" role="search">
      <Icon name="search" />
      <input
        ref={field}
        value={text}
        placeholder="Find a moment, file, package"
        aria-label="Find a moment, file or package"
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
      {wanted.length > 1 && hits.isSuccess ? (
        <ul id="found" className="found card" role="listbox" aria-label="Moments found">
          {found.length === 0 ? (
            <li className="dim nothing" role="option" aria-selected="false">
              No moment holds all of these words.
            </li>
          ) : null}
          {found.slice(0, 12).map((h, i) => (
            <li key={`${h.checkpoint.id}${h.where}${h.text}`} id={`found-${i}`} role="option" aria-selected={i === chosen} onMouseDown={() => open(String(h.checkpoint.number))}>
              <b className="num">{h.checkpoint.number}</b>
              <span className="dimmer num">{clock(h.checkpoint.time)}</span>
              <span className="grow cut">{titleOf(h.checkpoint).text}</span>
              <span className="cut dim">
                {h.where} {oneLine(h.text)}
              </span>
            </li>
          ))}
        </ul>
      ) : null}
    </div>
  );
}
