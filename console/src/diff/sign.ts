// The mark of a change: a glyph and its word.
export interface Sign {
  glyph: string;
  word: string;
  family: "good" | "bad" | "dimmer";
}

const signs: Record<string, Sign> = {
  added: { glyph: "+", word: "added", family: "good" },
  deleted: { glyph: "−", word: "deleted", family: "bad" },
  edited: { glyph: "·", word: "changed", family: "dimmer" },
  renamed: { glyph: "→", word: "renamed", family: "dimmer" },
  moded: { glyph: "·", word: "mode changed", family: "dimmer" },
  retyped: { glyph: "↔", word: "became something else", family: "dimmer" },
  timed: { glyph: "·", word: "only its time changed", family: "dimmer" },
};

export const signOf = (what: string): Sign => signs[what] ?? signs.edited!;
