package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

// undoing finds what undo takes back: the item that is named, else the newest one that was
// not taken back yet. Unsaved edits stay, unless they are what is asked for.
func (s *Service) undoing(ctx context.Context, j journey, v view) (journey, error) {
	if len(j.req.Hunks) > 0 {
		return s.undoingHunks(ctx, j)
	}
	if j.req.Edits {
		return s.undoingEdits(ctx, j, v)
	}
	w := s.walkBack(j.req.Paths)
	items, err := s.undoItems(ctx, j.req, w)
	if retake.IsKind(err, retake.NotFound) && j.req.Ref == "" && len(v.loose) > 0 {
		err = onlyEdits(len(v.loose))
	}
	if retake.IsKind(err, retake.Exists) && j.req.Git && len(items) == 1 && len(j.req.Paths) == 0 { // its files went back without git, which may follow
		j.req.Paths, err = repositories, nil
	}
	if err != nil {
		return j, err
	}
	j.edits = w.edits
	return s.takingBack(ctx, j, items)
}

// repositories are the paths of all that git keeps.
var repositories = []string{".git", "**/.git"}

// undoingEdits goes back to the last checkpoint.
func (s *Service) undoingEdits(ctx context.Context, j journey, v view) (journey, error) {
	if j.req.Ref != "" {
		return j, &retake.Error{Kind: retake.Invalid, What: "unsaved edits belong to no checkpoint; name a checkpoint or use --edits, not both", Safe: unchanged}
	}
	if len(v.loose) == 0 {
		return j, &retake.Error{Kind: retake.NotFound, What: "there are no unsaved edits", Safe: unchanged, Hint: "undo the last change: retake undo"}
	}
	var err error
	j.want, err = s.treeOf(ctx, v.tip)
	j.gaps, j.loose, j.from = v.tip.Coverage.Gaps, true, v.tip.Number
	return j, err
}

func onlyEdits(n int) error {
	return &retake.Error{
		Kind: retake.NotFound, What: "no recorded change is left to undo", Safe: fmt.Sprintf("%s Your unsaved edits of %s stay.", unchanged, pathCount(n)),
		Hint: "discard them: retake undo --edits\nlist checkpoints: retake log",
	}
}

func pathCount(n int) string {
	if n == 1 {
		return "1 path"
	}
	return termtext.Count(int64(n)) + " paths"
}

// redoing is the exact inverse of the last undo: from what that left to what was there
// before it, whatever part of an item it took back.
func (s *Service) redoing(ctx context.Context, j journey) (journey, error) {
	undo, err := s.lastUndo(ctx, j.req.Workspace)
	if err != nil {
		return j, err
	}
	before, err := s.loadCheckpoint(ctx, undo.Return.Before)
	if err == nil {
		j.target, err = s.itemOf(ctx, undo)
	}
	if errors.Is(err, catalog.ErrNotFound) {
		err = &retake.Error{Kind: retake.NotFound, What: "what was undone has been deleted since", Safe: unchanged, Hint: goElse}
	}
	if err != nil {
		return j, err
	}
	j.side = fmt.Sprintf(".as-%d", j.target.Number)
	j.hunks = undo.Return.Hunks
	j.req.Paths, j.req.Git = undo.Return.Paths, true // git differs only if the undo moved it
	return s.between(ctx, j, undo, before)
}

// itemOf is what an undo took back.
func (s *Service) itemOf(ctx context.Context, undo retake.Checkpoint) (*retake.Checkpoint, error) {
	item, err := s.loadCheckpoint(ctx, undo.Return.Target)
	return &item, err
}

// takingBack sets the way from items, the newest first, to what was there before the oldest.
// What others changed meanwhile is left.
func (s *Service) takingBack(ctx context.Context, j journey, items []retake.Checkpoint) (journey, error) {
	newest, oldest := items[0], items[len(items)-1]
	before, err := s.beforeItem(ctx, oldest, j.req.Paths)
	if err != nil {
		return j, err
	}
	j.target, j.also, j.side = &newest, items[1:], fmt.Sprintf(".before-%d", oldest.Number)
	if len(items) > 1 || overlapped(newest) {
		if j.spare, err = s.workOfOthers(ctx, before, items); err != nil {
			return j, err
		}
	}
	return s.between(ctx, j, newest, before)
}

// between sets the way from one state to another: what differs is brought into what is there.
func (s *Service) between(ctx context.Context, j journey, from, to retake.Checkpoint) (journey, error) {
	base, err := s.treeOf(ctx, from)
	if err != nil {
		return j, err
	}
	j.base, j.gaps, j.from = &base, slices.Concat(to.Coverage.Gaps, from.Coverage.Gaps), to.Number
	j.want, err = s.treeOf(ctx, to)
	return j, err
}

// beforeItem is the state that an item began with. Paths are what is asked about; none: everything.
func (s *Service) beforeItem(ctx context.Context, item retake.Checkpoint, paths []string) (retake.Checkpoint, error) {
	if item.Return != nil {
		cp, err := s.loadCheckpoint(ctx, item.Return.Before)
		if errors.Is(err, catalog.ErrNotFound) {
			err = forgottenBefore(item)
		}
		return cp, err
	}
	if overlapped(item) {
		before, err := s.beforeTurn(ctx, item)
		if err != nil {
			return before, err
		}
		if differs, err := s.differsIn(ctx, before, item, paths); err != nil || differs {
			return before, err
		} // it took back what others had done since it began: only that is its own change
	}
	at := item
	for {
		older, err := s.p.Catalog.Page(ctx, retake.LogQuery{Workspace: item.Workspace, Before: at.Number, Limit: 1})
		switch {
		case err != nil:
			return retake.Checkpoint{}, err
		case len(older) == 0:
			return retake.Checkpoint{}, &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("there is nothing before checkpoint %d", item.Number), Safe: unchanged, Hint: goElse}
		case at.ID != item.ID && automatic(at, older[0]): // the other half of what was there at the prompt
			return at, nil
		case sameTurn(older[0], at), at.Trigger == retake.TriggerComplete && ranOut(older[0]):
			at = older[0] // a part of the same turn, or the first half of a capture that ran out of time
		case older[0].Number != at.Number-1:
			return retake.Checkpoint{}, forgottenBefore(item)
		default:
			return older[0], nil
		}
	}
}

const goElse = "go to a checkpoint: retake help restore\nlist checkpoints: retake log"

func forgottenBefore(item retake.Checkpoint) error {
	return &retake.Error{Kind: retake.NotFound, What: fmt.Sprintf("what was there before checkpoint %d was forgotten", item.Number), Safe: unchanged, Hint: goElse}
}

func ranOut(cp retake.Checkpoint) bool { return cp.Coverage.Count()[retake.ReasonBudget] > 0 }

// undoItems are those that are named, or the newest that was not taken back. Nothing is
// passed over in silence: w knows the automatic checkpoints on the way.
func (s *Service) undoItems(ctx context.Context, req retake.PlanRequest, w *walkBack) ([]retake.Checkpoint, error) {
	var item retake.Checkpoint
	var err error
	switch lo, hi, ranged := strings.Cut(req.Ref, ".."); {
	case ranged:
		return s.itemsIn(ctx, req, w, lo, hi)
	case req.Session != "":
		return s.itemsOf(ctx, req, w)
	case req.Ref != "":
		item, err = s.namedItem(ctx, req)
	default:
		item, err = s.itemBefore(ctx, req, w, 0)
	}
	return []retake.Checkpoint{item}, err
}

// itemBefore is the newest item below a number that was not taken back; 0 is above all.
func (s *Service) itemBefore(ctx context.Context, req retake.PlanRequest, w *walkBack, below int64) (retake.Checkpoint, error) {
	var found *retake.Checkpoint
	err := s.openItems(ctx, req, w, func(cp retake.Checkpoint) bool {
		if below == 0 || cp.Number < below {
			found = &cp
		}
		return found == nil
	})
	if err == nil && found == nil {
		err = noneLeft("no recorded change is left to undo")
	}
	if err != nil {
		return retake.Checkpoint{}, err
	}
	return *found, nil
}

// openItems goes through the items that were not taken back, the newest first, until f
// answers false.
func (s *Service) openItems(ctx context.Context, req retake.PlanRequest, w *walkBack, f func(cp retake.Checkpoint) bool) error {
	return s.backwards(ctx, req.Workspace, 0, func(cp, before retake.Checkpoint) (bool, error) {
		if w.note(cp) || w.undone[cp.ID] {
			return true, nil
		}
		yes, err := w.isItem(ctx, cp, before)
		return err == nil && (!yes || f(cp)), err
	})
}

func noneLeft(what string) error {
	return &retake.Error{Kind: retake.NotFound, What: what, Safe: unchanged, Hint: goElse}
}

// namedItem is an item anywhere on the line that was not taken back yet.
func (s *Service) namedItem(ctx context.Context, req retake.PlanRequest) (retake.Checkpoint, error) {
	named, err := s.Find(ctx, req.Workspace, req.Ref)
	if err != nil {
		return named, err
	}
	if named.Trigger == retake.TriggerInit || named.Trigger == retake.TriggerFork {
		return named, &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("checkpoint %d is where it all begins; there is nothing to undo", named.Number), Safe: unchanged}
	}
	w := s.walkBack(req.Paths)
	end := named // of its turn
	err = s.backwards(ctx, req.Workspace, 0, func(cp, _ retake.Checkpoint) (bool, error) {
		w.note(cp)
		if !w.inner && sameTurn(cp, named) {
			end = cp
		}
		return cp.Number > named.Number, nil
	})
	if err == nil {
		named = end
	}
	if err == nil && w.undone[named.ID] {
		err = &retake.Error{Kind: retake.Exists, What: fmt.Sprintf("checkpoint %d is already undone", named.Number), Safe: unchanged, Hint: "redo it: retake redo"}
	}
	return named, err
}

// lastUndo is the newest undo that was not brought again, unless an item was added since.
func (s *Service) lastUndo(ctx context.Context, ws retake.WorkspaceID) (retake.Checkpoint, error) {
	w := s.walkBack(nil)
	var ways []retake.Checkpoint
	err := s.backwards(ctx, ws, 0, func(cp, before retake.Checkpoint) (bool, error) {
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
	var open []retake.Checkpoint // the last one on top
	for _, way := range slices.Backward(ways) {
		if way.Return.Course == retake.CourseUndo {
			open = append(open, way)
		} else if n := len(open); n > 0 {
			open = open[:n-1]
		}
	}
	if len(open) == 0 {
		return retake.Checkpoint{}, &retake.Error{Kind: retake.NotFound, What: "there is nothing to redo", Safe: unchanged, Hint: "see what was undone earlier: retake log"}
	}
	return open[len(open)-1], nil
}
