package term

import (
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/retake-dev/retake/internal/pure/termtext"
)

// Style is how text is drawn on one stream: its width, colors and glyphs, the current time,
// and the titles of restore targets.
type Style struct {
	Paint
	Glyphs termtext.Glyphs
	Width  int
	Now    time.Time
	Home   string
	ASCII  bool
	Titles TargetTitles // names for titles, when they were looked up

	ListWord string // how every path of a plan is seen; empty: by the flag
}

// listCommand is how every path of a plan is seen.
func listCommand(l Style) string {
	if l.ListWord != "" {
		return l.ListWord
	}
	return "--list"
}

// Separator returns what separates the facts of a line.
func (l Style) Separator() string {
	if l.ASCII {
		return " - "
	}
	return " · "
}

// JoinFacts joins what is not empty.
func (l Style) JoinFacts(parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, l.Separator())
}

// DisplayPath shows an absolute path, with ~ for the home directory.
func (l Style) DisplayPath(p string) string {
	if l.Home != "" && l.Home != string(filepath.Separator) {
		if p == l.Home {
			return "~"
		}
		if rest, ok := strings.CutPrefix(p, l.Home+string(filepath.Separator)); ok {
			return "~" + string(filepath.Separator) + termtext.Escape(rest)
		}
	}
	return termtext.Escape(p)
}

// ShellPath is a path that can be pasted into a shell.
func (l Style) ShellPath(p string) string {
	if word := termtext.ShellWord(termtext.Escape(p)); word != p {
		return word
	}
	return l.DisplayPath(p)
}

// ShortTime is a time as briefly as now allows.
func (l Style) ShortTime(t time.Time) string { return termtext.ShortTime(t, l.Now) }

// Ago never goes below zero: the clock may stand behind what was recorded.
func (l Style) Ago(t time.Time) string { return termtext.Ago(max(l.Now.Sub(t), 0)) }

// AlignEnds sets a to the left and b to the right of a line. The widths are those
// before coloring.
func (l Style) AlignEnds(a, b string, aWidth, bWidth int) string {
	return a + strings.Repeat(" ", max(l.Width-aWidth-bWidth, 2)) + b
}

// CountNoun returns a count with its noun: 1 file, 1,204 files, no files.
func CountNoun(n int64, one, many string) string { return termtext.CountNoun(n, one, many) }

// CheckpointNumber is the number of a checkpoint.
func CheckpointNumber(n int64) string { return strconv.FormatInt(n, 10) }

// CountFiles counts files.
func CountFiles(n int64) string { return CountNoun(n, "file", "files") }

// CountCheckpoints counts checkpoints.
func CountCheckpoints(n int64) string { return CountNoun(n, "checkpoint", "checkpoints") }

// EscapeLine shows a line of a file: tabs stay, they are harmless.
func EscapeLine(s string) string {
	parts := strings.Split(s, "\t")
	for i, p := range parts {
		parts[i] = termtext.Escape(p)
	}
	return strings.Join(parts, "\t")
}

// HangingIndent wraps a painted line and indents what follows to a column. A line that fits,
// or that has no width to fit into, is returned as it is.
func (l Style) HangingIndent(line string, column int) string {
	if l.Width <= 0 || l.ShownWidth(line) <= l.Width {
		return line
	}
	var out []string
	now := ""
	for i, word := range strings.Split(line, " ") {
		longer := now + " " + word
		switch {
		case i == 0:
			now = word
		case word != "" && l.ShownWidth(longer) > l.Width && l.ShownWidth(strings.TrimRight(now, " ")) > column:
			out, now = append(out, strings.TrimRight(now, " ")), strings.Repeat(" ", column)+word
		default:
			now = longer
		}
	}
	return strings.Join(append(out, strings.TrimRight(now, " ")), "\n")
}
