// Long work in short slices: the page answers in between.

/** A slice of work is no longer than this, in ms, but for its last step. */
const slice = 8;

const rest = (): Promise<void> =>
  new Promise((go) => {
    const c = new MessageChannel();
    c.port1.onmessage = () => {
      c.port1.close();
      go();
    };
    c.port2.postMessage(0);
  });

/** Runs steps to their end, or gives nothing when it was stopped. */
export async function inSlices<T>(steps: Generator<void, T>, signal: AbortSignal): Promise<T | undefined> {
  for (;;) {
    for (const end = performance.now() + slice; performance.now() < end; ) {
      if (signal.aborted) return undefined;
      const s = steps.next();
      if (s.done) return s.value;
    }
    await rest();
  }
}
