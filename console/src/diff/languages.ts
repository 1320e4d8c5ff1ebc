// What the small highlighter knows of languages. A language is a few rules; what it does
// not know stays plain, and nothing here can be wrong in a way that hides text.

export interface Block {
  open: string;
  close: string;
  kind: "c" | "s"; // comment or string
  escapes?: boolean; // a backslash keeps the next character
}

export interface Language {
  line: string[]; // what begins a comment to the end of the line
  blocks: Block[]; // what may go over lines; the longest first
  quotes: string; // strings that end on their line
  words: Set<string>;
  keys?: RegExp; // sticky: a name that a value follows
  calls?: boolean; // a name before a parenthesis is a function
  anyCase?: boolean;
  dashed?: boolean; // names may hold dashes
  hashAfterBlank?: boolean; // # begins a comment only after a blank
}

const set = (s: string) => new Set(s.split(" "));
const c: Block = { open: "/*", close: "*/", kind: "c" };
const ecma =
  "as async await break case catch class const continue debugger default delete do else enum export extends false finally for from function get if implements import in instanceof interface keyof let new null of private protected public readonly return satisfies set static super switch this throw true try type typeof undefined var void while with yield declare namespace abstract";

const js: Language = { line: ["//"], blocks: [c, { open: "`", close: "`", kind: "s", escapes: true }], quotes: "\"'", words: set(ecma), calls: true };

export const languages: Record<string, Language> = {
  js,
  py: {
    line: ["#"],
    blocks: [{ open: '"""', close: '"""', kind: "s", escapes: true }, { open: "'''", close: "'''", kind: "s", escapes: true }],
    quotes: "\"'",
    words: set("False None True and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return self try while with yield"),
    calls: true,
  },
  go: {
    line: ["//"],
    blocks: [c, { open: "`", close: "`", kind: "s" }],
    quotes: "\"'",
    words: set("any bool break byte case chan const continue default defer else error fallthrough false for func go goto if import int int32 int64 interface map nil package range return rune select string struct switch true type uint uint32 uint64 var"),
    calls: true,
  },
  rs: {
    line: ["//"],
    blocks: [c],
    quotes: '"',
    words: set("as async await bool break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static str struct super trait true type u8 u32 u64 i32 i64 usize unsafe use where while"),
    calls: true,
  },
  c: {
    line: ["//"],
    blocks: [c],
    quotes: "\"'",
    words: set("abstract auto bool boolean break case catch char class const constexpr continue default delete do double else enum explicit extends extern false final finally float for friend goto if implements import include inline int interface long namespace new null nullptr operator override package private protected public register return short signed sizeof static struct super switch template this throw true try typedef typename union unsigned using virtual void volatile while"),
    calls: true,
  },
  json: { line: ["//"], blocks: [c], quotes: '"', words: set("true false null"), keys: /"(?:[^"\\]|\\.)*"(?=\s*:)/y },
  yaml: { line: ["#"], blocks: [], quotes: "\"'", words: set("true false null yes no on off"), keys: /[\w.$/-]+(?=\s*:(?:\s|$))/y, hashAfterBlank: true, dashed: true },
  toml: {
    line: ["#", ";"],
    blocks: [{ open: '"""', close: '"""', kind: "s" }, { open: "'''", close: "'''", kind: "s" }],
    quotes: "\"'",
    words: set("true false"),
    keys: /\[[^\]]*\]|[\w.-]+(?=\s*=)/y,
    hashAfterBlank: true,
    dashed: true,
  },
  sh: {
    line: ["#"],
    blocks: [],
    quotes: "\"'`",
    words: set("break case continue do done echo elif else esac eval exec exit export fi for function if in local read return set shift source test then trap unset until while"),
    keys: /[A-Za-z_]\w*(?==)|\$\{?\w+\}?/y,
    hashAfterBlank: true,
    dashed: true,
  },
  css: { line: [], blocks: [c], quotes: "\"'", words: set("important"), keys: /--?[\w-]+|[\w-]+(?=\s*:\s)|@[\w-]+/y, calls: true, dashed: true },
  sql: {
    line: ["--"],
    blocks: [c],
    quotes: "'\"",
    words: set("add all alter and as asc between by case check column constraint create cross default delete desc distinct drop else end exists foreign from full group having if in index inner insert into is join key left like limit not null on or order outer primary references replace returning right select set table then trigger union unique update using values view when where with integer text blob real varchar boolean timestamp begin commit rollback"),
    calls: true,
    anyCase: true,
  },
  html: {
    line: [],
    blocks: [{ open: "<!--", close: "-->", kind: "c" }],
    quotes: "\"'",
    words: new Set(),
    keys: /<\/?[A-Za-z][\w:-]*|\/?>|[\w:@-]+(?==)/y,
    dashed: true,
  },
  md: { line: [], blocks: [{ open: "```", close: "```", kind: "s" }, { open: "<!--", close: "-->", kind: "c" }], quotes: "`", words: new Set(), keys: /^#{1,6} .*|^\s*(?:[-*+]|\d+\.)(?= )|\[[^\]]*\](?=\()|\*\*[^*]+\*\*/y },
};

const ends: Record<string, string> = {
  js: "js", jsx: "js", mjs: "js", cjs: "js", ts: "js", tsx: "js", mts: "js", cts: "js", vue: "html", svelte: "html",
  py: "py", pyi: "py", go: "go", rs: "rs", json: "json", jsonc: "json", json5: "json", jsonl: "json", webmanifest: "json",
  yaml: "yaml", yml: "yaml", toml: "toml", ini: "toml", cfg: "toml", conf: "toml", properties: "toml", editorconfig: "toml",
  sh: "sh", bash: "sh", zsh: "sh", env: "sh", css: "css", scss: "css", less: "css", html: "html", htm: "html", xml: "html", svg: "html",
  sql: "sql", md: "md", mdx: "md", markdown: "md",
  c: "c", h: "c", cc: "c", cpp: "c", hpp: "c", java: "c", kt: "c", cs: "c", swift: "c", scala: "c", dart: "c", php: "c", proto: "c",
  rb: "py", mod: "go",
};
const names: Record<string, string> = { Dockerfile: "sh", Makefile: "sh", ".env": "sh", ".bashrc": "sh", ".gitignore": "sh", Gemfile: "py", "go.mod": "go", "Cargo.lock": "toml", "poetry.lock": "toml", crontab: "sh" };

/** The language of a path; empty: none is known. */
export function languageOf(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (names[name]) return names[name];
  if (name.startsWith(".env")) return "sh";
  const dot = name.lastIndexOf(".");
  return dot < 0 ? "" : (ends[name.slice(dot + 1).toLowerCase()] ?? "");
}
