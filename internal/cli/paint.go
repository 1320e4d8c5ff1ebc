package cli

import (
	"strings"

	"github.com/retake-dev/retake/internal/screen"
)

// paint colors text, or leaves it. Few names of ANSI are all there is, and a
// color never says what a word or a sign beside it does not say too.
type paint bool

func (p paint) code(code, s string) string {
	if !p || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p paint) bold(s string) string   { return p.code("1", s) }
func (p paint) dim(s string) string    { return p.code("2", s) }
func (p paint) red(s string) string    { return p.code("31", s) }
func (p paint) green(s string) string  { return p.code("32", s) }
func (p paint) yellow(s string) string { return p.code("33", s) }
func (p paint) cyan(s string) string   { return p.code("36", s) }

// loud is bold and colored, for the words and numbers that a plan begins with.
func (p paint) loud(color, s string) string {
	if color == "" {
		return p.bold(s)
	}
	return p.code(color+";1", s)
}

// shownWidth is the width of a line that we painted; foreign codes were escaped
// before.
func (p paint) shownWidth(s string) int {
	width := 0
	for s != "" {
		text, rest, _ := strings.Cut(s, "\x1b[")
		width += screen.Width(text)
		_, s, _ = strings.Cut(rest, "m")
	}
	return width
}
