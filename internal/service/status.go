package service

import (
	"cmp"
	"context"
	"errors"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

// Status returns how well a workspace is protected now.
func (s *Service) Status(ctx context.Context, id retake.WorkspaceID) (retake.Status, error) {
	out := retake.Status{Protection: cmp.Or(s.parts.Protection, "same-user")} // the store belongs to the user the agent runs as
	var err error
	if out.Workspace, err = s.loadWorkspace(ctx, id); err != nil {
		return out, wrapError("no such workspace", unchanged, err)
	}
	out.Workspace.Interrupted = s.interruptionOf(ctx, id)
	if out.Count, _, err = s.parts.Catalog.Counts(ctx, id); err != nil {
		return out, wrapError("the timeline cannot be read", unchanged, err)
	}
	cp, err := s.parts.Catalog.Latest(ctx, id, 0)
	if errors.Is(err, catalog.ErrNotFound) {
		return out, nil
	}
	if err != nil {
		return out, wrapError("the timeline cannot be read", unchanged, err)
	}
	out.Latest = &cp
	if err := s.fillLiveStatus(ctx, cp, &out); err != nil {
		return out, wrapError("the workspace cannot be compared", unchanged, err)
	}
	if out.Store, err = s.cachedSpace(ctx); err != nil {
		return out, err
	}
	out.Backup, out.Background = s.backupStatus(ctx, id), s.parts.Diag.Failed()
	found, err := s.loadFindings(ctx, id, []retake.Checkpoint{cp}, false)
	if err == nil {
		out.Answers, out.Drill = found[cp.ID].Answers, s.lastDrill(ctx, id)
		out.Good, err = s.findNewestGood(ctx, id)
	}
	return out, wrapError("the timeline cannot be read", unchanged, err)
}

// fillLiveStatus adds the changes since the newest checkpoint. It does not wait for a
// running save.
func (s *Service) fillLiveStatus(ctx context.Context, cp retake.Checkpoint, out *retake.Status) error {
	l := s.cacheFor(cp.Workspace)
	if out.Saving = l.isSaving.Load(); out.Saving {
		return nil
	}
	l.lockAndCancelCheck()
	defer l.mu.Unlock()
	changes, _, err := s.compareLiveLocked(ctx, l, cp)
	out.Now, out.Tracking = countFiles(changes), s.trackingStatus(l)
	return err
}

// Space measures the store and its disk.
func (s *Service) Space(ctx context.Context) (retake.StoreState, error) {
	var out retake.StoreState
	st, err := s.store(ctx)
	if err == nil {
		out.Bytes, err = st.Size(ctx)
	}
	if err == nil {
		out.Free, out.Floor, err = s.diskSpace()
	}
	return out, wrapError("the store cannot be measured", unchanged, err)
}

// countFiles counts changed files; directories and changed times do not count.
func countFiles(changes []retake.Change) retake.Counts {
	var n retake.Counts
	for _, c := range changes {
		e := c.After
		if e == nil {
			e = c.Before
		}
		if e.Kind == retake.KindDir {
			continue
		}
		switch c.What {
		case retake.Added:
			n.Added++
		case retake.Deleted:
			n.Deleted++
		case retake.Edited, retake.Retyped, retake.Moded:
			n.Edited++
		case retake.Timed, retake.Renamed:
		}
	}
	return n
}
