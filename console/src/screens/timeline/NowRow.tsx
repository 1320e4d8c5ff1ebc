// What changed since the newest checkpoint: not a checkpoint yet. Saving makes it one.
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { usePowers } from "../../api/powers.ts";
import { saveNow, statusOf, storyOf } from "../../api/queries.ts";
import { shown } from "../../words/escape.ts";
import { several } from "../../words/number.ts";
import { pieces } from "./story.ts";
import { Story } from "./Rows.tsx";

export function NowRow({ ws, newest }: { ws: string; newest: number }) {
  const status = useQuery(statusOf(ws)).data;
  const changed = status ? status.now.added + status.now.deleted + status.now.edited : 0;
  const story = useQuery({ ...storyOf(ws, String(newest), ""), enabled: changed > 0 }).data;
  const { may } = usePowers();
  const save = useMutation({ mutationFn: () => saveNow(ws, {}) });
  const points = (story?.gist.points ?? []).slice(0, 3);
  const words = status?.saving ? "a save is under way" : `${several(changed, "file")} changed since ${newest}`;
  return (
    <div className="tl-row now">
      <span className="tl-n" />
      <span className="tl-t">now</span>
      <span className="tl-b">
        <span className="tl-x">{words}</span>
        <span className="tl-s">
          <Story parts={points.map(pieces)} />
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
