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

// An item is one thing that can be taken back: a checkpoint that changed something,
// or the edits since the last one. Undo and redo are ways between items and none
// themselves.

// undoing finds what undo takes back: the item that is named, else the edits since
// the last moment, else the newest item that was not taken back yet.
func (s *Service) undoing(ctx context.Context, j journey, v view) (journey, error) {
	if j.req.Ref == "" && s.edited(v) {
		var err error
		j.want, err = s.treeOf(ctx, v.tip)
		j.gaps, j.loose = v.tip.Coverage.Gaps, true
		return j, err
	}
	item, err := s.undoItem(ctx, j.req)
	if err != nil {
		return j, err
	}
	return s.between(ctx, j, item, true)
}

// edited reports whether somebody changed something since the last moment; what
// programs write all the time does not count.
func (s *Service) edited(v view) bool {
	for path := range v.loose {
		if !restore.Output(path) {
			return true
		}
	}
	return false
}

func (s *Service) redoing(ctx context.Context, j journey) (journey, error) {
	item, err := s.redoItem(ctx, j.req.Workspace)
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
		if cp, err := s.p.Catalog.Checkpoint(ctx, item.Return.Before); err == nil {
			return cp, nil
		}
	}
	first := item.Number
	for {
		older, err := s.p.Catalog.Page(ctx, retake.LogQuery{Workspace: item.Workspace, Before: first, Limit: 1})
		if err != nil {
			return retake.Checkpoint{}, err
		}
		if len(older) == 0 {
			return retake.Checkpoint{}, &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("there is nothing before moment %d", item.Number), Safe: unchanged, Hint: "go to a moment: retake restore REF"}
		}
		if item.Trigger != retake.TriggerComplete || older[0].Coverage.Count()[retake.ReasonBudget] == 0 {
			return older[0], nil
		}
		first, item = older[0].Number, older[0] // the first half of a capture that ran out of time
	}
}

// undoItem is the one that is named, or the newest that was not taken back.
func (s *Service) undoItem(ctx context.Context, req retake.PlanRequest) (retake.Checkpoint, error) {
	if req.Ref != "" {
		return s.namedItem(ctx, req)
	}
	undone := map[retake.CheckpointID]bool{}
	var found *retake.Checkpoint
	err := s.backwards(ctx, req.Workspace, func(cp, before retake.Checkpoint) bool {
		if noteWay(undone, cp) {
			return true
		}
		if isItem(cp, before) && !undone[cp.ID] {
			found = &cp
		}
		return found == nil
	})
	if err == nil && found == nil {
		err = &retake.Error{Kind: retake.NotFound, What: "there is nothing to take back", Safe: unchanged, Hint: "the timeline: retake log     go to a moment: retake restore REF"}
	}
	if err != nil {
		return retake.Checkpoint{}, err
	}
	return *found, nil
}

// noteWay notes what undo and redo say of items, the newest word first.
func noteWay(undone map[retake.CheckpointID]bool, cp retake.Checkpoint) bool {
	if !way(cp) {
		return false
	}
	if _, known := undone[cp.Return.Target]; !known {
		undone[cp.Return.Target] = cp.Return.Course == retake.CourseUndo
	}
	return true
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
	undone := map[retake.CheckpointID]bool{}
	err = s.backwards(ctx, req.Workspace, func(cp, _ retake.Checkpoint) bool {
		noteWay(undone, cp)
		return cp.Number > named.Number
	})
	if err == nil && undone[named.ID] {
		err = &retake.Error{Kind: retake.Exists, What: fmt.Sprintf("moment %d was taken back already", named.Number), Safe: unchanged, Hint: "bring it again: retake redo"}
	}
	return named, err
}

// redoItem is the item that was taken back last, unless something changed since.
func (s *Service) redoItem(ctx context.Context, ws retake.WorkspaceID) (retake.Checkpoint, error) {
	var ways []retake.Checkpoint
	err := s.backwards(ctx, ws, func(cp, before retake.Checkpoint) bool {
		if way(cp) {
			ways = append(ways, cp)
			return true
		}
		return !isItem(cp, before)
	})
	if err != nil {
		return retake.Checkpoint{}, err
	}
	var stack []retake.CheckpointID
	for _, w := range slices.Backward(ways) {
		if w.Return.Course == retake.CourseUndo {
			stack = append(stack, w.Return.Target)
		} else if n := len(stack); n > 0 {
			stack = stack[:n-1]
		}
	}
	if len(stack) == 0 {
		return retake.Checkpoint{}, &retake.Error{Kind: retake.NotFound, What: "there is nothing to bring again", Safe: unchanged, Hint: "what was taken back before the last change: retake log"}
	}
	cp, err := s.p.Catalog.Checkpoint(ctx, stack[len(stack)-1])
	if errors.Is(err, catalog.ErrNotFound) {
		err = &retake.Error{Kind: retake.NotFound, What: "what was taken back was forgotten since", Safe: unchanged}
	}
	return cp, err
}

// way reports whether a checkpoint was made by undo or redo.
func way(cp retake.Checkpoint) bool {
	return cp.Return != nil && (cp.Return.Course == retake.CourseUndo || cp.Return.Course == retake.CourseRedo)
}

// isItem reports whether a checkpoint changed something. before is the one before it
// on the line.
func isItem(cp, before retake.Checkpoint) bool {
	switch {
	case cp.Trigger == retake.TriggerInit, cp.Trigger == retake.TriggerFork, before.ID == "":
		return false
	case cp.Return != nil && cp.Return.Course == retake.CourseUnwind:
		return false
	case cp.Coverage.Count()[retake.ReasonBudget] > 0: // its other half is the item
		return false
	}
	return cp.Content != before.Content
}

const stride = 64

// backwards goes through the timeline from the newest, with the one before each, until
// f answers false.
func (s *Service) backwards(ctx context.Context, ws retake.WorkspaceID, f func(cp, before retake.Checkpoint) bool) error {
	q := retake.LogQuery{Workspace: ws, Limit: stride}
	var last *retake.Checkpoint
	for {
		page, err := s.p.Catalog.Page(ctx, q)
		if err != nil {
			return err
		}
		for _, cp := range page {
			if last != nil && !f(*last, cp) {
				return nil
			}
			last = &cp
		}
		if len(page) < stride {
			if last != nil {
				f(*last, retake.Checkpoint{})
			}
			return nil
		}
		q.Before = page[len(page)-1].Number
	}
}
