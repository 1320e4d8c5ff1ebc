// A story is told after its checkpoint came, and no event says so. Checkpoints that came without
// one are asked about again: soon, once more a little later, and not any more; never while
// nobody looks at the page.
import type { Row } from "./rows.ts";

/** How long to wait before each time, in ms. */
const waits = [1500, 3500];

/** A checkpoint older than this has its story or gets none. */
const young = 60_000;

/** untoldOf gives the numbers of checkpoints that may still get a story: those that came while
 *  the book was open, that is above a number, and those that are young. */
export function untoldOf(page: readonly Row[], above: number, now: number): number[] {
  const may = (r: Row) => r.number > above || now - Date.parse(r.time) < young;
  return page.filter((r) => r.counted && may(r)).map((r) => r.number);
}

/** Sight calls back once the page is seen: at once, or when somebody comes back to it. */
export type Sight = (seen: () => void) => () => void;

export const pageSeen: Sight = (seen) => {
  if (document.visibilityState === "visible") {
    seen();
    return () => {};
  }
  const look = () => {
    if (document.visibilityState !== "visible") return;
    document.removeEventListener("visibilitychange", look);
    seen();
  };
  document.addEventListener("visibilitychange", look);
  return () => document.removeEventListener("visibilitychange", look);
};

export class Untold {
  private readonly asked = new Map<number, number>(); // how often
  private stop = () => {};

  constructor(
    private readonly ask: (numbers: number[]) => void,
    private readonly sight: Sight = pageSeen,
  ) {}

  /** expect says which checkpoints are without a story now. What was expected before is forgotten. */
  expect(numbers: readonly number[]) {
    this.stop();
    for (const n of this.asked.keys()) if (!numbers.includes(n)) this.asked.delete(n);
    const times = (n: number) => this.asked.get(n) ?? 0;
    const waiting = numbers.filter((n) => times(n) < waits.length);
    if (waiting.length === 0) return;
    const timer = setTimeout(
      () => {
        this.stop = this.sight(() => {
          for (const n of waiting) this.asked.set(n, times(n) + 1);
          this.ask(waiting);
        });
      },
      Math.min(...waiting.map((n) => waits[times(n)]!)),
    );
    this.stop = () => clearTimeout(timer);
  }
}
