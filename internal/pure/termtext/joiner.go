package termtext

import (
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// Characters that are invisible themselves and change the emoji beside them.
const (
	joiner       = '\u200d'
	textStyle    = '\ufe0e'
	emojiStyle   = '\ufe0f'
	enclosingKey = '\u20e3'
)

// isEmojiPart reports whether the character at i, which is invisible by itself, is part of an
// emoji: a joiner between two emoji, or a variation selector. Anywhere else such characters
// can hide text or distinguish names that look the same, and must be escaped.
func isEmojiPart(s string, i int, r rune) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
	switch r {
	case joiner:
		return i > 0 && isSymbol(after) && joinsEmoji(s[:i], after)
	case emojiStyle, textStyle:
		return isSymbol(before) || isKey(before) && after == enclosingKey
	}
	return false
}

// joinsEmoji reports whether a joiner makes one emoji of what is before it and after it by the
// rules of Unicode, so that a reader sees one character.
func joinsEmoji(before string, after rune) bool {
	last, _ := lastCluster(before)
	whole := last + string(joiner) + string(after)
	g := displaywidth.StringGraphemes(whole)
	return g.Next() && g.Value() == whole
}

// lastCluster returns the last grapheme cluster of s and its width. The longest emoji have
// about ten parts, so a short piece of the end is enough.
func lastCluster(s string) (string, int) {
	const most = 128
	if len(s) > most {
		s = s[len(s)-most:]
		for len(s) > 0 && !utf8.RuneStart(s[0]) {
			s = s[1:]
		}
	}
	g := displaywidth.StringGraphemes(s)
	last, width := "", 0
	for g.Next() {
		last, width = g.Value(), g.Width()
	}
	return last, width
}

// isSymbol reports whether r is in the categories of emoji, which letters and marks are not.
func isSymbol(r rune) bool {
	return r > unicode.MaxASCII && unicode.In(r, unicode.So, unicode.Sm, unicode.Sk)
}

// isKey reports whether r can be combined with an enclosing keycap: 1️⃣.
func isKey(r rune) bool { return r >= '0' && r <= '9' || r == '#' || r == '*' }
