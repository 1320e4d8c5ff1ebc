package service

import (
	"cmp"
	"context"
	"errors"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

// Status tells how well a workspace is protected now.
func (s *Service) Status(ctx context.Context, id retake.WorkspaceID) (retake.Status, error) {
	out := retake.Status{Protection: cmp.Or(s.p.Protection, "same-user")} // the store belongs to the user the agent runs as
	var err error
	if out.Workspace, err = s.row(ctx, id); err != nil {
		return out, fault("no such workspace", unchanged, err)
	}
	out.Workspace.Interrupted = s.interrupted(ctx, id)
	if out.Count, _, err = s.p.Catalog.Counts(ctx, id); err != nil {
		return out, fault("the timeline cannot be read", unchanged, err)
	}
	cp, err := s.p.Catalog.Latest(ctx, id, 0)
	if errors.Is(err, catalog.ErrNotFound) {
		return out, nil
	}
	if err != nil {
		return out, fault("the timeline cannot be read", unchanged, err)
	}
	out.Latest = &cp
	if err := s.now(ctx, cp, &out); err != nil {
		return out, fault("the workspace cannot be compared", unchanged, err)
	}
	if out.Store, err = s.lastSpace(ctx); err != nil {
		return out, err
	}
	out.Backup, out.Background = s.backupOf(ctx, id), s.p.Diag.Failed()
	found, err := s.findings(ctx, id, []retake.Checkpoint{cp}, false)
	if err == nil {
		out.Answers, out.Drill = found[cp.ID].Answers, s.lastDrill(ctx, id)
		out.Good, err = s.newestGood(ctx, id)
	}
	return out, fault("the timeline cannot be read", unchanged, err)
}

// now tells what changed since the newest checkpoint. It does not wait for a save
// that is under way.
func (s *Service) now(ctx context.Context, cp retake.Checkpoint, out *retake.Status) error {
	l := s.liveOf(cp.Workspace)
	if out.Saving = l.saving.Load(); out.Saving {
		return nil
	}
	l.lock()
	defer l.mu.Unlock()
	changes, _, err := s.lookIn(ctx, l, cp)
	out.Now, out.Tracking = countFiles(changes), s.tracking(l)
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
		out.Free, out.Floor, err = s.room()
	}
	return out, fault("the store cannot be measured", unchanged, err)
}

// countFiles counts files, not directories; times alone are no change.
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
