package term

import (
	"slices"

	"github.com/retake-dev/retake"
)

// quietRun is how many quiet neighbours are folded into one row.
const quietRun = 3

// rung is one row of the timeline before it is drawn: a checkpoint, a run of quiet ones, or a
// fork.
type rung struct {
	checkpoints []retake.Checkpoint // newest first; one, or a run
	fork        *ForkLine
	more        int  // forks that are not shown one by one
	left        bool // checkpoints that a restore left behind, and the forks of them, folded
	parent      int  // as in twig
}

// ForkLine is a fork as a lane of its origin.
type ForkLine struct {
	retake.WorkspaceState
	Finding retake.Finding
	Adopted []retake.CheckpointID // checkpoints of the origin that took it in
}

// foldQuiet makes rungs of checkpoints, newest first. Of the forks only the origins matter: a
// checkpoint that something grew from has a row of its own.
func foldQuiet(t retake.Timeline, forks []ForkLine) []rung {
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
	var out []rung
	for i := 0; i < len(cs); {
		end := i
		for end < len(cs) && !own[cs[end].ID] && quiet(cs, end, t.Findings) {
			end++
		}
		if end-i >= quietRun {
			out = append(out, rung{checkpoints: cs[i:end]})
			i = end
			continue
		}
		out = append(out, rung{checkpoints: cs[i : i+1]})
		i++
	}
	return out
}

// quiet reports whether a checkpoint says nothing that somebody would look for.
func quiet(cs []retake.Checkpoint, i int, found map[retake.CheckpointID]retake.Finding) bool {
	c := cs[i]
	if len(c.Effects) > 0 || c.Return != nil || c.Coverage.Grade == retake.Partial || c.Turn != nil && heavyTurn(c.Turn) {
		return false
	}
	switch c.Trigger {
	case retake.TriggerInit, retake.TriggerReturn, retake.TriggerFork, retake.TriggerSafety, retake.TriggerComplete:
		return false
	default:
	}
	f := found[c.ID]
	if c.Intent != "" && c.Intent != retake.StillMoving && !leadsOn(cs, i) || news(f) {
		return false
	}
	return c.Changed.Total() == 0 || c.Trigger == retake.TriggerQuiet && plainEdits(c, f.Gist) || f.Gist != nil && f.Gist.Moving
}

// plainEdits reports whether files were only written: nothing went, and nothing around the
// source changed.
func plainEdits(c retake.Checkpoint, g *retake.Gist) bool {
	return c.Changed.Deleted == 0 && (g == nil || !slices.ContainsFunc(g.Points, func(p retake.Point) bool {
		return slices.Contains(besideSource, p.Theme)
	}))
}

var besideSource = []retake.Theme{retake.ThemePackages, retake.ThemeSettings, retake.ThemeDatabase, retake.ThemeMachine}

// ownEdits counts what changed between turns.
func ownEdits(run []retake.Checkpoint) (sum int64) {
	for _, c := range run {
		if c.Trigger == retake.TriggerQuiet {
			sum += c.Changed.Total()
		}
	}
	return sum
}

// quietWords are what a run of quiet checkpoints is about.
func quietWords(run []retake.Checkpoint) string {
	if ownEdits(run) > 0 {
		return "your own edits between turns"
	}
	return "talk, and files that always move"
}

// news reports whether something was found out that was not so at the checkpoint before.
func news(f retake.Finding) bool {
	for _, a := range f.Answers {
		if a.Was != "" || a.Verdict == retake.Running {
			return true
		}
	}
	return f.Gist != nil && len(f.Gist.Flags) > 0
}

// leadsOn reports whether a checkpoint was taken before a turn and is nothing beside the checkpoint
// of that turn, which comes right after it.
func leadsOn(cs []retake.Checkpoint, i int) bool {
	c := cs[i]
	if c.Trigger != retake.TriggerPrompt || c.Turn == nil || c.Turn.ID == "" || i == 0 {
		return false
	}
	next := cs[i-1].Turn
	return next != nil && next.ID == c.Turn.ID && next.Session == c.Turn.Session
}

func heavyTurn(t *retake.Turn) bool {
	return t.Risk != "" || len(t.Contested) > 0 || t.Running > 0 || t.Failed != "" || t.Late > 0
}

// grown sets what each rung grew from. A parent that is not shown is taken for the checkpoint
// right before, as after a tidy-up, unless it is known to be an older one.
func grown(us []rung, g Goals) {
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
		case wentFar(c) && g[c.Parent] != "":
			us[i].parent = len(us)
		default:
			us[i].parent = i + 1
		}
	}
}

// wentFar reports whether a checkpoint grew from the one it went to.
func wentFar(c retake.Checkpoint) bool { return c.Return != nil && c.Return.Target == c.Parent }

// forksShown is how many forks of one checkpoint have a row.
const forksShown = mostLanes - 1

// forkOrder puts those that came back first, and then the newest.
func forkOrder(a, b ForkLine) int {
	if x, y := len(a.Adopted) > 0, len(b.Adopted) > 0; x != y {
		if x {
			return -1
		}
		return 1
	}
	return b.Latest.Time.Compare(a.Latest.Time)
}

// withForks puts the rows of forks above the checkpoints they grew from.
func withForks(us []rung, forks []ForkLine) []rung {
	if len(forks) == 0 {
		return us
	}
	by := map[retake.CheckpointID][]ForkLine{}
	for _, f := range forks {
		if f.Origin != nil && f.Latest != nil {
			by[f.Origin.Checkpoint] = append(by[f.Origin.Checkpoint], f)
		}
	}
	place := make([]int, len(us)+1) // where a rung is after the rows are put in
	var out []rung
	for i, u := range us {
		mine := by[u.checkpoints[0].ID]
		slices.SortStableFunc(mine, forkOrder)
		shown := mine[:min(len(mine), forksShown)]
		if more := len(mine) - len(shown); more > 0 {
			out = append(out, rung{more: more, parent: -i - 2})
		}
		for k := range shown {
			out = append(out, rung{fork: &shown[k], parent: -i - 2})
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

// twigs are the rungs as the graph sees them, and the row of the newest checkpoint.
func twigs(us []rung) (out []twig, tip int) {
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
		t := twig{parent: u.parent, into: -1, fork: u.checkpoints == nil}
		if u.fork != nil {
			for _, id := range u.fork.Adopted {
				if row, ok := at[id]; ok && row < i {
					t.into = row
				}
			}
		}
		out = append(out, t)
	}
	return out, tip
}
