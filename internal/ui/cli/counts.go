package cli

import (
	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

// countFacts returns the counts as text, deletions first.
func countFacts(l term.Style, n retake.Counts) string {
	part := func(word string, n int64) string {
		if n == 0 {
			return ""
		}
		return word + " " + termtext.Count(n)
	}
	return l.JoinFacts(part("deleted", n.Deleted), part("added", n.Added), part("edited", n.Edited))
}
