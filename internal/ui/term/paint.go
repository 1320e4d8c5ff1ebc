package term

import (
	"strings"

	"github.com/retake-dev/retake/internal/pure/termtext"
)

// Paint colors text, or leaves it. Few names of ANSI are all there is, and a
// color never says what a word or a sign beside it does not say too.
type Paint bool

func (p Paint) sgr(code, s string) string {
	if !p || strings.TrimSpace(s) == "" { // spaces in a color could not be trimmed
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// Bold is for what matters most in a line.
func (p Paint) Bold(s string) string { return p.sgr("1", s) }

// Dim is for what can be read over.
func (p Paint) Dim(s string) string { return p.sgr("2", s) }

// Red is for what failed, or goes.
func (p Paint) Red(s string) string { return p.sgr("31", s) }

// Green is for what passed, or comes.
func (p Paint) Green(s string) string { return p.sgr("32", s) }

// Yellow is for what needs a word, or stays done.
func (p Paint) Yellow(s string) string { return p.sgr("33", s) }

// Cyan is for what is not the whole truth.
func (p Paint) Cyan(s string) string { return p.sgr("36", s) }

// boldColor is bold and colored, for the words and numbers that a plan begins with.
func (p Paint) boldColor(color, s string) string {
	if color == "" {
		return p.Bold(s)
	}
	return p.sgr(color+";1", s)
}

// ShownWidth is the width of a line that we painted; foreign codes were escaped
// before.
func (p Paint) ShownWidth(s string) int {
	width := 0
	for s != "" {
		text, rest, _ := strings.Cut(s, "\x1b[")
		width += termtext.Width(text)
		_, s, _ = strings.Cut(rest, "m")
	}
	return width
}

// StripANSI takes the colors out of a line that we painted.
func StripANSI(s string) string {
	if !strings.Contains(s, "\x1b[") {
		return s
	}
	var b strings.Builder
	for s != "" {
		text, rest, _ := strings.Cut(s, "\x1b[")
		b.WriteString(text)
		_, s, _ = strings.Cut(rest, "m")
	}
	return b.String()
}

// ClipColumns is the part of a painted line from a column on, in so many columns, with a sign
// where more follows. A character that the edge would halve is left out.
func (l Style) ClipColumns(s string, from, width int) string {
	if from == 0 && l.ShownWidth(s) <= width {
		return s
	}
	rest := l.ShownWidth(s) - from
	room := width
	if rest > width {
		room -= termtext.Width(l.Glyphs.More)
	}
	var b strings.Builder
	at := 0
	for s != "" {
		text, more, painted := strings.Cut(s, "\x1b[")
		for c, w := range termtext.Characters(text) {
			if at >= from && at+w <= from+room {
				b.WriteString(c)
			}
			at += w
		}
		code, behind, _ := strings.Cut(more, "m")
		if painted {
			b.WriteString("\x1b[" + code + "m")
		}
		s = behind
	}
	if rest > width {
		b.WriteString(l.Dim(l.Glyphs.More))
	}
	return b.String()
}
