// The one escaper of the console, with the rules of the terminal's: what a reader cannot
// see, or what turns the direction of text, is shown in Go's forms. React keeps text from
// becoming markup; this keeps it from lying.

// Controls, format characters, separators, unassigned and private ones, lone surrogates,
// blanks other than the space, and letters that look like nothing.
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cn}\p{Co}\p{Cs}\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0]/u;
const hiddenAll = new RegExp(hidden.source, "gu");
const forms: Record<string, string> = { "\x07": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v" };

function form(c: string): string {
  const short = forms[c];
  if (short) return short;
  const n = c.codePointAt(0)!;
  const hex = n.toString(16);
  if (n < 0x80) return "\\x" + hex.padStart(2, "0");
  return n <= 0xffff ? "\\u" + hex.padStart(4, "0") : "\\U" + hex.padStart(8, "0");
}

/** shown makes a line of text fit to be shown: names, titles, commands. */
export function shown(s: string): string {
  if (!hidden.test(s) && !s.includes("\\")) return s;
  return s.replace(/\\(?=[\\abfnrtvxuU]|[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cn}\p{Co}\p{Cs}])/gu, "\\\\").replace(hiddenAll, form);
}

/** shownLines does the same to a text of lines; ends of lines and tabs stay. */
export function shownLines(s: string): string {
  return s.replace(/\r\n/g, "\n").replace(hiddenAll, (c) => (c === "\n" || c === "\t" ? c : form(c)));
}

/** oneLine is the first line that says something, shown. */
export function oneLine(s: string): string {
  return shown(s.split("\n").map((l) => l.trim()).find((l) => l !== "") ?? "");
}
