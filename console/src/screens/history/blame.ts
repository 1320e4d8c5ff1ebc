// Lines that one checkpoint wrote and that stand together are one block.
import type { BlameLine } from "../../api/types.ts";

export interface BlameRow {
  number: number; // of the checkpoint
  line: number; // counted from 1
  text: string;
  first: boolean; // of its block
  age: number; // 0 the newest checkpoint of the file, 1 the oldest
}

export function blameRows(lines: readonly BlameLine[], checkpoints: readonly number[]): BlameRow[] {
  const order = new Map([...checkpoints].sort((a, b) => b - a).map((n, i) => [n, i]));
  const last = Math.max(order.size - 1, 1);
  return lines.map((l, i) => ({ number: l.number, line: i + 1, text: l.text, first: i === 0 || lines[i - 1]!.number !== l.number, age: (order.get(l.number) ?? last) / last }));
}
