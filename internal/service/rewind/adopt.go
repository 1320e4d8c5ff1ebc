package rewind

import (
	"context"
	"fmt"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/service/workspace"
)

// prepareAdopt saves the fork as it is now, because only a checkpoint can be adopted.
func (s *Rewinder) prepareAdopt(ctx context.Context, req retake.PlanRequest) error {
	if req.Course != retake.CourseAdopt {
		return nil
	}
	fork, err := s.workspaces.LoadWorkspace(ctx, req.Fork)
	if err != nil {
		return workspace.WrapError("no such fork", workspace.Unchanged, err)
	}
	if !s.workspaces.IsRootPresent(fork) { // its last checkpoint is still there
		return nil
	}
	_, err = s.checkpoints.Save(ctx, retake.SaveRequest{Workspace: req.Fork, Intent: "before it is adopted", IfChanged: true})
	return err
}

// resolveAdopt resolves an adopt: what the fork changed since it was created.
func (s *Rewinder) resolveAdopt(ctx context.Context, ws retake.Workspace, j resolvedRestore) (resolvedRestore, error) {
	fork, err := s.workspaces.LoadWorkspace(ctx, j.req.Fork)
	if err != nil {
		return j, workspace.WrapError("no such fork", workspace.Unchanged, err)
	}
	if fork.Origin == nil || fork.Origin.Workspace != ws.ID {
		return j, &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("the workspace %s is not a fork of %s", fork.Name, ws.Name), Safe: workspace.Unchanged, Hint: "list forks: retake forks"}
	}
	now, err := s.workspaces.Catalog.Latest(ctx, fork.ID, 0)
	if err != nil {
		return j, err
	}
	first, err := s.workspaces.Catalog.ByNumber(ctx, fork.ID, 1)
	if err != nil { // forgotten: it was what its origin is
		if first, err = s.workspaces.LoadCheckpoint(ctx, fork.Origin.Checkpoint); err != nil {
			return j, workspace.WrapError("the checkpoint it was forked from was forgotten", workspace.Unchanged, err)
		}
	}
	base, err := s.loadTreeRoot(ctx, first)
	if err != nil {
		return j, err
	}
	j.want, err = s.loadTreeRoot(ctx, now)
	j.target, j.base, j.wantGaps, j.fork, j.sideSuffix = &now, &base, now.Coverage.Gaps, &fork, ".from-fork"
	return j, err
}
