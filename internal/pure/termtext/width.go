package termtext

import (
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// Width is the number of columns that escaped text takes. They belong to what a reader
// sees as one character: a letter with its accents, an emoji with all its parts.
func Width(s string) int {
	n := 0
	for i := 0; i < len(s); {
		end := pieceEnd(s, i)
		if end == i+1 { // nearly all text; the rules are asked only for the rest
			n += asciiWidth(s[i])
		} else {
			n += displaywidth.String(s[i:end])
		}
		i = end
	}
	return n
}

// Characters gives what a reader sees as characters one by one, with the columns that each
// takes.
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

// pieceEnd is where the piece of s ends that begins at i: one byte, and all that is not
// ASCII behind it. An ASCII character always begins a new piece: a few letters of Indian
// scripts would take the space into themselves with which we fill a column.
func pieceEnd(s string, i int) int {
	end := i + 1
	for end < len(s) && s[end] >= utf8.RuneSelf {
		end++
	}
	return end
}

// asciiWidth is the width of a byte that stands alone; of what is no text, one column.
func asciiWidth(c byte) int {
	if c < ' ' || c == 0x7f {
		return 0
	}
	return 1
}

// Cut shortens s to at most width columns and says so with "…".
func Cut(s string, width int) string { return Unicode.Cut(s, width) }

// Cut shortens s to at most width columns and says so with the sign for more. What belongs
// together is cut as one.
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

// Pad fills s with spaces on the right up to width columns.
func Pad(s string, width int) string { return s + spaces(width-Width(s)) }

// PadLeft fills s with spaces on the left up to width columns.
func PadLeft(s string, width int) string { return spaces(width-Width(s)) + s }

func spaces(n int) string { return strings.Repeat(" ", max(n, 0)) }
