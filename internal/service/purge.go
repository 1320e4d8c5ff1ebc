package service

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/store"
)

// purging is one purge, or the plan of one.
type purging struct {
	s     *Service
	st    store.Store
	req   retake.PurgeRequest
	match *matcher // nil: by path
	read  int64    // stored files that were read

	family []retake.WorkspaceState
	dirs   map[retake.ObjectID]cleaned // directories that were gone through, by content alone
	gone   map[retake.ObjectID]int64   // files that go, with their size
	where  map[string]bool             // paths that they are at
	masked map[retake.ObjectID]retake.Entry
	w      store.Writer // nil while it is only planned
}

// PlanPurge finds what a purge would remove.
func (s *Service) PlanPurge(ctx context.Context, req retake.PurgeRequest) (retake.PurgePlan, error) {
	p, err := s.newPurging(ctx, req)
	if err != nil {
		return retake.PurgePlan{}, err
	}
	plan, err := p.plan(ctx)
	return plan, fault("the history cannot be searched", unchanged, err)
}

func (s *Service) newPurging(ctx context.Context, req retake.PurgeRequest) (*purging, error) {
	if (len(req.Paths) == 0) == (len(req.Contents) == 0) {
		return nil, &retake.Error{Kind: retake.Invalid, What: "a purge is of paths or of content", Safe: unchanged, Hint: "purge a path: retake purge -- .env\npurge by content: retake help purge"}
	}
	if s.p.Steadfast {
		return nil, &retake.Error{Kind: retake.Denied, What: "a purge is not possible on a server yet", Safe: unchanged, Hint: "remove checkpoints: POST /v1/deletions"}
	}
	p := &purging{
		s: s, req: req, dirs: map[retake.ObjectID]cleaned{}, gone: map[retake.ObjectID]int64{}, where: map[string]bool{}, masked: map[retake.ObjectID]retake.Entry{},
	}
	for _, c := range req.Contents {
		if len(c) < retake.MinPurgeContent {
			return nil, &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("content to purge has at least %d bytes", retake.MinPurgeContent), Safe: unchanged}
		}
	}
	if len(req.Contents) > 0 {
		p.match = newMatcher(req.Contents)
	}
	for i, name := range p.req.Paths {
		if p.req.Paths[i] = cleanPath(name); p.req.Paths[i] == "" || p.req.Paths[i] == "." {
			return nil, &retake.Error{Kind: retake.Invalid, What: "can't purge the whole workspace as a path", Safe: unchanged, Hint: "erase its history: retake deinit --purge"}
		}
	}
	ws, err := s.row(ctx, req.Workspace)
	if err != nil {
		return nil, fault("no such workspace", unchanged, err)
	}
	if p.st, err = s.store(ctx); err != nil {
		return nil, fault("the store cannot be opened", unchanged, err)
	}
	p.family, err = s.family(ctx, ws.ID)
	return p, fault("the workspaces cannot be listed", unchanged, err)
}

// family is a workspace with what it was forked from and all forks of these, ended ones
// too: they share what they hold.
func (s *Service) family(ctx context.Context, id retake.WorkspaceID) ([]retake.WorkspaceState, error) {
	all, err := s.p.Catalog.Workspaces(ctx)
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

func (p *purging) plan(ctx context.Context) (retake.PurgePlan, error) {
	plan := retake.PurgePlan{Workspaces: []retake.PurgeScope{}, Gaps: []retake.Gap{}, Live: []string{}, Beyond: []string{}}
	for _, w := range p.family {
		n := int64(0)
		err := p.st.Records(ctx, w.ID, 0, func(l *store.Record, _ *retake.Tombstone) error {
			if l == nil {
				return nil
			}
			_, changed, err := p.leaf(ctx, *l)
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
	p.tell(&plan)
	p.live(ctx, &plan)
	return plan, p.beyond(ctx, &plan)
}

const mostPurgePaths = 50

func (p *purging) tell(plan *retake.PurgePlan) {
	plan.Versions, plan.Records = int64(len(p.gone)), int64(len(p.masked))
	for _, n := range p.gone {
		plan.Bytes += n
	}
	all := slices.Sorted(maps.Keys(p.where))
	for _, name := range all[:min(len(all), mostPurgePaths)] {
		plan.Gaps = append(plan.Gaps, purgedGap(name))
	}
	plan.More = int64(len(all) - len(plan.Gaps))
}

// live names what is in the workspaces now: the next save records it again.
func (p *purging) live(ctx context.Context, plan *retake.PurgePlan) {
	for _, w := range p.family {
		if w.Ended != nil {
			continue
		}
		root, err := p.s.p.FS.OpenRoot(w.Root)
		if err != nil {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(p.where)) {
			if len(plan.Live) < mostPurgePaths && p.liveAt(root, strings.TrimSuffix(name, "/")) {
				plan.Live = append(plan.Live, path.Join(w.Root, name))
			}
		}
		_ = root.Close() // only looked
	}
}

// beyond names the copies that a purge does not reach.
func (p *purging) beyond(ctx context.Context, plan *retake.PurgePlan) error {
	for _, w := range p.family {
		if p.s.p.Backup == nil {
			break
		}
		if b, err := p.s.p.Backup.State(w.ID); err == nil && b.Pushed != nil {
			plan.Beyond = append(plan.Beyond, fmt.Sprintf("the git backup %s, branch %s: what was pushed is not removed there", b.URL, b.Branch))
		}
	}
	heads, err := p.st.Heads(ctx)
	if err != nil {
		return err
	}
	for _, h := range heads {
		if slices.ContainsFunc(p.family, func(w retake.WorkspaceState) bool { return w.ID == h.Workspace.ID }) || p.match == nil {
			continue
		}
		n := 0
		other := &purging{s: p.s, st: p.st, req: p.req, match: p.match, dirs: p.dirs, gone: map[retake.ObjectID]int64{}, where: map[string]bool{}, masked: map[retake.ObjectID]retake.Entry{}}
		err := p.st.Records(ctx, h.Workspace.ID, 0, func(l *store.Record, _ *retake.Tombstone) error {
			if l == nil {
				return nil
			}
			_, changed, err := other.leaf(ctx, *l)
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

// leaf is a checkpoint without what is purged, and whether that is another one. While it
// is only planned nothing is written, and only the answer counts.
func (p *purging) leaf(ctx context.Context, l store.Record) (store.Record, bool, error) {
	files, gaps, err := p.tree(ctx, l.Files)
	if err != nil {
		return l, false, fmt.Errorf("checkpoint %d: %w", l.Card.Checkpoint.Number, err)
	}
	for _, g := range gaps {
		p.where[g] = true
	}
	state, held, err := p.state(ctx, l.State)
	if err != nil {
		return l, false, fmt.Errorf("state of checkpoint %d: %w", l.Card.Checkpoint.Number, err)
	}
	card, said, err := p.card(l.Card)
	if err != nil {
		return l, false, err
	}
	if len(gaps) == 0 && !held && !said {
		return l, false, nil
	}
	l.Card, l.State = card, state
	if len(gaps) > 0 {
		l.Files = files
		p.cover(&l.Card.Checkpoint, files, gaps)
	}
	return l, true, nil
}

func purgedGap(path string) retake.Gap {
	return retake.Gap{Path: path, Reason: retake.ReasonPurged, Detail: "removed by retake purge"}
}

// cover says on the card what is not there any more. The counts of what changed stay:
// they are of what was captured.
func (p *purging) cover(cp *retake.Checkpoint, files retake.Entry, gaps []string) {
	all := slices.Clone(cp.Coverage.Gaps)
	for _, g := range gaps {
		all = append(all, purgedGap(g))
	}
	slices.SortFunc(all, func(a, b retake.Gap) int { return strings.Compare(a.Path, b.Path) })
	cp.Coverage = retake.Cover(slices.CompactFunc(all, func(a, b retake.Gap) bool { return a.Path == b.Path && a.Reason == b.Reason }))
	cp.Tree = files.Object
	cp.Files, cp.Dirs, cp.Bytes = files.Sum.Files+files.Sum.Symlinks, files.Sum.Dirs, files.Sum.Bytes
}
