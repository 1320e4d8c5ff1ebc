// What the next cleanup would drop: by reason in words, each checkpoint in a virtual list.
import { Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import type { Drop, SpacePlan } from "../../api/types.ts";
import { List } from "../../parts/List.tsx";
import { useNarrow } from "../../parts/media.ts";
import { shown } from "../../words/escape.ts";
import { bytes, count, several } from "../../words/number.ts";
import { clock, whole } from "../../words/time.ts";
import { byReason } from "../storage/room.ts";
import { dropWords, nameOf, type Names } from "./words.ts";

const rowsShown = 10;

/** 42 checkpoints would go, about 3.1 MB; or that nothing is due. */
export function dropsSentence(p: SpacePlan): string {
  const n = p.drops?.length ?? 0;
  if (n === 0) return p.need === "budget" && p.budget > 0 && p.store.bytes > p.budget ? "Nothing more can go: what is kept on purpose takes more than the storage limit" : "Nothing is due: the next cleanup drops no checkpoint";
  return `${several(n, "checkpoint")} ${n === 1 ? "goes" : "go"} with the next cleanup, about ${bytes(p.frees)}`;
}

export function Drops({ plan, names }: { plan: SpacePlan; names: Names }) {
  const [why, setWhy] = useState<string>();
  const height = useNarrow() ? 44 : 30;
  const all = plan.drops ?? [];
  const sums = byReason(all);
  const rows = useMemo(() => (plan.drops ?? []).filter((d) => !why || d.why === why), [plan.drops, why]);
  if (all.length === 0) {
    return (
      <p className="ops-none">
        No checkpoint is too old, and nothing is short of room.
        {plan.garbage > 0 ? ` About ${bytes(plan.garbage)} belong to no checkpoint any more; the next cleanup gives them back.` : ""}
      </p>
    );
  }
  return (
    <>
      <div className="ops-reasons" role="group" aria-label="By reason">
        {sums.map((s) => (
          <button key={s.why} type="button" className="chip" aria-pressed={why === s.why} onClick={() => setWhy(why === s.why ? undefined : s.why)}>
            <b className="num">{count(s.count)}</b> {dropWords[s.why] ?? shown(s.why)} <span className="dimmer num">about {bytes(s.bytes)}</span>
          </button>
        ))}
      </div>
      <List label="Checkpoints that would go, oldest first" className="ops-scroll" count={rows.length} version={rows} keyOf={(i) => rows[i]!.checkpoint} height={height} most={rowsShown * height}>
        {(i) => <Going drop={rows[i]!} names={names} />}
      </List>
    </>
  );
}

function Going({ drop: d, names }: { drop: Drop; names: Names }) {
  return (
    <div className="ops-drop">
      <Link className="link cut" to="/w/$ws/m/$ref" params={{ ws: d.workspace, ref: String(d.number) }}>
        {nameOf(names, d.workspace)} <b className="num">{d.number}</b>
      </Link>
      <span className="dim num" title={whole(d.time)}>
        {clock(d.time)}
      </span>
      <span className="dim">{dropWords[d.why] ?? shown(d.why)}</span>
      <span className="num right dim">about {bytes(d.bytes)}</span>
    </div>
  );
}
