package purge

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/service/history"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/store"
)

// purgeRun is one purge, or the plan of one.
type purgeRun struct {
	svc       *Purger
	store     store.Store
	req       retake.PurgeRequest
	matcher   *matcher // nil: by path
	filesRead int64    // stored files that were read

	family       []retake.WorkspaceState
	cleanedDirs  map[retake.ObjectID]cleanedDir // directories that were cleaned, by content alone
	removedFiles map[retake.ObjectID]int64      // removed files with their size
	removedPaths map[string]bool                // paths of these
	maskedParts  map[retake.ObjectID]retake.Entry
	writer       store.Writer // nil while planning
}

// PlanPurge finds what a purge would remove.
func (s *Purger) PlanPurge(ctx context.Context, req retake.PurgeRequest) (retake.PurgePlan, error) {
	p, err := s.newPurgeRun(ctx, req)
	if err != nil {
		return retake.PurgePlan{}, err
	}
	plan, err := p.buildPlan(ctx)
	return plan, workspace.WrapError("the history cannot be searched", workspace.Unchanged, err)
}

// newPurgeRun checks a purge request and finds the workspaces that it covers.
func (s *Purger) newPurgeRun(ctx context.Context, req retake.PurgeRequest) (*purgeRun, error) {
	if (len(req.Paths) == 0) == (len(req.Contents) == 0) {
		return nil, &retake.Error{Kind: retake.Invalid, What: "a purge is of paths or of content", Safe: workspace.Unchanged, Hint: "purge a path: retake purge -- .env\npurge by content: retake help purge"}
	}
	if s.opts.Denied {
		return nil, &retake.Error{Kind: retake.Denied, What: "a purge is not possible on a server yet", Safe: workspace.Unchanged, Hint: "remove checkpoints: POST /v1/deletions"}
	}
	p := &purgeRun{
		svc: s, req: req, cleanedDirs: map[retake.ObjectID]cleanedDir{}, removedFiles: map[retake.ObjectID]int64{}, removedPaths: map[string]bool{}, maskedParts: map[retake.ObjectID]retake.Entry{},
	}
	for _, c := range req.Contents {
		if len(c) < retake.MinPurgeContent {
			return nil, &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("content to purge has at least %d bytes", retake.MinPurgeContent), Safe: workspace.Unchanged}
		}
	}
	if len(req.Contents) > 0 {
		p.matcher = newMatcher(req.Contents)
	}
	for i, name := range p.req.Paths {
		if p.req.Paths[i] = history.CleanPath(name); p.req.Paths[i] == "" || p.req.Paths[i] == "." {
			return nil, &retake.Error{Kind: retake.Invalid, What: "can't purge the whole workspace as a path", Safe: workspace.Unchanged, Hint: "erase its history: retake deinit --purge"}
		}
	}
	ws, err := s.workspaces.LoadWorkspace(ctx, req.Workspace)
	if err != nil {
		return nil, workspace.WrapError("no such workspace", workspace.Unchanged, err)
	}
	if p.store, err = s.workspaces.Store(ctx); err != nil {
		return nil, workspace.WrapError("the store cannot be opened", workspace.Unchanged, err)
	}
	p.family, err = s.workspaceFamily(ctx, ws.ID)
	return p, workspace.WrapError("the workspaces cannot be listed", workspace.Unchanged, err)
}

// workspaceFamily returns a workspace with its origins and all their forks, also ended
// ones: they share stored data.
func (s *Purger) workspaceFamily(ctx context.Context, id retake.WorkspaceID) ([]retake.WorkspaceState, error) {
	all, err := s.workspaces.Catalog.Workspaces(ctx)
	if err != nil {
		return nil, err
	}
	in := map[retake.WorkspaceID]bool{id: true}
	for grew := true; grew; {
		grew = false
		for _, w := range all {
			if w.Origin != nil && in[w.ID] != in[w.Origin.Workspace] {
				in[w.ID], in[w.Origin.Workspace], grew = true, true, true
			}
		}
	}
	return slices.DeleteFunc(all, func(w retake.WorkspaceState) bool { return !in[w.ID] }), nil
}

// buildPlan goes through all checkpoints of the family without writing anything.
func (p *purgeRun) buildPlan(ctx context.Context) (retake.PurgePlan, error) {
	plan := retake.PurgePlan{Workspaces: []retake.PurgeScope{}, Gaps: []retake.Gap{}, Live: []string{}, Beyond: []string{}}
	for _, w := range p.family {
		n := int64(0)
		err := p.store.Records(ctx, w.ID, 0, func(l *store.Record, _ *retake.Tombstone) error {
			if l == nil {
				return nil
			}
			_, changed, err := p.cleanRecord(ctx, *l)
			if changed {
				n++
			}
			return err
		})
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return plan, err
		}
		plan.Workspaces = append(plan.Workspaces, retake.PurgeScope{Workspace: w.ID, Name: w.Name, Checkpoints: n})
		plan.Checkpoints += n
	}
	p.fillPlan(&plan)
	p.addLivePaths(ctx, &plan)
	return plan, p.addUnreachable(ctx, &plan)
}

const maxPurgePaths = 50

// fillPlan adds the counts and the first paths to the plan.
func (p *purgeRun) fillPlan(plan *retake.PurgePlan) {
	plan.Versions, plan.Records = int64(len(p.removedFiles)), int64(len(p.maskedParts))
	for _, n := range p.removedFiles {
		plan.Bytes += n
	}
	all := slices.Sorted(maps.Keys(p.removedPaths))
	for _, name := range all[:min(len(all), maxPurgePaths)] {
		plan.Gaps = append(plan.Gaps, purgedGap(name))
	}
	plan.More = int64(len(all) - len(plan.Gaps))
}

// addLivePaths lists matching files that are in the workspaces now: the next save records
// them again.
func (p *purgeRun) addLivePaths(ctx context.Context, plan *retake.PurgePlan) {
	for _, w := range p.family {
		if w.Ended != nil {
			continue
		}
		root, err := p.svc.workspaces.FS.OpenRoot(w.Root)
		if err != nil {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(p.removedPaths)) {
			if len(plan.Live) < maxPurgePaths && p.isLiveMatch(root, strings.TrimSuffix(name, "/")) {
				plan.Live = append(plan.Live, path.Join(w.Root, name))
			}
		}
		_ = root.Close() // only looked
	}
}

// addUnreachable lists the copies that a purge does not reach: pushed backups and other
// workspaces.
func (p *purgeRun) addUnreachable(ctx context.Context, plan *retake.PurgePlan) error {
	for _, w := range p.family {
		if p.svc.opts.Uploads != nil {
			plan.Beyond = append(plan.Beyond, p.svc.opts.Uploads.Holding(w.ID)...)
		}
		if p.svc.opts.Backup == nil {
			continue
		}
		if b, err := p.svc.opts.Backup.State(w.ID); err == nil && b.Pushed != nil {
			plan.Beyond = append(plan.Beyond, fmt.Sprintf("the git backup %s, branch %s: what was pushed is not removed there", b.URL, b.Branch))
		}
	}
	heads, err := p.store.Heads(ctx)
	if err != nil {
		return err
	}
	for _, h := range heads {
		if slices.ContainsFunc(p.family, func(w retake.WorkspaceState) bool { return w.ID == h.Workspace.ID }) || p.matcher == nil {
			continue
		}
		n := 0
		other := &purgeRun{svc: p.svc, store: p.store, req: p.req, matcher: p.matcher, cleanedDirs: p.cleanedDirs, removedFiles: map[retake.ObjectID]int64{}, removedPaths: map[string]bool{}, maskedParts: map[retake.ObjectID]retake.Entry{}}
		err := p.store.Records(ctx, h.Workspace.ID, 0, func(l *store.Record, _ *retake.Tombstone) error {
			if l == nil {
				return nil
			}
			_, changed, err := other.cleanRecord(ctx, *l)
			if changed {
				n++
			}
			return err
		})
		if err != nil {
			return err
		}
		if n > 0 {
			plan.Beyond = append(plan.Beyond, fmt.Sprintf("workspace %s contains it in %d checkpoints: retake purge --workspace %s", h.Workspace.Name, n, h.Workspace.ID))
		}
	}
	return nil
}

// cleanRecord returns a checkpoint without the purged content, and whether it changed.
// While planning nothing is written and only the second result counts.
func (p *purgeRun) cleanRecord(ctx context.Context, l store.Record) (store.Record, bool, error) {
	files, gaps, err := p.cleanTree(ctx, l.Files)
	if err != nil {
		return l, false, fmt.Errorf("checkpoint %d: %w", l.Card.Checkpoint.Number, err)
	}
	for _, g := range gaps {
		p.removedPaths[g] = true
	}
	rescued, cleaned, err := p.cleanRescues(ctx, &l)
	if err != nil {
		return l, false, fmt.Errorf("rescues of checkpoint %d: %w", l.Card.Checkpoint.Number, err)
	}
	state, held, err := p.maskState(ctx, l.State)
	if err != nil {
		return l, false, fmt.Errorf("state of checkpoint %d: %w", l.Card.Checkpoint.Number, err)
	}
	card, said, err := p.maskCard(l.Card)
	if err != nil {
		return l, false, err
	}
	if len(gaps) == 0 && !held && !said && !cleaned {
		return l, false, nil
	}
	l.Card, l.State = card, append(state, rescued...)
	if len(gaps) > 0 {
		l.Files = files
		p.updateCoverage(&l.Card.Checkpoint, files, gaps)
	}
	return l, true, nil
}

func purgedGap(path string) retake.Gap {
	return retake.Gap{Path: path, Reason: retake.ReasonPurged, Detail: "removed by retake purge"}
}

// updateCoverage records the removed paths as gaps of a checkpoint. The change counts stay:
// they are of what was captured.
func (p *purgeRun) updateCoverage(cp *retake.Checkpoint, files retake.Entry, gaps []string) {
	all := slices.Clone(cp.Coverage.Gaps)
	for _, g := range gaps {
		all = append(all, purgedGap(g))
	}
	slices.SortFunc(all, func(a, b retake.Gap) int { return strings.Compare(a.Path, b.Path) })
	cp.Coverage = retake.Cover(slices.CompactFunc(all, func(a, b retake.Gap) bool { return a.Path == b.Path && a.Reason == b.Reason }))
	cp.Tree = files.Object
	cp.Files, cp.Dirs, cp.Bytes = files.Sum.Files+files.Sum.Symlinks, files.Sum.Dirs, files.Sum.Bytes
}
