package service

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/story"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

// Search finds checkpoints by words.
func (s *Service) Search(ctx context.Context, q retake.SearchQuery) ([]retake.Hit, error) {
	if _, err := s.row(ctx, q.Workspace); err != nil {
		return nil, fault("no such workspace", unchanged, err)
	}
	if strings.TrimSpace(q.Text) == "" {
		return nil, &retake.Error{Kind: retake.Invalid, What: "nothing to look for", Safe: unchanged, Hint: "for example: retake find login"}
	}
	s.tellBare(ctx, q.Workspace)
	found, err := s.p.Catalog.Search(ctx, q)
	if err != nil {
		return nil, fault("the timeline cannot be searched", unchanged, err)
	}
	cps := make([]retake.Checkpoint, len(found))
	for i, f := range found {
		cps[i] = f.Checkpoint
	}
	known, err := s.findings(ctx, q.Workspace, cps, true)
	out := make([]retake.Hit, len(found))
	for i, f := range found {
		out[i] = retake.Hit{Checkpoint: f.Checkpoint, Finding: known[f.Checkpoint.ID], Where: f.Place.Where, Text: f.Place.Text}
	}
	return out, fault("the timeline cannot be searched", unchanged, err)
}

// Chronicle lists the checkpoints in which a fact with this name changed.
func (s *Service) Chronicle(ctx context.Context, q retake.ChronicleQuery) ([]retake.Mention, error) {
	if _, err := s.row(ctx, q.Workspace); err != nil {
		return nil, fault("no such workspace", unchanged, err)
	}
	s.tellBare(ctx, q.Workspace)
	out, err := s.p.Catalog.Mentions(ctx, q)
	if out == nil {
		out = []retake.Mention{}
	}
	return out, fault("the timeline cannot be searched", unchanged, err)
}

// bareWait is how long a search may take for stories that were never told.
const bareWait = 5 * time.Second

// tellBare tells the stories that nobody told yet. A service that lives on has done so, or
// is at it and is waited for.
func (s *Service) tellBare(ctx context.Context, ws retake.WorkspaceID) {
	ctx, cancel := context.WithTimeout(ctx, bareWait)
	defer cancel()
	if s.p.Exclusive {
		s.teller.settled(ctx)
		return
	}
	bare, err := s.p.Catalog.Bare(ctx, ws, story.Version, mostBare)
	if err != nil {
		return // what is known is searched
	}
	for _, cp := range bare {
		if ctx.Err() != nil || s.note(ctx, cp, true) != nil {
			return
		}
	}
}

// byCommit is the first checkpoint whose commit begins so. Checkpoints whose story was not told
// yet are asked one by one. They are listed before the told ones are searched: one that is
// told meanwhile is then in both, and the other way round it would be in neither.
func (s *Service) byCommit(ctx context.Context, ws retake.WorkspaceID, sha string) (retake.Checkpoint, error) {
	bare, err := s.p.Catalog.Bare(ctx, ws, 0, mostBare)
	if err != nil {
		return retake.Checkpoint{}, err
	}
	cp, err := s.p.Catalog.ByHead(ctx, ws, sha)
	if err != nil && !errors.Is(err, catalog.ErrNotFound) {
		return cp, err
	}
	for _, b := range bare { // newest first: the last one that fits is the oldest
		if (err != nil || b.Number < cp.Number) && strings.HasPrefix(s.commit(ctx, b), sha) {
			cp, err = b, nil
		}
	}
	return cp, err
}

const mostBare = 2000
