package rewind

import (
	"context"
	"slices"

	"github.com/retake-dev/retake"
)

// remainingEffects returns the external effects that a restore does not take back.
func (s *Rewinder) remainingEffects(ctx context.Context, ws retake.WorkspaceID, j resolvedRestore) ([]retake.Effect, error) {
	switch {
	case j.unsavedOnly:
		return slices.DeleteFunc(s.agents.StateOf(ws).PendingEffects(), retake.Effect.Failed), nil
	case j.target == nil:
		return []retake.Effect{}, nil
	case j.req.Course == retake.CourseRestore:
		return s.agents.DoneEffectsBetween(ctx, ws, j.target.Number, 0)
	case j.req.Course == retake.CourseUndo && j.target.Return == nil:
		before, err := s.history.StateBeforeItem(ctx, *j.target, j.req.Paths)
		if err != nil {
			return nil, err
		}
		return s.agents.DoneEffectsBetween(ctx, ws, before.Number, j.target.Number)
	}
	return []retake.Effect{}, nil
}
