package service

import (
	"cmp"
	"context"
	"errors"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/service/maintenance"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

// Status returns how well a workspace is protected now.
func (s *Service) Status(ctx context.Context, id retake.WorkspaceID) (retake.Status, error) {
	out := retake.Status{Protection: cmp.Or(s.protection, "same-user")} // the store belongs to the user the agent runs as
	var err error
	if out.Workspace, err = s.Registry.LoadWorkspace(ctx, id); err != nil {
		return out, workspace.WrapError("no such workspace", workspace.Unchanged, err)
	}
	out.Workspace.Interrupted = s.Registry.InterruptionOf(ctx, id)
	out.Workspace.Unprotected = s.Registry.Unprotected(ctx, out.Workspace)
	if out.Count, _, err = s.Registry.Catalog.Counts(ctx, id); err != nil {
		return out, workspace.WrapError("the timeline cannot be read", workspace.Unchanged, err)
	}
	cp, err := s.Registry.Catalog.Latest(ctx, id, 0)
	if errors.Is(err, catalog.ErrNotFound) {
		return out, nil
	}
	if err != nil {
		return out, workspace.WrapError("the timeline cannot be read", workspace.Unchanged, err)
	}
	out.Latest = &cp
	if err := s.fillLiveStatus(ctx, cp, &out); err != nil {
		return out, workspace.WrapError("the workspace cannot be compared", workspace.Unchanged, err)
	}
	if out.Store, err = s.Maintenance.CachedSpace(ctx); err != nil {
		return out, err
	}
	out.Damage = maintenance.DamageState(ctx, s.Registry, id)
	out.Remotes = s.Uploads.RemotesOf(ctx, id)
	if out.Protection == "same-user" && s.Uploads.IsLocked(id) {
		out.Protection = "remote+lock"
	}
	out.Backup, out.Background = s.Backups.BackupStatus(ctx, id), s.Registry.Diag.Failed()
	found, err := s.History.LoadFindings(ctx, id, []retake.Checkpoint{cp}, false)
	if err == nil {
		out.Answers, out.Drill = found[cp.ID].Answers, s.Maintenance.LastDrill(ctx, id)
		out.Good, err = s.History.FindNewestGood(ctx, id)
	}
	return out, workspace.WrapError("the timeline cannot be read", workspace.Unchanged, err)
}

// fillLiveStatus adds the changes since the newest checkpoint. It does not wait for a
// running save.
func (s *Service) fillLiveStatus(ctx context.Context, cp retake.Checkpoint, out *retake.Status) error {
	l := s.Registry.CacheFor(cp.Workspace)
	if out.Saving = l.IsSaving.Load(); out.Saving {
		return nil
	}
	l.LockAndCancelCheck()
	defer l.Mu.Unlock()
	changes, _, err := s.History.CompareLiveLocked(ctx, l, cp)
	out.Now, out.Tracking = workspace.CountFiles(changes), s.Registry.TrackingStatus(l)
	return err
}
