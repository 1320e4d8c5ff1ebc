// How forks stand beside each other, in words; which of them we would adopt ourselves.
import type { Checkpoint, Fact, Finding, Story, WorkspaceState } from "../../api/types.ts";
import { shown } from "../../words/escape.ts";
import { standing, type Standing } from "../../words/checkpoint.ts";
import { count, several, someNames } from "../../words/number.ts";

/** What is known of one fork. */
export interface Known {
  fork: WorkspaceState;
  finding?: Finding; // of its newest checkpoint
  story?: Story; // of all it did since it grew
  adopted?: number; // the checkpoint at which its newest came home
}

export const alive = (f: WorkspaceState): boolean => !f.ended && !f.gone;

export const standsAs = (k: Known): Standing => standing(k.finding);

const good = (k: Known) => ["good", "inherited"].includes(standsAs(k));

export const filesOf = (s: Story): number => s.counts.added + s.counts.deleted + s.counts.edited + s.counts.renamed + s.counts.moded + s.counts.retyped;

/** The one that we would adopt: the only good one that is not home yet and changed something. */
export function best(all: readonly Known[]): Known | undefined {
  const ready = all.filter((k) => alive(k.fork) && good(k) && k.adopted === undefined && k.story !== undefined && filesOf(k.story) > 0);
  return ready.length === 1 ? ready[0] : undefined;
}

/** What a fork comes to: fork-a passes everything and changes 12 files. */
export function sentence(k: Known): string {
  const name = shown(k.fork.name);
  const files = k.story ? `${filesOf(k.story) === 0 ? "changes nothing" : `changes ${several(filesOf(k.story), "file")}`}` : "";
  if (k.adopted !== undefined) return `${name} is adopted, at ${k.adopted}.`;
  return `${name} ${[verdict(k), files].filter((s) => s !== "").join(" and ")}.`;
}

function verdict(k: Known): string {
  const own = (k.finding?.answers ?? []).filter((a) => !a.claim);
  const failed = own.filter((a) => a.verdict === "failed").map((a) => shown(a.name));
  switch (standsAs(k)) {
    case "good":
    case "inherited":
      return "passes everything";
    case "failed":
      return `fails ${someNames(failed)}`;
    case "partly":
      return "could not be checked completely";
    default:
      return "was never checked";
  }
}

/** The title: how many there are, and how many are good. */
export function answer(all: readonly Known[]): string {
  const live = all.filter((k) => alive(k.fork));
  if (live.length === 0) return "No fork is open";
  const n = live.filter(good).length;
  const are = live.length === 1 ? "1 fork is open" : `${count(live.length)} forks are open`;
  if (live.some((k) => k.finding === undefined)) return are;
  return `${are}, ${n === 0 ? "none is good" : n === live.length ? (n === 1 ? "and good" : "all are good") : `${count(n)} ${n === 1 ? "is" : "are"} good`}`;
}

const sign: Record<string, string> = { added: "+", deleted: "−" };

/** npm +9 ioredis, connect-redis and 7 more: what went comes first. */
export function packagesText(facts: readonly Fact[]): string {
  const runs = new Map<string, Fact[]>();
  const order = ["deleted", "added", "edited"];
  const all = facts.filter((f) => f.kind === "package").sort((a, b) => order.indexOf(a.what) - order.indexOf(b.what));
  for (const f of all) {
    const key = `${f.group ?? ""} ${f.what}`;
    runs.set(key, [...(runs.get(key) ?? []), f]);
  }
  return [...runs.values()]
    .map((run) => {
      const first = run[0]!;
      const names = [...run.filter((f) => f.direct), ...run.filter((f) => !f.direct)].map((f) => shown(f.name));
      return `${shown(first.group ?? "")} ${sign[first.what] ?? ""}${count(run.length)} ${someNames(names)}`.trim();
    })
    .join("; ");
}

/** Keys of settings, with the files they are in. Values are never told. */
export function settingsText(facts: readonly Fact[]): string {
  return byPath(facts, ["env", "setting"], (f) => (sign[f.what] ?? "") + shown(f.name));
}

export function databaseText(facts: readonly Fact[]): string {
  return byPath(facts, ["table", "index"], (f) => `${sign[f.what] ?? ""}${f.kind} ${shown(f.name)}`);
}

function byPath(facts: readonly Fact[], kinds: string[], text: (f: Fact) => string): string {
  const paths = new Map<string, string[]>();
  for (const f of facts) if (kinds.includes(f.kind)) paths.set(f.path, [...(paths.get(f.path) ?? []), text(f)]);
  return [...paths].map(([path, names]) => `${shown(path)} ${someNames(names)}`).join("; ");
}

/** At which checkpoint a fork's newest came home, if it did and nothing was done in it since. */
export function adoptedAt(fork: WorkspaceState, timeline: readonly Checkpoint[]): number | undefined {
  return timeline.find((c) => c.return?.course === "adopt" && c.return.target === fork.latest?.id)?.number;
}

/** A name that no fork has: NAME-fork, NAME-fork-2 and so on. */
export function freeName(name: string, taken: readonly string[]): string {
  const first = `${name}-fork`;
  let out = first;
  for (let n = 2; taken.includes(out); n++) out = `${first}-${n}`;
  return out;
}

/** The place beside a root that a name gives. */
export const beside = (root: string, name: string): string => `${root.replace(/\/+$/, "").replace(/\/[^/]*$/, "")}/${name}`;

/** A name that can be a directory's. */
export function nameFault(name: string): string {
  if (name === "") return "A fork needs a name.";
  if (name === "." || name === ".." || /[/\0]/.test(name)) return "A name has no slash in it.";
  return name.length > 200 ? "That is longer than a directory's name may be." : "";
}
