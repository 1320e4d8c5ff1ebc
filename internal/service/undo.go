package service

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/catalog"
	"github.com/retake-dev/retake/internal/restore"
)

// An item is one thing that can be taken back: a turn, another checkpoint that changed
// something, or the edits since the last one. Undo and redo are ways between items and none
// themselves.

// undoing finds what undo takes back: the item that is named, else the edits since
// the last moment, else the newest item that was not taken back yet. Those in passed
// would change nothing any more.
func (s *Service) undoing(ctx context.Context, j journey, v view, passed map[retake.CheckpointID]bool) (journey, error) {
	if j.req.Ref == "" && !passed[looseEdits] && edited(v, j.req.Git) {
		var err error
		j.want, err = s.treeOf(ctx, v.tip)
		j.gaps, j.loose = v.tip.Coverage.Gaps, true
		return j, err
	}
	item, err := s.undoItem(ctx, j.req, passed)
	if err != nil {
		return j, err
	}
	return s.between(ctx, j, item, true)
}

// looseEdits stands for the edits since the last moment among items.
const looseEdits retake.CheckpointID = "edits"

// edited reports whether somebody changed something since the last moment; what
// programs write all the time does not count.
func edited(v view, git bool) bool {
	for path := range v.loose {
		if counts(path, git) {
			return true
		}
	}
	return false
}

// counts reports whether a change of this path makes an item. A repository that is there
// is left by undo; one that went comes back.
func counts(path string, git bool) bool {
	return !restore.Output(path) && (git || !restore.InRepository(path))
}

func (s *Service) redoing(ctx context.Context, j journey, passed map[retake.CheckpointID]bool) (journey, error) {
	item, err := s.redoItem(ctx, j.req, passed)
	if err != nil {
		return j, err
	}
	return s.between(ctx, j, item, false)
}

// between sets the way from an item to what was before it, or forth again.
func (s *Service) between(ctx context.Context, j journey, item retake.Checkpoint, back bool) (journey, error) {
	before, err := s.beforeItem(ctx, item)
	if err != nil {
		return j, err
	}
	early, err := s.treeOf(ctx, before)
	if err != nil {
		return j, err
	}
	late, err := s.treeOf(ctx, item)
	if err != nil {
		return j, err
	}
	j.target = &item
	if back {
		j.base, j.want, j.gaps = &late, early, slices.Concat(before.Coverage.Gaps, item.Coverage.Gaps)
		j.side = fmt.Sprintf(".before-%d", item.Number)
	} else {
		j.base, j.want, j.gaps = &early, late, slices.Concat(before.Coverage.Gaps, item.Coverage.Gaps)
		j.side = fmt.Sprintf(".as-%d", item.Number)
	}
	return j, nil
}

// beforeItem is the state that an item began with.
func (s *Service) beforeItem(ctx context.Context, item retake.Checkpoint) (retake.Checkpoint, error) {
	if item.Return != nil {
		cp, err := s.p.Catalog.Checkpoint(ctx, item.Return.Before)
		if errors.Is(err, catalog.ErrNotFound) {
			err = forgottenBefore(item)
		}
		return cp, err
	}
	at := item
	for {
		older, err := s.p.Catalog.Page(ctx, retake.LogQuery{Workspace: item.Workspace, Before: at.Number, Limit: 1})
		switch {
		case err != nil:
			return retake.Checkpoint{}, err
		case len(older) == 0:
			return retake.Checkpoint{}, &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("there is nothing before moment %d", item.Number), Safe: unchanged, Hint: goElse}
		case older[0].Number != at.Number-1 && !sameTurn(older[0], at):
			return retake.Checkpoint{}, forgottenBefore(item)
		case (at.Trigger != retake.TriggerComplete || !ranOut(older[0])) && !sameTurn(older[0], at):
			return older[0], nil
		}
		at = older[0] // a part of the same turn, or the first half of a capture that ran out of time
	}
}

const goElse = "go to a moment: retake restore REF     the timeline: retake log"

func forgottenBefore(item retake.Checkpoint) error {
	return &retake.Error{Kind: retake.NotFound, What: fmt.Sprintf("what was there before moment %d was forgotten", item.Number), Safe: unchanged, Hint: goElse}
}

func ranOut(cp retake.Checkpoint) bool { return cp.Coverage.Count()[retake.ReasonBudget] > 0 }

// undoItem is the one that is named, or the newest that was not taken back.
func (s *Service) undoItem(ctx context.Context, req retake.PlanRequest, passed map[retake.CheckpointID]bool) (retake.Checkpoint, error) {
	if req.Ref != "" {
		return s.namedItem(ctx, req)
	}
	w := &walkBack{s: s, git: req.Git, undone: map[retake.CheckpointID]bool{}, half: map[int64]retake.CheckpointID{}}
	var found *retake.Checkpoint
	err := s.backwards(ctx, req.Workspace, 0, func(cp, before retake.Checkpoint) (bool, error) {
		if w.note(cp) || w.undone[cp.ID] || passed[cp.ID] {
			return true, nil
		}
		yes, err := w.isItem(ctx, cp, before)
		if yes {
			found = &cp
		}
		return found == nil, err
	})
	if err == nil && found == nil {
		err = &retake.Error{Kind: retake.NotFound, What: "there is nothing to take back", Safe: unchanged, Hint: goElse}
	}
	if err != nil {
		return retake.Checkpoint{}, err
	}
	return *found, nil
}

// namedItem is an item anywhere on the line that was not taken back yet.
func (s *Service) namedItem(ctx context.Context, req retake.PlanRequest) (retake.Checkpoint, error) {
	named, err := s.Find(ctx, req.Workspace, req.Ref)
	if err != nil {
		return named, err
	}
	if named.Trigger == retake.TriggerInit || named.Trigger == retake.TriggerFork {
		return named, &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("moment %d is where it all begins; there is nothing to take back", named.Number), Safe: unchanged}
	}
	w := &walkBack{s: s, undone: map[retake.CheckpointID]bool{}, half: map[int64]retake.CheckpointID{}}
	var end *retake.Checkpoint // of its turn
	err = s.backwards(ctx, req.Workspace, 0, func(cp, _ retake.Checkpoint) (bool, error) {
		w.note(cp)
		if w.newer == nil || !sameTurn(cp, *w.newer) {
			end = &cp
		}
		return cp.Number > named.Number, nil
	})
	if err == nil && end != nil {
		named = *end
	}
	if err == nil && w.undone[named.ID] {
		err = &retake.Error{Kind: retake.Exists, What: fmt.Sprintf("moment %d was taken back already", named.Number), Safe: unchanged, Hint: "bring it again: retake redo"}
	}
	return named, err
}

// redoItem is the item that was taken back last, unless something changed since.
func (s *Service) redoItem(ctx context.Context, req retake.PlanRequest, passed map[retake.CheckpointID]bool) (retake.Checkpoint, error) {
	w := &walkBack{s: s, git: req.Git, undone: map[retake.CheckpointID]bool{}, half: map[int64]retake.CheckpointID{}}
	var ways []retake.Checkpoint
	err := s.backwards(ctx, req.Workspace, 0, func(cp, before retake.Checkpoint) (bool, error) {
		if w.note(cp) {
			ways = append(ways, cp)
			return true, nil
		}
		yes, err := w.isItem(ctx, cp, before)
		return !yes, err
	})
	if err != nil {
		return retake.Checkpoint{}, err
	}
	stack := stackOf(ways, passed)
	if len(stack) == 0 {
		return retake.Checkpoint{}, &retake.Error{Kind: retake.NotFound, What: "there is nothing to bring again", Safe: unchanged, Hint: "what was taken back before the last change: retake log"}
	}
	cp, err := s.p.Catalog.Checkpoint(ctx, stack[len(stack)-1])
	if errors.Is(err, catalog.ErrNotFound) {
		err = &retake.Error{Kind: retake.NotFound, What: "what was taken back was forgotten since", Safe: unchanged, Hint: goElse}
	}
	return cp, err
}

// stackOf is what was taken back and not brought again, the last one on top. ways are
// the newest first.
func stackOf(ways []retake.Checkpoint, passed map[retake.CheckpointID]bool) []retake.CheckpointID {
	var stack []retake.CheckpointID
	for _, w := range slices.Backward(ways) {
		switch n := len(stack); {
		case len(w.Return.Paths) > 0: // only a part of the item
		case w.Return.Course == retake.CourseUndo:
			stack = append(stack, w.Return.Target)
		case n > 0:
			stack = stack[:n-1]
		}
	}
	for len(stack) > 0 && passed[stack[len(stack)-1]] {
		stack = stack[:len(stack)-1]
	}
	return stack
}
