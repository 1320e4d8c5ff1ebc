// Compares texts beside the page, so that the page never waits.
import { compared } from "./compute.ts";

export interface Asked {
  id: number;
  before: string;
  after: string;
  language: string;
  cut: boolean;
}

self.onmessage = (e: MessageEvent<Asked>) => {
  const { id, before, after, language, cut } = e.data;
  const c = compared(before, after, language, cut);
  self.postMessage({ id, ...c }, { transfer: [c.hunks.buffer, c.partner.buffer, c.statesA.buffer, c.statesB.buffer] });
};
