package view

import (
	"slices"
	"strconv"

	"github.com/retake-dev/retake"
)

// maxTurnSteps is how many checkpoints of one turn are walked through.
const maxTurnSteps = 64

// Lookup returns a checkpoint by its id, if it is known.
type Lookup func(retake.CheckpointID) (*retake.Checkpoint, bool)

// TurnWork returns the checkpoints that hold the work of a turn whose last checkpoint changed
// nothing, oldest first. Known is false if one on the way is missing.
func TurnWork(end *retake.Checkpoint, at Lookup) (work []int64, known bool) {
	known = walkTurn(end, at, func(p *retake.Checkpoint) {
		if p.Changed.Total() > 0 {
			work = append(work, p.Number)
		}
	})
	slices.Reverse(work)
	return work, known
}

// TurnEffects are what a turn did outside before its last checkpoint, the oldest first.
func TurnEffects(end *retake.Checkpoint, at Lookup) []retake.Effect {
	var out []retake.Effect
	walkTurn(end, at, func(p *retake.Checkpoint) { out = append(slices.Clone(p.Effects), out...) })
	return out
}

// walkTurn calls f for the checkpoints of a turn before its last one, newest first. It returns
// false if one on the way is missing.
func walkTurn(end *retake.Checkpoint, at Lookup, f func(*retake.Checkpoint)) bool {
	for step, next := 0, end; step < maxTurnSteps && next.Parent != ""; step++ {
		p, ok := at(next.Parent)
		if !ok {
			return false
		}
		if !isSameTurn(end, p) {
			break
		}
		f(p)
		next = p
	}
	return true
}

// IsIdleTurn reports whether a turn ended with nothing more than was there before.
func IsIdleTurn(c *retake.Checkpoint) bool {
	return c.Turn != nil && c.Trigger == retake.TriggerTurn && c.Changed.Total() == 0
}

// isSameTurn reports whether a checkpoint was taken in the turn that another one ended.
func isSameTurn(end, c *retake.Checkpoint) bool {
	if end.Turn == nil || c.Turn == nil || end.Turn.ID == "" {
		return false
	}
	switch c.Trigger {
	case retake.TriggerRisk, retake.TriggerTask, retake.TriggerCall, retake.TriggerTurn, retake.TriggerManual, retake.TriggerComplete, retake.TriggerSession:
		return c.Turn.Agent == end.Turn.Agent && c.Turn.Session == end.Turn.Session && c.Turn.ID == end.Turn.ID
	default:
		return false
	}
}

// RangeText names checkpoints of one turn: 7, or 7–9.
func RangeText(work []int64) string {
	first, last := work[0], work[len(work)-1]
	if first == last {
		return strconv.FormatInt(first, 10)
	}
	return strconv.FormatInt(first, 10) + "–" + strconv.FormatInt(last, 10)
}

// setIdleTurn says of a turn that changed nothing more where its work is, or that there was none.
func (b *rowBuilder) setIdleTurn(r *retake.TimelineRow, c *retake.Checkpoint) {
	if !IsIdleTurn(c) || len(r.Points) > 0 {
		return
	}
	work, known := TurnWork(c, b.parents)
	switch {
	case len(work) > 0:
		r.Lead, r.Points = "in "+RangeText(work), []retake.Point{{Text: "its work is in " + RangeText(work)}}
	case known:
		r.Points = []retake.Point{{Text: "talk only"}}
	}
}

// lookup looks among the checkpoints that are shown, and among those that were asked for.
func (in *Input) lookup() Lookup {
	all := make(map[retake.CheckpointID]*retake.Checkpoint, len(in.Checkpoints)+len(in.Earlier))
	for _, cs := range [][]retake.Checkpoint{in.Earlier, in.Checkpoints} {
		for i := range cs {
			all[cs[i].ID] = &cs[i]
		}
	}
	return func(id retake.CheckpointID) (*retake.Checkpoint, bool) {
		c, ok := all[id]
		return c, ok
	}
}

// ReadEarlier asks for the checkpoints that hold the work of turns which are shown, where they
// are not shown themselves. What cannot be found is left out.
func (in *Input) ReadEarlier(find Lookup) {
	in.Earlier = nil
	shown := in.lookup()
	for i := range in.Checkpoints {
		if c := &in.Checkpoints[i]; IsIdleTurn(c) {
			TurnWork(c, func(id retake.CheckpointID) (*retake.Checkpoint, bool) {
				if p, ok := shown(id); ok {
					return p, true
				}
				p, ok := find(id)
				if ok {
					in.Earlier = append(in.Earlier, *p)
				}
				return p, ok
			})
		}
	}
}
