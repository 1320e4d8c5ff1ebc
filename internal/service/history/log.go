package history

import (
	"context"
	"errors"
	"fmt"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

// Log lists a part of the timeline. It opens the store only to search for a path.
func (s *History) Log(ctx context.Context, q retake.LogQuery) (retake.Timeline, error) {
	var tl retake.Timeline
	var err error
	if tl.Workspace, err = s.workspaces.LoadWorkspace(ctx, q.Workspace); err == nil {
		tl.Checkpoints, err = s.listPage(ctx, q)
	}
	if err == nil {
		tl.Pins, err = s.workspaces.Catalog.Pins(ctx, q.Workspace)
	}
	if err == nil {
		tl.Total, _, err = s.workspaces.Catalog.Counts(ctx, q.Workspace)
	}
	if err == nil {
		tl.Findings, err = s.LoadFindings(ctx, q.Workspace, tl.Checkpoints, true)
	}
	if err == nil {
		tl.Good, err = s.FindNewestGood(ctx, q.Workspace)
	}
	tl.Upload = s.UploadOf(q.Workspace)
	return tl, workspace.WrapError("the timeline cannot be read", workspace.Unchanged, err)
}

// listPage lists checkpoints; only a query for a path opens the store.
func (s *History) listPage(ctx context.Context, q retake.LogQuery) ([]retake.Checkpoint, error) {
	if q.Good || q.Path != "" {
		return s.listMatching(ctx, q)
	}
	return s.workspaces.Catalog.Page(ctx, q)
}

// Find resolves a ref. Pins are tried before times, because the name of a pin may look like
// anything.
func (s *History) Find(ctx context.Context, ws retake.WorkspaceID, ref string) (retake.Checkpoint, error) {
	r, err := retake.ParseRef(ref, s.workspaces.Clock.Now())
	if err != nil {
		return retake.Checkpoint{}, err
	}
	cp, err := retake.Checkpoint{}, catalog.ErrNotFound
	if retake.MayLoad(ctx, ws) {
		cp, err = workspace.FindInCatalog(s.workspaces, func() (retake.Checkpoint, error) { return s.resolveRef(ctx, ws, r, ref) })
	}
	if errors.Is(err, catalog.ErrNotFound) {
		if r.Form == retake.RefGood {
			return cp, s.noGoodError(ws, r.Text)
		}
		return cp, s.noCheckpointError(ctx, ws, ref)
	}
	return cp, workspace.WrapError("the timeline cannot be read", workspace.Unchanged, err)
}

// resolveRef finds the checkpoint of a parsed ref; catalog.ErrNotFound if there is none.
func (s *History) resolveRef(ctx context.Context, ws retake.WorkspaceID, r retake.Ref, text string) (retake.Checkpoint, error) {
	c := s.workspaces.Catalog
	switch r.Form {
	case retake.RefNumber:
		return c.ByNumber(ctx, ws, r.Number)
	case retake.RefLatest:
		return c.Latest(ctx, ws, r.Number)
	case retake.RefStart:
		return c.Start(ctx, ws)
	case retake.RefID:
		return s.findByPrefix(ctx, ws, r.Text)
	case retake.RefTime, retake.RefName:
		return s.findByName(ctx, ws, r, text)
	case retake.RefGood:
		return s.findByGood(ctx, ws, r.Text)
	case retake.RefGit:
		return s.findByCommit(ctx, ws, r.Text)
	}
	return retake.Checkpoint{}, catalog.ErrNotFound
}

// findByName finds a checkpoint by the name of a pin, else by time.
func (s *History) findByName(ctx context.Context, ws retake.WorkspaceID, r retake.Ref, text string) (retake.Checkpoint, error) {
	pins, err := s.workspaces.Catalog.Pins(ctx, ws)
	if err != nil {
		return retake.Checkpoint{}, err
	}
	for _, p := range pins {
		if p.Name == text {
			return s.workspaces.LoadCheckpoint(ctx, p.Checkpoint)
		}
	}
	if r.Form == retake.RefTime {
		return s.workspaces.Catalog.Before(ctx, ws, r.Time)
	}
	return retake.Checkpoint{}, catalog.ErrNotFound
}

// findByGood finds the newest good checkpoint, or the newest that passed the named check.
func (s *History) findByGood(ctx context.Context, ws retake.WorkspaceID, name string) (retake.Checkpoint, error) {
	if name != "" {
		return s.findNewestPassing(ctx, ws, name)
	}
	cp, err := s.FindNewestGood(ctx, ws)
	if err == nil && cp == nil {
		err = catalog.ErrNotFound
	}
	if err != nil {
		return retake.Checkpoint{}, err
	}
	return *cp, nil
}

func (s *History) noGoodError(ws retake.WorkspaceID, name string) error {
	e := &retake.Error{Kind: retake.NotFound, What: "no checkpoint is good yet", Safe: workspace.Unchanged, Hint: "verify one: retake verify -- npm test\nverify every turn: retake config verify.test \"npm test\""}
	if name != "" {
		e.What, e.Hint = fmt.Sprintf("no checkpoint has passed %s", name), fmt.Sprintf("run it after every turn: retake config verify.%s \"npm test\"\nlist checkpoints: retake log", name)
	} else if len(s.StandingChecks(ws)) > 0 {
		e.What, e.Hint = "no checkpoint has passed all checks", "run them now: retake verify"
	}
	return e
}

// findByPrefix finds a checkpoint by the beginning of its ID, which must be unique.
func (s *History) findByPrefix(ctx context.Context, ws retake.WorkspaceID, prefix string) (retake.Checkpoint, error) {
	found, err := s.workspaces.Catalog.ByPrefix(ctx, ws, prefix)
	switch {
	case err != nil:
		return retake.Checkpoint{}, err
	case len(found) == 0:
		return retake.Checkpoint{}, catalog.ErrNotFound
	case len(found) > 1:
		return retake.Checkpoint{}, &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("more than one checkpoint begins with %s", prefix), Safe: workspace.Unchanged, Hint: "type more of the id"}
	}
	return found[0], nil
}

// noCheckpointError says that a ref matches nothing, and names the newest checkpoint.
func (s *History) noCheckpointError(ctx context.Context, id retake.WorkspaceID, ref string) error {
	e := &retake.Error{Kind: retake.NotFound, What: fmt.Sprintf("there is no checkpoint %s", ref), Safe: workspace.Unchanged, Hint: "list checkpoints: retake log"}
	ws, err := s.workspaces.LoadWorkspace(ctx, id)
	if errors.Is(err, catalog.ErrNotFound) {
		return err
	}
	if err != nil {
		return e
	}
	e.What += " in " + ws.Name
	if newest, err := s.workspaces.Catalog.Latest(ctx, id, 0); err == nil {
		e.Safe = fmt.Sprintf("%s The newest is %d, from %s.", workspace.Unchanged, newest.Number, newest.Time.Local().Format("15:04"))
	}
	return e
}

// TimelinePageSize is how many checkpoints a walk over the timeline reads at once.
const TimelinePageSize = 64
