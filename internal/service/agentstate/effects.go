package agentstate

import (
	"context"
	"slices"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/service/history"
	"github.com/retake-dev/retake/internal/service/workspace"
)

// Effects lists the external effects since a checkpoint.
func (s *Agents) Effects(ctx context.Context, ws retake.WorkspaceID, since string) ([]retake.Effect, error) {
	if _, err := s.workspaces.LoadWorkspace(ctx, ws); err != nil {
		return nil, err
	}
	after := int64(0)
	if since != "" {
		cp, err := s.history.Find(ctx, ws, since)
		if err != nil {
			return nil, err
		}
		after = cp.Number
	}
	out, err := s.effectsBetween(ctx, ws, after, 0)
	return out, workspace.WrapError("the effects cannot be listed", workspace.Unchanged, err)
}

// effectsBetween returns the effects of the checkpoints after one number up to another,
// oldest first; upTo 0 means now.
func (s *Agents) effectsBetween(ctx context.Context, ws retake.WorkspaceID, after, upTo int64) ([]retake.Effect, error) {
	out := []retake.Effect{}
	q := retake.LogQuery{Workspace: ws, Limit: history.TimelinePageSize}
	if upTo > 0 {
		q.Before = upTo + 1
	}
	for done := false; !done; {
		page, err := s.workspaces.Catalog.Page(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, cp := range page {
			if done = cp.Number <= after; done {
				break
			}
			for _, e := range slices.Backward(cp.Effects) {
				out = append(out, e)
			}
			q.Before = cp.Number
		}
		done = done || len(page) < history.TimelinePageSize
	}
	slices.Reverse(out)
	if upTo > 0 {
		return out, nil
	}
	return append(out, s.StateOf(ws).PendingEffects()...), nil
}

// DoneEffectsBetween is effectsBetween without those that failed: they need no warning.
func (s *Agents) DoneEffectsBetween(ctx context.Context, ws retake.WorkspaceID, after, upTo int64) ([]retake.Effect, error) {
	all, err := s.effectsBetween(ctx, ws, after, upTo)
	return slices.DeleteFunc(all, retake.Effect.Failed), err
}
