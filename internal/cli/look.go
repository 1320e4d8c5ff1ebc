package cli

import (
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/retake-dev/retake/internal/screen"
)

// look is how text is drawn on one stream.
type look struct {
	paint
	g     screen.Glyphs
	width int
	now   time.Time
	home  string
	ascii bool
	goals goals // names for titles, when they were looked up
}

// sep stands between facts of one line.
func (l look) sep() string {
	if l.ascii {
		return " - "
	}
	return " · "
}

// facts joins what is not empty.
func (l look) facts(parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, l.sep())
}

// path shows an absolute path, with ~ for the home directory.
func (l look) path(p string) string {
	if l.home != "" && l.home != string(filepath.Separator) {
		if p == l.home {
			return "~"
		}
		if rest, ok := strings.CutPrefix(p, l.home+string(filepath.Separator)); ok {
			return "~" + string(filepath.Separator) + screen.Escape(rest)
		}
	}
	return screen.Escape(p)
}

// word is a path that can be pasted into a shell.
func (l look) word(p string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:,@%="
	if strings.Trim(p, plain+"~") == "" && !strings.HasPrefix(p, "~") {
		return l.path(p)
	}
	return "'" + strings.ReplaceAll(screen.Escape(p), "'", `'\''`) + "'"
}

func (l look) clock(t time.Time) string { return screen.Clock(t, l.now) }

// ago never goes below zero: the clock may stand behind what was recorded.
func (l look) ago(t time.Time) string { return screen.Ago(max(l.now.Sub(t), 0)) }

// ends sets a to the left and b to the right of a line. The widths are those
// before coloring.
func (l look) ends(a, b string, aWidth, bWidth int) string {
	return a + strings.Repeat(" ", max(l.width-aWidth-bWidth, 2)) + b
}

// number names a count with its noun: 1 file, 1,204 files, no files.
func number(n int64, one, many string) string {
	switch n {
	case 0:
		return "no " + many
	case 1:
		return "1 " + one
	}
	return screen.Count(n) + " " + many
}

// numeral is the number of a moment.
func numeral(n int64) string { return strconv.FormatInt(n, 10) }

func files(n int64) string   { return number(n, "file", "files") }
func moments(n int64) string { return number(n, "moment", "moments") }

// lineText shows a line of a file: tabs stay, they are harmless.
func lineText(s string) string {
	parts := strings.Split(s, "\t")
	for i, p := range parts {
		parts[i] = screen.Escape(p)
	}
	return strings.Join(parts, "\t")
}
