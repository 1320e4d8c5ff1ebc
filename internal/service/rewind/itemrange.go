package rewind

import (
	"context"
	"fmt"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/service/history"
	"github.com/retake-dev/retake/internal/service/workspace"
)

// maxItems bounds how many items one undo covers.
const maxItems = 500

// itemsInRange returns the items in a range of checkpoints that are not undone.
func (s *Rewinder) itemsInRange(ctx context.Context, req retake.PlanRequest, w *history.TimelineWalk, lo, hi string) ([]retake.Checkpoint, error) {
	first, err := s.history.Find(ctx, req.Workspace, lo)
	if err != nil {
		return nil, err
	}
	last, err := s.history.Find(ctx, req.Workspace, hi)
	if err != nil {
		return nil, err
	}
	if first.Number > last.Number {
		return nil, &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("%s..%s begins after it ends", lo, hi), Safe: workspace.Unchanged, Hint: fmt.Sprintf("undo these: retake undo %d..%d", last.Number, first.Number)}
	}
	items, err := s.collectItems(ctx, req, w, func(cp retake.Checkpoint) (take, on bool) {
		return cp.Number >= first.Number && cp.Number <= last.Number, cp.Number > first.Number
	})
	if err == nil && len(items) == 0 {
		err = nothingToUndoError(fmt.Sprintf("no recorded change is left to undo in %d..%d", first.Number, last.Number))
	}
	return items, err
}

// lastSessionRef is the ref of the session of the newest turn.
const lastSessionRef = "last"

// itemsOfSession returns the turns of a session that are not undone.
func (s *Rewinder) itemsOfSession(ctx context.Context, req retake.PlanRequest, w *history.TimelineWalk) ([]retake.Checkpoint, error) {
	session := ""
	items, err := s.collectItems(ctx, req, w, func(cp retake.Checkpoint) (take, on bool) {
		if cp.Turn != nil && session == "" && (req.Session == lastSessionRef || cp.Turn.Of(req.Session)) {
			session = cp.Turn.Session
		}
		return cp.Turn != nil && session != "" && cp.Turn.Session == session, true
	})
	if err == nil && len(items) == 0 {
		err = nothingToUndoError("no turn of that session is left to undo")
	}
	return items, err
}

// collectItems collects the open items for which choose returns take, until on is false.
func (s *Rewinder) collectItems(ctx context.Context, req retake.PlanRequest, w *history.TimelineWalk, choose func(retake.Checkpoint) (take, on bool)) ([]retake.Checkpoint, error) {
	var items []retake.Checkpoint
	err := s.eachOpenItem(ctx, req, w, func(cp retake.Checkpoint) bool {
		take, on := choose(cp)
		if take {
			items = append(items, cp)
		}
		return on && len(items) < maxItems
	})
	return items, err
}
