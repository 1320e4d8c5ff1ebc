// The changed files below one directory, as a list: thousands are no trouble.
import type { Change } from "../api/types.ts";
import { List } from "../parts/List.tsx";
import { Path } from "../parts/marks.tsx";
import { Empty } from "../parts/states.tsx";
import { shown } from "../words/escape.ts";
import { bytes } from "../words/number.ts";
import { signOf } from "./sign.ts";

export function Below({ changes, dir, open }: { changes: Change[]; dir: string; open?: (path: string) => void }) {
  if (changes.length === 0) return <Empty title="No file changed below it">Only directories came or went.</Empty>;
  return (
    <List count={changes.length} height={() => 28} label={`Changed files below ${shown(dir)}`} className="diff-below">
      {(i) => {
        const c = changes[i]!;
        const s = signOf(c.what);
        return (
          <button type="button" onClick={() => open?.(c.path)} disabled={!open}>
            <span className={`sign ${s.family}`} aria-hidden="true">
              {s.glyph}
            </span>
            <span className="sr">{s.word}: </span>
            <Path path={c.path} />
            <span className="grow" />
            <span className="dimmer num">{bytes((c.after ?? c.before)?.size ?? 0)}</span>
          </button>
        );
      }}
    </List>
  );
}
