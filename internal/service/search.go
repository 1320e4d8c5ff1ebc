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
	if _, err := s.loadWorkspace(ctx, q.Workspace); err != nil {
		return nil, wrapError("no such workspace", unchanged, err)
	}
	if strings.TrimSpace(q.Text) == "" {
		return nil, &retake.Error{Kind: retake.Invalid, What: "nothing to look for", Safe: unchanged, Hint: "for example: retake find login"}
	}
	s.summarizeMissing(ctx, q.Workspace)
	found, err := s.parts.Catalog.Search(ctx, q)
	if err != nil {
		return nil, wrapError("the timeline cannot be searched", unchanged, err)
	}
	cps := make([]retake.Checkpoint, len(found))
	for i, f := range found {
		cps[i] = f.Checkpoint
	}
	known, err := s.loadFindings(ctx, q.Workspace, cps, true)
	out := make([]retake.Hit, len(found))
	for i, f := range found {
		out[i] = retake.Hit{Checkpoint: f.Checkpoint, Finding: known[f.Checkpoint.ID], Where: f.Place.Where, Text: f.Place.Text}
	}
	return out, wrapError("the timeline cannot be searched", unchanged, err)
}

// Chronicle lists the checkpoints in which a fact with this name changed.
func (s *Service) Chronicle(ctx context.Context, q retake.ChronicleQuery) ([]retake.Mention, error) {
	if _, err := s.loadWorkspace(ctx, q.Workspace); err != nil {
		return nil, wrapError("no such workspace", unchanged, err)
	}
	s.summarizeMissing(ctx, q.Workspace)
	out, err := s.parts.Catalog.Mentions(ctx, q)
	if out == nil {
		out = []retake.Mention{}
	}
	return out, wrapError("the timeline cannot be searched", unchanged, err)
}

// summarizeWait is how long a search may take for missing summaries.
const summarizeWait = 5 * time.Second

// summarizeMissing writes missing summaries before a search. In an exclusive service it
// waits for the background worker.
func (s *Service) summarizeMissing(ctx context.Context, ws retake.WorkspaceID) {
	ctx, cancel := context.WithTimeout(ctx, summarizeWait)
	defer cancel()
	if s.parts.Exclusive {
		s.summarizer.waitIdle(ctx)
		return
	}
	bare, err := s.parts.Catalog.Bare(ctx, ws, story.Version, maxMissingSummaries)
	if err != nil {
		return // what is summarized is searched
	}
	for _, cp := range bare {
		if ctx.Err() != nil || s.summarizeCheckpoint(ctx, cp, true) != nil {
			return
		}
	}
}

// findByCommit returns the first checkpoint whose commit starts with sha. Checkpoints
// without a summary are read one by one. They are listed before the others are searched, so
// that one that is summarized meanwhile is not missed.
func (s *Service) findByCommit(ctx context.Context, ws retake.WorkspaceID, sha string) (retake.Checkpoint, error) {
	bare, err := s.parts.Catalog.Bare(ctx, ws, 0, maxMissingSummaries)
	if err != nil {
		return retake.Checkpoint{}, err
	}
	cp, err := s.parts.Catalog.ByHead(ctx, ws, sha)
	if err != nil && !errors.Is(err, catalog.ErrNotFound) {
		return cp, err
	}
	for _, b := range bare { // newest first: the last match is the oldest
		if (err != nil || b.Number < cp.Number) && strings.HasPrefix(s.checkedOutCommit(ctx, b), sha) {
			cp, err = b, nil
		}
	}
	return cp, err
}

const maxMissingSummaries = 2000
