package term

import (
	"fmt"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// gapReasonTexts are the reasons as people read them, behind a count.
var gapReasonTexts = map[retake.Reason]string{
	retake.ReasonUnreadable: "unreadable",
	retake.ReasonTorn:       "torn",
	retake.ReasonMoving:     "still moving",
	retake.ReasonMount:      "on another mount",
	retake.ReasonDevice:     "device",
	retake.ReasonTooDeep:    "too deep",
	retake.ReasonSparse:     "with large holes",
	retake.ReasonBudget:     "not reached in time",
	retake.ReasonTooBig:     "too big by policy",
	retake.ReasonExcluded:   "excluded by policy",
	retake.ReasonIgnored:    "ignored by policy",
	retake.ReasonStore:      "our own store",
}

// gapCountText answers "2 unreadable", and a word for reasons of later versions too.
func gapCountText(r retake.Reason, n int) string {
	w, ok := gapReasonTexts[r]
	switch {
	case !ok:
		w = termtext.Escape(string(r))
	case r == retake.ReasonDevice && n != 1:
		w = "devices"
	}
	return termtext.Count(int64(n)) + " " + w
}

// gapCountsText tells how many paths each reason has: "2 unreadable, 1 torn". What
// the world did comes before what the user chose.
func gapCountsText(gaps []retake.Gap) string {
	var parts []string
	for _, g := range groupByReason(gaps) {
		parts = append(parts, gapCountText(g[0].Reason, len(g)))
	}
	return strings.Join(parts, ", ")
}

// groupByReason groups the gaps; groups keep the order of their paths.
func groupByReason(gaps []retake.Gap) [][]retake.Gap {
	at := map[retake.Reason]int{}
	var groups [][]retake.Gap
	for _, g := range gaps {
		i, ok := at[g.Reason]
		if !ok {
			i = len(groups)
			at[g.Reason] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], g)
	}
	slices.SortStableFunc(groups, func(a, b []retake.Gap) int {
		return reasonRank(a[0].Reason) - reasonRank(b[0].Reason)
	})
	return groups
}

func reasonRank(r retake.Reason) int {
	if r.Chosen() {
		return 1
	}
	return 0
}

// GradeText is the one word, cyan when it is not the whole truth.
func GradeText(l Style, g retake.Grade) string {
	if g == retake.Partial {
		return l.Cyan(string(g))
	}
	return termtext.Escape(string(g))
}

// MaxNamedPaths is how many paths are named before the rest is counted.
const MaxNamedPaths = 3

// GapLines lists each reason with its first paths, and how many there are more.
func GapLines(l Style, gaps []retake.Gap, indent string) string {
	var b strings.Builder
	for _, group := range groupByReason(gaps) {
		var names []string
		for _, g := range group[:min(MaxNamedPaths, len(group))] {
			names = append(names, termtext.Escape(g.Path))
		}
		text := strings.Join(names, ", ")
		if more := len(group) - len(names); more > 0 {
			text += fmt.Sprintf(", %s more", termtext.Count(int64(more)))
		}
		fmt.Fprintf(&b, "%s%s  %s\n", indent, gapCountText(group[0].Reason, len(group)), l.Dim(text))
	}
	return b.String()
}

// maxExcludedShown patterns are named on a card; --json has all.
const maxExcludedShown = 5

// policyFacts tells what is left out.
func policyFacts(l Style, p retake.Policy) string {
	var big, named, git string
	if p.GitIgnore {
		git = "git's ignore files are followed"
	}
	if p.MaxNewFile > 0 {
		big = "new files over " + termtext.Bytes(p.MaxNewFile) + " are left out"
	}
	if len(p.Exclude) > 0 {
		var escaped []string
		for _, e := range p.Exclude[:min(len(p.Exclude), maxExcludedShown)] {
			escaped = append(escaped, termtext.Escape(e))
		}
		named = "without " + strings.Join(escaped, ", ")
		if more := len(p.Exclude) - maxExcludedShown; more > 0 {
			named += " and " + CountNoun(int64(more), "pattern more", "patterns more")
		}
	}
	return l.JoinFacts(git, big, named)
}
