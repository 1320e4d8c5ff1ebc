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

// before gives the checkpoint that another one grew from, if it is known.
type before func(retake.CheckpointID) (retake.Checkpoint, bool)

// workOf are the checkpoints that hold what a turn did which ended with nothing more, the oldest
// first. Known is false when one on the way to its beginning is not there to be asked.
func workOf(c retake.Checkpoint, at before) (work []int64, known bool) {
	for step, next := 0, c; step < turnSteps && next.Parent != ""; step++ {
		p, ok := at(next.Parent)
		if !ok {
			return work, false
		}
		if !sameTurn(c, p) {
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
func turnEffects(end retake.Checkpoint, at before) []retake.Effect {
	var out []retake.Effect
	for step, next := 0, end; step < turnSteps && next.Parent != ""; step++ {
		p, ok := at(next.Parent)
		if !ok || !sameTurn(end, p) {
			break
		}
		out = append(slices.Clone(p.Effects), out...)
		next = p
	}
	return out
}

// idle reports whether a turn ended with nothing more than was there before.
func idle(c retake.Checkpoint) bool {
	return c.Turn != nil && c.Trigger == retake.TriggerTurn && c.Changed.Total() == 0
}

// sameTurn reports whether a checkpoint was taken in the turn that another one ended.
func sameTurn(end, c retake.Checkpoint) bool {
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

// span names checkpoints of one turn: 7, or 7–9.
func (l Look) span(work []int64) string {
	first, last := work[0], work[len(work)-1]
	if first == last {
		return Numeral(first)
	}
	return Numeral(first) + l.Glyphs.Dash + Numeral(last)
}

// tellIdle says of a turn that changed nothing more where its work is, or that there was none.
func (r *row) tellIdle(l Look, c retake.Checkpoint, at before) {
	if !idle(c) || len(r.points) > 0 {
		return
	}
	work, known := workOf(c, at)
	switch {
	case len(work) > 0:
		r.lead, r.points = "in "+l.span(work), []retake.Point{{Text: "its work is in " + l.span(work)}}
	case known:
		r.points = []retake.Point{{Text: "talk only"}}
	}
}

// workLine leads from a turn with nothing more to the checkpoints that hold its work.
func (l Look) workLine(work []int64) string {
	if len(work) == 0 {
		return ""
	}
	return fmt.Sprintf("\n  the work of this turn is in %s: retake show %d\n", l.span(work), work[len(work)-1])
}

// before looks among the checkpoints that are shown, and among those that were asked for.
func (v View) before() before {
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

// findEarlier asks for the checkpoints that hold the work of turns which are shown, where they
// are not shown themselves. What cannot be found is not told.
func (v *View) findEarlier(ctx context.Context, s retake.Service, ws retake.Workspace) {
	v.Earlier = nil
	shown, asked := v.before(), asker(ctx, s, ws)
	for _, c := range v.Checkpoints {
		if idle(c) {
			workOf(c, func(id retake.CheckpointID) (retake.Checkpoint, bool) {
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

// asker asks a service for checkpoints by their ids, a bounded number of times.
func asker(ctx context.Context, s retake.Service, ws retake.Workspace) before {
	left := turnLookup
	return func(id retake.CheckpointID) (retake.Checkpoint, bool) {
		if left--; left < 0 {
			return retake.Checkpoint{}, false
		}
		c, err := s.Find(ctx, ws.ID, string(id))
		return c, err == nil
	}
}
