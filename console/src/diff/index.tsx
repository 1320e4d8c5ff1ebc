// The diff viewer, for every screen that shows what changed in a file. Its code comes
// with the first diff that is opened.
import { lazy, Suspense, type ReactNode } from "react";
import type { Fact } from "../api/types.ts";
import { Path } from "../parts/marks.tsx";
import { Waiting } from "../parts/states.tsx";
import { shown } from "../words/escape.ts";

export interface FileDiffProps {
  ws: string;
  from: string; // a ref; empty: what was before to; "now"
  to: string; // a ref, or "now"
  path: string; // a directory ends in /
  was?: string; // its path before, of what was renamed
  facts?: readonly Fact[];
  view?: string; // "split", else unified
  onView?: (view: "unified" | "split") => void;
  onOpen?: (path: string) => void; // a file below a directory was chosen
  actions?: ReactNode; // beside the ways back
}

const load = () => import("./FileDiff.tsx");
const Loaded = lazy(load);

/** The code of the viewer, before a diff is opened: a page that lost its server can still show what it has. */
export const loadDiff = (): Promise<unknown> => load().then((m) => m.begin());

/** A diff that is being read: its head stands, and its lines are bars. */
export function DiffWaiting({ path = "" }: { path?: string }) {
  return (
    <div className="diff-waiting" role="status" aria-label={`Reading the changes${path ? ` of ${shown(path)}` : ""}`}>
      <header>{path ? <Path path={path} /> : <i className="bar" />}</header>
      <Waiting what="the changes" at={1} />
    </div>
  );
}

export function FileDiff(p: FileDiffProps) {
  return (
    <Suspense fallback={<DiffWaiting path={p.path} />}>
      <Loaded {...p} />
    </Suspense>
  );
}
