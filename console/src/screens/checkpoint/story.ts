// The story of a checkpoint as rows of a list: by meaning, deletions first, and nothing left
// out: what is folded says how much it is.
import type { Fact, Group, Item, Story } from "../../api/types.ts";
import type { IconName } from "../../parts/Icon.tsx";
import { shown } from "../../words/escape.ts";
import { bytes, count, several } from "../../words/number.ts";

export type StoryRow =
  | { kind: "head"; key: string; theme: string; word: string; icon: IconName; count: string; bad: boolean; open: boolean }
  | { kind: "file"; key: string; path: string; from: string; what: string; note: string; secret: boolean; plus: number; minus: number }
  | { kind: "fact"; key: string; name: string; text: string; what: string }
  | { kind: "fold"; key: string; text: string; open: boolean };

const themes: Record<string, { word: string; icon: IconName; folded?: boolean }> = {
  deleted: { word: "Deleted", icon: "trash" },
  packages: { word: "Packages", icon: "box" },
  settings: { word: "Settings", icon: "key" },
  database: { word: "Database", icon: "database" },
  source: { word: "Source", icon: "code" },
  build: { word: "Build output", icon: "gear", folded: true },
  git: { word: "Git keeps for itself", icon: "fork", folded: true },
  moving: { word: "Always moving", icon: "clock", folded: true },
  machine: { word: "Machine, never restored", icon: "machine" },
};

/** storyRows lists a story. Turned: heads and folds that are not as they begin. */
export function storyRows(s: Story, turned: ReadonlySet<string>): StoryRow[] {
  const out: StoryRow[] = [];
  const facts = s.facts ?? [];
  const machine = facts.filter(ofMachine);
  const groups = [...(s.groups ?? [])];
  if (machine.length > 0 && !groups.some((g) => g.theme === "machine")) groups.push({ theme: "machine", files: 0, bytes: 0, plus: 0, minus: 0, items: [] });
  for (const g of groups) {
    const t = themes[g.theme] ?? { word: shown(g.theme), icon: "file" as const };
    const open = turned.has(g.theme) === !!t.folded;
    out.push({ kind: "head", key: g.theme, theme: g.theme, word: t.word, icon: t.icon, count: countOf(g, facts, machine), bad: g.theme === "deleted", open });
    if (!open) continue;
    if (g.theme === "packages") packages(out, facts, turned);
    if (g.theme === "machine") {
      machineRows(out, g, machine);
      continue;
    }
    for (const i of g.items ?? []) out.push(fileRow(g.theme, i, facts));
  }
  return out;
}

const outside = new Set(["port", "unit", "cron", "profile"]);
const ofMachine = (f: Fact) => f.path.startsWith("/") || f.kind === "port" || (outside.has(f.kind) && f.path === "");

function countOf(g: Group, facts: readonly Fact[], machine: readonly Fact[]): string {
  if (g.theme === "machine") return count(Math.max(machine.length, (g.items ?? []).length));
  if (g.theme === "packages") {
    const p = packageCounts(facts);
    if (p) return p;
  }
  return count(g.files);
}

/** +12 −1, and how many have another version. */
export function packageCounts(facts: readonly Fact[], group?: string): string {
  const own = facts.filter((f) => f.kind === "package" && (group === undefined || f.group === group));
  const of = (what: string) => own.filter((f) => f.what === what).length;
  const parts = [of("deleted") ? `−${count(of("deleted"))}` : "", of("added") ? `+${count(of("added"))}` : "", of("edited") ? `${count(of("edited"))} other` : ""];
  return parts.filter((x) => x !== "").join(" ");
}

/** What was asked for by name is listed; what that needs is one row, until it is opened. */
function packages(out: StoryRow[], facts: readonly Fact[], turned: ReadonlySet<string>) {
  const own = facts.filter((f) => f.kind === "package");
  const named = own.filter((f) => f.direct);
  const first = named.length > 0 ? named : own.slice(0, 3);
  const rest = own.filter((f) => !first.includes(f));
  for (const f of first) out.push(packageRow(f));
  if (rest.length === 0) return;
  const open = turned.has("needed");
  out.push({ kind: "fold", key: "needed", text: named.length > 0 ? `${count(rest.length)} they need` : `${count(rest.length)} more`, open });
  if (open) for (const f of rest) out.push(packageRow(f));
}

function packageRow(f: Fact): StoryRow {
  const version = f.what === "edited" ? `${shown(f.before ?? "")} → ${shown(f.after ?? "")}` : shown(f.after || f.before || "");
  return { kind: "fact", key: `p${f.group}${f.name}${f.path}`, name: shown(f.name), text: version, what: f.what };
}

function fileRow(theme: string, i: Item, facts: readonly Fact[]): StoryRow {
  const folder = i.path.endsWith("/");
  const size = folder ? `${several(i.files, "file")}${i.bytes !== 0 ? `, ${bytes(Math.abs(i.bytes))}` : ""}` : "";
  const said = factNote(facts, i.path);
  const plain = !i.plus && !i.minus && i.bytes !== 0 ? bytes(Math.abs(i.bytes)) : "";
  const note = said || size || (i.note ? shown(i.note) : plain);
  const secret = facts.some((f) => f.kind === "secret" && f.path === i.path && f.what !== "deleted");
  return { kind: "file", key: `${theme}:${i.path}`, path: i.path, from: i.from ?? "", what: i.what, note, secret, plus: i.plus ?? 0, minus: i.minus ?? 0 };
}

const signs: Record<string, string> = { added: "+", deleted: "−" };

/** factText is one fact in a few words: +SESSION_KEY, +table sessions, users 30 → 41 rows. */
export function factText(f: Fact): string {
  const sign = signs[f.what] ?? "";
  const name = shown(f.name);
  switch (f.kind) {
    case "table":
    case "index":
      return `${sign}${f.kind} ${name}`;
    case "rows":
      return `${name} ${shown(f.before || "0")} → ${shown(f.after || "0")} rows`;
    case "mode":
      return `mode ${shown(f.before ?? "")} to ${shown(f.after ?? "")}`;
    default:
      return sign + name;
  }
}

const noted = new Set(["env", "setting", "table", "rows", "index", "unit", "cron"]);

function factNote(facts: readonly Fact[], path: string): string {
  const own = facts.filter((f) => f.path === path && noted.has(f.kind)).sort((a, b) => rank(a) - rank(b));
  if (own.length === 0) return "";
  return factText(own[0]!) + (own.length > 1 ? `, ${count(own.length - 1)} more` : "");
}

const rank = (f: Fact) => ["deleted", "added", "edited"].indexOf(f.what);

/** The machine has no files to open: its items say what was seen. */
function machineRows(out: StoryRow[], g: Group, facts: readonly Fact[]) {
  const items = g.items ?? [];
  for (const [n, i] of items.entries()) out.push({ kind: "fact", key: `m${n}`, name: "", text: i.note ? shown(i.note) : shown(i.path), what: "" });
  if (items.length === 0) for (const [n, f] of facts.entries()) out.push({ kind: "fact", key: `m${n}`, name: "", text: machineText(f), what: "" });
}

function machineText(f: Fact): string {
  const who = shown(f.after || f.before || "");
  if (f.kind === "port") return `port ${shown(f.name).replace(/^tcp /, "")} ${f.what === "deleted" ? "stopped listening" : "listens"}${who ? `, ${who}` : ""}`;
  const verb = f.what === "deleted" ? "went" : f.what === "added" ? "came" : "changed";
  return `${f.kind} ${shown(f.name)} ${verb}`;
}

/** The paths that can be opened, in the order in which they stand. */
export const pathsOf = (rows: readonly StoryRow[]): string[] => rows.flatMap((r) => (r.kind === "file" ? [r.path] : []));

const manifest = /(^|\/)(package\.json|go\.mod|Cargo\.toml|pyproject\.toml)$/;

const lostRows = (f: Fact) => (f.kind === "table" && f.what === "deleted") || (f.kind === "rows" && Number(f.after || 0) < Number(f.before || 0));

/** Facts of rows and tables that went. */
export const lossesOf = (facts: readonly Fact[]): Fact[] => facts.filter(lostRows);

/** Grades of what can be looked at first, the worst first. */
const grades = ["lost rows", "deleted", "secret", "settings", "database", "source", "new source", "packages", "deleted output", "build", "git", "moving", "other"] as const;

/** How bad a change is to overlook. */
function gradeOf(theme: string, i: Item, facts: readonly Fact[]): (typeof grades)[number] {
  const own = facts.filter((f) => f.path === i.path);
  if (own.some(lostRows)) return "lost rows";
  if (theme === "deleted") return i.note?.includes("build output") ? "deleted output" : "deleted";
  if (own.some((f) => f.kind === "secret" && f.what !== "deleted")) return "secret";
  if (theme === "source" || theme === "packages") {
    if (i.note === "lock file" || manifest.test(i.path)) return "packages";
    return theme === "packages" ? "packages" : i.what === "added" ? "new source" : "source";
  }
  return grades.find((g) => g === theme) ?? "other"; // themes of a newer server come last
}

/** The path that is worth looking at first: the worst fact. In a grade the order of the story stands, files before directories unless they went. */
export function firstPath(s: Story): string {
  const facts = s.facts ?? [];
  const all = (s.groups ?? []).filter((g) => g.theme !== "machine").flatMap((g) => (g.items ?? []).map((i) => ({ i, grade: gradeOf(g.theme, i, facts) })));
  for (const grade of grades) {
    const own = all.filter((x) => x.grade === grade).map((x) => x.i);
    const best = (grade.startsWith("deleted") ? own[0] : own.find((i) => !i.path.endsWith("/"))) ?? own[0];
    if (best) return best.path;
  }
  return "";
}

export const wasOf = (s: Story | undefined, path: string): string => (s?.groups ?? []).flatMap((g) => g.items ?? []).find((i) => i.path === path)?.from ?? "";
