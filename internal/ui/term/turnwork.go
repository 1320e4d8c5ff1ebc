package term

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/retake-dev/retake"
)

const (
	turnSteps  = 64 // checkpoints of one turn that are walked through
	turnLookup = 32 // checkpoints that are asked for because a picture does not hold them
)

// parentLookup returns a checkpoint by its id, if it is known.
type parentLookup func(retake.CheckpointID) (retake.Checkpoint, bool)

// turnWork returns the checkpoints that hold the work of a turn whose last checkpoint changed
// nothing, oldest first. Known is false if one on the way is missing.
func turnWork(c retake.Checkpoint, at parentLookup) (work []int64, known bool) {
	for step, next := 0, c; step < turnSteps && next.Parent != ""; step++ {
		p, ok := at(next.Parent)
		if !ok {
			return work, false
		}
		if !isSameTurn(c, p) {
			break
		}
		if p.Changed.Total() > 0 {
			work = append([]int64{p.Number}, work...)
		}
		next = p
	}
	return work, true
}

// turnEffects are what a turn did outside before its last checkpoint, the oldest first.
func turnEffects(end retake.Checkpoint, at parentLookup) []retake.Effect {
	var out []retake.Effect
	for step, next := 0, end; step < turnSteps && next.Parent != ""; step++ {
		p, ok := at(next.Parent)
		if !ok || !isSameTurn(end, p) {
			break
		}
		out = append(slices.Clone(p.Effects), out...)
		next = p
	}
	return out
}

// isIdleTurn reports whether a turn ended with nothing more than was there before.
func isIdleTurn(c retake.Checkpoint) bool {
	return c.Turn != nil && c.Trigger == retake.TriggerTurn && c.Changed.Total() == 0
}

// isSameTurn reports whether a checkpoint was taken in the turn that another one ended.
func isSameTurn(end, c retake.Checkpoint) bool {
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

// checkpointRange names checkpoints of one turn: 7, or 7–9.
func (l Style) checkpointRange(work []int64) string {
	first, last := work[0], work[len(work)-1]
	if first == last {
		return CheckpointNumber(first)
	}
	return CheckpointNumber(first) + l.Glyphs.Dash + CheckpointNumber(last)
}

// setIdleTurn says of a turn that changed nothing more where its work is, or that there was none.
func (r *row) setIdleTurn(l Style, c retake.Checkpoint, at parentLookup) {
	if !isIdleTurn(c) || len(r.points) > 0 {
		return
	}
	work, known := turnWork(c, at)
	switch {
	case len(work) > 0:
		r.lead, r.points = "in "+l.checkpointRange(work), []retake.Point{{Text: "its work is in " + l.checkpointRange(work)}}
	case known:
		r.points = []retake.Point{{Text: "talk only"}}
	}
}

// turnWorkText leads from a turn with nothing more to the checkpoints that hold its work.
func (l Style) turnWorkText(work []int64) string {
	if len(work) == 0 {
		return ""
	}
	return fmt.Sprintf("\n  the work of this turn is in %s: retake show %d\n", l.checkpointRange(work), work[len(work)-1])
}

// parentLookup looks among the checkpoints that are shown, and among those that were asked for.
func (v TimelineView) parentLookup() parentLookup {
	all := sync.OnceValue(func() map[retake.CheckpointID]retake.Checkpoint {
		m := make(map[retake.CheckpointID]retake.Checkpoint, len(v.Checkpoints)+len(v.Earlier))
		for _, cs := range [][]retake.Checkpoint{v.Earlier, v.Checkpoints} {
			for _, c := range cs {
				m[c.ID] = c
			}
		}
		return m
	})
	return func(id retake.CheckpointID) (retake.Checkpoint, bool) {
		c, ok := all()[id]
		return c, ok
	}
}

// readEarlier asks for the checkpoints that hold the work of turns which are shown, where they
// are not shown themselves. What cannot be found is not told.
func (v *TimelineView) readEarlier(ctx context.Context, s retake.Service, ws retake.Workspace) {
	v.Earlier = nil
	shown, asked := v.parentLookup(), lookupFromService(ctx, s, ws)
	for _, c := range v.Checkpoints {
		if isIdleTurn(c) {
			turnWork(c, func(id retake.CheckpointID) (retake.Checkpoint, bool) {
				if p, ok := shown(id); ok {
					return p, true
				}
				p, ok := asked(id)
				if ok {
					v.Earlier = append(v.Earlier, p)
				}
				return p, ok
			})
		}
	}
}

// lookupFromService returns a lookup that reads checkpoints from the service, a bounded number
// of times.
func lookupFromService(ctx context.Context, s retake.Service, ws retake.Workspace) parentLookup {
	left := turnLookup
	return func(id retake.CheckpointID) (retake.Checkpoint, bool) {
		if left--; left < 0 {
			return retake.Checkpoint{}, false
		}
		c, err := s.Find(ctx, ws.ID, string(id))
		return c, err == nil
	}
}
