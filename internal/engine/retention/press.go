package retention

import (
	"cmp"
	"slices"

	"github.com/retake-dev/retake"
)

// History is the verdicts of one workspace.
type History struct {
	Workspace retake.WorkspaceID
	Verdicts  []Verdict
}

// Drop is one checkpoint that goes.
type Drop struct {
	Workspace retake.WorkspaceID
	Verdict
}

// Expired is what goes by its age, of all lines, the oldest first.
func Expired(lines []History) []Drop { return selectUpTo(lines, Loose) }

// SelectToFree is what goes, the oldest first, until about that many bytes are given back.
// Nothing with a grip above the need is among it.
func SelectToFree(lines []History, bytes int64, need KeepLevel) []Drop {
	all := selectUpTo(lines, min(need, Firm))
	var sum int64
	for i, d := range all {
		if sum >= bytes {
			return all[:i]
		}
		sum += d.Bytes
	}
	return all
}

func selectUpTo(lines []History, need KeepLevel) []Drop {
	var out []Drop
	for _, l := range lines {
		for _, v := range l.Verdicts {
			if v.Level <= need {
				out = append(out, Drop{l.Workspace, v})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Drop) int {
		return cmp.Or(cmp.Compare(a.Level, b.Level), a.Time.Compare(b.Time), cmp.Compare(a.Workspace, b.Workspace), cmp.Compare(a.Number, b.Number))
	})
	return out
}
