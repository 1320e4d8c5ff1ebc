package rewind

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/session"
	"github.com/retake-dev/retake/internal/engine/capture"
	"github.com/retake-dev/retake/internal/engine/fork"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/marker"
	"github.com/retake-dev/retake/internal/service/agentstate"
	"github.com/retake-dev/retake/internal/service/checkpoint"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/store"
)

// Fork creates a new workspace from a checkpoint. Its files are cloned where possible; its
// first checkpoint has the same tree and the original checkpoint as its parent.
func (s *Rewinder) Fork(ctx context.Context, req retake.ForkRequest) (retake.ForkResult, error) {
	origin, err := s.history.Find(ctx, req.Workspace, req.Ref)
	if err != nil {
		return retake.ForkResult{}, err
	}
	ws, err := s.workspaces.LoadWorkspace(ctx, req.Workspace)
	if err != nil {
		return retake.ForkResult{}, workspace.WrapError("no such workspace", workspace.Unchanged, err)
	}
	if err := s.checkForkDir(req, ws); err != nil {
		return retake.ForkResult{}, err
	}
	release, err := s.workspaces.ProtectCheckpoint(ctx, origin)
	if err != nil {
		return retake.ForkResult{}, workspace.WrapError(fmt.Sprintf("checkpoint %d is not there any more", origin.Number), workspace.Unchanged, err)
	}
	defer release()
	path, to, made, err := s.openForkDir(req.Dir)
	if err != nil {
		return retake.ForkResult{}, err
	}
	defer to.Close() //nolint:errcheck // everything is synced by then
	g := &forkBuilder{svc: s, req: req, ws: ws, origin: origin, path: path, dir: to, written: map[string]fsx.Info{}, dirCache: workspace.DirCache{MaxEntries: maxForkEntries}}
	res, err := g.build(ctx)
	if err != nil {
		err = s.workspaces.ExplainNoSpace("not forked", path, err)
		return res, errors.Join(workspace.WrapError("not forked", workspace.Unchanged, err), s.ClearForkDir(path, to, made))
	}
	return res, nil
}

// checkForkDir refuses a directory inside the workspace: its checkpoints would include the
// fork, and a restore would delete it.
func (s *Rewinder) checkForkDir(req retake.ForkRequest, ws retake.Workspace) error {
	dir, err := workspace.RealPath(filepath.Dir(req.Dir))
	if err != nil {
		return workspace.WrapError("there is no directory "+filepath.Dir(req.Dir), workspace.Unchanged, err)
	}
	root, err := workspace.RealPath(ws.Root)
	if err != nil {
		return nil // it is gone: nothing can be inside it
	}
	for at := dir; ; at = filepath.Dir(at) {
		if at == root || at == s.workspaces.DataDir && !req.Throwaway {
			return &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("%s is inside %s", req.Dir, at), Safe: workspace.Unchanged, Hint: "put the fork next to it: retake help fork"}
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

// openForkDir opens the directory for a fork and creates it if it does not exist. It must
// be empty.
func (s *Rewinder) openForkDir(dir string) (path string, to fsx.Dir, made bool, err error) {
	if path, err = filepath.Abs(dir); err != nil {
		return "", nil, false, workspace.WrapError("no such directory", workspace.Unchanged, err)
	}
	parent, err := s.workspaces.FS.OpenRoot(filepath.Dir(path))
	if err != nil {
		return "", nil, false, workspace.WrapError(fmt.Sprintf("%s cannot be opened", filepath.Dir(path)), workspace.Unchanged, err)
	}
	defer parent.Close() //nolint:errcheck // a directory handle
	err = parent.Mkdir(filepath.Base(path), 0o700)
	if made = err == nil; err != nil && !errors.Is(err, fs.ErrExist) {
		return "", nil, false, workspace.WrapError(fmt.Sprintf("%s cannot be made", path), workspace.Unchanged, err)
	}
	if to, err = parent.OpenDir(filepath.Base(path)); err != nil {
		return "", nil, false, workspace.WrapError(fmt.Sprintf("%s cannot be opened", path), workspace.Unchanged, err)
	}
	if names, err := to.Names(); err != nil || len(names) > 0 {
		return "", nil, false, errors.Join(&retake.Error{Kind: retake.Exists, What: fmt.Sprintf("%s is there and not empty", path), Safe: workspace.Unchanged, Hint: "name another: retake help fork", Err: err}, to.Close())
	}
	return path, to, made, nil
}

// ClearForkDir removes what a failed fork left in its directory.
func (s *Rewinder) ClearForkDir(path string, to fsx.Dir, made bool) error {
	if err := fork.ClearDir(to); err != nil || !made {
		return err
	}
	parent, err := s.workspaces.FS.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer parent.Close() //nolint:errcheck // a directory handle
	return parent.RemoveDir(filepath.Base(path))
}

// forkBuilder builds one fork.
type forkBuilder struct {
	svc      *Rewinder
	req      retake.ForkRequest
	ws       retake.Workspace
	origin   retake.Checkpoint
	path     string
	dir      fsx.Dir
	treeRoot retake.Entry
	mu       sync.Mutex
	written  map[string]fsx.Info // guarded by mu
	dirCache workspace.DirCache  // copying and indexing read the same directories
}

// maxForkEntries bounds the entries kept in memory while a fork is built.
const maxForkEntries = 1_000_000

// build copies the files and, unless the fork is a throwaway, makes a workspace of it.
func (g *forkBuilder) build(ctx context.Context) (retake.ForkResult, error) {
	st, err := g.svc.workspaces.Store(ctx)
	if err != nil {
		return retake.ForkResult{}, err
	}
	if g.treeRoot, err = g.svc.history.TreeRoot(ctx, st, g.origin); err != nil {
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
	workers := 0
	if store.IsRemote(st) {
		workers = store.RemoteReads
	}
	refuse := !g.req.Throwaway && !slices.Contains(g.req.Accept, retake.ObstacleSetuid)
	job := fork.Job{RefuseSetuid: refuse, Trees: g.dirCache.WrapTrees(st), Workers: workers, Want: g.treeRoot, To: g.dir, Progress: g.req.Progress, OnWritten: func(path string, i fsx.Info) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.written[path] = i
	}}
	if _, root, err := g.svc.workspaces.OpenRoot(ctx, g.ws.ID); err == nil {
		defer root.Close() //nolint:errcheck // only read
		l := g.svc.workspaces.CacheFor(g.ws.ID)
		l.LockAndCancelCheck()
		x, err := g.svc.loadNewestIndex(ctx, l, g.ws.ID)
		if err == nil {
			x = x.Snapshot()
		}
		l.Mu.Unlock()
		if err == nil {
			job.From, job.InodeNumber, job.FindUnchanged = root, x.InodeNumber, unchangedFinder(x)
		}
	}
	rep, err := fork.Build(ctx, job)
	if errors.Is(err, fork.ErrSetuid) {
		err = &retake.Error{
			Kind: retake.Denied, What: "not forked: a file would run with more rights than its user has", Safe: workspace.Unchanged, Err: err, Accept: []string{retake.ObstacleSetuid},
			Hint: fmt.Sprintf("to allow it, add --accept setuid: retake fork %d --accept setuid", g.origin.Number),
		}
	}
	return rep, err
}

// loadNewestIndex returns the stat index of the newest checkpoint.
func (s *Rewinder) loadNewestIndex(ctx context.Context, l *workspace.Cache, ws retake.WorkspaceID) (*capture.Index, error) {
	tip, err := s.workspaces.Catalog.Latest(ctx, ws, 0)
	if err != nil {
		return nil, err
	}
	return s.workspaces.IndexFor(ctx, l, ws, &tip)
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
	id, err := workspace.NewWorkspaceID()
	if err != nil {
		return res, err
	}
	if g.req.Name != "" {
		res.Workspace.Name = g.req.Name
	}
	w := &res.Workspace
	w.ID, w.Dev, w.Ino, w.Created = id, i.Dev, i.Ino, g.svc.workspaces.Clock.Now()
	w.Origin = &retake.Origin{Workspace: g.ws.ID, Checkpoint: g.origin.ID, Number: g.origin.Number}
	if err := marker.Write(g.dir, id); err != nil {
		return res, err
	}
	l := g.svc.workspaces.CacheFor(id)
	l.LockAndCancelCheck()
	defer l.Mu.Unlock()
	t, err := g.svc.checkpoints.BeginCheckpoint(ctx, l, *w, g.dir)
	if err != nil {
		return res, err
	}
	defer g.svc.workspaces.RequestUpkeep()
	defer t.Close() //nolint:errcheck // upkeep only
	if res.Checkpoint, err = g.sealFirst(ctx, t, *w); err != nil {
		return res, err
	}
	if err := g.saveForkIndex(ctx, st, l, i, res.Checkpoint); err != nil {
		res.Warnings = append(res.Warnings, retake.Warning{Code: "index", Text: "the first save reads every file: " + err.Error()})
	}
	g.svc.agents.NotifyRewind(id, session.Rewind{ID: string(res.Checkpoint.ID), At: res.Checkpoint.Time, Text: agentstate.ForkNote(g.ws, g.origin)})
	return res, nil
}

// sealFirst writes the first checkpoint of the fork, with the tree of the original.
func (g *forkBuilder) sealFirst(ctx context.Context, t *checkpoint.Writer, ws retake.Workspace) (retake.Checkpoint, error) {
	id, err := workspace.NewCheckpointID()
	if err != nil {
		return retake.Checkpoint{}, err
	}
	cp := g.origin
	cp.ID, cp.Workspace, cp.Number, cp.Parent, cp.Time = id, ws.ID, 1, g.origin.ID, g.svc.workspaces.Clock.Now()
	cp.Trigger, cp.Intent, cp.NewBytes, cp.Changed, cp.Return = retake.TriggerFork, fmt.Sprintf("forked from %d of %s", g.origin.Number, g.ws.Name), 0, retake.Counts{}, nil
	cp.Turn, cp.Effects, cp.Key = nil, nil, ""
	if a, ok := retake.ActorOf(ctx); ok {
		cp.Key = a.Key
	}
	if err := g.svc.workspaces.Catalog.PutWorkspace(ctx, ws); err != nil {
		return cp, err
	}
	if err := t.Writer.Seal(ctx, store.SealRequest{Card: retake.Card{V: retake.CardVersion, Checkpoint: cp}, Files: g.treeRoot}); err != nil {
		return cp, err
	}
	return cp, g.svc.workspaces.Catalog.Append(ctx, cp, workspace.SyncedMark(t.Writer.Head()))
}

// saveForkIndex writes a stat index of the new files, so that the first save does not read
// them again.
func (g *forkBuilder) saveForkIndex(ctx context.Context, st store.Store, l *workspace.Cache, root fsx.Info, cp retake.Checkpoint) error {
	seal := capture.Seal{Checkpoint: cp.ID, Number: cp.Number, Tree: cp.Tree}
	d, err := capture.IndexOfNewTree(ctx, g.dirCache.WrapTrees(st), g.treeRoot, root, g.written, g.svc.workspaces.FS.HasFineTimestamps(g.path), seal)
	if err != nil {
		return err
	}
	l.Index, l.RescanReason = d.Index(), "it has just grown"
	return g.svc.workspaces.SaveIndex(cp.Workspace, d)
}

// Forks lists the forks of a workspace.
func (s *Rewinder) Forks(ctx context.Context, ws retake.WorkspaceID) ([]retake.WorkspaceState, error) {
	if _, err := s.workspaces.LoadWorkspace(ctx, ws); err != nil {
		return nil, err
	}
	all, err := s.workspaces.Workspaces(ctx)
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
