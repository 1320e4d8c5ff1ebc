package view

import (
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// setChanges sets what really changed: the gist, or counts while there is none.
func setChanges(r *retake.TimelineRow, c *retake.Checkpoint, g *retake.Gist) {
	r.Files = c.ChangedFiles(g)
	switch {
	case c.Trigger == retake.TriggerInit && c.Parent == "":
		r.Points = []retake.Point{{Text: "first capture, " + string(c.Coverage.Grade)}}
	case g != nil && r.Files == g.Counts.Total():
		r.Points, r.Lead = g.Points, g.Lead
		r.Heavy = c.Return == nil && AreWeighty(g.Points, r.Lead)
	default:
		r.Points, r.Counted = countPoints(c), g == nil && r.Files > 0
		r.Heavy = c.Return == nil && c.Changed.Deleted > 0
	}
}

// changeArrow stands in points between what was and what is: names, permissions, values.
const changeArrow = " → "

// AreWeighty reports whether points say more than the lead can: something was deleted, or
// something other than source changed.
func AreWeighty(points []retake.Point, lead string) bool {
	for _, p := range points {
		switch p.Theme {
		case retake.ThemeDeleted:
			return true
		case retake.ThemePackages, retake.ThemeSettings, retake.ThemeDatabase, retake.ThemeMachine:
			if len(points) > 1 || lead == "" || describesChange(p) {
				return true
			}
		default:
			if (len(points) > 1 || lead == "") && strings.Contains(p.Text, changeArrow) {
				return true
			}
		}
	}
	return false
}

// describesChange reports whether a point says what happened inside its file, such as a
// setting or a table, where the lead has only the name.
func describesChange(p retake.Point) bool {
	return p.Theme != retake.ThemePackages && strings.Contains(p.Text, " ")
}

// countPoints are counts, deletions first, in the words of how they came about.
func countPoints(c *retake.Checkpoint) []retake.Point {
	added, edited := "added", "edited"
	if grewFromTarget(c) {
		added, edited = "brought back", "changed"
	}
	var out []retake.Point
	add := func(theme retake.Theme, word string, n int64) {
		if n > 0 {
			out = append(out, retake.Point{Theme: theme, Text: word + " " + termtext.Count(n)})
		}
	}
	add(retake.ThemeDeleted, "deleted", c.Changed.Deleted)
	add("", added, c.Changed.Added)
	add("", edited, c.Changed.Edited)
	return out
}
