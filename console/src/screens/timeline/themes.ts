// What really changed, by theme, in the order of the facts: deletions, packages, settings,
// database, source, build output, machine. Values are never told, only names.
import type { Fact, Item, Story } from "../../api/types.ts";
import type { IconName } from "../../parts/Icon.tsx";
import { shown } from "../../words/escape.ts";
import { bytes, count } from "../../words/number.ts";
import { realAnswers, type Row } from "./rows.ts";
import type { Piece } from "./story.ts";

export interface Theme {
  theme: string;
  label: string;
  icon: IconName;
  lines: ThemeLine[];
  more: number; // that have no line
}

export interface ThemeLine {
  pieces: Piece[];
  plus?: number;
  minus?: number;
  secret?: boolean;
}

const labels: Record<string, [string, IconName]> = {
  deleted: ["Deleted", "trash"],
  packages: ["Packages", "box"],
  settings: ["Settings", "key"],
  database: ["Database", "database"],
  source: ["Source", "code"],
  build: ["Build output", "gear"],
  git: ["Git", "fork"],
  moving: ["Always moves", "clock"],
  machine: ["Machine", "machine"],
};
const order = Object.keys(labels);
const kindsOf: Record<string, string> = { package: "packages", env: "settings", setting: "settings", secret: "settings", table: "database", column: "database", rows: "database" };

/** What has the same key stands together, in the order in which keys come. */
function grouped<T>(list: readonly T[], key: (x: T) => string): Map<string, T[]> {
  const out = new Map<string, T[]>();
  for (const x of list) {
    const there = out.get(key(x));
    if (there) there.push(x);
    else out.set(key(x), [x]);
  }
  return out;
}

/** So many lines of one theme are shown. */
const most = 4;

export function themesOf(s: Story): Theme[] {
  const out: Theme[] = [];
  for (const g of (s.groups ?? []).toSorted((a, b) => rank(a.theme) - rank(b.theme))) {
    const facts = (s.facts ?? []).filter((f) => kindsOf[f.kind] === g.theme);
    const items = g.items ?? [];
    const all = facts.length > 0 ? [...factLines(g.theme, facts), ...unsaid(g.theme, items, facts)] : items.map((x) => itemLine(g.theme, x));
    const [label, icon] = labels[g.theme] ?? [shown(g.theme), "file"];
    out.push({ theme: g.theme, label, icon, lines: all.slice(0, most), more: Math.max(0, all.length - most) });
  }
  return out;
}

/** A theme that is not known here comes last. */
const rank = (theme: string) => (order.indexOf(theme) + order.length + 1) % (order.length + 1);

/** Files of which no fact says anything; those of packages are what the packages brought. */
const unsaid = (theme: string, items: readonly Item[], facts: readonly Fact[]): ThemeLine[] =>
  theme === "packages" ? [] : items.filter((x) => !facts.some((f) => f.path === x.path)).map((x) => itemLine(theme, x));

function itemLine(theme: string, x: Item): ThemeLine {
  const pieces: Piece[] = [];
  if (x.files > 1) pieces.push({ text: `${count(x.files)} in ` });
  pieces.push({ text: shown(x.path), look: "path" });
  const notes = [x.note ? shown(x.note) : "", x.from ? `was ${shown(x.from)}` : "", theme === "deleted" && x.bytes ? bytes(Math.abs(x.bytes)) : ""].filter(Boolean);
  if (notes.length) pieces.push({ text: ` ${notes.join(", ")}`, look: "dim" });
  return { pieces, plus: x.plus, minus: theme === "deleted" ? undefined : x.minus };
}

const sign = (f: Fact) => (f.what === "added" ? "+" : f.what === "deleted" ? "−" : "");

function factLines(theme: string, facts: Fact[]): ThemeLine[] {
  if (theme === "packages") return [...grouped(facts, (f) => f.group ?? "")].map(([group, list]) => packages(group, list));
  const secret = new Set(facts.filter((f) => f.kind === "secret").map((f) => f.path));
  const told = facts.filter((f) => f.kind !== "secret");
  const lines = [...grouped(told, (f) => f.path)].map(([path, list]): ThemeLine => {
    const words = list.slice(0, 5).map((f) => `${sign(f)}${f.kind === "table" ? "table " : ""}${shown(f.name)}`);
    if (list.length > 5) words.push(`${count(list.length - 5)} more`);
    return { pieces: [{ text: shown(path), look: "path" }, { text: ` ${words.join(", ")}` }], secret: secret.has(path) };
  });
  for (const path of secret) if (!told.some((f) => f.path === path)) lines.push({ pieces: [{ text: shown(path), look: "path" }], secret: true });
  return lines;
}

function packages(group: string, list: Fact[]): ThemeLine {
  const direct = list.toSorted((a, b) => Number(b.direct ?? false) - Number(a.direct ?? false));
  const named = direct.slice(0, 3).map((f) => `${sign(f)}${shown(f.name)}${f.after ? ` ${shown(f.after)}` : ""}`);
  const pieces: Piece[] = [{ text: `${group ? `${shown(group)} ` : ""}${named.join(", ")}` }];
  if (list.length > 3) pieces.push({ text: ` and ${count(list.length - 3)} more`, look: "dim" });
  return { pieces };
}

export interface Step {
  number: number;
  verdict: string;
}

/** How far the trail looks, in checkpoints, and how many it finds on each side. */
const reach = 2000;
const sides = 2;

/** The check that a trail is about: the gravest of those that were really run. */
export const trailName = (row: Row): string | undefined => realAnswers(row)[0]?.name;

/** Where a check was run before and after a checkpoint: test ✔ 11 ✘ 13 ✔ 14. */
export function trail(rows: readonly Row[], at: number, name: string): Step[] {
  const stepAt = (i: number): Step | undefined => {
    const a = realAnswers(rows[i]!).find((x) => x.name === name);
    return a && (!a.as || i === at) ? { number: rows[i]!.number, verdict: a.verdict } : undefined;
  };
  const walk = (by: number): Step[] => {
    const out: Step[] = [];
    for (let i = at + by; i >= 0 && i < rows.length && Math.abs(i - at) < reach && out.length < sides; i += by) {
      const s = stepAt(i);
      if (s) out.push(s);
    }
    return out;
  };
  const here = stepAt(at);
  return [...walk(1).reverse(), ...(here ? [here] : []), ...walk(-1)];
}
