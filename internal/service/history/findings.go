package history

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/story"
	"github.com/retake-dev/retake/internal/explain/verify"
	"github.com/retake-dev/retake/internal/pure/tree"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

// goodCheckpointCache remembers the newest good checkpoint of each workspace until
// something changes.
type goodCheckpointCache struct {
	mu          sync.Mutex
	byWorkspace map[retake.WorkspaceID]cachedGood
	changes     int64 // calls of InvalidateGood: what was read before one is not kept after it
}

type cachedGood struct {
	checkpoint   *retake.Checkpoint
	latestNumber int64 // of the newest checkpoint at that time
	standing     []retake.Standing
}

func (s *History) InvalidateGood(ws retake.WorkspaceID) {
	s.goodCache.mu.Lock()
	defer s.goodCache.mu.Unlock()
	s.goodCache.changes++
	delete(s.goodCache.byWorkspace, ws)
}

// FindTurningPoints returns the checkpoints at which the result of a check changed.
func (s *History) FindTurningPoints(ctx context.Context, ws retake.WorkspaceID) ([]retake.CheckpointID, error) {
	all, err := s.workspaces.Catalog.Verifications(ctx, catalog.VerificationQuery{Workspace: ws})
	return verify.TurningPoints(all), err
}

// LoadFindings returns what is known of some checkpoints. With gists, missing summaries are
// requested.
func (s *History) LoadFindings(ctx context.Context, ws retake.WorkspaceID, cps []retake.Checkpoint, gists bool) (map[retake.CheckpointID]retake.Finding, error) {
	out := map[retake.CheckpointID]retake.Finding{}
	all, err := s.VerificationsByContent(ctx, ws, cps)
	if err != nil {
		return out, err
	}
	known := map[retake.CheckpointID]retake.Gist{}
	if gists {
		if known, err = s.loadGists(ctx, ws, cps); err != nil {
			return out, err
		}
	}
	standing, running := s.StandingChecks(ws), s.RunningChecks(ws)
	damaged := map[int64]int64{}
	for _, d := range workspace.DamagedPaths(ctx, s.workspaces.Catalog, ws) {
		damaged[d.Number]++
	}
	for i, cp := range cps {
		var f retake.Finding
		if g, ok := known[cp.ID]; ok {
			f.Gist = &g
		}
		about := all[cp.Content]
		var before *retake.Checkpoint
		if i+1 < len(cps) {
			before = &cps[i+1]
			about = append(slices.Clone(about), all[before.Content]...)
		}
		f.Answers = withRunningChecks(verify.Answers(cp, before, about), running[cp.Content])
		f.Good = verify.IsGood(cp, all[cp.Content], standing)
		f.Damaged = damaged[cp.Number] + damaged[0] // 0: the whole history
		if f.Gist != nil || len(f.Answers) > 0 || f.Good || f.Damaged > 0 {
			f.Changed = cp.ChangedFiles(f.Gist)
			out[cp.ID] = f
		}
	}
	return out, nil
}

// loadGists returns the known gists. An exclusive service requests the missing ones.
func (s *History) loadGists(ctx context.Context, ws retake.WorkspaceID, cps []retake.Checkpoint) (map[retake.CheckpointID]retake.Gist, error) {
	ids := make([]retake.CheckpointID, len(cps))
	for i, cp := range cps {
		ids[i] = cp.ID
	}
	known, err := s.workspaces.Catalog.Gists(ctx, ws, ids)
	if err != nil || !s.workspaces.Exclusive {
		return known, err
	}
	for _, cp := range cps {
		if g, ok := known[cp.ID]; !ok || g.V < story.Version {
			s.RequestSummary(cp)
		}
	}
	return known, nil
}

// VerificationsByContent returns the verifications of the contents of some checkpoints.
func (s *History) VerificationsByContent(ctx context.Context, ws retake.WorkspaceID, cps []retake.Checkpoint) (map[retake.ContentID][]retake.Verification, error) {
	if len(cps) == 0 {
		return nil, nil
	}
	contents := make([]retake.ContentID, 0, len(cps))
	for _, cp := range cps {
		contents = append(contents, cp.Content)
	}
	slices.Sort(contents)
	all, err := s.workspaces.Catalog.Verifications(ctx, catalog.VerificationQuery{Workspace: ws, Contents: slices.Compact(contents)})
	out := map[retake.ContentID][]retake.Verification{}
	for _, v := range all {
		out[v.Content] = append(out[v.Content], v)
	}
	return out, err
}

// withRunningChecks adds the checks that are running now.
func withRunningChecks(answers []retake.Answer, names []string) []retake.Answer {
	for _, name := range names {
		i := slices.IndexFunc(answers, func(a retake.Answer) bool { return a.Name == name })
		if i < 0 {
			answers = append(answers, retake.Answer{Name: name, Verdict: retake.Running})
		} else if answers[i].Claim {
			answers[i] = retake.Answer{Name: name, Verdict: retake.Running, Was: answers[i].Was}
		}
	}
	return answers
}

// checkpointPageSize is how many checkpoints a search reads at once.
const checkpointPageSize = 256

// FindNewestGood returns the newest good checkpoint, or nil.
func (s *History) FindNewestGood(ctx context.Context, ws retake.WorkspaceID) (*retake.Checkpoint, error) {
	_, last, err := s.workspaces.Catalog.Counts(ctx, ws)
	if err != nil {
		return nil, err
	}
	standing := s.StandingChecks(ws)
	s.goodCache.mu.Lock()
	k, ok := s.goodCache.byWorkspace[ws]
	changes := s.goodCache.changes
	s.goodCache.mu.Unlock()
	if ok && s.workspaces.Exclusive && k.latestNumber == last && slices.Equal(k.standing, standing) {
		return k.checkpoint, nil
	}
	cp, err := s.findNewestWith(ctx, ws, func(cp retake.Checkpoint, about []retake.Verification) bool {
		return verify.IsGood(cp, about, standing)
	})
	s.goodCache.mu.Lock()
	defer s.goodCache.mu.Unlock()
	if err == nil && s.goodCache.changes == changes {
		s.goodCache.byWorkspace[ws] = cachedGood{checkpoint: cp, latestNumber: last, standing: standing}
	}
	return cp, err
}

// findNewestWith returns the newest checkpoint for which good returns true, or nil.
func (s *History) findNewestWith(ctx context.Context, ws retake.WorkspaceID, good func(retake.Checkpoint, []retake.Verification) bool) (*retake.Checkpoint, error) {
	if any, err := s.workspaces.Catalog.Verifications(ctx, catalog.VerificationQuery{Workspace: ws, Limit: 1}); err != nil || len(any) == 0 {
		return nil, err
	}
	var found *retake.Checkpoint
	err := s.EachCheckpointPage(ctx, retake.LogQuery{Workspace: ws}, func(page []retake.Checkpoint) (bool, error) {
		all, err := s.VerificationsByContent(ctx, ws, page)
		for i := range page {
			if err == nil && good(page[i], all[page[i].Content]) {
				found = &page[i]
				return false, nil
			}
		}
		return true, err
	})
	return found, err
}

// EachCheckpointPage calls f with pages of checkpoints, newest first, until f returns
// more=false.
func (s *History) EachCheckpointPage(ctx context.Context, q retake.LogQuery, f func([]retake.Checkpoint) (more bool, err error)) error {
	q.Limit = checkpointPageSize
	for {
		page, err := s.workspaces.Catalog.Page(ctx, q)
		if err != nil || len(page) == 0 {
			return err
		}
		if more, err := f(page); err != nil || !more || len(page) < checkpointPageSize {
			return err
		}
		q.Before = page[len(page)-1].Number
	}
}

// findNewestPassing returns the newest complete checkpoint that passed the named check.
func (s *History) findNewestPassing(ctx context.Context, ws retake.WorkspaceID, name string) (retake.Checkpoint, error) {
	cp, err := s.findNewestWith(ctx, ws, func(cp retake.Checkpoint, about []retake.Verification) bool {
		about = slices.DeleteFunc(slices.Clone(about), func(v retake.Verification) bool { return v.Name != name })
		return verify.IsGood(cp, about, nil)
	})
	if err == nil && cp == nil {
		err = catalog.ErrNotFound
	}
	if err != nil {
		return retake.Checkpoint{}, err
	}
	return *cp, nil
}

// listMatching lists checkpoints that are good or in which a path changed.
func (s *History) listMatching(ctx context.Context, q retake.LogQuery) ([]retake.Checkpoint, error) {
	limit := q.Limit
	var out []retake.Checkpoint
	err := s.EachCheckpointPage(ctx, q, func(page []retake.Checkpoint) (bool, error) {
		keep, err := s.matchPage(ctx, q, page)
		if err != nil {
			return false, err
		}
		for i, cp := range page {
			if keep[i] && (limit == 0 || len(out) < limit) {
				out = append(out, cp)
			}
		}
		return limit == 0 || len(out) < limit, nil
	})
	return out, err
}

// matchPage reports for each checkpoint of a page whether it matches the query.
func (s *History) matchPage(ctx context.Context, q retake.LogQuery, page []retake.Checkpoint) ([]bool, error) {
	keep := make([]bool, len(page))
	found := map[retake.CheckpointID]retake.Finding{}
	if q.Good {
		var err error
		if found, err = s.LoadFindings(ctx, q.Workspace, page, false); err != nil {
			return nil, err
		}
	}
	for i, cp := range page {
		keep[i] = !q.Good || found[cp.ID].Good
		if keep[i] && q.Path != "" {
			touched, err := s.isPathChanged(ctx, cp, CleanPath(q.Path))
			if err != nil {
				return nil, err
			}
			keep[i] = touched
		}
	}
	return keep, nil
}

// isPathChanged reports whether a path, or something below it, differs from the previous
// checkpoint.
func (s *History) isPathChanged(ctx context.Context, cp retake.Checkpoint, path string) (bool, error) {
	from, err := s.DiffBase(ctx, retake.DiffQuery{Workspace: cp.Workspace}, cp)
	if err != nil {
		return false, err
	}
	if from != nil && from.Tree == cp.Tree {
		return false, nil
	}
	is, err := s.FindEntry(ctx, cp, path)
	if err != nil || from == nil {
		return is != nil, err
	}
	was, err := s.FindEntry(ctx, *from, path)
	if err != nil || is == nil || was == nil {
		return (is == nil) != (was == nil), err
	}
	if is.Object == was.Object && is.Kind == was.Kind && is.Mode == was.Mode {
		return false, nil
	}
	return is.Kind != retake.KindDir || was.Kind != retake.KindDir || !differOnlyInTimes(ctx, s, was, is), nil
}

// differOnlyInTimes reports whether two directories differ in times at most.
func differOnlyInTimes(ctx context.Context, s *History, was, is *retake.Entry) bool {
	st, err := s.workspaces.Store(ctx)
	if err != nil {
		return false
	}
	differs := errors.New("differs")
	err = tree.Compare(ctx, st, was, st, is, func(c retake.Change) error {
		if c.What != retake.Timed {
			return differs
		}
		return nil
	})
	return err == nil
}
