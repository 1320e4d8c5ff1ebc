// No event says that a checkpoint was uploaded. While some are not, it is asked again: soon at first,
// then once in half a minute, and never while nobody looks at the page.
import { pageSeen, type Sight } from "./untold.ts";

/** How long to wait before each time, in ms; the last one repeats. */
const waits = [3000, 5000, 10_000, 30_000];

export class Unsent {
  private times = 0;
  private through?: number;
  private stop = () => {};

  constructor(
    private readonly ask: () => void,
    private readonly sight: Sight = pageSeen,
  ) {}

  /** expect says through which checkpoint it is uploaded now, if there is a remote, and which one is the newest. */
  expect(through: number | undefined, newest: number) {
    this.stop();
    if (through !== this.through) this.times = 0;
    this.through = through;
    if (through === undefined || through >= newest) {
      this.times = 0;
      return;
    }
    const wait = waits[Math.min(this.times, waits.length - 1)]!;
    const timer = setTimeout(() => {
      this.stop = this.sight(() => {
        this.times++;
        this.ask();
      });
    }, wait);
    this.stop = () => clearTimeout(timer);
  }
}
