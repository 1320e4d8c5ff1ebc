// The words of a button that leads to a plan of some paths: what would happen to them,
// and as in which checkpoint they would be afterwards.
import type { Plan, Step, ViewedPlan } from "../api/types.ts";
import { count, several, upper } from "../words/number.ts";

const picture = /\.(png|jpe?g|gif|webp|avif|heic|svg)$/i;
const inPhotos = /(^|\/)photos?\/[^/]*$/i;

const kindOf = (s: Step) => (s.then ?? s.now)?.kind;

/** photos, images, files: one noun for all paths of a plan. */
function nounOf(steps: readonly Step[], n: number): string {
  const files = steps.filter((s) => kindOf(s) !== "dir");
  const noun =
    files.length === 0 ? ["directory", "directories"]
    : !files.every((s) => picture.test(s.path)) ? ["file", "files"]
    : files.every((s) => inPhotos.test(s.path)) ? ["photo", "photos"]
    : ["image", "images"];
  return noun[n === 1 ? 0 : 1]!;
}

/** Only times differ: no byte would change. */
const timesOnly = (p: Plan) => p.deletes.length + p.merges.length === 0 && p.writes.every((s) => s.what === "timed");

/** What a plan would do to its paths: "Bring back 25 photos". Empty: nothing. */
export function deedsOf({ plan: p, view }: ViewedPlan): string {
  const t = view.counts;
  const steps = [...p.deletes, ...p.writes, ...p.merges];
  const deeds: [string, number, string][] = [
    ["delete", t.deleted, "delete it"],
    ["bring back", t.brought, "bring it back"],
    ["change back", t.changed + t.merged, "change it back"],
  ];
  const told = deeds.filter(([, n]) => n > 0);
  if (told.length === 0) return t.beside > 0 ? `Put ${several(t.beside, "other version")} beside` : "";
  const total = told.reduce((sum, [, n]) => sum + n, 0);
  if (timesOnly(p)) return total === 1 ? "Put its time back" : `Put back the times of ${count(total)} ${nounOf(steps, total)}`;
  const words = total === 1 && steps.some((s) => kindOf(s) !== "dir") ? told.map(([, , it]) => it) : told.map(([verb, n]) => `${verb} ${count(n)}`);
  const list = words.length < 2 ? words[0]! : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
  const noun = words[0]!.includes(" it") ? "" : ` ${nounOf(steps, told.at(-1)![1])}`;
  return upper(list) + noun;
}

/** Bring back 25 photos, as in 16…; empty: they are so already. */
export function backLabel(p: ViewedPlan, ref: string): string {
  const deeds = deedsOf(p);
  return deeds && `${deeds}, as in ${ref}…`;
}
