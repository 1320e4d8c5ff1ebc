package term

import (
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/view"
)

// NewLook draws for a width, without colors unless asked.
func NewLook(width int, now time.Time, ascii, color bool) Style {
	l := Style{Glyphs: termtext.Unicode, Width: width, Now: now, Home: "/home/ann", ASCII: ascii, Paint: Paint(color)}
	if ascii {
		l.Glyphs = termtext.ASCII
	}
	return l
}

// Line is one folded line.
type Line struct {
	Path        string
	Files, Dirs int64
	Single      bool
}

// Fold is fold, with fields that tests can see.
func Fold(changes []retake.Change) []Line {
	var out []Line
	for _, f := range foldChanges(changes) {
		out = append(out, Line{f.path, f.files, f.dirs, f.change != nil})
	}
	return out
}

// Hunk is a run of edits.
type Hunk struct {
	Before, After int
	Edits         []Edit
}

// Hunks gives the hunks of a comparison.
func Hunks(a, b []string) []Hunk {
	var out []Hunk
	for _, h := range splitHunks(DiffLines(a, b)) {
		out = append(out, Hunk{h.before, h.after, h.edits})
	}
	return out
}

// RenderTexts renders two texts of one path.
func RenderTexts(l Style, c retake.Change, before, after, why string) string {
	return RenderLines(l, c, ChangeSides{before: before, after: after, why: why})
}

// MaxEdits is maxEdits.
const MaxEdits = maxEdits

// DrawGraph draws places with a ring at each row, and what lies below it.
func DrawGraph(l Style, places []retake.RowPlace, lanes int) (rows, between []string) {
	for _, p := range places {
		rows = append(rows, drawGraphRow(l, p, l.Glyphs.Ring, lanes))
		between = append(between, drawGraphBelow(l, p, "", lanes))
	}
	return rows, between
}

// ReadEffects takes in what a turn did outside before its last checkpoint.
func (c *Card) ReadEffects(at view.Lookup) {
	c.Effects = view.TurnEffects(&c.Checkpoint, at)
}
