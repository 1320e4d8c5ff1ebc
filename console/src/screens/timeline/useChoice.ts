// Which checkpoint is chosen. It moves at once; the address follows when the person rests.
import { useNavigate, useRouter } from "@tanstack/react-router";
import { useCallback, useEffect, useRef, useState } from "react";
import type { Read } from "./book.ts";
import type { Row } from "./rows.ts";
import type { View } from "./view.ts";

/** The number that a reference in the address means here. */
function numberOf(read: Read, ref?: string): number | undefined {
  if (ref && /^\d+$/.test(ref)) return Number(ref);
  if (ref === "good") return read.good?.number;
  if (ref === "start") return read.rows[read.rows.length - 1]?.number;
  return undefined;
}

export interface Choice {
  number: number; // the chosen one, or the newest
  asked: boolean; // somebody chose it
  choose: (n: number) => void;
}

export function useChoice(ws: string, read: Read, at?: string): Choice {
  const go = useNavigate();
  const router = useRouter();
  const [chosen, setChosen] = useState(() => numberOf(read, at));
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const known = useRef(at);
  const here = useRef(router.latestLocation.pathname);
  useEffect(() => {
    if (at === known.current) return; // it is ours
    known.current = at;
    setChosen(numberOf(read, at));
  }, [at, read]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const choose = useCallback(
    (n: number) => {
      setChosen(n);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => {
        if (router.latestLocation.pathname !== here.current) return; // they went on to another page
        known.current = String(n);
        void go({ to: "/w/$ws", params: { ws }, search: (s) => ({ ...s, at: String(n) }), replace: true, resetScroll: false });
      }, 120);
    },
    [go, router, ws],
  );
  return { number: chosen ?? read.rows[0]?.number ?? 0, asked: chosen !== undefined, choose };
}

/** The next checkpoint in a direction for which a test holds, from one that is chosen. */
export function step(view: View, from: number, by: 1 | -1, holds: (row: Row) => boolean = () => true): number | undefined {
  let i = view.rows.get(from);
  if (i === undefined) i = by > 0 ? -1 : view.items.length;
  for (i += by; i >= 0 && i < view.items.length; i += by) {
    const x = view.items[i]!;
    if (x.kind === "checkpoint" && x.row.number !== from && holds(x.row)) return x.row.number;
  }
  return undefined;
}

/** The first or the last checkpoint of the list. */
export function end(view: View, last: boolean): number | undefined {
  const { items } = view;
  for (let i = 0; i < items.length; i++) {
    const x = items[last ? items.length - 1 - i : i]!;
    if (x.kind === "checkpoint") return x.row.number;
  }
  return undefined;
}
