package service

import (
	"context"
	"slices"

	"github.com/retake-dev/retake"
)

// Effects lists the external effects since a checkpoint.
func (s *Service) Effects(ctx context.Context, ws retake.WorkspaceID, since string) ([]retake.Effect, error) {
	after := int64(0)
	if since != "" {
		cp, err := s.Find(ctx, ws, since)
		if err != nil {
			return nil, err
		}
		after = cp.Number
	}
	out, err := s.effectsBetween(ctx, ws, after, 0)
	return out, wrapError("the effects cannot be listed", unchanged, err)
}

// effectsBetween returns the effects of the checkpoints after one number up to another,
// oldest first; upTo 0 means now.
func (s *Service) effectsBetween(ctx context.Context, ws retake.WorkspaceID, after, upTo int64) ([]retake.Effect, error) {
	out := []retake.Effect{}
	q := retake.LogQuery{Workspace: ws, Limit: timelinePageSize}
	if upTo > 0 {
		q.Before = upTo + 1
	}
	for done := false; !done; {
		page, err := s.parts.Catalog.Page(ctx, q)
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
		done = done || len(page) < timelinePageSize
	}
	slices.Reverse(out)
	if upTo > 0 {
		return out, nil
	}
	return append(out, s.agentStateOf(ws).pendingEffects()...), nil
}

// doneEffectsBetween is effectsBetween without those that failed: they need no warning.
func (s *Service) doneEffectsBetween(ctx context.Context, ws retake.WorkspaceID, after, upTo int64) ([]retake.Effect, error) {
	all, err := s.effectsBetween(ctx, ws, after, upTo)
	return slices.DeleteFunc(all, retake.Effect.Failed), err
}

// remainingEffects returns the external effects that a restore does not take back.
func (s *Service) remainingEffects(ctx context.Context, ws retake.WorkspaceID, j resolvedRestore) ([]retake.Effect, error) {
	switch {
	case j.unsavedOnly:
		return slices.DeleteFunc(s.agentStateOf(ws).pendingEffects(), retake.Effect.Failed), nil
	case j.target == nil:
		return []retake.Effect{}, nil
	case j.req.Course == retake.CourseRestore:
		return s.doneEffectsBetween(ctx, ws, j.target.Number, 0)
	case j.req.Course == retake.CourseUndo && j.target.Return == nil:
		before, err := s.stateBeforeItem(ctx, *j.target, j.req.Paths)
		if err != nil {
			return nil, err
		}
		return s.doneEffectsBetween(ctx, ws, before.Number, j.target.Number)
	}
	return []retake.Effect{}, nil
}
