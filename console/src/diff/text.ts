// Texts as lines. A line keeps everything but its line feed, also a carriage return, so
// that the lines of a text joined again are the text.

export interface Text {
  lines: string[];
  ended: boolean; // the last line ends in a line feed
}

export function textOf(s: string): Text {
  if (s === "") return { lines: [], ended: true };
  const lines = s.split("\n");
  const ended = lines[lines.length - 1] === "";
  if (ended) lines.pop();
  return { lines, ended };
}

export const joined = (t: Text): string => t.lines.join("\n") + (t.ended && t.lines.length > 0 ? "\n" : "");

export type LineEnds = "lf" | "crlf" | "mixed";

export function lineEnds(t: Text): LineEnds {
  const full = t.ended ? t.lines.length : t.lines.length - 1;
  let crlf = 0;
  for (let i = 0; i < full; i++) if (t.lines[i]!.endsWith("\r")) crlf++;
  if (crlf === 0) return "lf";
  return crlf === full ? "crlf" : "mixed";
}

export interface Decoded {
  text: string;
  binary: boolean;
}

const looked = 8192;

/** decoded reads bytes as text. Bytes with a NUL, or with much that is no UTF-8, are binary. */
export function decoded(bytes: Uint8Array): Decoded {
  const mark = bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : "";
  if (mark) return { text: new TextDecoder(mark).decode(bytes), binary: false };
  const head = bytes.subarray(0, looked);
  if (head.includes(0)) return { text: "", binary: true };
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  let odd = 0;
  const most = Math.min(text.length, looked);
  for (let i = 0; i < most; i++) if (text.charCodeAt(i) === 0xfffd) odd++;
  return odd > 8 && odd > most / 20 ? { text: "", binary: true } : { text, binary: false };
}

/** wholeLines leaves out the line that a cut went through. */
export function wholeLines(s: string): string {
  const end = s.lastIndexOf("\n");
  return end < 0 ? s : s.slice(0, end + 1);
}
