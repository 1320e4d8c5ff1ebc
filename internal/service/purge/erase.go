package purge

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/service/workspace"
)

// Erase ends a workspace and removes its whole history.
func (s *Purger) Erase(ctx context.Context, id retake.WorkspaceID) (retake.PurgeReport, error) {
	rep := retake.PurgeReport{Left: []string{}}
	ws, err := s.workspaces.LoadWorkspace(ctx, id)
	if err != nil {
		return rep, workspace.WrapError("no such workspace", workspace.Unchanged, err)
	}
	if s.opts.Denied {
		return rep, &retake.Error{Kind: retake.Denied, What: "a history cannot be erased on a server yet", Safe: workspace.Unchanged, Hint: "remove checkpoints: POST /v1/deletions"}
	}
	st, err := s.workspaces.Store(ctx)
	if err != nil {
		return rep, workspace.WrapError("the store cannot be opened", workspace.Unchanged, err)
	}
	p := &purgeRun{svc: s, store: st, family: []retake.WorkspaceState{{Workspace: ws}}}
	if err := p.checkNotHeld(ctx); err != nil {
		return rep, err
	}
	if ws.Ended == nil {
		if _, err := s.workspaces.Deinit(ctx, id); err != nil {
			return rep, err
		}
	}
	ctx = context.WithoutCancel(ctx)
	const partly = "The workspace is no longer protected. Run it again to erase the rest."
	if s.opts.Backup != nil {
		if b, err := s.opts.Backup.State(id); err == nil && b.Pushed != nil {
			rep.Left = append(rep.Left, fmt.Sprintf("the git backup %s, branch %s: what was pushed is not removed there", b.URL, b.Branch))
		}
	}
	live, _, err := s.workspaces.Catalog.Counts(ctx, id)
	if err != nil {
		return rep, workspace.WrapError("not erased", partly, err)
	}
	rep.Plan = retake.PurgePlan{Checkpoints: live, Workspaces: []retake.PurgeScope{{Workspace: id, Name: ws.Name, Checkpoints: live}}, Gaps: []retake.Gap{}, Live: []string{}, Beyond: []string{}}
	if err := st.Erase(ctx, id); err != nil {
		return rep, workspace.WrapError("not erased", partly, err)
	}
	if s.opts.Uploads != nil {
		rep.Left = append(rep.Left, s.opts.Uploads.Holding(id)...)
		s.opts.Uploads.OnErase(id)
	}
	if rep.Sweep, err = s.maintenance.SweepAndWipe(ctx, st); err == nil {
		err = p.removeCopies(ctx)
	}
	for _, dir := range []string{s.workspaces.SessionDir, s.workspaces.SignalDir} {
		if dir != "" && err == nil {
			err = s.removeWorkspaceFiles(dir, id)
		}
	}
	return rep, workspace.WrapError("erased in part", partly, err)
}

// removeWorkspaceFiles removes the files whose name starts with the ID of a workspace.
func (s *Purger) removeWorkspaceFiles(dir string, id retake.WorkspaceID) error {
	return s.eachFile(dir, func(at fsx.Dir, path string) error {
		if name := filepath.Base(path); strings.HasPrefix(name, string(id)) {
			return at.Remove(name)
		}
		return nil
	})
}
