// Package termtext makes text safe to show: the one escaper of all user interfaces, and
// the few tools around it.
//
// It turns strings into strings and touches nothing else. It never decides what
// is shown, and never writes colors or moves the cursor.
//
//	E1  The result of Escape has no control, no invalid UTF-8 and no format character
//	    but the joiner inside an emoji.
//	E2  Two strings that differ still differ after Escape.
//	E3  Printable text without backslashes stays as it is.
package termtext

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape makes visible what a terminal would obey or hide: controls, format characters such as
// those that change the direction of text, line separators, letters that look blank,
// unassigned characters and bytes that are not UTF-8. The escapes are those of Go: \n, \x1b,
// \u202e, \xff. The joiners inside an emoji are kept.
//
// A backslash stays single, so that paths stay readable, unless what follows would make it
// look like an escape; then it is doubled.
func Escape(s string) string {
	if isPlainASCII(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\\':
			b.WriteByte('\\')
			if looksEscaped(s[i+1:]) {
				b.WriteByte('\\')
			}
		case isVisible(r) || isEmojiPart(s, i, r):
			b.WriteString(s[i : i+size])
		default:
			writeEscape(&b, r)
		}
		i += size
	}
	return b.String()
}

func isPlainASCII(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' || s[i] == '\\' {
			return false
		}
	}
	return true
}

// looksEscaped reports whether a single backslash before rest reads as an escape.
func looksEscaped(rest string) bool {
	if rest == "" {
		return false
	}
	r, size := utf8.DecodeRuneInString(rest)
	return r == utf8.RuneError && size == 1 || !isVisible(r) || strings.ContainsRune(`\abfnrtvxuU`, r)
}

func isVisible(r rune) bool {
	return unicode.IsGraphic(r) && !unicode.Is(blankLetters, r) && !unicode.Is(unicode.Variation_Selector, r)
}

// blankLetters are letters that look blank.
var blankLetters = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x034f, Hi: 0x034f, Stride: 1}, // grapheme joiner
	{Lo: 0x115f, Hi: 0x1160, Stride: 1}, // Hangul fillers
	{Lo: 0x17b4, Hi: 0x17b5, Stride: 1}, // Khmer inherent vowels
	{Lo: 0x2800, Hi: 0x2800, Stride: 1}, // the braille cell without dots
	{Lo: 0x3164, Hi: 0x3164, Stride: 1},
	{Lo: 0xffa0, Hi: 0xffa0, Stride: 1},
}}

var shortEscapes = map[rune]string{'\a': `\a`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '\v': `\v`}

func writeEscape(b *strings.Builder, r rune) {
	switch form, ok := shortEscapes[r]; {
	case ok:
		b.WriteString(form)
	case r < utf8.RuneSelf:
		fmt.Fprintf(b, `\x%02x`, r)
	case r <= 0xffff:
		fmt.Fprintf(b, `\u%04x`, r)
	default:
		fmt.Fprintf(b, `\U%08x`, r)
	}
}
