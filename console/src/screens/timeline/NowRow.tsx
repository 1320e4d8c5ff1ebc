// What changed since the newest checkpoint: not a checkpoint yet. Saving makes it one.
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { usePowers } from "../../api/powers.ts";
import { saveNow, viewOf } from "../../api/queries.ts";
import type { TimelineView } from "../../api/types.ts";
import { shown } from "../../words/escape.ts";
import { pieces } from "./story.ts";
import { Story } from "./Rows.tsx";

export function NowRow({ ws, newest }: { ws: string; newest: number }) {
  const now = (v?: TimelineView) => v?.rows.find((r) => r.kind === "now");
  const view = useQuery({ ...viewOf(ws, { flat: true, limit: 1, now: true }), refetchInterval: (q) => (now(q.state.data)?.changed ? false : 1000) });
  const row = now(view.data);
  const { may } = usePowers();
  const save = useMutation({ mutationFn: () => saveNow(ws, {}) });
  return (
    <div className="tl-row now">
      <span className="tl-n" />
      <span className="tl-t">now</span>
      <span className="tl-b">
        <span className="tl-x">{row?.changed ? shown(row.title) : "still checking what changed"}</span>
        <span className="tl-s">
          <Story parts={(row?.points ?? []).slice(0, 3).map(pieces)} />
        </span>
      </span>
      <span className="tl-acts">
        {save.isError ? <span className="bad" role="alert">Not saved: {shown(save.error.message)}</span> : null}
        {may("record") ? (
          <button type="button" className="link" disabled={save.isPending} onClick={() => save.mutate()}>
            {save.isPending ? "Saving" : "Save"}
          </button>
        ) : null}
        <Link className="link" to="/w/$ws/compare" params={{ ws }} search={{ from: String(newest) }}>
          Compare with {newest}
        </Link>
      </span>
    </div>
  );
}
