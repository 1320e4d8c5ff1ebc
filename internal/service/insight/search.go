package insight

import (
	"context"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/story"
	"github.com/retake-dev/retake/internal/service/history"
	"github.com/retake-dev/retake/internal/service/workspace"
)

// Search finds checkpoints by words.
func (s *Insight) Search(ctx context.Context, q retake.SearchQuery) ([]retake.Hit, error) {
	if _, err := s.workspaces.LoadWorkspace(ctx, q.Workspace); err != nil {
		return nil, workspace.WrapError("no such workspace", workspace.Unchanged, err)
	}
	if strings.TrimSpace(q.Text) == "" {
		return nil, &retake.Error{Kind: retake.Invalid, What: "nothing to look for", Safe: workspace.Unchanged, Hint: "for example: retake find login"}
	}
	s.summarizeMissing(ctx, q.Workspace)
	found, err := s.workspaces.Catalog.Search(ctx, q)
	if err != nil {
		return nil, workspace.WrapError("the timeline cannot be searched", workspace.Unchanged, err)
	}
	cps := make([]retake.Checkpoint, len(found))
	for i, f := range found {
		cps[i] = f.Checkpoint
	}
	known, err := s.history.LoadFindings(ctx, q.Workspace, cps, true)
	out := make([]retake.Hit, len(found))
	for i, f := range found {
		out[i] = retake.Hit{Checkpoint: f.Checkpoint, Finding: known[f.Checkpoint.ID], Where: f.Place.Where, Text: f.Place.Text}
	}
	return out, workspace.WrapError("the timeline cannot be searched", workspace.Unchanged, err)
}

// Chronicle lists the checkpoints in which a fact with this name changed.
func (s *Insight) Chronicle(ctx context.Context, q retake.ChronicleQuery) ([]retake.Mention, error) {
	if _, err := s.workspaces.LoadWorkspace(ctx, q.Workspace); err != nil {
		return nil, workspace.WrapError("no such workspace", workspace.Unchanged, err)
	}
	s.summarizeMissing(ctx, q.Workspace)
	out, err := s.workspaces.Catalog.Mentions(ctx, q)
	if out == nil {
		out = []retake.Mention{}
	}
	return out, workspace.WrapError("the timeline cannot be searched", workspace.Unchanged, err)
}

// summarizeWait is how long a search may take for missing summaries.
const summarizeWait = 5 * time.Second

// summarizeMissing writes missing summaries before a search. In an exclusive service it
// waits for the background worker.
func (s *Insight) summarizeMissing(ctx context.Context, ws retake.WorkspaceID) {
	ctx, cancel := context.WithTimeout(ctx, summarizeWait)
	defer cancel()
	if s.workspaces.Exclusive {
		s.summarizer.waitIdle(ctx)
		return
	}
	bare, err := s.workspaces.Catalog.Bare(ctx, ws, story.Version, history.MaxMissingSummaries)
	if err != nil {
		return // what is summarized is searched
	}
	for _, cp := range bare {
		if ctx.Err() != nil || s.summarizeCheckpoint(ctx, cp, true) != nil {
			return
		}
	}
}
