// What changed in one file, or below one directory, between two checkpoints. Loaded when the
// first diff is opened.
import { useQuery } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import { usePowers } from "../api/powers.ts";
import { diffOf } from "../api/queries.ts";
import { GoBack } from "../back/GoBack.tsx";
import type { Comparison } from "../api/types.ts";
import { Flag, Lines as Count, Path } from "../parts/marks.tsx";
import { useNarrow } from "../parts/media.ts";
import { Empty, Waiting, Wrong } from "../parts/states.tsx";
import { shown } from "../words/escape.ts";
import { bytes, several } from "../words/number.ts";
import { Below } from "./Below.tsx";
import { firstBytes, more, mostBytes, notesOf, partOf, shapeOf, sidesOf, type Sides } from "./content.ts";
import { begin } from "./ask.ts";
import { DiffWaiting, type FileDiffProps } from "./index.tsx";
import { Lines } from "./Lines.tsx";
import { Pictures, Special } from "./Other.tsx";
import { Tables } from "./Tables.tsx";
import { decoded, wholeLines } from "./text.ts";
import "./diff.css";

export { begin };

export default function FileDiff(p: FileDiffProps) {
  const turned = p.from === "now";
  const asked = turned ? diffOf(p.ws, p.to, "", wanted(p)) : diffOf(p.ws, p.from, p.to === "now" ? "" : p.to, wanted(p));
  const diff = useQuery(asked);
  const [lines, setLines] = useState<{ path: string; plus: number; minus: number }>();
  const { path } = p;
  const counted = useCallback((plus: number, minus: number) => setLines({ path, plus, minus }), [path]);
  if (diff.isLoadingError) return <Wrong error={diff.error} again={() => void diff.refetch()} />;
  if (!diff.data) return <DiffWaiting path={path} />;
  const sides = sidesOf(diff.data, path, p.was, turned);
  const folder = path.endsWith("/") || (!sides.change && sides.below.length > 0);
  const own = lines?.path === path ? lines : undefined;
  return (
    <div className="diff">
      <header className="diff-head">
        <h2>
          <Path path={path} />
        </h2>
        <Standing sides={sides} folder={folder} was={p.was} />
        {own && sides.change ? <Count plus={own.plus} minus={own.minus} /> : null}
        <span className="grow" />
        {p.onView && !folder && shapeOf(sides, path) === "text" ? <View view={p.view} choose={p.onView} /> : null}
        {p.actions}
        <GoBack ws={p.ws} paths={wanted(p)} refs={refsOf(diff.data, sides)} />
      </header>
      {folder ? <Below changes={sides.below} dir={path} open={p.onOpen} /> : <Content {...p} sides={sides} counted={counted} ends={endsOf(diff.data, turned)} />}
    </div>
  );
}

const wanted = (p: FileDiffProps): string[] => [p.path, p.was ?? ""].filter((x) => x !== "").map((x) => (x.endsWith("/") ? x.slice(0, -1) : x));

/** The checkpoints one can go back to: both sides of a change; of what did not change, the later. */
function refsOf(c: Comparison, s: Sides): string[] {
  const refs = [c.from, c.to].filter((x) => !!x).map((x) => String(x.number));
  return s.change || s.below.length > 0 ? refs : refs.slice(-1);
}

function View({ view, choose }: { view?: string; choose: (view: "unified" | "split") => void }) {
  return (
    <div className="segments" role="group" aria-label="How the diff is drawn">
      <button type="button" aria-pressed={view !== "split"} onClick={() => choose("unified")}>
        Unified
      </button>
      <button type="button" aria-pressed={view === "split"} onClick={() => choose("split")}>
        Split
      </button>
    </div>
  );
}

function Standing({ sides, folder, was }: { sides: Sides; folder: boolean; was?: string }) {
  if (folder) return <span className="dim">{several(sides.below.length, "file")}</span>;
  if (!sides.change) return <Flag family="unknown">unchanged</Flag>;
  if (was && sides.before && sides.after) return <Flag family="unknown">renamed</Flag>;
  if (sides.change.what === "added") return <Flag family="good">new</Flag>;
  if (sides.change.what === "deleted") return <Flag family="bad">deleted</Flag>;
  return null;
}

type ContentProps = FileDiffProps & { sides: Sides; counted: (plus: number, minus: number) => void; ends?: Ends };

interface Ends {
  from: string;
  to: string;
}

/** Both checkpoints of a diff; none when one side is now or before the first. */
const endsOf = (c: Comparison, turned: boolean): Ends | undefined => (c.from && c.to && !turned ? { from: c.from.id, to: c.to.id } : undefined);

/** A masked text may have fewer lines than the file; then its lines cannot be counted. */
const counts = (text: string) => !/\[masked: /.test(text);

function Content(p: ContentProps) {
  const notes = notesOf(p.sides, p.was);
  const shape = shapeOf(p.sides, p.path);
  const head = notes.length > 0 ? <p className="diff-note">{notes.map(shown).join(" · ")}</p> : null;
  if (p.sides.change?.what === "timed" || (p.sides.change?.what === "moded" && shape !== "text")) {
    return (
      <>
        {head}
        <Empty title="No byte of it changed">The content is the same on both sides.</Empty>
      </>
    );
  }
  switch (shape) {
    case "special":
      return <Special head={head} sides={p.sides} />;
    case "picture":
      return <Pictures head={head} ws={p.ws} sides={p.sides} />;
    case "database":
      return <Tables {...p} head={head} facts={p.facts ?? []} key={p.path} />;
    default:
      return <TextContent {...p} head={head} key={p.path} />;
  }
}

function TextContent(p: ContentProps & { head: React.ReactNode }) {
  const [most, setMost] = useState(firstBytes);
  const narrow = useNarrow();
  const { may } = usePowers();
  const same = !p.sides.change;
  const { before: b, after: a } = p.sides;
  const before = useQuery({ ...partOf(p.ws, b, most), enabled: !!b && !same, placeholderData: (old) => old });
  const after = useQuery({ ...partOf(p.ws, a, most), placeholderData: (old) => old });
  const wrong = before.isLoadingError || after.isLoadingError ? (before.error ?? after.error) : undefined;
  if (wrong) return <Wrong error={wrong} again={() => void Promise.all([before.refetch(), after.refetch()])} />;
  if ((b && !same && !before.data) || (a && !after.data)) return <Waiting what="the file" at={1} />;
  const sides = [same ? undefined : before.data, after.data];
  const [x, y] = sides.map((s) => (s ? decoded(s.bytes) : { text: "", binary: false }));
  if (x!.binary || y!.binary) return <Special head={p.head} sides={p.sides} binary />;
  const size = Math.max(...sides.map((s) => s?.whole ?? 0));
  const read = Math.max(...sides.map((s) => s?.bytes.length ?? 0));
  const part = sides.some((s) => s && s.bytes.length < s.whole);
  const [textA, textB] = [x!, y!].map((t, i) => (sides[i] && sides[i].bytes.length < sides[i].whole ? wholeLines(t.text) : t.text));
  const foot = part ? <More read={read} size={size} ask={most < mostBytes ? () => setMost(more(most)) : undefined} /> : null;
  const equal = same || (textA === textB && !part);
  const head = equal && !same ? <p className="diff-note">{[...notesOf(p.sides, p.was).map(shown), p.sides.change?.what === "edited" ? "what differs is likely secret, and masked" : "no byte of it changed"].join(" · ")}</p> : p.head;
  const whole = may("return") && p.ends && p.sides.change?.what === "edited" && !p.was && counts(textA!) && counts(textB!);
  const undo = whole ? { ws: p.ws, ...p.ends! } : undefined;
  return <Lines undo={undo} path={p.path} before={equal ? textB! : textA!} after={textB!} split={p.view === "split" && !!b && !!a && !equal && !narrow} whole={equal} cut={part} head={head} foot={foot} counted={p.counted} />;
}

function More({ read, size, ask }: { read: number; size: number; ask?: () => void }) {
  return (
    <p className="diff-more">
      First {bytes(read)} of {bytes(size)} shown.{" "}
      {ask ? (
        <button type="button" className="link" onClick={ask}>
          Show more
        </button>
      ) : (
        "The rest is too long to compare here: retake diff tells it."
      )}
    </p>
  );
}
