// Writes the types of both packages from the description of the API:
//
//   node sdk/typescript/generate.mjs
//
// types.d.ts is for TypeScript, models.py for Python. The test compares them with what
// would be written.

import { readFileSync, writeFileSync } from "node:fs";

const at = (path) => new URL(path, import.meta.url);

/** The files, and what makes their text of the schemas. */
export const outputs = [
  { path: at("./types.d.ts"), text: typescript },
  { path: at("../python/src/retake/models.py"), text: python },
];

/** Reads the schemas of the description. */
export function schemas() {
  return parseYAML(readFileSync(at("../../api/openapi.yaml"), "utf8")).components.schemas;
}

/**
 * Parses the YAML that the description is written in: blocks of mappings and lists, plain
 * and quoted scalars, text behind |-. Anything else is an error.
 */
export function parseYAML(text) {
  const lines = text.split("\n").map((raw, i) => ({ raw, n: i + 1, body: raw.trimStart(), indent: raw.length - raw.trimStart().length }));
  let i = 0;

  const skip = () => {
    while (i < lines.length && lines[i].body === "") i++;
  };

  function scalar(s, line) {
    if (s === "{}") return {};
    if (s === "[]") return [];
    if (s === "null") return null;
    if (s === "true" || s === "false") return s === "true";
    if (/^-?\d+(\.\d+)?$/.test(s)) return Number(s);
    if (s.startsWith('"')) return JSON.parse(s);
    if (/^[&*!>'%@`[{]/.test(s)) throw new Error(`line ${line.n}: cannot read ${s}`);
    return s;
  }

  function verbatim(indent) {
    const out = [];
    for (; i < lines.length && (lines[i].body === "" || lines[i].indent > indent); i++) out.push(lines[i].body);
    return out.join("\n").trimEnd();
  }

  function value(s, indent, line) {
    if (s === "|-") return verbatim(indent);
    if (s !== "") return scalar(s, line);
    skip();
    const below = lines[i];
    const list = below?.body.startsWith("- ");
    if (!below || below.indent < indent || (below.indent === indent && !list)) return null;
    return list ? sequence(below.indent) : mapping(below.indent);
  }

  function mapping(indent) {
    const out = {};
    for (skip(); i < lines.length && lines[i].indent === indent && !lines[i].body.startsWith("- "); skip()) {
      const line = lines[i];
      const m = /^("(?:[^"\\]|\\.)*"|[^:\s][^:]*):(?: (.*))?$/.exec(line.body);
      if (!m) throw new Error(`line ${line.n}: no field: ${line.body}`);
      i++;
      out[scalar(m[1], line)] = value(m[2] ?? "", indent, line);
    }
    return out;
  }

  function sequence(indent) {
    const out = [];
    for (skip(); i < lines.length && lines[i].indent === indent && lines[i].body.startsWith("- "); skip()) {
      const line = lines[i];
      const rest = line.body.slice(2);
      if (/^("(?:[^"\\]|\\.)*"|[^"{[:\s][^:]*):( |$)/.test(rest)) {
        lines[i] = { ...line, body: rest, indent: indent + 2 };
        out.push(mapping(indent + 2));
      } else {
        i++;
        out.push(value(rest, indent, line));
      }
    }
    return out;
  }

  const out = mapping(0);
  if (i < lines.length) throw new Error(`line ${lines[i].n}: not understood: ${lines[i].body}`);
  return out;
}

/** What a schema is, apart from how a language says it. */
function shape(s) {
  if (s.$ref) return { ref: s.$ref.split("/").pop() };
  if (s.oneOf) return { ...shape(s.oneOf.find((x) => x.type !== "null")), nullable: true };
  const types = [s.type ?? "any"].flat();
  const type = types.find((t) => t !== "null");
  const nullable = types.includes("null");
  if (type === "array") return { list: shape(s.items), nullable };
  if (type === "object" && typeof s.additionalProperties === "object") return { map: shape(s.additionalProperties), nullable };
  const prim = s.contentEncoding === "base64" ? "bytes" : s.format === "date-time" ? "time" : type;
  return { prim, nullable };
}

const fieldsOf = (s) =>
  Object.entries(s.properties ?? {}).map(([name, p]) => ({ name, ...shape(p), doc: p.description ?? "", needed: s.required?.includes(name) ?? false }));

const header = (mark) => `${mark} Made by sdk/typescript/generate.mjs from api/openapi.yaml. Do not edit.\n`;

const inTypeScript = { string: "string", bytes: "string", time: "string", integer: "number", number: "number", boolean: "boolean", any: "unknown", object: "Record<string, unknown>" };

function tsType(f) {
  const base = f.ref ?? (f.list ? `${wrapped(tsType(f.list))}[]` : f.map ? `Record<string, ${tsType(f.map)}>` : inTypeScript[f.prim]);
  if (!base) throw new Error(`no type for ${JSON.stringify(f)}`);
  return f.nullable ? `${base} | null` : base;
}

const wrapped = (t) => (t.includes(" ") && !t.startsWith("Record") ? `(${t})` : t);
const sized = { bytes: "In base64.", time: "RFC 3339." };

/** types.d.ts: every schema as it is on the wire. */
export function typescript(all) {
  let out = header("//");
  for (const [name, s] of Object.entries(all)) {
    out += `\nexport interface ${name} {\n`;
    for (const f of fieldsOf(s)) {
      const doc = [f.doc, sized[f.prim]].filter(Boolean).join(" ");
      if (doc) out += `  /** ${doc.replaceAll("*/", "* /")} */\n`;
      out += `  ${f.name}${f.needed ? "" : "?"}: ${tsType(f)};\n`;
    }
    out += "}\n";
  }
  return out;
}

// Python: what is sent is made by the calls, and what holds a page or a list is unpacked. A Problem is
// kept: a failed operation has one.
const unpacked = /Body$|^Page|List$/;
const inPython = { string: "str", bytes: "Raw", time: "datetime", integer: "int", number: "float", boolean: "bool", any: "Any", object: "dict[str, Any]" };
const reserved = new Set(["as", "class", "from", "import", "return", "with", "global", "pass", "def", "is", "in"]);

function pyType(f) {
  const base = f.ref ?? (f.list ? `list[${pyType(f.list)}]` : f.map ? `dict[str, ${pyType(f.map)}]` : inPython[f.prim]);
  if (!base) throw new Error(`no type for ${JSON.stringify(f)}`);
  return base;
}

function pyField(f) {
  const name = reserved.has(f.name) ? f.name + "_" : f.name;
  const type = pyType(f);
  if (f.list) return `${name}: ${type} = field(default_factory=list)`;
  if (f.map) return `${name}: ${type} = field(default_factory=dict)`;
  if (f.needed && !f.nullable) return `${name}: ${type}`;
  if (type === "Any") return `${name}: Any = None`;
  return `${name}: Optional[${type}] = None`;
}

/** models.py: a dataclass for every schema that comes back. */
export function python(all) {
  let out = header("#");
  out += `"""What the server answers. Fields that are not known here are left out."""\n\n`;
  out += "from __future__ import annotations\n\nfrom dataclasses import dataclass, field\nfrom datetime import datetime\nfrom typing import Any, Optional\n\nRaw = bytes  # a name that no field has\n";
  const names = Object.keys(all).filter((n) => !unpacked.test(n));
  for (const name of names) {
    out += `\n\n@dataclass(kw_only=True)\nclass ${name}:\n`;
    const fields = fieldsOf(all[name]);
    for (const f of fields) {
      out += `    ${pyField(f)}${f.doc ? `  # ${f.doc.split("\n")[0].replace(", in base64", "")}` : ""}\n`;
    }
    if (fields.length === 0) out += "    pass\n";
  }
  return out + `\n\n__all__ = [\n${names.map((n) => `    "${n}",\n`).join("")}]\n`;
}

if (process.argv[1] && import.meta.url === new URL(`file://${process.argv[1]}`).href) {
  const all = schemas();
  for (const o of outputs) writeFileSync(o.path, o.text(all));
}
