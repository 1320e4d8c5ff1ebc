package view

import (
	"slices"

	"github.com/retake-dev/retake"
)

// minQuietRun is how many quiet neighbours are folded into one row.
const minQuietRun = 3

// foldQuiet makes entries of checkpoints, newest first. A checkpoint with a fork has a row of
// its own, and so have those of a fold that is open.
func (in *Input) foldQuiet(open map[string]bool) []entry {
	cs, own := in.Checkpoints, in.standingAlone()
	out := make([]entry, 0, len(cs))
	for i := 0; i < len(cs); {
		end := i
		for end < len(cs) && !own[cs[end].ID] && isQuiet(cs, end, in.Findings) {
			end++
		}
		if end-i >= minQuietRun && !open[foldKey(retake.RowQuiet, cs[i:end])] {
			out = append(out, entry{checkpoints: cs[i:end:end]})
			i = end
			continue
		}
		for end = max(end, i+1); i < end; i++ {
			out = append(out, entry{checkpoints: cs[i : i+1 : i+1]})
		}
	}
	return out
}

// standingAlone are the checkpoints that are never folded: something else grew from them, or
// points at them.
func (in *Input) standingAlone() map[retake.CheckpointID]bool {
	cs := in.Checkpoints
	own := map[retake.CheckpointID]bool{}
	for i := range cs {
		c := &cs[i]
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
	for _, p := range in.Pins {
		own[p.Checkpoint] = true
	}
	for _, f := range in.Forks {
		if f.Origin != nil {
			own[f.Origin.Checkpoint] = true
		}
	}
	return own
}

// isQuiet reports whether checkpoint i holds nothing that a user would look for.
func isQuiet(cs []retake.Checkpoint, i int, found map[retake.CheckpointID]retake.Finding) bool {
	c := &cs[i]
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
func hasPlainEditsOnly(c *retake.Checkpoint, g *retake.Gist) bool {
	return c.Changed.Deleted == 0 && (g == nil || !slices.ContainsFunc(g.Points, func(p retake.Point) bool {
		return slices.Contains(nonSourceThemes, p.Theme)
	}))
}

var nonSourceThemes = []retake.Theme{retake.ThemePackages, retake.ThemeSettings, retake.ThemeDatabase, retake.ThemeMachine}

// countOwnEdits counts what changed between turns.
func countOwnEdits(run []retake.Checkpoint) (sum int64) {
	for i := range run {
		if run[i].Trigger == retake.TriggerQuiet {
			sum += run[i].Changed.Total()
		}
	}
	return sum
}

// hasNewFinding reports whether something was found that did not hold at the checkpoint
// before.
func hasNewFinding(f retake.Finding) bool {
	for _, a := range f.Answers {
		if a.Was != "" || a.Verdict == retake.Running {
			return true
		}
	}
	return f.Damaged > 0 || f.Gist != nil && len(f.Gist.Flags) > 0
}

// precedesTurn reports whether a checkpoint was taken just before a turn and adds nothing to
// the checkpoint of that turn.
func precedesTurn(cs []retake.Checkpoint, i int) bool {
	c := &cs[i]
	if c.Trigger != retake.TriggerPrompt || c.Turn == nil || c.Turn.ID == "" || i == 0 {
		return false
	}
	next := cs[i-1].Turn
	return next != nil && next.ID == c.Turn.ID && next.Session == c.Turn.Session
}

func isHeavyTurn(t *retake.Turn) bool {
	return t.Risk != "" || len(t.Contested) > 0 || t.Running > 0 || t.Failed != "" || t.Late > 0
}
