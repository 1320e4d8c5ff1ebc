package view

import (
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

// GapCountText answers "2 unreadable", and a word for reasons of later versions too.
func GapCountText(r retake.Reason, n int) string {
	w, ok := gapReasonTexts[r]
	switch {
	case !ok:
		w = string(r)
	case r == retake.ReasonDevice && n != 1:
		w = "devices"
	}
	return termtext.Count(int64(n)) + " " + w
}

// GapCountsText tells how many paths each reason has: "2 unreadable, 1 torn". What
// the world did comes before what the user chose.
func GapCountsText(gaps []retake.Gap) string {
	var parts []string
	for _, g := range GroupGaps(gaps) {
		parts = append(parts, GapCountText(g[0].Reason, len(g)))
	}
	return strings.Join(parts, ", ")
}

// GroupGaps groups the gaps; groups keep the order of their paths.
func GroupGaps(gaps []retake.Gap) [][]retake.Gap {
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
