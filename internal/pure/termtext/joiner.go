package termtext

import (
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// Characters that show nothing themselves, and change the emoji beside them.
const (
	joiner       = '\u200d'
	textStyle    = '\ufe0e'
	emojiStyle   = '\ufe0f'
	enclosingKey = '\u20e3'
)

// isEmojiPart reports whether the character at i, which alone would be hidden, is a part of an
// emoji that s shows there: a joiner between two of them, or the sign that chooses how one
// is drawn. Anywhere else the same characters can hide text or tell two names apart that
// look the same, and are escaped.
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

// joinsEmoji asks the rules of Unicode whether a joiner makes one emoji of what is before
// it and the one behind it: only then all of it is one character for a reader.
func joinsEmoji(before string, after rune) bool {
	last, _ := lastCluster(before)
	whole := last + string(joiner) + string(after)
	g := displaywidth.StringGraphemes(whole)
	return g.Next() && g.Value() == whole
}

// lastCluster is the character that s ends with. The longest emoji have some ten parts, so
// a short piece of the end is enough.
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

// isSymbol are the categories of emoji. Letters and marks are none of them.
func isSymbol(r rune) bool {
	return r > unicode.MaxASCII && unicode.In(r, unicode.So, unicode.Sm, unicode.Sk)
}

// isKey are the signs of keys that an enclosing key makes an emoji of: 1️⃣.
func isKey(r rune) bool { return r >= '0' && r <= '9' || r == '#' || r == '*' }
