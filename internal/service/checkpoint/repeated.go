package checkpoint

import (
	"context"
	"errors"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

// findRepeated returns the checkpoint that was already sealed under the requested ID: the
// caller repeats a request whose answer was lost. A partial checkpoint is completed if it
// was not yet.
func (t *Writer) findRepeated(ctx context.Context, req retake.SaveRequest) (retake.SaveResult, bool, error) {
	if req.ID == "" {
		return retake.SaveResult{}, false, nil
	}
	cp, err := t.svc.workspaces.Catalog.Checkpoint(ctx, req.ID) // without an access check: an ID is never used twice
	if errors.Is(err, catalog.ErrNotFound) {
		return retake.SaveResult{}, false, nil
	}
	if err != nil {
		return retake.SaveResult{}, false, err
	}
	if cp.Workspace != t.ws.ID {
		return retake.SaveResult{}, false, &retake.Error{Kind: retake.Exists, What: "that id names a checkpoint of another workspace", Safe: workspace.NotSaved}
	}
	res := retake.SaveResult{Workspace: t.ws, Checkpoint: cp, Created: true, Recorded: true, Warnings: []retake.Warning{}}
	if before, err := t.svc.workspaces.LoadCheckpoint(ctx, cp.Parent); cp.Parent != "" && err == nil {
		res.Created = before.Content != cp.Content
	}
	if cp.Coverage.Count()[retake.ReasonBudget] > 0 {
		next, err := t.svc.workspaces.Catalog.ByNumber(ctx, t.ws.ID, cp.Number+1)
		if err == nil && next.Parent == cp.ID && next.Trigger == retake.TriggerComplete {
			res.Partial, res.Checkpoint = &cp, next
		} else {
			t.completePartial(ctx, req, &res)
		}
		res.Warnings = append(res.Warnings, t.warnings...)
	}
	return res, true, nil
}

// completePartial saves what a checkpoint that ran out of time is missing. If that fails,
// the partial one stays.
func (t *Writer) completePartial(ctx context.Context, req retake.SaveRequest, res *retake.SaveResult) {
	req.Budget, req.Trigger, req.ID, req.IfChanged = 0, retake.TriggerComplete, "", false
	whole, _, err := t.captureAndSeal(ctx, req)
	if err != nil {
		t.warnings = append(t.warnings, retake.Warning{Code: "incomplete", Text: "the rest was not saved: " + err.Error()})
		return
	}
	partial := res.Checkpoint
	res.Partial, res.Checkpoint = &partial, whole
}
