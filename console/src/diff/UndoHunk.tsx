// The way to the plan that takes one hunk back, beside its first line.
import { Link } from "@tanstack/react-router";
import { hunkText } from "./rows.ts";

export interface HunkSource {
  ws: string;
  from: string; // the two checkpoints that are compared
  to: string;
}

export function UndoHunk({ ws, from, to, path, hunk }: HunkSource & { path: string; hunk: Int32Array }) {
  const line = (hunk[3]! > hunk[2]! ? hunk[2]! : hunk[0]!) + 1;
  return (
    <Link className="diff-undo" to="/w/$ws/plan" params={{ ws }} search={{ course: "undo", ref: to, from, paths: [path], hunks: [hunkText(hunk)] }} aria-label={`Undo the hunk at line ${line}`}>
      Undo this hunk…
    </Link>
  );
}
