package termtext

import (
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// Width returns the number of columns that escaped text takes. It counts grapheme clusters: a
// letter with its accents, an emoji with all its parts.
func Width(s string) int {
	n := 0
	for i := 0; i < len(s); {
		end := pieceEnd(s, i)
		if end == i+1 { // nearly all text; the Unicode rules are needed only for the rest
			n += asciiWidth(s[i])
		} else {
			n += displaywidth.String(s[i:end])
		}
		i = end
	}
	return n
}

// Characters iterates over the grapheme clusters of s, with the columns that each takes.
func Characters(s string) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for i := 0; i < len(s); {
			end := pieceEnd(s, i)
			if end == i+1 {
				if !yield(s[i:end], asciiWidth(s[i])) {
					return
				}
				i = end
				continue
			}
			g := displaywidth.StringGraphemes(s[i:end])
			for g.Next() {
				if !yield(g.Value(), g.Width()) {
					return
				}
			}
			i = end
		}
	}
}

// pieceEnd returns the end of the piece of s that begins at i: one byte, and all bytes after
// it that are not ASCII. An ASCII character always begins a new piece: a few letters of Indic
// scripts would otherwise form a cluster with the space that we pad a column with.
func pieceEnd(s string, i int) int {
	end := i + 1
	for end < len(s) && s[end] >= utf8.RuneSelf {
		end++
	}
	return end
}

// asciiWidth returns the width of a single byte: zero for a control, else one column.
func asciiWidth(c byte) int {
	if c < ' ' || c == 0x7f {
		return 0
	}
	return 1
}

// Cut shortens s to at most width columns and marks the cut with "…".
func Cut(s string, width int) string { return Unicode.Cut(s, width) }

// Cut shortens s to at most width columns and marks the cut with g.More. Grapheme clusters are
// not split.
func (g Glyphs) Cut(s string, width int) string {
	if width <= 0 {
		return ""
	}
	if Width(s) <= width {
		return s
	}
	room, end := width-Width(g.More), 0
	for c, w := range Characters(s) {
		if room -= w; room < 0 {
			break
		}
		end += len(c)
	}
	return s[:end] + g.More
}

// Pad pads s with spaces on the right to width columns.
func Pad(s string, width int) string { return s + spaces(width-Width(s)) }

// PadLeft pads s with spaces on the left to width columns.
func PadLeft(s string, width int) string { return spaces(width-Width(s)) + s }

func spaces(n int) string { return strings.Repeat(" ", max(n, 0)) }
