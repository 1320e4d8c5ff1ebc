package cli

import (
	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/picture"
)

// RenderView draws a timeline with the names that its own checkpoints give.
func RenderView(l Look, v picture.View) string {
	named := picture.Goals{}
	for _, c := range v.Checkpoints {
		named[c.ID] = picture.Numeral(c.Number)
	}
	for id, name := range v.Goals {
		named[id] = name
	}
	v.Goals = named
	return picture.RenderTimeline(l, v)
}

// RenderCard draws a checkpoint as `show` does.
func RenderCard(l Look, c picture.Card) string {
	c.Parent = c.Story.From
	return picture.RenderCard(l, c)
}

// RenderFacts is what `diff --env` says.
var RenderFacts = picture.RenderFacts

// RenderStat is what `diff --stat` says of changes, with what a story knows of them.
func RenderStat(l Look, d retake.Comparison, lines map[string][2]int64, st *retake.Story, known [2][]retake.Answer) string {
	counts := map[string]picture.LineCount{}
	for path, n := range lines {
		counts[path] = picture.LineCount{Plus: n[0], Minus: n[1]}
	}
	gs := picture.Groups(d.Changes)
	return picture.RenderEnds(l, d, known) + picture.RenderStatNoted(l, gs, counts, picture.NotesOf(l, st)) + "\n" + picture.RenderTotals(l, gs) + picture.ToRead(l, st) + "\n"
}
