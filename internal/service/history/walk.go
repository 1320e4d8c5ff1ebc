package history

import (
	"context"
	"errors"
	"slices"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/tree"
)

// TimelineWalk walks a timeline from the newest checkpoint and finds its items. An item is
// a recorded change that a person can undo: a turn, a save, a restore or an adopt. Undo and
// redo move between items and are not items themselves.
type TimelineWalk struct {
	svc         *History
	Undone      map[retake.CheckpointID]bool // the latest undo or redo of each item
	endedTurns  map[TurnKey]bool             // turns whose newest checkpoint was visited
	InsideTurn  bool                         // the current checkpoint is not the newest of its turn
	EditNumbers []int64                      // automatic checkpoints on the way that hold edits, newest first
	paths       []string                     // only changes below these are items; none: all
	current     *retake.Checkpoint           // the checkpoint visited last
	Newer       *retake.Checkpoint           // the one visited before it
}

func (s *History) NewTimelineWalk(paths []string) *TimelineWalk {
	return &TimelineWalk{svc: s, Undone: map[retake.CheckpointID]bool{}, endedTurns: map[TurnKey]bool{}, paths: paths}
}

// Visit records what a checkpoint says about others. It reports whether it is an undo or a
// redo.
func (w *TimelineWalk) Visit(cp retake.Checkpoint) bool {
	w.current, w.Newer, w.InsideTurn = &cp, w.current, false
	if key, ok := TurnKeyOf(cp); ok {
		w.InsideTurn, w.endedTurns[key] = w.endedTurns[key], true
	}
	if cp.Return != nil { // the part of a turn before a restore is another item
		clear(w.endedTurns)
	}
	if !isUndoOrRedo(cp) {
		return false
	}
	if w.coversPaths(*cp.Return) {
		for _, id := range append([]retake.CheckpointID{cp.Return.Target}, cp.Return.Also...) {
			if _, known := w.Undone[id]; !known {
				w.Undone[id] = cp.Return.Course == retake.CourseUndo
			}
		}
	}
	return true
}

// coversPaths reports whether an undo or redo covers all paths of the walk.
func (w *TimelineWalk) coversPaths(r retake.Return) bool {
	return len(r.Hunks) == 0 && (len(r.Paths) == 0 || len(w.paths) > 0 && !slices.ContainsFunc(w.paths, func(p string) bool { return !tree.Match(r.Paths, p) }))
}

// isUndoOrRedo reports whether a checkpoint was made by undo or redo.
func isUndoOrRedo(cp retake.Checkpoint) bool {
	return cp.Return != nil && (cp.Return.Course == retake.CourseUndo || cp.Return.Course == retake.CourseRedo)
}

// IsItem reports whether a checkpoint is an item; before is the previous one on the
// timeline. Edits in an automatic checkpoint are not an item: they are recorded and stay,
// like unsaved edits.
func (w *TimelineWalk) IsItem(ctx context.Context, cp, before retake.Checkpoint) (bool, error) {
	switch {
	case cp.Trigger == retake.TriggerInit, cp.Trigger == retake.TriggerFork, before.ID == "":
		return false, nil
	case cp.Return != nil && cp.Return.Course == retake.CourseUnwind:
		return false, nil
	case w.InsideTurn, ranOutOfTime(cp): // the end of the turn, or the completed checkpoint, is the item
		return false, nil
	}
	first, err := w.svc.StateBeforeItem(ctx, cp, w.paths)
	switch {
	case err != nil && !retake.IsKind(err, retake.NotFound):
		return false, err
	case err == nil: // on an error it was forgotten, and the undo reports it
		if differs, err := w.svc.differInPaths(ctx, first, cp, w.paths); err != nil || !differs {
			return false, err
		}
	}
	if isAutomatic(cp, before) {
		w.recordEdits(cp)
		return false, nil
	}
	return true, nil
}

var errDiffers = errors.New("differs")

// differInPaths reports whether two checkpoints differ below some paths, or at all if there
// are none.
func (s *History) differInPaths(ctx context.Context, before, cp retake.Checkpoint, paths []string) (bool, error) {
	if before.Content == cp.Content || len(paths) == 0 {
		return before.Content != cp.Content, nil
	}
	st, err := s.workspaces.Store(ctx)
	if err != nil {
		return false, err
	}
	from := retake.Entry{Kind: retake.KindDir, Object: before.Tree}
	to := retake.Entry{Kind: retake.KindDir, Object: cp.Tree}
	err = tree.Compare(ctx, st, &from, st, &to, func(c retake.Change) error {
		if c.What != retake.Timed && tree.Match(paths, c.Path) {
			return errDiffers
		}
		return nil
	})
	if errors.Is(err, errDiffers) {
		return true, nil
	}
	return false, err
}

// isAutomatic reports whether a checkpoint outside a turn was taken without a request.
func isAutomatic(cp, before retake.Checkpoint) bool {
	switch cp.Trigger {
	case retake.TriggerPrompt, retake.TriggerQuiet, retake.TriggerSafety:
		return true
	case retake.TriggerSession:
		return cp.Turn == nil || cp.Turn.ID == ""
	case retake.TriggerComplete: // like its partial half
		return ranOutOfTime(before) && before.Trigger != retake.TriggerComplete && isAutomatic(before, retake.Checkpoint{})
	default:
		return false
	}
}

// recordEdits records a checkpoint whose edits stay, except for what an interrupted restore
// left.
func (w *TimelineWalk) recordEdits(cp retake.Checkpoint) {
	if n := w.Newer; n != nil && n.Return != nil && (n.Return.Course == retake.CourseFinish || n.Return.Course == retake.CourseUnwind) {
		return
	}
	if !w.Undone[cp.ID] {
		w.EditNumbers = append(w.EditNumbers, cp.Number)
	}
}

const firstPageSize = 4 // searches mostly end early

// WalkTimeline calls f for each checkpoint and the one before it, from a number down (0:
// the newest), until f returns false. Pages start small, because the search mostly ends
// early.
func (s *History) WalkTimeline(ctx context.Context, ws retake.WorkspaceID, from int64, f func(cp, before retake.Checkpoint) (bool, error)) error {
	q := retake.LogQuery{Workspace: ws, Limit: firstPageSize}
	if from > 0 {
		q.Before = from + 1
	}
	var last *retake.Checkpoint
	for {
		page, err := s.workspaces.Catalog.Page(ctx, q)
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
		q.Before, q.Limit = page[len(page)-1].Number, min(2*q.Limit, TimelinePageSize)
	}
}
