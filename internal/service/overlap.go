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

// overlapped reports whether other sessions worked beside a turn, and when it began is known.
func overlapped(cp retake.Checkpoint) bool {
	_, turn := turnOf(cp)
	return turn && len(cp.Turn.Contested) > 0 && !cp.Turn.Began.IsZero()
}

// beforeTurn is the state that a turn began with which other sessions worked beside: checkpoints
// of theirs lie between its own.
func (s *Service) beforeTurn(ctx context.Context, item retake.Checkpoint) (retake.Checkpoint, error) {
	key, _ := turnOf(item)
	at := item
	var begin *retake.Checkpoint
	err := s.backwards(ctx, item.Workspace, item.Number, func(cp, _ retake.Checkpoint) (bool, error) {
		if cp.ID == item.ID {
			return true, nil
		}
		if cp.Return != nil || promptOf(cp) == key || cp.Time.Before(item.Turn.Began) {
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
		return retake.Checkpoint{}, forgottenBefore(item)
	}
	return *begin, nil
}

// promptOf is the turn whose beginning a checkpoint holds.
func promptOf(cp retake.Checkpoint) turnKey {
	if cp.Trigger != retake.TriggerPrompt || cp.Turn == nil {
		return turnKey{}
	}
	return turnKey{cp.Turn.Agent, cp.Turn.Session, cp.Turn.ID}
}

// worker is a turn that goes on beside others.
type worker struct {
	name       string
	began, end time.Time // a zero end: it goes on
	paths      []string
}

func (w *worker) during(from, to time.Time) bool {
	return w.began.Before(to) && (w.end.IsZero() || w.end.After(from))
}

// workOfOthers finds what changed between a state and the newest of some items, and is not,
// or not only, the work of these items: that stays.
func (s *Service) workOfOthers(ctx context.Context, before retake.Checkpoint, items []retake.Checkpoint) (map[string]restore.Protection, error) {
	a := attribution{chosen: map[retake.CheckpointID]bool{}, turns: map[turnKey]bool{}, wrote: map[string]bool{}, own: map[string]bool{}, spare: map[string]restore.Protection{}}
	for _, cp := range items {
		a.choose(cp)
	}
	span, err := s.spanOf(ctx, before, items[0], &a)
	if err != nil {
		return nil, err
	}
	for i := 1; i < len(span); i++ {
		if err := s.compare(ctx, span[i-1], span[i], func(path string) { a.add(path, span[i-1], span[i]) }); err != nil {
			return nil, err
		}
	}
	return a.result(), nil
}

// spanOf lists the checkpoints from a state to an item, the oldest first, and notes the turns of
// others that went on meanwhile.
func (s *Service) spanOf(ctx context.Context, before, newest retake.Checkpoint, a *attribution) ([]retake.Checkpoint, error) {
	var span []retake.Checkpoint
	seen := map[turnKey]bool{}
	err := s.backwards(ctx, before.Workspace, 0, func(cp, _ retake.Checkpoint) (bool, error) {
		if cp.Number <= newest.Number {
			span = append(span, cp)
		}
		if key, ok := turnOf(cp); ok && !a.turns[key] && !seen[key] { // its newest checkpoint knows most
			seen[key] = true
			w := worker{name: sessionName(cp.Turn.Agent, cp.Turn.Session), began: cp.Turn.Began, paths: cp.Turn.Paths}
			if cp.Trigger == retake.TriggerTurn || cp.Trigger == retake.TriggerSession {
				w.end = cp.Time
			}
			a.others = append(a.others, w)
		}
		return cp.Number > before.Number, nil
	})
	slices.Reverse(span)
	a.others = append(a.others, s.hearingOf(before.Workspace).others(a.turns)...)
	return span, err
}

// others are the turns that go on now, but for some.
func (h *hearing) others(mine map[turnKey]bool) []worker {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []worker
	for _, x := range h.state.Sessions {
		if x.Phase == session.Working && !mine[turnKey{x.Agent, x.ID, x.Turn.ID}] {
			out = append(out, worker{name: sessionName(x.Agent, x.ID), began: x.Turn.Since, paths: x.Turn.Wrote})
		}
	}
	return out
}

func sessionName(agent, id string) string { return fmt.Sprintf("%s %.8s", agent, id) }

// compare calls f for every path that differs between two checkpoints, but for directories.
func (s *Service) compare(ctx context.Context, before, cp retake.Checkpoint, f func(path string)) error {
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

// attribution tells for each path of a span whose work it is.
type attribution struct {
	chosen map[retake.CheckpointID]bool // the items
	turns  map[turnKey]bool             // and the turns among them
	active []worker                     // these turns
	wrote  map[string]bool              // by their file tools
	others []worker                     // turns that went on meanwhile

	own   map[string]bool
	spare map[string]restore.Protection
}

func (a *attribution) choose(cp retake.Checkpoint) {
	a.chosen[cp.ID] = true
	key, ok := turnOf(cp)
	if !ok {
		return
	}
	a.turns[key] = true
	a.active = append(a.active, worker{began: cp.Turn.Began, end: cp.Time})
	for _, p := range cp.Turn.Paths {
		a.wrote[p] = true
	}
}

// add notes one path that changed between two neighbours on the timeline.
func (a *attribution) add(path string, before, cp retake.Checkpoint) {
	key, turn := turnOf(cp)
	mine := a.chosen[cp.ID] || turn && a.turns[key]
	during := func(w worker) bool { return w.during(before.Time, cp.Time) }
	at := slices.IndexFunc(a.others, func(w worker) bool { return during(w) && slices.Contains(w.paths, path) })
	if at >= 0 {
		a.spareAs(path, retake.KeepOverlap, "written by "+a.others[at].name)
		return
	}
	if a.wrote[path] {
		a.own[path] = true
		return
	}
	if at = slices.IndexFunc(a.others, during); at >= 0 && (mine || turn) {
		a.spareAs(path, retake.KeepOverlap, a.others[at].name+" worked here too")
		return
	}
	switch {
	case mine:
		a.own[path] = true
	case !a.turns[promptOf(cp)] && slices.ContainsFunc(a.active, during):
		a.spareAs(path, retake.KeepOverlap, fmt.Sprintf("changed in %d", cp.Number))
	default:
		a.spareAs(path, retake.KeepChanged, fmt.Sprintf("changed in %d", cp.Number))
	}
}

func (a *attribution) spareAs(path string, why retake.KeepReason, detail string) {
	if old, ok := a.spare[path]; !ok || old.Why == retake.KeepChanged {
		a.spare[path] = restore.Protection{Why: why, Detail: detail}
	}
}

// result is what stays. What both sides changed cannot be told apart.
func (a *attribution) result() map[string]restore.Protection {
	for path, sp := range a.spare {
		if a.own[path] && sp.Why == retake.KeepChanged {
			a.spare[path] = restore.Protection{Why: retake.KeepOverlap, Detail: sp.Detail + " too"}
		}
	}
	return a.spare
}
