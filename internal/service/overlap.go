package service

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/session"
	"github.com/retake-dev/retake/internal/engine/restore"
	"github.com/retake-dev/retake/internal/pure/tree"
)

// hasOverlap reports whether other sessions worked during a turn whose start is known.
func hasOverlap(cp retake.Checkpoint) bool {
	_, turn := turnKeyOf(cp)
	return turn && len(cp.Turn.Contested) > 0 && !cp.Turn.Began.IsZero()
}

// stateBeforeTurn returns the checkpoint that a turn with overlap started from. Checkpoints
// of other sessions may be between its own.
func (s *Service) stateBeforeTurn(ctx context.Context, item retake.Checkpoint) (retake.Checkpoint, error) {
	key, _ := turnKeyOf(item)
	at := item
	var begin *retake.Checkpoint
	err := s.walkTimeline(ctx, item.Workspace, item.Number, func(cp, _ retake.Checkpoint) (bool, error) {
		if cp.ID == item.ID {
			return true, nil
		}
		if cp.Return != nil || promptTurnKey(cp) == key || cp.Time.Before(item.Turn.Began) {
			begin = &cp
			return false, nil
		}
		at = cp
		return true, nil
	})
	switch {
	case err != nil:
		return retake.Checkpoint{}, err
	case begin == nil || begin.Number != at.Number-1:
		return retake.Checkpoint{}, forgottenStateError(item)
	}
	return *begin, nil
}

// promptTurnKey returns the turn that starts with a checkpoint.
func promptTurnKey(cp retake.Checkpoint) turnKey {
	if cp.Trigger != retake.TriggerPrompt || cp.Turn == nil {
		return turnKey{}
	}
	return turnKey{cp.Turn.Agent, cp.Turn.Session, cp.Turn.ID}
}

// turnSpan is the time span of a turn that may overlap others.
type turnSpan struct {
	name       string
	began, end time.Time // a zero end: it goes on
	paths      []string
}

// overlaps reports whether the turn went on between two times.
func (w *turnSpan) overlaps(from, to time.Time) bool {
	return w.began.Before(to) && (w.end.IsZero() || w.end.After(from))
}

// findWorkOfOthers finds the paths that changed between a state and the newest of some
// items, but not, or not only, by these items. They are protected.
func (s *Service) findWorkOfOthers(ctx context.Context, before retake.Checkpoint, items []retake.Checkpoint) (map[string]restore.Protection, error) {
	a := attribution{chosen: map[retake.CheckpointID]bool{}, turns: map[turnKey]bool{}, wrote: map[string]bool{}, own: map[string]bool{}, protected: map[string]restore.Protection{}}
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
func (s *Service) collectSpan(ctx context.Context, before, newest retake.Checkpoint, a *attribution) ([]retake.Checkpoint, error) {
	var span []retake.Checkpoint
	seen := map[turnKey]bool{}
	err := s.walkTimeline(ctx, before.Workspace, 0, func(cp, _ retake.Checkpoint) (bool, error) {
		if cp.Number <= newest.Number {
			span = append(span, cp)
		}
		if key, ok := turnKeyOf(cp); ok && !a.turns[key] && !seen[key] { // its newest checkpoint has all its paths
			seen[key] = true
			w := turnSpan{name: sessionName(cp.Turn.Agent, cp.Turn.Session), began: cp.Turn.Began, paths: cp.Turn.Paths}
			if cp.Trigger == retake.TriggerTurn || cp.Trigger == retake.TriggerSession {
				w.end = cp.Time
			}
			a.others = append(a.others, w)
		}
		return cp.Number > before.Number, nil
	})
	slices.Reverse(span)
	a.others = append(a.others, s.agentStateOf(before.Workspace).otherTurns(a.turns)...)
	return span, err
}

// otherTurns returns the turns that go on now, except the given ones.
func (h *agentState) otherTurns(mine map[turnKey]bool) []turnSpan {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []turnSpan
	for _, x := range h.state.Sessions {
		if x.Phase == session.Working && !mine[turnKey{x.Agent, x.ID, x.Turn.ID}] {
			out = append(out, turnSpan{name: sessionName(x.Agent, x.ID), began: x.Turn.Since, paths: x.Turn.Wrote})
		}
	}
	return out
}

func sessionName(agent, id string) string { return fmt.Sprintf("%s %.8s", agent, id) }

// eachChangedPath calls f for every path that differs between two checkpoints, without
// directories.
func (s *Service) eachChangedPath(ctx context.Context, before, cp retake.Checkpoint, f func(path string)) error {
	if before.Tree == cp.Tree {
		return nil
	}
	st, err := s.store(ctx)
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
	turns  map[turnKey]bool             // and the turns among them
	active []turnSpan                   // these turns
	wrote  map[string]bool              // by their file tools
	others []turnSpan                   // turns that went on meanwhile

	own       map[string]bool
	protected map[string]restore.Protection
}

// addItem adds a chosen item and the turn it belongs to.
func (a *attribution) addItem(cp retake.Checkpoint) {
	a.chosen[cp.ID] = true
	key, ok := turnKeyOf(cp)
	if !ok {
		return
	}
	a.turns[key] = true
	a.active = append(a.active, turnSpan{began: cp.Turn.Began, end: cp.Time})
	for _, p := range cp.Turn.Paths {
		a.wrote[p] = true
	}
}

// addPath attributes one path that changed between two neighboring checkpoints.
func (a *attribution) addPath(path string, before, cp retake.Checkpoint) {
	key, turn := turnKeyOf(cp)
	mine := a.chosen[cp.ID] || turn && a.turns[key]
	during := func(w turnSpan) bool { return w.overlaps(before.Time, cp.Time) }
	at := slices.IndexFunc(a.others, func(w turnSpan) bool { return during(w) && slices.Contains(w.paths, path) })
	if at >= 0 {
		a.protect(path, retake.KeepOverlap, "written by "+a.others[at].name)
		return
	}
	if a.wrote[path] {
		a.own[path] = true
		return
	}
	if at = slices.IndexFunc(a.others, during); at >= 0 && (mine || turn) {
		a.protect(path, retake.KeepOverlap, a.others[at].name+" worked here too")
		return
	}
	switch {
	case mine:
		a.own[path] = true
	case !a.turns[promptTurnKey(cp)] && slices.ContainsFunc(a.active, during):
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
