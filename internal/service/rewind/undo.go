package rewind

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/service/history"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

// resolveUndo finds what undo takes back: the named item, else the newest one that is not
// undone. Unsaved edits stay unless they are asked for.
func (s *Rewinder) resolveUndo(ctx context.Context, j resolvedRestore, v workspaceSnapshot) (resolvedRestore, error) {
	if len(j.req.Hunks) > 0 {
		return s.resolveHunkUndo(ctx, j)
	}
	if j.req.Edits {
		return s.resolveEditUndo(ctx, j, v)
	}
	w := s.history.NewTimelineWalk(j.req.Paths)
	items, err := s.findUndoItems(ctx, j.req, w)
	if retake.IsKind(err, retake.NotFound) && j.req.Ref == "" && len(v.unsaved) > 0 {
		err = onlyEditsLeftError(len(v.unsaved))
	}
	if retake.IsKind(err, retake.Exists) && j.req.Git && len(items) == 1 && len(j.req.Paths) == 0 { // its files were undone without git, which may follow now
		j.req.Paths, err = gitPaths, nil
	}
	if err != nil {
		return j, err
	}
	j.keptEdits = w.EditNumbers
	return s.resolveItemUndo(ctx, j, items)
}

// gitPaths match all git directories.
var gitPaths = []string{".git", "**/.git"}

// resolveEditUndo resolves the undo of unsaved edits: back to the last checkpoint.
func (s *Rewinder) resolveEditUndo(ctx context.Context, j resolvedRestore, v workspaceSnapshot) (resolvedRestore, error) {
	if j.req.Ref != "" {
		return j, &retake.Error{Kind: retake.Invalid, What: "unsaved edits belong to no checkpoint; name a checkpoint or use --edits, not both", Safe: workspace.Unchanged}
	}
	if len(v.unsaved) == 0 {
		return j, &retake.Error{Kind: retake.NotFound, What: "there are no unsaved edits", Safe: workspace.Unchanged, Hint: "undo the last change: retake undo"}
	}
	var err error
	j.want, err = s.loadTreeRoot(ctx, v.tip)
	j.wantGaps, j.unsavedOnly, j.wantNumber = v.tip.Coverage.Gaps, true, v.tip.Number
	return j, err
}

func onlyEditsLeftError(n int) error {
	return &retake.Error{
		Kind: retake.NotFound, What: "no recorded change is left to undo", Safe: fmt.Sprintf("%s Your unsaved edits of %s stay.", workspace.Unchanged, formatPathCount(n)),
		Hint: "discard them: retake undo --edits\nlist checkpoints: retake log",
	}
}

func formatPathCount(n int) string {
	if n == 1 {
		return "1 path"
	}
	return termtext.Count(int64(n)) + " paths"
}

// resolveRedo resolves the exact inverse of the last undo, whatever part of an item that
// covered.
func (s *Rewinder) resolveRedo(ctx context.Context, j resolvedRestore) (resolvedRestore, error) {
	undo, err := s.findLastUndo(ctx, j.req.Workspace)
	if err != nil {
		return j, err
	}
	before, err := s.workspaces.LoadCheckpoint(ctx, undo.Return.Before)
	if err == nil {
		j.target, err = s.loadUndoneItem(ctx, undo)
	}
	if errors.Is(err, catalog.ErrNotFound) {
		err = &retake.Error{Kind: retake.NotFound, What: "what was undone has been deleted since", Safe: workspace.Unchanged, Hint: history.RestoreHint}
	}
	if err != nil {
		return j, err
	}
	j.sideSuffix = fmt.Sprintf(".as-%d", j.target.Number)
	j.hunks = undo.Return.Hunks
	j.req.Paths, j.req.Git = undo.Return.Paths, true // git differs only if the undo changed it
	return s.resolveBetween(ctx, j, undo, before)
}

// loadUndoneItem returns the item that an undo took back.
func (s *Rewinder) loadUndoneItem(ctx context.Context, undo retake.Checkpoint) (*retake.Checkpoint, error) {
	item, err := s.workspaces.LoadCheckpoint(ctx, undo.Return.Target)
	return &item, err
}

// resolveItemUndo resolves the undo of items, newest first, to the state before the oldest.
// Changes by others stay.
func (s *Rewinder) resolveItemUndo(ctx context.Context, j resolvedRestore, items []retake.Checkpoint) (resolvedRestore, error) {
	newest, oldest := items[0], items[len(items)-1]
	before, err := s.history.StateBeforeItem(ctx, oldest, j.req.Paths)
	if err != nil {
		return j, err
	}
	j.target, j.olderItems, j.sideSuffix = &newest, items[1:], fmt.Sprintf(".before-%d", oldest.Number)
	if len(items) > 1 || history.HasOverlap(newest) {
		if j.protected, err = s.findWorkOfOthers(ctx, before, items); err != nil {
			return j, err
		}
	}
	return s.resolveBetween(ctx, j, newest, before)
}

// resolveBetween sets the base and the wanted tree: the difference between two checkpoints
// is merged into the current files.
func (s *Rewinder) resolveBetween(ctx context.Context, j resolvedRestore, from, to retake.Checkpoint) (resolvedRestore, error) {
	base, err := s.loadTreeRoot(ctx, from)
	if err != nil {
		return j, err
	}
	j.base, j.wantGaps, j.wantNumber = &base, slices.Concat(to.Coverage.Gaps, from.Coverage.Gaps), to.Number
	j.want, err = s.loadTreeRoot(ctx, to)
	return j, err
}

// findUndoItems returns the named items, or the newest one that is not undone. w collects
// the automatic checkpoints on the way, so that none is skipped silently.
func (s *Rewinder) findUndoItems(ctx context.Context, req retake.PlanRequest, w *history.TimelineWalk) ([]retake.Checkpoint, error) {
	var item retake.Checkpoint
	var err error
	switch lo, hi, ranged := strings.Cut(req.Ref, ".."); {
	case ranged:
		return s.itemsInRange(ctx, req, w, lo, hi)
	case req.Session != "":
		return s.itemsOfSession(ctx, req, w)
	case req.Ref != "":
		item, err = s.findNamedItem(ctx, req)
	default:
		item, err = s.findItemBefore(ctx, req, w, 0)
	}
	return []retake.Checkpoint{item}, err
}

// findItemBefore returns the newest item below a number that is not undone; 0 means any
// number.
func (s *Rewinder) findItemBefore(ctx context.Context, req retake.PlanRequest, w *history.TimelineWalk, below int64) (retake.Checkpoint, error) {
	var found *retake.Checkpoint
	err := s.eachOpenItem(ctx, req, w, func(cp retake.Checkpoint) bool {
		if below == 0 || cp.Number < below {
			found = &cp
		}
		return found == nil
	})
	if err == nil && found == nil {
		err = nothingToUndoError("no recorded change is left to undo")
	}
	if err != nil {
		return retake.Checkpoint{}, err
	}
	return *found, nil
}

// eachOpenItem calls f for the items that are not undone, newest first, until f returns
// false.
func (s *Rewinder) eachOpenItem(ctx context.Context, req retake.PlanRequest, w *history.TimelineWalk, f func(cp retake.Checkpoint) bool) error {
	return s.history.WalkTimeline(ctx, req.Workspace, 0, func(cp, before retake.Checkpoint) (bool, error) {
		if w.Visit(cp) || w.Undone[cp.ID] {
			return true, nil
		}
		yes, err := w.IsItem(ctx, cp, before)
		return err == nil && (!yes || f(cp)), err
	})
}

func nothingToUndoError(what string) error {
	return &retake.Error{Kind: retake.NotFound, What: what, Safe: workspace.Unchanged, Hint: history.RestoreHint}
}

// findNamedItem returns a named item that is not undone yet. A checkpoint inside a turn
// stands for the end of that turn.
func (s *Rewinder) findNamedItem(ctx context.Context, req retake.PlanRequest) (retake.Checkpoint, error) {
	named, err := s.history.Find(ctx, req.Workspace, req.Ref)
	if err != nil {
		return named, err
	}
	if named.Trigger == retake.TriggerInit || named.Trigger == retake.TriggerFork {
		return named, &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("checkpoint %d is where it all begins; there is nothing to undo", named.Number), Safe: workspace.Unchanged}
	}
	w := s.history.NewTimelineWalk(req.Paths)
	end := named // end of its turn
	err = s.history.WalkTimeline(ctx, req.Workspace, 0, func(cp, _ retake.Checkpoint) (bool, error) {
		w.Visit(cp)
		if !w.InsideTurn && history.IsSameTurn(cp, named) {
			end = cp
		}
		return cp.Number > named.Number, nil
	})
	if err == nil {
		named = end
	}
	if err == nil && w.Undone[named.ID] {
		err = &retake.Error{Kind: retake.Exists, What: fmt.Sprintf("checkpoint %d is already undone", named.Number), Safe: workspace.Unchanged, Hint: "redo it: retake redo"}
	}
	return named, err
}

// findLastUndo returns the newest undo that was not redone, unless an item was added since.
func (s *Rewinder) findLastUndo(ctx context.Context, ws retake.WorkspaceID) (retake.Checkpoint, error) {
	w := s.history.NewTimelineWalk(nil)
	var ways []retake.Checkpoint
	err := s.history.WalkTimeline(ctx, ws, 0, func(cp, before retake.Checkpoint) (bool, error) {
		if w.Visit(cp) {
			ways = append(ways, cp)
			return true, nil
		}
		yes, err := w.IsItem(ctx, cp, before)
		return !yes, err
	})
	if err != nil {
		return retake.Checkpoint{}, err
	}
	var open []retake.Checkpoint // a stack
	for _, way := range slices.Backward(ways) {
		if way.Return.Course == retake.CourseUndo {
			open = append(open, way)
		} else if n := len(open); n > 0 {
			open = open[:n-1]
		}
	}
	if len(open) == 0 {
		return retake.Checkpoint{}, &retake.Error{Kind: retake.NotFound, What: "there is nothing to redo", Safe: workspace.Unchanged, Hint: "see what was undone earlier: retake log"}
	}
	return open[len(open)-1], nil
}
