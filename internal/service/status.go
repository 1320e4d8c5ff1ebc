package service

import (
	"context"
	"errors"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/catalog"
)

// Status tells how well a workspace is protected now.
func (s *Service) Status(ctx context.Context, id retake.WorkspaceID) (retake.Status, error) {
	out := retake.Status{Protection: "same-user"} // the store belongs to the user the agent runs as
	var err error
	if out.Workspace, err = s.p.Catalog.Workspace(ctx, id); err != nil {
		return out, fault("no such workspace", unchanged, err)
	}
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
	changes, _, err := s.look(ctx, cp)
	if err != nil {
		return out, fault("the workspace cannot be compared", unchanged, err)
	}
	out.Now = countFiles(changes)
	l := s.liveOf(id)
	l.mu.Lock()
	out.Tracking = s.tracking(l)
	l.mu.Unlock()
	out.Store, err = s.Space(ctx)
	return out, err
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
		case retake.Timed:
		}
	}
	return n
}
