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

// Fork creates a new workspace from a checkpoint. Its files are cloned where possible; its
// first checkpoint has the same tree and the original checkpoint as its parent.
func (s *Service) Fork(ctx context.Context, req retake.ForkRequest) (retake.ForkResult, error) {
	origin, err := s.Find(ctx, req.Workspace, req.Ref)
	if err != nil {
		return retake.ForkResult{}, err
	}
	ws, err := s.loadWorkspace(ctx, req.Workspace)
	if err != nil {
		return retake.ForkResult{}, wrapError("no such workspace", unchanged, err)
	}
	if err := s.checkForkDir(req, ws); err != nil {
		return retake.ForkResult{}, err
	}
	release, err := s.protectCheckpoint(ctx, origin)
	if err != nil {
		return retake.ForkResult{}, wrapError(fmt.Sprintf("checkpoint %d is not there any more", origin.Number), unchanged, err)
	}
	defer release()
	path, to, made, err := s.openForkDir(req.Dir)
	if err != nil {
		return retake.ForkResult{}, err
	}
	defer to.Close() //nolint:errcheck // everything is synced by then
	g := &forkBuilder{svc: s, req: req, ws: ws, origin: origin, path: path, dir: to, written: map[string]fsx.Info{}, dirCache: dirCache{maxEntries: maxForkEntries}}
	res, err := g.build(ctx)
	if err != nil {
		err = s.explainNoSpace("not forked", path, err)
		return res, errors.Join(wrapError("not forked", unchanged, err), s.clearForkDir(path, to, made))
	}
	return res, nil
}

// checkForkDir refuses a directory inside the workspace: its checkpoints would include the
// fork, and a restore would delete it.
func (s *Service) checkForkDir(req retake.ForkRequest, ws retake.Workspace) error {
	dir, err := realPath(filepath.Dir(req.Dir))
	if err != nil {
		return wrapError("there is no directory "+filepath.Dir(req.Dir), unchanged, err)
	}
	root, err := realPath(ws.Root)
	if err != nil {
		return nil // it is gone: nothing can be inside it
	}
	for at := dir; ; at = filepath.Dir(at) {
		if at == root || at == s.parts.DataDir && !req.Throwaway {
			return &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("%s is inside %s", req.Dir, at), Safe: unchanged, Hint: "put the fork next to it: retake help fork"}
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

// openForkDir opens the directory for a fork and creates it if it does not exist. It must
// be empty.
func (s *Service) openForkDir(dir string) (path string, to fsx.Dir, made bool, err error) {
	if path, err = filepath.Abs(dir); err != nil {
		return "", nil, false, wrapError("no such directory", unchanged, err)
	}
	parent, err := s.parts.FS.OpenRoot(filepath.Dir(path))
	if err != nil {
		return "", nil, false, wrapError(fmt.Sprintf("%s cannot be opened", filepath.Dir(path)), unchanged, err)
	}
	defer parent.Close() //nolint:errcheck // a directory handle
	err = parent.Mkdir(filepath.Base(path), 0o700)
	if made = err == nil; err != nil && !errors.Is(err, fs.ErrExist) {
		return "", nil, false, wrapError(fmt.Sprintf("%s cannot be made", path), unchanged, err)
	}
	if to, err = parent.OpenDir(filepath.Base(path)); err != nil {
		return "", nil, false, wrapError(fmt.Sprintf("%s cannot be opened", path), unchanged, err)
	}
	if names, err := to.Names(); err != nil || len(names) > 0 {
		return "", nil, false, errors.Join(&retake.Error{Kind: retake.Exists, What: fmt.Sprintf("%s is there and not empty", path), Safe: unchanged, Hint: "name another: retake help fork", Err: err}, to.Close())
	}
	return path, to, made, nil
}

// clearForkDir removes what a failed fork left in its directory.
func (s *Service) clearForkDir(path string, to fsx.Dir, made bool) error {
	if err := fork.ClearDir(to); err != nil || !made {
		return err
	}
	parent, err := s.parts.FS.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer parent.Close() //nolint:errcheck // a directory handle
	return parent.RemoveDir(filepath.Base(path))
}

// forkBuilder builds one fork.
type forkBuilder struct {
	svc      *Service
	req      retake.ForkRequest
	ws       retake.Workspace
	origin   retake.Checkpoint
	path     string
	dir      fsx.Dir
	treeRoot retake.Entry
	mu       sync.Mutex
	written  map[string]fsx.Info // guarded by mu
	dirCache dirCache            // copying and indexing read the same directories
}

// maxForkEntries bounds the entries kept in memory while a fork is built.
const maxForkEntries = 1_000_000

// build copies the files and, unless the fork is a throwaway, makes a workspace of it.
func (g *forkBuilder) build(ctx context.Context) (retake.ForkResult, error) {
	st, err := g.svc.store(ctx)
	if err != nil {
		return retake.ForkResult{}, err
	}
	if g.treeRoot, err = g.svc.treeRoot(ctx, st, g.origin); err != nil {
		return retake.ForkResult{}, err
	}
	rep, err := g.copyFiles(ctx, st)
	if err != nil {
		return retake.ForkResult{}, err
	}
	res := retake.ForkResult{Origin: g.origin, Cloned: rep.Cloned, Copied: rep.Copied, Warnings: append([]retake.Warning{}, rep.Warnings...)}
	res.Workspace = retake.Workspace{Name: filepath.Base(g.path), Root: g.path}
	if g.req.Throwaway {
		return res, nil
	}
	return g.protectFork(ctx, st, res)
}

// copyFiles writes the files. Those that the live workspace still has unchanged are cloned.
func (g *forkBuilder) copyFiles(ctx context.Context, st store.Store) (fork.Report, error) {
	job := fork.Job{Trees: g.dirCache.wrapTrees(st), Want: g.treeRoot, To: g.dir, Progress: g.req.Progress, OnWritten: func(path string, i fsx.Info) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.written[path] = i
	}}
	if _, root, err := g.svc.openRoot(ctx, g.ws.ID); err == nil {
		defer root.Close() //nolint:errcheck // only read
		l := g.svc.cacheFor(g.ws.ID)
		l.lockAndCancelCheck()
		x, err := g.svc.loadNewestIndex(ctx, l, g.ws.ID)
		if err == nil {
			x = x.Snapshot()
		}
		l.mu.Unlock()
		if err == nil {
			job.From, job.InodeNumber, job.FindUnchanged = root, x.InodeNumber, unchangedFinder(x)
		}
	}
	return fork.Build(ctx, job)
}

// loadNewestIndex returns the stat index of the newest checkpoint.
func (s *Service) loadNewestIndex(ctx context.Context, l *workspaceCache, ws retake.WorkspaceID) (*capture.Index, error) {
	tip, err := s.parts.Catalog.Latest(ctx, ws, 0)
	if err != nil {
		return nil, err
	}
	return s.indexFor(ctx, l, ws, &tip)
}

// unchangedFinder returns a function that reports which files were captured with the given
// bytes.
func unchangedFinder(x *capture.Index) func(string, retake.Entry) (fork.Stamp, bool) {
	var mu sync.Mutex
	stamps := x.Stamps()
	return func(path string, e retake.Entry) (fork.Stamp, bool) {
		mu.Lock()
		defer mu.Unlock()
		id, st, ok := stamps.File(path)
		return fork.Stamp(st), ok && id == e.Object
	}
}

// protectFork makes a workspace of the fork: marker, first checkpoint and stat index.
func (g *forkBuilder) protectFork(ctx context.Context, st store.Store, res retake.ForkResult) (retake.ForkResult, error) {
	i, err := g.dir.Stat()
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
	w.ID, w.Dev, w.Ino, w.Created = id, i.Dev, i.Ino, g.svc.parts.Clock.Now()
	w.Origin = &retake.Origin{Workspace: g.ws.ID, Checkpoint: g.origin.ID, Number: g.origin.Number}
	if err := marker.Write(g.dir, id); err != nil {
		return res, err
	}
	l := g.svc.cacheFor(id)
	l.lockAndCancelCheck()
	defer l.mu.Unlock()
	t, err := g.svc.beginCheckpoint(ctx, l, *w, g.dir)
	if err != nil {
		return res, err
	}
	defer g.svc.requestUpkeep()
	defer t.close() //nolint:errcheck // upkeep only
	if res.Checkpoint, err = g.sealFirst(ctx, t, *w); err != nil {
		return res, err
	}
	if err := g.saveForkIndex(ctx, st, l, i, res.Checkpoint); err != nil {
		res.Warnings = append(res.Warnings, retake.Warning{Code: "index", Text: "the first save reads every file: " + err.Error()})
	}
	g.svc.notifyRewind(id, session.Rewind{ID: string(res.Checkpoint.ID), At: res.Checkpoint.Time, Text: forkNote(g.ws, g.origin)})
	return res, nil
}

// sealFirst writes the first checkpoint of the fork, with the tree of the original.
func (g *forkBuilder) sealFirst(ctx context.Context, t *checkpointWriter, ws retake.Workspace) (retake.Checkpoint, error) {
	id, err := newCheckpointID()
	if err != nil {
		return retake.Checkpoint{}, err
	}
	cp := g.origin
	cp.ID, cp.Workspace, cp.Number, cp.Parent, cp.Time = id, ws.ID, 1, g.origin.ID, g.svc.parts.Clock.Now()
	cp.Trigger, cp.Intent, cp.NewBytes, cp.Changed, cp.Return = retake.TriggerFork, fmt.Sprintf("forked from %d of %s", g.origin.Number, g.ws.Name), 0, retake.Counts{}, nil
	cp.Turn, cp.Effects = nil, nil
	if err := g.svc.parts.Catalog.PutWorkspace(ctx, ws); err != nil {
		return cp, err
	}
	if err := t.writer.Seal(ctx, store.SealRequest{Card: retake.Card{V: retake.CardVersion, Checkpoint: cp}, Files: g.treeRoot}); err != nil {
		return cp, err
	}
	if err := g.svc.parts.Catalog.Append(ctx, cp); err != nil {
		return cp, err
	}
	return cp, g.svc.markCatalogSynced(ctx, t.writer.Head())
}

// saveForkIndex writes a stat index of the new files, so that the first save does not read
// them again.
func (g *forkBuilder) saveForkIndex(ctx context.Context, st store.Store, l *workspaceCache, root fsx.Info, cp retake.Checkpoint) error {
	seal := capture.Seal{Checkpoint: cp.ID, Number: cp.Number, Tree: cp.Tree}
	d, err := capture.IndexOfNewTree(ctx, g.dirCache.wrapTrees(st), g.treeRoot, root, g.written, g.svc.parts.FS.HasFineTimestamps(g.path), seal)
	if err != nil {
		return err
	}
	l.index, l.rescanReason = d.Index(), "it has just grown"
	return g.svc.saveIndex(cp.Workspace, d)
}

// Forks lists the forks of a workspace.
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
