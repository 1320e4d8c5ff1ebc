// How an effect ended, in the words of the terminal.
import type { Effect } from "../api/types.ts";

/** What failed or was stopped was not done; what tells nothing may be. Older checkpoints say nothing and mean done. */
export const outcomeWord = (e: Effect): string =>
  e.outcome === "failed" || e.outcome === "stopped" ? e.outcome : e.outcome === "unknown" ? "may be done" : "can't be undone";

/** Whether a person has to know of it: what failed or was stopped left nothing outside. */
export const staysDone = (e: Effect): boolean => e.outcome !== "failed" && e.outcome !== "stopped";
