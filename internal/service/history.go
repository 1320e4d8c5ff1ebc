package service

import (
	"context"
	"errors"
	"fmt"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/catalog"
)

// Log lists a part of the timeline. It never opens the store.
func (s *Service) Log(ctx context.Context, q retake.LogQuery) (retake.Timeline, error) {
	var tl retake.Timeline
	var err error
	if tl.Workspace, err = s.row(ctx, q.Workspace); err == nil {
		tl.Checkpoints, err = s.p.Catalog.Page(ctx, q)
	}
	if err == nil {
		tl.Pins, err = s.p.Catalog.Pins(ctx, q.Workspace)
	}
	if err == nil {
		tl.Total, _, err = s.p.Catalog.Counts(ctx, q.Workspace)
	}
	return tl, fault("the timeline cannot be read", unchanged, err)
}

// Find resolves a ref. A pin's name may look like anything, so it is asked for
// before times.
func (s *Service) Find(ctx context.Context, ws retake.WorkspaceID, ref string) (retake.Checkpoint, error) {
	r, err := retake.ParseRef(ref, s.p.Clock.Now())
	if err != nil {
		return retake.Checkpoint{}, err
	}
	cp, err := s.find(ctx, ws, r, ref)
	if errors.Is(err, catalog.ErrNotFound) {
		return cp, s.noSuchMoment(ctx, ws, ref)
	}
	return cp, fault("the timeline cannot be read", unchanged, err)
}

func (s *Service) find(ctx context.Context, ws retake.WorkspaceID, r retake.Ref, text string) (retake.Checkpoint, error) {
	c := s.p.Catalog
	switch r.Form {
	case retake.RefNumber:
		return c.ByNumber(ctx, ws, r.Number)
	case retake.RefLatest:
		return c.Latest(ctx, ws, r.Number)
	case retake.RefStart:
		return c.Start(ctx, ws)
	case retake.RefID:
		return s.byPrefix(ctx, ws, r.Text)
	case retake.RefTime, retake.RefName:
		pins, err := c.Pins(ctx, ws)
		if err != nil {
			return retake.Checkpoint{}, err
		}
		for _, p := range pins {
			if p.Name == text {
				return c.Checkpoint(ctx, p.Checkpoint)
			}
		}
		if r.Form == retake.RefTime {
			return c.Before(ctx, ws, r.Time)
		}
	}
	return retake.Checkpoint{}, catalog.ErrNotFound
}

func (s *Service) byPrefix(ctx context.Context, ws retake.WorkspaceID, prefix string) (retake.Checkpoint, error) {
	found, err := s.p.Catalog.ByPrefix(ctx, ws, prefix)
	switch {
	case err != nil:
		return retake.Checkpoint{}, err
	case len(found) == 0:
		return retake.Checkpoint{}, catalog.ErrNotFound
	case len(found) > 1:
		return retake.Checkpoint{}, &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("more than one moment begins with %s", prefix), Safe: unchanged, Hint: "type more of the id"}
	}
	return found[0], nil
}

func (s *Service) noSuchMoment(ctx context.Context, id retake.WorkspaceID, ref string) error {
	e := &retake.Error{Kind: retake.NotFound, What: fmt.Sprintf("there is no moment %s", ref), Safe: unchanged, Hint: "all: retake log"}
	if ws, err := s.p.Catalog.Workspace(ctx, id); err == nil {
		e.What += " in " + ws.Name
	}
	if newest, err := s.p.Catalog.Latest(ctx, id, 0); err == nil {
		e.Safe = fmt.Sprintf("%s The newest is %d, from %s.", unchanged, newest.Number, newest.Time.Local().Format("15:04"))
	}
	return e
}
