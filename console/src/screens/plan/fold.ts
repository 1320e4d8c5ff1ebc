// Paths folded by directory: a chain of directories with one child is one row, a
// directory with one file is that file. Every path can be opened; nothing is cut.

/** One path and what it weighs. */
export interface Leaf {
  path: string;
  bytes: number;
  plus?: number;
  minus?: number;
}

interface Branch<L extends Leaf> {
  path: string; // of the directory, with a slash at its end
  dirs: Map<string, Branch<L>>;
  leaves: L[];
  count: number;
  bytes: number;
  plus: number;
  minus: number;
}

/** Row is one line of a section: a directory that opens, or a path. */
export interface Row<L extends Leaf> {
  key: string;
  depth: number;
  dir: string; // dim, before the name
  name: string;
  count: number; // paths below; 0: it is a path itself
  bytes: number;
  plus: number;
  minus: number;
  open: boolean;
  leaf?: L;
  below: string[]; // first names in a directory
}

/** As few paths as this are never folded: each has its line. */
export const flatMost = 8;

export function treeOf<L extends Leaf>(leaves: readonly L[]): Branch<L> {
  const root = branch<L>("");
  for (const leaf of leaves) {
    const parts = leaf.path.replace(/\/$/, "").split("/");
    let at = root;
    weigh(at, leaf);
    for (const part of parts.slice(0, -1)) {
      let next = at.dirs.get(part);
      if (!next) at.dirs.set(part, (next = branch<L>(`${at.path}${part}/`)));
      at = next;
      weigh(at, leaf);
    }
    at.leaves.push(leaf);
  }
  return root;
}

const branch = <L extends Leaf>(path: string): Branch<L> => ({ path, dirs: new Map(), leaves: [], count: 0, bytes: 0, plus: 0, minus: 0 });

function weigh<L extends Leaf>(b: Branch<L>, leaf: L) {
  b.count++;
  b.bytes += leaf.bytes;
  b.plus += leaf.plus ?? 0;
  b.minus += leaf.minus ?? 0;
}

/** rowsOf lays a section out: directories first, the fullest on top; opened ones with what is in them. */
export function rowsOf<L extends Leaf>(leaves: readonly L[], open: ReadonlySet<string>): Row<L>[] {
  if (leaves.length <= flatMost) return leaves.map((l) => leafRow(l, "", 0));
  const out: Row<L>[] = [];
  lay(treeOf(leaves), 0, "", open, out);
  return out;
}

function lay<L extends Leaf>(b: Branch<L>, depth: number, prefix: string, open: ReadonlySet<string>, out: Row<L>[]) {
  const dirs = [...b.dirs.values()].map(chain);
  const folded = dirs.filter((d) => d.count > 1).sort((x, y) => y.count - x.count || compare(x.path, y.path));
  for (const d of folded) {
    const isOpen = open.has(d.path);
    out.push(dirRow(d, prefix, depth, isOpen));
    if (isOpen) lay(d, depth + 1, d.path, open, out);
  }
  const single = dirs.filter((d) => d.count === 1).map(only);
  for (const leaf of [...single, ...b.leaves].sort((x, y) => compare(x.path, y.path))) out.push(leafRow(leaf, prefix, depth));
}

/** A directory that holds nothing but one directory is told with it. */
function chain<L extends Leaf>(b: Branch<L>): Branch<L> {
  while (b.leaves.length === 0 && b.dirs.size === 1) b = b.dirs.values().next().value!;
  return b;
}

function only<L extends Leaf>(b: Branch<L>): L {
  while (b.leaves.length === 0) b = b.dirs.values().next().value!;
  return b.leaves[0]!;
}

const compare = new Intl.Collator("en", { numeric: true }).compare; // f2 before f10

function split(path: string, prefix: string): { dir: string; name: string } {
  const rest = path.slice(prefix.length);
  const cut = rest.replace(/\/$/, "").lastIndexOf("/") + 1;
  return { dir: rest.slice(0, cut), name: rest.slice(cut) };
}

function dirRow<L extends Leaf>(b: Branch<L>, prefix: string, depth: number, open: boolean): Row<L> {
  const below = [...[...b.dirs.values()].sort((x, y) => y.count - x.count).map((d) => split(d.path, b.path).name), ...b.leaves.map((l) => split(l.path, b.path).name)];
  return { key: b.path, depth, ...split(b.path, prefix), count: b.count, bytes: b.bytes, plus: b.plus, minus: b.minus, open, below };
}

function leafRow<L extends Leaf>(leaf: L, prefix: string, depth: number): Row<L> {
  return {
    key: "=" + leaf.path, depth, ...split(leaf.path, prefix), count: 0,
    bytes: leaf.bytes, plus: leaf.plus ?? 0, minus: leaf.minus ?? 0, open: false, leaf, below: [],
  };
}

/** Every directory that can be opened. */
export function dirsOf<L extends Leaf>(leaves: readonly L[]): string[] {
  if (leaves.length <= flatMost) return [];
  const out: string[] = [];
  const walk = (b: Branch<L>) => {
    for (const d of [...b.dirs.values()].map(chain)) {
      if (d.count < 2) continue;
      out.push(d.path);
      walk(d);
    }
  };
  walk(treeOf(leaves));
  return out;
}

/** “auth.ts, session.ts and 7 more”. */
export function someNames(names: readonly string[], most = 3): string {
  if (names.length <= most + 1) return names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : (names[0] ?? "");
  return `${names.slice(0, most).join(", ")} and ${(names.length - most).toLocaleString("en-US")} more`;
}
