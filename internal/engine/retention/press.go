package retention

import (
	"cmp"
	"slices"

	"github.com/retake-dev/retake"
)

// Line is the verdicts of one workspace.
type Line struct {
	Workspace retake.WorkspaceID
	Verdicts  []Verdict
}

// Drop is one checkpoint that goes.
type Drop struct {
	Workspace retake.WorkspaceID
	Verdict
}

// Due is what goes by its age, of all lines, the oldest first.
func Due(lines []Line) []Drop { return loosest(lines, Loose) }

// Press is what goes, the oldest first, until about that many bytes are given back.
// Nothing with a grip above the need is among it.
func Press(lines []Line, bytes int64, need Grip) []Drop {
	all := loosest(lines, min(need, Firm))
	var sum int64
	for i, d := range all {
		if sum >= bytes {
			return all[:i]
		}
		sum += d.Bytes
	}
	return all
}

func loosest(lines []Line, need Grip) []Drop {
	var out []Drop
	for _, l := range lines {
		for _, v := range l.Verdicts {
			if v.Grip <= need {
				out = append(out, Drop{l.Workspace, v})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Drop) int {
		return cmp.Or(cmp.Compare(a.Grip, b.Grip), a.Time.Compare(b.Time), cmp.Compare(a.Workspace, b.Workspace), cmp.Compare(a.Number, b.Number))
	})
	return out
}
