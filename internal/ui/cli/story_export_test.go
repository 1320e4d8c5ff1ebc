package cli

import (
	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/term"
	"github.com/retake-dev/retake/internal/view"
)

// RenderView arranges and draws a timeline.
func RenderView(l Look, in view.Input) string { return term.RenderTimeline(l, view.Timeline(in)) }

// RenderCard draws a checkpoint as `show` does.
func RenderCard(l Look, c term.Card) string {
	c.Parent = c.Story.From
	return term.RenderCard(l, c)
}

// RenderFacts is what `diff --env` says.
var RenderFacts = term.RenderFacts

// RenderStat is what `diff --stat` says of changes, with what a story knows of them.
func RenderStat(l Look, d retake.Comparison, lines map[string][2]int64, st *retake.Story, known [2][]retake.Answer) string {
	counts := map[string]term.LineCount{}
	for path, n := range lines {
		counts[path] = term.LineCount{Plus: n[0], Minus: n[1]}
	}
	gs := term.GroupChanges(d.Changes)
	return term.RenderEnds(l, d, known) + term.RenderStatNoted(l, gs, counts, term.NewStatNotes(l, st)) + "\n" + term.RenderTotals(l, gs) + term.SourceLinesText(l, st) + "\n"
}
