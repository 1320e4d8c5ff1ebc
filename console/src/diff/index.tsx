// The diff viewer, for every screen that shows what changed in a file. Its code comes
// with the first diff that is opened.
import { lazy, Suspense, type ReactNode } from "react";
import type { Fact } from "../api/types.ts";
import { Waiting } from "../parts/states.tsx";

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

const Loaded = lazy(() => import("./FileDiff.tsx"));

export function FileDiff(p: FileDiffProps) {
  return (
    <Suspense fallback={<Waiting what="the diff" />}>
      <Loaded {...p} />
    </Suspense>
  );
}
