// What an error says that can be done.
import type { Problem } from "../api/types.ts";
import { upper } from "./number.ts";

/** What to do, a line each: words, and the command at their end. */
export function hintLines(p: Problem | undefined): { words: string; command: string }[] {
  const lines = (p?.hint ?? "").split("\n").filter((line) => line !== "");
  const steps = (p?.next_steps ?? []).filter((s) => s !== "");
  const hints = lines.map((line) => {
    const command = steps.find((s) => line.endsWith(s)) ?? "";
    return { words: upper(line.slice(0, line.length - command.length)), command };
  });
  const rest = steps.filter((s) => !hints.some((h) => h.command === s));
  return [...hints, ...rest.map((command) => ({ words: "", command }))];
}
