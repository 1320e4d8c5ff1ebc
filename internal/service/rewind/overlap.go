package rewind

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/restore"
	"github.com/retake-dev/retake/internal/platform/proc"
	"github.com/retake-dev/retake/internal/pure/tree"
	"github.com/retake-dev/retake/internal/service/agentstate"
	"github.com/retake-dev/retake/internal/service/history"
)

// findWorkOfOthers finds the paths that changed between a state and the newest of some
// items, but not, or not only, by these items. They are protected.
func (s *Rewinder) findWorkOfOthers(ctx context.Context, before retake.Checkpoint, items []retake.Checkpoint) (map[string]restore.Protection, error) {
	a := attribution{chosen: map[retake.CheckpointID]bool{}, turns: map[history.TurnKey]bool{}, wrote: map[string]bool{}, own: map[string]bool{}, protected: map[string]restore.Protection{}}
	for _, cp := range items {
		a.addItem(cp)
	}
	span, err := s.collectSpan(ctx, before, items[0], &a)
	if err != nil {
		return nil, err
	}
	for i := 1; i < len(span); i++ {
		if err := s.eachChangedPath(ctx, span[i-1], span[i], func(path string) { a.addPath(path, span[i-1], span[i]) }); err != nil {
			return nil, err
		}
	}
	return a.result(), nil
}

// collectSpan lists the checkpoints from a state to an item, oldest first, and adds the
// overlapping turns of others to a.
func (s *Rewinder) collectSpan(ctx context.Context, before, newest retake.Checkpoint, a *attribution) ([]retake.Checkpoint, error) {
	var span []retake.Checkpoint
	seen := map[history.TurnKey]bool{}
	err := s.history.WalkTimeline(ctx, before.Workspace, 0, func(cp, _ retake.Checkpoint) (bool, error) {
		if cp.Number <= newest.Number {
			span = append(span, cp)
		}
		if key, ok := history.TurnKeyOf(cp); ok && !a.turns[key] && !seen[key] { // its newest checkpoint has all its paths
			seen[key] = true
			w := agentstate.TurnSpan{Name: agentstate.SessionName(cp.Turn.Agent, cp.Turn.Session), Began: cp.Turn.Began, Paths: cp.Turn.Paths}
			if cp.Trigger == retake.TriggerTurn || cp.Trigger == retake.TriggerSession {
				w.End = cp.Time
			}
			a.others = append(a.others, w)
		}
		return cp.Number > before.Number, nil
	})
	slices.Reverse(span)
	a.others = append(a.others, s.agents.StateOf(before.Workspace).OtherTurns(a.turns)...)
	return span, err
}

// eachChangedPath calls f for every path that differs between two checkpoints, without
// directories.
func (s *Rewinder) eachChangedPath(ctx context.Context, before, cp retake.Checkpoint, f func(path string)) error {
	if before.Tree == cp.Tree {
		return nil
	}
	st, err := s.workspaces.Store(ctx)
	if err != nil {
		return err
	}
	from := retake.Entry{Kind: retake.KindDir, Object: before.Tree}
	to := retake.Entry{Kind: retake.KindDir, Object: cp.Tree}
	return tree.Compare(ctx, st, &from, st, &to, func(c retake.Change) error {
		isDir := (c.Before == nil || c.Before.Kind == retake.KindDir) && (c.After == nil || c.After.Kind == retake.KindDir)
		if c.What != retake.Timed && !isDir {
			f(c.Path)
		}
		return nil
	})
}

// attribution decides for each changed path whose work it is.
type attribution struct {
	chosen map[retake.CheckpointID]bool // the items
	turns  map[history.TurnKey]bool     // and the turns among them
	active []agentstate.TurnSpan        // these turns
	wrote  map[string]bool              // by their file tools
	others []agentstate.TurnSpan        // turns that went on meanwhile

	own       map[string]bool
	protected map[string]restore.Protection
}

// addItem adds a chosen item and the turn it belongs to.
func (a *attribution) addItem(cp retake.Checkpoint) {
	a.chosen[cp.ID] = true
	key, ok := history.TurnKeyOf(cp)
	if !ok {
		return
	}
	a.turns[key] = true
	a.active = append(a.active, agentstate.TurnSpan{Began: cp.Turn.Began, End: cp.Time})
	for _, p := range cp.Turn.Paths {
		a.wrote[p] = true
	}
}

// addPath attributes one path that changed between two neighboring checkpoints.
func (a *attribution) addPath(path string, before, cp retake.Checkpoint) {
	key, turn := history.TurnKeyOf(cp)
	mine := a.chosen[cp.ID] || turn && a.turns[key]
	during := func(w agentstate.TurnSpan) bool { return w.Overlaps(before.Time, cp.Time) }
	at := slices.IndexFunc(a.others, func(w agentstate.TurnSpan) bool { return during(w) && slices.Contains(w.Paths, path) })
	if at >= 0 {
		a.protect(path, retake.KeepOverlap, "written by "+a.others[at].Name)
		return
	}
	if a.wrote[path] {
		a.own[path] = true
		return
	}
	if at = slices.IndexFunc(a.others, during); at >= 0 && (mine || turn) {
		a.protect(path, retake.KeepOverlap, a.others[at].Name+" worked here too")
		return
	}
	switch {
	case mine:
		a.own[path] = true
	case !a.turns[history.PromptTurnKey(cp)] && slices.ContainsFunc(a.active, during):
		a.protect(path, retake.KeepOverlap, fmt.Sprintf("changed in %d", cp.Number))
	default:
		a.protect(path, retake.KeepChanged, fmt.Sprintf("changed in %d", cp.Number))
	}
}

// protect records why a path stays. An overlap is the stronger reason.
func (a *attribution) protect(path string, why retake.KeepReason, detail string) {
	if old, ok := a.protected[path]; !ok || old.Why == retake.KeepChanged {
		a.protected[path] = restore.Protection{Why: why, Detail: detail}
	}
}

// result returns the protected paths. A path that both sides changed counts as overlap.
func (a *attribution) result() map[string]restore.Protection {
	for path, sp := range a.protected {
		if a.own[path] && sp.Why == retake.KeepChanged {
			a.protected[path] = restore.Protection{Why: retake.KeepOverlap, Detail: sp.Detail + " too"}
		}
	}
	return a.protected
}

// addWorkingObstacle adds an obstacle if an agent is in the middle of a turn: it would
// continue with outdated files. An agent that asks itself does not count.
func (s *Rewinder) addWorkingObstacle(req retake.PlanRequest, p *retake.Plan) {
	if isNoOp(p) {
		return
	}
	now := s.workspaces.Clock.Now()
	p.Working = s.agents.StateOf(req.Workspace).WorkingSessions(now, proc.Ancestors(req.Asker))
	if len(p.Working) == 0 {
		return
	}
	var names []string
	for _, w := range p.Working {
		names = append(names, fmt.Sprintf("%s has been working here for %s", agentstate.AgentTitle(w.Agent), agentstate.FormatDuration(now.Sub(w.Since))))
	}
	p.Obstacles = append(p.Obstacles, retake.Obstacle{Class: retake.ObstacleAgentWorking, Text: strings.Join(names, ", and ")})
}
