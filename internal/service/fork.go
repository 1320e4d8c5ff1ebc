package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/session"
	"github.com/retake-dev/retake/internal/engine/capture"
	"github.com/retake-dev/retake/internal/engine/fork"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/marker"
	"github.com/retake-dev/retake/internal/storage/store"
)

// Fork grows a new workspace from a checkpoint: its files by the cheapest means there
// are, its first checkpoint the same tree, the checkpoint it grew from as the parent.
func (s *Service) Fork(ctx context.Context, req retake.ForkRequest) (retake.ForkResult, error) {
	origin, err := s.Find(ctx, req.Workspace, req.Ref)
	if err != nil {
		return retake.ForkResult{}, err
	}
	ws, err := s.row(ctx, req.Workspace)
	if err != nil {
		return retake.ForkResult{}, fault("no such workspace", unchanged, err)
	}
	if err := s.outside(req, ws); err != nil {
		return retake.ForkResult{}, err
	}
	release, err := s.keepWhile(ctx, origin)
	if err != nil {
		return retake.ForkResult{}, fault(fmt.Sprintf("checkpoint %d is not there any more", origin.Number), unchanged, err)
	}
	defer release()
	path, to, made, err := s.groundFor(req.Dir)
	if err != nil {
		return retake.ForkResult{}, err
	}
	defer to.Close() //nolint:errcheck // everything is synced by then
	g := &growth{s: s, req: req, ws: ws, origin: origin, path: path, to: to, wrote: map[string]fsx.Info{}, lists: listings{most: mostForked}}
	res, err := g.grow(ctx)
	if err != nil {
		err = s.noRoom("not forked", path, err)
		return res, errors.Join(fault("not forked", unchanged, err), s.clear(path, to, made))
	}
	return res, nil
}

// outside refuses a place in the workspace itself: its checkpoints would hold the fork, and
// going back would delete it.
func (s *Service) outside(req retake.ForkRequest, ws retake.Workspace) error {
	dir, err := realPath(filepath.Dir(req.Dir))
	if err != nil {
		return fault("there is no directory "+filepath.Dir(req.Dir), unchanged, err)
	}
	root, err := realPath(ws.Root)
	if err != nil {
		return nil // it is gone: nothing can lie in it
	}
	for at := dir; ; at = filepath.Dir(at) {
		if at == root || at == s.p.Data && !req.Throwaway {
			return &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("%s is inside %s", req.Dir, at), Safe: unchanged, Hint: "put the fork next to it: retake help fork"}
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

// groundFor opens the directory that a fork goes to, and makes it when it is not there.
func (s *Service) groundFor(dir string) (path string, to fsx.Dir, made bool, err error) {
	if path, err = filepath.Abs(dir); err != nil {
		return "", nil, false, fault("no such directory", unchanged, err)
	}
	parent, err := s.p.FS.OpenRoot(filepath.Dir(path))
	if err != nil {
		return "", nil, false, fault(fmt.Sprintf("%s cannot be opened", filepath.Dir(path)), unchanged, err)
	}
	defer parent.Close() //nolint:errcheck // a directory handle
	err = parent.Mkdir(filepath.Base(path), 0o700)
	if made = err == nil; err != nil && !errors.Is(err, fs.ErrExist) {
		return "", nil, false, fault(fmt.Sprintf("%s cannot be made", path), unchanged, err)
	}
	if to, err = parent.OpenDir(filepath.Base(path)); err != nil {
		return "", nil, false, fault(fmt.Sprintf("%s cannot be opened", path), unchanged, err)
	}
	if names, err := to.Names(); err != nil || len(names) > 0 {
		return "", nil, false, errors.Join(&retake.Error{Kind: retake.Exists, What: fmt.Sprintf("%s is there and not empty", path), Safe: unchanged, Hint: "name another: retake help fork", Err: err}, to.Close())
	}
	return path, to, made, nil
}

// clear removes what a fork that did not work out left in its own directory.
func (s *Service) clear(path string, to fsx.Dir, made bool) error {
	if err := fork.ClearDir(to); err != nil || !made {
		return err
	}
	parent, err := s.p.FS.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer parent.Close() //nolint:errcheck // a directory handle
	return parent.RemoveDir(filepath.Base(path))
}

// growth is one fork on its way.
type growth struct {
	s      *Service
	req    retake.ForkRequest
	ws     retake.Workspace
	origin retake.Checkpoint
	path   string
	to     fsx.Dir
	files  retake.Entry
	mu     sync.Mutex
	wrote  map[string]fsx.Info // guarded by mu
	lists  listings            // growing and the index need the same ones
}

// mostForked bounds the entries that are kept in memory while a fork grows.
const mostForked = 1_000_000

func (g *growth) grow(ctx context.Context) (retake.ForkResult, error) {
	st, err := g.s.store(ctx)
	if err != nil {
		return retake.ForkResult{}, err
	}
	if g.files, err = g.s.files(ctx, st, g.origin); err != nil {
		return retake.ForkResult{}, err
	}
	rep, err := g.copy(ctx, st)
	if err != nil {
		return retake.ForkResult{}, err
	}
	res := retake.ForkResult{Origin: g.origin, Cloned: rep.Cloned, Copied: rep.Copied, Warnings: append([]retake.Warning{}, rep.Warnings...)}
	res.Workspace = retake.Workspace{Name: filepath.Base(g.path), Root: g.path}
	if g.req.Throwaway {
		return res, nil
	}
	return g.protect(ctx, st, res)
}

// copy writes the files. What the live workspace still has as it was is cloned.
func (g *growth) copy(ctx context.Context, st store.Store) (fork.Report, error) {
	job := fork.Job{Trees: g.lists.over(st), Want: g.files, To: g.to, Progress: g.req.Progress, OnWritten: func(path string, i fsx.Info) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.wrote[path] = i
	}}
	if _, root, err := g.s.openRoot(ctx, g.ws.ID); err == nil {
		defer root.Close() //nolint:errcheck // only read
		l := g.s.liveOf(g.ws.ID)
		l.lock()
		x, err := g.s.known(ctx, l, g.ws.ID)
		if err == nil {
			x = x.Snapshot()
		}
		l.mu.Unlock()
		if err == nil {
			job.From, job.InodeNumber, job.FindUnchanged = root, x.InodeNumber, sameIn(x)
		}
	}
	return fork.Build(ctx, job)
}

// known gives the index of the newest checkpoint.
func (s *Service) known(ctx context.Context, l *live, ws retake.WorkspaceID) (*capture.Index, error) {
	tip, err := s.p.Catalog.Latest(ctx, ws, 0)
	if err != nil {
		return nil, err
	}
	return s.indexFor(ctx, l, ws, &tip)
}

// sameIn reports which files were captured with given bytes.
func sameIn(x *capture.Index) func(string, retake.Entry) (fork.Stamp, bool) {
	var mu sync.Mutex
	stamps := x.Stamps()
	return func(path string, e retake.Entry) (fork.Stamp, bool) {
		mu.Lock()
		defer mu.Unlock()
		id, st, ok := stamps.File(path)
		return fork.Stamp(st), ok && id == e.Object
	}
}

// protect makes a workspace of the fork: its mark, its line, its first checkpoint.
func (g *growth) protect(ctx context.Context, st store.Store, res retake.ForkResult) (retake.ForkResult, error) {
	i, err := g.to.Stat()
	if err != nil {
		return res, err
	}
	id, err := newWorkspaceID()
	if err != nil {
		return res, err
	}
	if g.req.Name != "" {
		res.Workspace.Name = g.req.Name
	}
	w := &res.Workspace
	w.ID, w.Dev, w.Ino, w.Created = id, i.Dev, i.Ino, g.s.p.Clock.Now()
	w.Origin = &retake.Origin{Workspace: g.ws.ID, Checkpoint: g.origin.ID, Number: g.origin.Number}
	if err := marker.Write(g.to, id); err != nil {
		return res, err
	}
	l := g.s.liveOf(id)
	l.lock()
	defer l.mu.Unlock()
	t, err := g.s.begin(ctx, l, *w, g.to)
	if err != nil {
		return res, err
	}
	defer g.s.care.kick()
	defer t.close() //nolint:errcheck // upkeep only
	if res.Checkpoint, err = g.seal(ctx, t, *w); err != nil {
		return res, err
	}
	if err := g.remember(ctx, st, l, i, res.Checkpoint); err != nil {
		res.Warnings = append(res.Warnings, retake.Warning{Code: "index", Text: "the first save reads every file: " + err.Error()})
	}
	g.s.rewound(id, session.Rewind{ID: string(res.Checkpoint.ID), At: res.Checkpoint.Time, Text: forkNote(g.ws, g.origin)})
	return res, nil
}

// seal writes the first checkpoint: the very tree that it grew from.
func (g *growth) seal(ctx context.Context, t *taking, ws retake.Workspace) (retake.Checkpoint, error) {
	id, err := newCheckpointID()
	if err != nil {
		return retake.Checkpoint{}, err
	}
	cp := g.origin
	cp.ID, cp.Workspace, cp.Number, cp.Parent, cp.Time = id, ws.ID, 1, g.origin.ID, g.s.p.Clock.Now()
	cp.Trigger, cp.Intent, cp.NewBytes, cp.Changed, cp.Return = retake.TriggerFork, fmt.Sprintf("forked from %d of %s", g.origin.Number, g.ws.Name), 0, retake.Counts{}, nil
	cp.Turn, cp.Effects = nil, nil
	if err := g.s.p.Catalog.PutWorkspace(ctx, ws); err != nil {
		return cp, err
	}
	if err := t.w.Seal(ctx, store.SealRequest{Card: retake.Card{V: retake.CardVersion, Checkpoint: cp}, Files: g.files}); err != nil {
		return cp, err
	}
	if err := g.s.p.Catalog.Append(ctx, cp); err != nil {
		return cp, err
	}
	return cp, g.s.followed(ctx, t.w.Head())
}

// remember lets the first save of the fork skip what was just written.
func (g *growth) remember(ctx context.Context, st store.Store, l *live, root fsx.Info, cp retake.Checkpoint) error {
	seal := capture.Seal{Checkpoint: cp.ID, Number: cp.Number, Tree: cp.Tree}
	d, err := capture.IndexOfNewTree(ctx, g.lists.over(st), g.files, root, g.wrote, g.s.p.FS.HasFineTimestamps(g.path), seal)
	if err != nil {
		return err
	}
	l.x, l.doubt = d.Index(), "it has just grown"
	return g.s.saveIndex(cp.Workspace, d)
}

// Forks lists the workspaces that grew from this one.
func (s *Service) Forks(ctx context.Context, ws retake.WorkspaceID) ([]retake.WorkspaceState, error) {
	all, err := s.Workspaces(ctx)
	if err != nil {
		return nil, err
	}
	out := []retake.WorkspaceState{}
	for _, w := range all {
		if w.Origin != nil && w.Origin.Workspace == ws && w.Ended == nil {
			out = append(out, w)
		}
	}
	return out, nil
}
