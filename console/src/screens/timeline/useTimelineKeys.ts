// The keys of the timeline. They move and open; none of them changes a file.
import { useNavigate } from "@tanstack/react-router";
import { usePowers } from "../../api/powers.ts";
import { useKeys } from "../../shell/keys.ts";
import type { TimelineSearch } from "../../router.tsx";
import type { Read } from "./book.ts";
import { parentOf, rowAt, type Row } from "./rows.ts";
import { end, step } from "./useChoice.ts";
import type { View } from "./view.ts";

interface Keyed {
  ws: string;
  read: Read;
  view?: View;
  chosen: number;
  search: TimelineSearch;
  marked?: number;
  mark: (n: number | undefined) => void;
  move: (n: number | undefined) => void;
  wish: (s: Partial<TimelineSearch>) => void;
}

export function useTimelineKeys(k: Keyed) {
  const go = useNavigate();
  const { may } = usePowers();
  const { ws, read, view, chosen, search } = k;
  const ref = String(chosen);
  const params = { ws };
  const good = (r: Row) => !!r.good;
  const by = (d: 1 | -1, holds?: (r: Row) => boolean) => () => view && k.move(step(view, chosen, d, holds));
  const diff = () => {
    const row = rowAt(read.rows, chosen);
    const before = row && parentOf(read.rows, row);
    void go({ to: "/w/$ws/compare", params, search: { from: before ? String(before.number) : ref, to: ref } });
  };
  const compare = () => {
    if (k.marked === undefined || k.marked === chosen) return k.mark(k.marked === chosen ? undefined : chosen);
    const [from, to] = [k.marked, chosen].sort((a, b) => a - b);
    void go({ to: "/w/$ws/compare", params, search: { from: String(from), to: String(to) } });
  };
  const map = {
    j: by(1),
    k: by(-1),
    ArrowDown: by(1),
    ArrowUp: by(-1),
    n: by(1, good),
    N: by(-1, good),
    g: () => view && k.move(end(view, false)),
    G: () => view && k.move(end(view, true)),
    Enter: (e: KeyboardEvent) => {
      const t = e.target as HTMLElement | null;
      if (t?.closest("a, button, summary") && !t.dataset.number) return t.click(); // it is what that one does
      void go({ to: "/w/$ws/m/$ref", params: { ws, ref } });
    },
    d: diff,
    D: () => void go({ to: "/w/$ws/compare", params, search: { from: ref } }),
    c: compare,
    r: () => may("return") && void go({ to: "/w/$ws/plan", params, search: { course: "restore", ref } }),
    u: () => may("return") && void go({ to: "/w/$ws/plan", params, search: { course: "undo" } }),
    f: () => may("return") && void go({ to: "/w/$ws/forks", params, search: { from: ref } }),
    v: () => k.wish({ show: search.show === "good" ? undefined : "good" }),
    h: () => k.wish({ left: search.left === "folded" ? undefined : "folded" }),
    Escape: () => k.mark(undefined),
  };
  useKeys(map);
}
