// The rows of a timeline as the API arranges them: what each says, and where it stands.
import type { Answer, Checkpoint, TimelineRow } from "../../api/types.ts";

/** Row is what is said of one checkpoint. */
export interface Row extends TimelineRow {
  number: number;
  time: string;
  checkpoint: Checkpoint;
}

/** Where the row of a checkpoint is, newest first; -1 if it is not there. */
export function indexOf(rows: readonly Row[], number: number): number {
  let a = 0;
  let b = rows.length;
  while (a < b) {
    const m = (a + b) >> 1;
    if (rows[m]!.number > number) a = m + 1;
    else b = m;
  }
  return rows[a]?.number === number ? a : -1;
}

export const rowAt = (rows: readonly Row[], number?: number): Row | undefined => (number === undefined ? undefined : rows[indexOf(rows, number)]);

/** The row of the checkpoint that another grew from, if it is known. */
export const parentOf = (rows: readonly Row[], row: Row): Row | undefined =>
  rowAt(rows, row.base) ?? (row.checkpoint.parent ? rows.find((x) => x.checkpoint.id === row.checkpoint.parent) : undefined);

/** The checkpoints that one row of the graph stands for. */
export function within(rows: readonly Row[], g: TimelineRow): readonly Row[] {
  const from = indexOf(rows, g.number ?? -1);
  if (from < 0 || g.kind === "more") return [];
  return rows.slice(from, from + (g.count ?? 1));
}

/** The numbers of a fold: 7, or 7–9. */
export const rangeText = (fold: TimelineRow): string => (fold.first === fold.number ? String(fold.number) : `${fold.first}–${fold.number}`);

/** The numbers of checkpoints that a restore replaced. */
export function replacedIn(rows: readonly Row[], graph: readonly TimelineRow[]): Set<number> {
  const out = new Set<number>();
  for (const g of graph) if (g.place.replaced || g.kind === "replaced") for (const r of within(rows, g)) out.add(r.number);
  return out;
}

/** Results of checks that were really run. */
export const realAnswers = (row: { answers?: readonly Answer[] }): Answer[] => (row.answers ?? []).filter((a) => !a.claim);
