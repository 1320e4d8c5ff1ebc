package term

import (
	"slices"

	"github.com/retake-dev/retake"
)

// minQuietRun is how many quiet neighbours are folded into one row.
const minQuietRun = 3

// timelineEntry is one row of the timeline before it is drawn: a checkpoint, a run of quiet
// ones, or a fork.
type timelineEntry struct {
	checkpoints []retake.Checkpoint // newest first; one, or a run
	fork        *ForkLine
	more        int  // forks that are not shown one by one
	abandoned   bool // checkpoints that a restore left behind, and the forks of them, folded
	parent      int  // as in graphRow
}

// ForkLine is a fork as a lane of its origin.
type ForkLine struct {
	retake.WorkspaceState
	Finding retake.Finding
	Adopted []retake.CheckpointID // checkpoints of the origin that took it in
}

// foldQuiet makes entries of checkpoints, newest first. A checkpoint with a fork has a row of
// its own.
func foldQuiet(t retake.Timeline, forks []ForkLine) []timelineEntry {
	cs := t.Checkpoints
	own := map[retake.CheckpointID]bool{}
	for i, c := range cs {
		if i == 0 || cs[i-1].Parent != c.ID {
			own[c.ID] = true
		}
		if i+1 < len(cs) && cs[i+1].ID != c.Parent {
			own[c.Parent] = true
		}
		if c.Return != nil {
			own[c.Return.Target], own[c.Return.Before] = true, true
		}
	}
	for _, p := range t.Pins {
		own[p.Checkpoint] = true
	}
	for _, f := range forks {
		if f.Origin != nil {
			own[f.Origin.Checkpoint] = true
		}
	}
	var out []timelineEntry
	for i := 0; i < len(cs); {
		end := i
		for end < len(cs) && !own[cs[end].ID] && isQuiet(cs, end, t.Findings) {
			end++
		}
		if end-i >= minQuietRun {
			out = append(out, timelineEntry{checkpoints: cs[i:end]})
			i = end
			continue
		}
		out = append(out, timelineEntry{checkpoints: cs[i : i+1]})
		i++
	}
	return out
}

// isQuiet reports whether checkpoint i holds nothing that a user would look for.
func isQuiet(cs []retake.Checkpoint, i int, found map[retake.CheckpointID]retake.Finding) bool {
	c := cs[i]
	if len(c.Effects) > 0 || c.Return != nil || c.Coverage.Grade == retake.Partial || c.Turn != nil && isHeavyTurn(c.Turn) {
		return false
	}
	switch c.Trigger {
	case retake.TriggerInit, retake.TriggerReturn, retake.TriggerFork, retake.TriggerSafety, retake.TriggerComplete:
		return false
	default:
	}
	f := found[c.ID]
	if c.Intent != "" && c.Intent != retake.StillMoving && !precedesTurn(cs, i) || hasNewFinding(f) {
		return false
	}
	return c.Changed.Total() == 0 || c.Trigger == retake.TriggerQuiet && hasPlainEditsOnly(c, f.Gist) || f.Gist != nil && f.Gist.Moving
}

// hasPlainEditsOnly reports whether files were only written: none was deleted, and nothing but
// source changed.
func hasPlainEditsOnly(c retake.Checkpoint, g *retake.Gist) bool {
	return c.Changed.Deleted == 0 && (g == nil || !slices.ContainsFunc(g.Points, func(p retake.Point) bool {
		return slices.Contains(nonSourceThemes, p.Theme)
	}))
}

var nonSourceThemes = []retake.Theme{retake.ThemePackages, retake.ThemeSettings, retake.ThemeDatabase, retake.ThemeMachine}

// countOwnEdits counts what changed between turns.
func countOwnEdits(run []retake.Checkpoint) (sum int64) {
	for _, c := range run {
		if c.Trigger == retake.TriggerQuiet {
			sum += c.Changed.Total()
		}
	}
	return sum
}

// quietRunText are what a run of quiet checkpoints is about.
func quietRunText(run []retake.Checkpoint) string {
	if countOwnEdits(run) > 0 {
		return "your own edits between turns"
	}
	return "talk, and files that always move"
}

// hasNewFinding reports whether something was found that did not hold at the checkpoint
// before.
func hasNewFinding(f retake.Finding) bool {
	for _, a := range f.Answers {
		if a.Was != "" || a.Verdict == retake.Running {
			return true
		}
	}
	return f.Gist != nil && len(f.Gist.Flags) > 0
}

// precedesTurn reports whether a checkpoint was taken just before a turn and adds nothing to
// the checkpoint of that turn.
func precedesTurn(cs []retake.Checkpoint, i int) bool {
	c := cs[i]
	if c.Trigger != retake.TriggerPrompt || c.Turn == nil || c.Turn.ID == "" || i == 0 {
		return false
	}
	next := cs[i-1].Turn
	return next != nil && next.ID == c.Turn.ID && next.Session == c.Turn.Session
}

func isHeavyTurn(t *retake.Turn) bool {
	return t.Risk != "" || len(t.Contested) > 0 || t.Running > 0 || t.Failed != "" || t.Late > 0
}

// setParents sets the parent of each entry. A parent that is not shown is taken to be the
// checkpoint right before, unless it is known to be an older one.
func setParents(us []timelineEntry, g TargetTitles) {
	at := map[retake.CheckpointID]int{}
	for i, u := range us {
		at[u.checkpoints[0].ID] = i
	}
	for i := range us {
		c := us[i].checkpoints[len(us[i].checkpoints)-1]
		row, shown := at[c.Parent]
		switch {
		case shown && row > i:
			us[i].parent = row
		case i == len(us)-1 && (c.Parent == "" || c.Trigger == retake.TriggerFork):
			us[i].parent = -1
		case grewFromTarget(c) && g[c.Parent] != "":
			us[i].parent = len(us)
		default:
			us[i].parent = i + 1
		}
	}
}

// grewFromTarget reports whether the parent of a checkpoint is the one it was restored to.
func grewFromTarget(c retake.Checkpoint) bool { return c.Return != nil && c.Return.Target == c.Parent }

// maxForksShown is how many forks of one checkpoint have a row.
const maxForksShown = maxLanes - 1

// compareForks sorts adopted forks first, then the newest.
func compareForks(a, b ForkLine) int {
	if x, y := len(a.Adopted) > 0, len(b.Adopted) > 0; x != y {
		if x {
			return -1
		}
		return 1
	}
	return b.Latest.Time.Compare(a.Latest.Time)
}

// insertForks inserts the rows of forks above the checkpoints they started from.
func insertForks(us []timelineEntry, forks []ForkLine) []timelineEntry {
	if len(forks) == 0 {
		return us
	}
	by := map[retake.CheckpointID][]ForkLine{}
	for _, f := range forks {
		if f.Origin != nil && f.Latest != nil {
			by[f.Origin.Checkpoint] = append(by[f.Origin.Checkpoint], f)
		}
	}
	place := make([]int, len(us)+1) // where an entry is after the rows are put in
	var out []timelineEntry
	for i, u := range us {
		mine := by[u.checkpoints[0].ID]
		slices.SortStableFunc(mine, compareForks)
		shown := mine[:min(len(mine), maxForksShown)]
		if more := len(mine) - len(shown); more > 0 {
			out = append(out, timelineEntry{more: more, parent: -i - 2})
		}
		for k := range shown {
			out = append(out, timelineEntry{fork: &shown[k], parent: -i - 2})
		}
		place[i] = len(out)
		out = append(out, u)
	}
	place[len(us)] = len(out)
	for i := range out {
		switch p := out[i].parent; {
		case p < -1:
			out[i].parent = place[-p-2]
		case p >= 0:
			out[i].parent = place[p]
		}
	}
	return out
}

// graphRows returns the entries as the graph needs them, and the row of the newest checkpoint.
func graphRows(us []timelineEntry) (out []graphRow, tip int) {
	at := map[retake.CheckpointID]int{}
	tip = -1
	for i, u := range us {
		if u.checkpoints != nil {
			at[u.checkpoints[0].ID] = i
			if tip < 0 {
				tip = i
			}
		}
	}
	for i, u := range us {
		t := graphRow{parent: u.parent, adoptedAt: -1, fork: u.checkpoints == nil}
		if u.fork != nil {
			for _, id := range u.fork.Adopted {
				if row, ok := at[id]; ok && row < i {
					t.adoptedAt = row
				}
			}
		}
		out = append(out, t)
	}
	return out, tip
}
