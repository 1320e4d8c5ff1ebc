package term

import (
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
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

// Twig is a twig.
type Twig struct {
	Parent, Into int
	Fork         bool
}

// Spot is a spot; lines are what goes on below it, by lane.
type Spot struct {
	Lane         int
	Left, Loose  bool
	Joins, Opens []int
	Through      []bool
	Below        []bool
}

// Layout is layout.
func Layout(ts []Twig, tip int) []Spot {
	var in []graphRow
	for _, t := range ts {
		in = append(in, graphRow{parent: t.Parent, adoptedAt: t.Into, fork: t.Fork})
	}
	var out []Spot
	for _, s := range layoutGraph(in, tip) {
		o := Spot{Lane: s.lane, Left: s.abandoned, Loose: s.detached, Joins: s.joins, Opens: s.opens}
		for k := range maxLanes {
			o.Through, o.Below = append(o.Through, s.through[k] != nothing), append(o.Below, s.below[k] != nothing)
		}
		out = append(out, o)
	}
	return out
}

// DrawGraph draws a layout with a ring at each row, and what lies below it.
func DrawGraph(l Style, ts []Twig, tip int) (rows, between []string) {
	var in []graphRow
	for _, t := range ts {
		in = append(in, graphRow{parent: t.Parent, adoptedAt: t.Into, fork: t.Fork})
	}
	spots := layoutGraph(in, tip)
	for _, s := range spots {
		rows = append(rows, l.drawGraphRow(s, l.Glyphs.Ring, countLanes(spots)))
		between = append(between, l.drawGraphBelow(s, "", countLanes(spots)))
	}
	return rows, between
}

// ReadEffects takes in what a turn did outside before its last checkpoint.
func (c *Card) ReadEffects(at func(retake.CheckpointID) (retake.Checkpoint, bool)) {
	c.Effects = turnEffects(c.Checkpoint, at)
}
