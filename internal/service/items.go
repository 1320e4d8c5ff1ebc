package service

import (
	"context"
	"errors"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/tree"
)

// walkBack goes through a timeline from the newest and tells items from the rest.
type walkBack struct {
	s      *Service
	git    bool                          // changes of repositories count
	undone map[retake.CheckpointID]bool  // what undo and redo said last of an item
	half   map[int64]retake.CheckpointID // numbers before a restore, with what it began from
	last   *retake.Checkpoint            // that was looked at
	newer  *retake.Checkpoint            // the one before it
}

// note takes in what a checkpoint says of others. It reports whether it is a way itself.
func (w *walkBack) note(cp retake.Checkpoint) bool {
	w.last, w.newer = &cp, w.last
	if cp.Return == nil {
		return false
	}
	w.half[cp.Number-1] = cp.Return.Before
	if cp.Return.Course == retake.CourseUnwind {
		w.half[cp.Number-1] = ""
	}
	if !way(cp) {
		return false
	}
	if _, known := w.undone[cp.Return.Target]; !known && len(cp.Return.Paths) == 0 {
		w.undone[cp.Return.Target] = cp.Return.Course == retake.CourseUndo
	}
	return true
}

// way reports whether a checkpoint was made by undo or redo.
func way(cp retake.Checkpoint) bool {
	return cp.Return != nil && (cp.Return.Course == retake.CourseUndo || cp.Return.Course == retake.CourseRedo)
}

// isItem reports whether a checkpoint changed something that counts. before is the one
// before it on the line.
func (w *walkBack) isItem(ctx context.Context, cp, before retake.Checkpoint) (bool, error) {
	if sameTurn(before, cp) { // a turn is one item, however many moments it has
		first, err := w.s.beforeItem(ctx, cp)
		if err != nil && !retake.IsKind(err, retake.NotFound) {
			return false, err
		}
		if err == nil { // else it was forgotten, and whoever takes the turn back hears so
			before = first
		}
	}
	began, first := w.half[cp.Number]
	switch {
	case cp.Trigger == retake.TriggerInit, cp.Trigger == retake.TriggerFork, before.ID == "":
		return false, nil
	case cp.Return != nil && cp.Return.Course == retake.CourseUnwind:
		return false, nil
	case first && cp.Trigger == retake.TriggerSafety && began != cp.ID: // half of a restore that was cut off
		return false, nil
	case w.newer != nil && sameTurn(cp, *w.newer): // the end of its turn is the item
		return false, nil
	case ranOut(cp): // its other half is the item
		return false, nil
	case cp.Content == before.Content:
		return false, nil
	}
	return w.differs(ctx, cp, before)
}

var errDiffers = errors.New("differs")

// differs reports whether two checkpoints differ in a path that counts.
func (w *walkBack) differs(ctx context.Context, cp, before retake.Checkpoint) (bool, error) {
	st, err := w.s.store(ctx)
	if err != nil {
		return false, err
	}
	from := retake.Entry{Kind: retake.KindDir, Object: before.Tree}
	to := retake.Entry{Kind: retake.KindDir, Object: cp.Tree}
	err = tree.Compare(ctx, st, &from, st, &to, func(c retake.Change) error {
		if c.What != retake.Timed && counts(c.Path, w.git) {
			return errDiffers
		}
		return nil
	})
	if errors.Is(err, errDiffers) {
		return true, nil
	}
	return false, err
}

const (
	stride    = 64
	firstStep = 4 // what is looked for is mostly near
)

// backwards goes through the timeline from a number, or from the newest for 0, with the
// one before each, until f answers false.
func (s *Service) backwards(ctx context.Context, ws retake.WorkspaceID, from int64, f func(cp, before retake.Checkpoint) (bool, error)) error {
	q := retake.LogQuery{Workspace: ws, Limit: firstStep}
	if from > 0 {
		q.Before = from + 1
	}
	var last *retake.Checkpoint
	for {
		page, err := s.p.Catalog.Page(ctx, q)
		if err != nil {
			return err
		}
		for _, cp := range page {
			if last != nil {
				if on, err := f(*last, cp); err != nil || !on {
					return err
				}
			}
			last = &cp
		}
		if len(page) < q.Limit {
			if last == nil {
				return nil
			}
			_, err := f(*last, retake.Checkpoint{})
			return err
		}
		q.Before, q.Limit = page[len(page)-1].Number, min(2*q.Limit, stride)
	}
}
