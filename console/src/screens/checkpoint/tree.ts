// Files as a tree, flat: the changed ones, or all of a checkpoint as far as its directories
// were opened.
import type { Change, Entry } from "../../api/types.ts";

export interface TreeRow {
  path: string; // a directory ends in /
  name: string;
  depth: number;
  dir: boolean;
  open: boolean;
  what: string; // empty: unchanged
  inside: number; // changed files below a directory
  waiting?: boolean; // its entries are being read
}

interface Node {
  name: string;
  path: string;
  what: string;
  inside: number;
  kids?: Map<string, Node>;
}

const isDir = (c: Change) => (c.after ?? c.before)?.kind === "dir";

function grown(changes: readonly Change[]): Node {
  const root: Node = { name: "", path: "", what: "", inside: 0, kids: new Map() };
  for (const c of changes) {
    if (isDir(c) || c.what === "timed") continue;
    const parts = c.path.split("/");
    let at = root;
    root.inside++;
    for (let i = 0; i < parts.length - 1; i++) {
      const name = parts[i]!;
      let next = at.kids!.get(name);
      if (!next?.kids) at.kids!.set(name, (next = { name, path: at.path + name + "/", what: "", inside: 0, kids: new Map() }));
      next.inside++;
      at = next;
    }
    const name = parts[parts.length - 1]!;
    at.kids!.set(name, { name, path: c.path, what: c.what, inside: 0 });
  }
  return root;
}

const ordered = (kids: Iterable<Node>): Node[] => [...kids].sort((a, b) => (!a.kids === !b.kids ? (a.name < b.name ? -1 : a.name > b.name ? 1 : 0) : a.kids ? -1 : 1));

/** A directory with more changed files than this begins closed. */
const many = 400;

/** changedRows lists changed files below their directories; a directory with one way in is one row. */
export function changedRows(changes: readonly Change[], turned: ReadonlySet<string>): TreeRow[] {
  const out: TreeRow[] = [];
  const walk = (node: Node, depth: number) => {
    for (let kid of ordered(node.kids!.values())) {
      let name = kid.name;
      while (kid.kids?.size === 1) {
        const only = [...kid.kids.values()][0]!;
        if (!only.kids) break;
        name += "/" + only.name;
        kid = only;
      }
      const dir = !!kid.kids;
      const open = dir && turned.has(kid.path) === kid.inside > many;
      out.push({ path: kid.path, name, depth, dir, open, what: kid.what, inside: kid.inside });
      if (open) walk(kid, depth + 1);
    }
  };
  walk(grown(changes), 0);
  return out;
}

export type Listings = ReadonlyMap<string, readonly Entry[] | undefined>;

/** allRows lists everything of a checkpoint, as far as it was opened, with what changed marked; deleted files stand where they were. */
export function allRows(listings: Listings, opened: ReadonlySet<string>, changes: readonly Change[]): TreeRow[] {
  const root = grown(changes);
  const out: TreeRow[] = [];
  const walk = (dir: string, depth: number, node?: Node) => {
    const entries = listings.get(dir);
    if (!entries) {
      out.push({ path: dir + "…", name: "reading", depth, dir: false, open: false, what: "", inside: 0, waiting: true });
      return;
    }
    const kids = new Map<string, Node>();
    for (const e of entries) kids.set(e.name, { name: e.name, path: dir + e.name + (e.kind === "dir" ? "/" : ""), what: "", inside: 0, kids: e.kind === "dir" ? new Map() : undefined });
    for (const [name, k] of node?.kids ?? []) {
      const own = kids.get(name);
      if (!own) kids.set(name, k);
      else if (!own.kids === !k.kids) Object.assign(own, { what: k.what, inside: k.inside });
    }
    for (const k of ordered(kids.values())) {
      const open = !!k.kids && opened.has(k.path);
      out.push({ path: k.path, name: k.name, depth, dir: !!k.kids, open, what: k.what, inside: k.inside });
      if (open) walk(k.path, depth + 1, node?.kids?.get(k.name));
    }
  };
  walk("", 0, root);
  return out;
}

/** The directories above a path, outermost first. */
export function above(path: string): string[] {
  const out: string[] = [];
  for (let i = path.indexOf("/"); i >= 0 && i < path.length - 1; i = path.indexOf("/", i + 1)) out.push(path.slice(0, i + 1));
  return out;
}

/** How many files differ in more than their time. */
export const filesOf = (changes: readonly Change[]): number => changes.filter((c) => !isDir(c) && c.what !== "timed").length;

const database = /\.(db|sqlite3?|db3)$/i;

/** What is looked at until it is known what the changes mean: databases, what went, what was edited. */
export function firstChanged(changes: readonly Change[]): string {
  const files = changes.filter((c) => !isDir(c) && c.what !== "timed");
  const first = files.find((c) => c.what === "edited" && database.test(c.path)) ?? files.find((c) => c.what === "deleted") ?? files.find((c) => c.what === "edited");
  return (first ?? files[0])?.path ?? "";
}
