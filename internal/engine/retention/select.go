package retention

import (
	"cmp"
	"slices"

	"github.com/retake-dev/retake"
)

// History is the evaluated checkpoints of one workspace.
type History struct {
	Workspace retake.WorkspaceID
	Verdicts  []Verdict
}

// Drop is a checkpoint to delete.
type Drop struct {
	Workspace retake.WorkspaceID
	Verdict
}

// Expired returns the checkpoints of all histories that expired by age, the oldest first.
func Expired(lines []History) []Drop { return selectUpTo(lines, Loose) }

// SelectToFree returns checkpoints to delete, the oldest first, until about that many bytes
// are freed. None has a level above need.
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
