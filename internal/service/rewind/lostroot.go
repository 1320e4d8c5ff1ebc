package rewind

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/capture"
	"github.com/retake-dev/retake/internal/engine/restore"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/marker"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

// rootLocation is the root of a workspace as a restore finds it: its own directory, another
// one without a marker, or none.
type rootLocation struct {
	ws      retake.Workspace
	root    fsx.Dir          // an empty one if there is none
	lost    *retake.LostRoot // nil: it is the workspace's own directory
	missing bool             // there is no directory
	created []string         // directories created for it, outermost first
}

// isEmpty reports whether a lost root has no files. Then the newest checkpoint is the last
// known state, and a safety checkpoint of nothing would be of no use.
func (p *rootLocation) isEmpty() bool { return p.lost != nil && !p.lost.There }

func (p *rootLocation) close() { _ = p.root.Close() } // everything is synced by then

// openRestoreRoot opens the root that a plan is for. Only a restore of files accepts a lost
// root: everything else needs the current files.
func (s *Rewinder) openRestoreRoot(ctx context.Context, req retake.PlanRequest) (*rootLocation, error) {
	ws, root, err := s.workspaces.OpenRoot(ctx, req.Workspace)
	if err == nil {
		return &rootLocation{ws: ws, root: root}, nil
	}
	if ws.ID == "" || req.Course != retake.CourseRestore || !retake.IsKind(err, retake.NotFound) && !retake.IsKind(err, retake.Moved) {
		return nil, err
	}
	root, oerr := s.workspaces.FS.OpenRoot(ws.Root)
	switch {
	case errors.Is(oerr, fs.ErrNotExist):
		return &rootLocation{ws: ws, root: fsx.EmptyDir(), missing: true, lost: &retake.LostRoot{Root: ws.Root}}, nil
	case oerr != nil:
		return nil, err
	}
	names, nerr := root.Names()
	if other := s.workspaces.MarkOwner(ctx, root); other != "" || nerr != nil {
		return nil, errors.Join(err, nerr, root.Close())
	}
	return &rootLocation{ws: ws, root: root, lost: &retake.LostRoot{Root: ws.Root, There: len(names) > 0}}, nil
}

// snapshotRoot returns the current state of a root, lost or not, without storing anything.
func (s *Rewinder) snapshotRoot(ctx context.Context, l *workspace.Cache, at *rootLocation) (workspaceSnapshot, error) {
	if at.lost == nil {
		return s.snapshotWorkspace(ctx, l, at.ws, at.root)
	}
	var v workspaceSnapshot
	tip, err := s.workspaces.Catalog.Latest(ctx, at.ws.ID, 0)
	if errors.Is(err, catalog.ErrNotFound) {
		return v, &retake.Error{Kind: retake.NotFound, What: fmt.Sprintf("%s has no checkpoint to bring back", at.ws.Name), Safe: workspace.Unchanged}
	}
	if err != nil {
		return v, err
	}
	if !at.isEmpty() {
		changes, cov, err := s.compareUnwatched(ctx, l, at.ws, at.root, tip)
		if err != nil {
			return v, err
		}
		v, err = s.snapshotWithChanges(ctx, l, at.root, tip, changes, cov)
		v.rootLost, v.isUnchanged = true, false // the files there are in no checkpoint of this workspace
		return v, err
	}
	return s.snapshotEmptyRoot(ctx, l, at, tip)
}

// snapshotEmptyRoot returns the state of an empty or missing root. A root that will be
// created gets the attributes of the last one.
func (s *Rewinder) snapshotEmptyRoot(ctx context.Context, l *workspace.Cache, at *rootLocation, tip retake.Checkpoint) (workspaceSnapshot, error) {
	v := workspaceSnapshot{tip: tip, unsaved: map[string]bool{}, rootLost: true}
	st, err := s.workspaces.Store(ctx)
	if err != nil {
		return v, err
	}
	files, err := s.history.TreeRoot(ctx, st, tip)
	if err != nil {
		return v, err
	}
	self := files
	if !at.missing {
		if self, err = currentRootEntry(at.root); err != nil {
			return v, err
		}
	}
	trees := l.DirCache.WrapTrees(st)
	entries, err := trees.Dir(ctx, files.Object)
	if err != nil {
		return v, err
	}
	var gone []retake.Change
	for _, e := range entries {
		gone = append(gone, retake.Change{Path: e.Name, What: retake.Deleted, Before: &e})
	}
	v.trees, v.root = restore.NewLiveTree(trees, at.root, files, self, gone, nil)
	v.root.Sum = retake.Summary{}
	return v, nil
}

// compareUnwatched compares a directory without a tracker with a checkpoint.
func (s *Rewinder) compareUnwatched(ctx context.Context, l *workspace.Cache, ws retake.Workspace, root fsx.Dir, cp retake.Checkpoint) ([]retake.Change, retake.Coverage, error) {
	x, err := s.workspaces.IndexFor(ctx, l, ws.ID, &cp)
	if err != nil {
		return nil, retake.Coverage{}, err
	}
	o, err := s.workspaces.CaptureOptions(ws.ID, ws.Root, 0, nil)
	if err != nil {
		return nil, retake.Coverage{}, err
	}
	return capture.Diff(ctx, root, x, o, s.history.MatchesStored)
}

// freeSpaceAt returns the free bytes on the disk that the root is or will be on.
func (s *Rewinder) freeSpaceAt(at *rootLocation) (int64, error) {
	path := at.ws.Root
	for {
		free, _, err := s.workspaces.FS.FreeSpace(path)
		if err == nil || !errors.Is(err, fs.ErrNotExist) || path == filepath.Dir(path) {
			return free, err
		}
		path = filepath.Dir(path)
	}
}

// claimRoot makes a lost root the workspace's own again: it is created if needed, and
// marked. A crash leaves a marked directory, which the next restore fills.
func (s *Rewinder) claimRoot(ctx context.Context, l *workspace.Cache, at *rootLocation) error {
	if at.missing {
		if err := s.createRoot(at); err != nil {
			return errors.Join(workspace.WrapError(fmt.Sprintf("%s cannot be created", at.ws.Root), workspace.Unchanged, err), s.releaseRoot(at))
		}
	}
	i, err := at.root.Stat()
	if err == nil {
		at.ws.Dev, at.ws.Ino = i.Dev, i.Ino
		err = marker.Write(at.root, at.ws.ID)
	}
	if err == nil {
		err = s.workspaces.Catalog.PutWorkspace(ctx, at.ws)
	}
	if err == nil { // an interrupted restore of lost files cannot be finished
		err = s.workspaces.RemoveJournal(at.ws.ID)
	}
	if err != nil {
		return errors.Join(workspace.WrapError("not restored", workspace.Unchanged, err), s.releaseRoot(at))
	}
	s.workspaces.StopWatch(l) // it watches the lost directory
	l.RescanReason = "the directory was lost"
	return nil
}

// createRoot creates the root and its missing parents. It follows no link that did not
// exist when the workspace was protected.
func (s *Rewinder) createRoot(at *rootLocation) error {
	path := at.ws.Root
	var missing []string
	for {
		real, err := filepath.EvalSymlinks(path)
		if err == nil && real != path {
			return &retake.Error{Kind: retake.Moved, What: fmt.Sprintf("%s leads to %s now", path, real), Safe: workspace.Unchanged}
		}
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || path == filepath.Dir(path) {
			return err
		}
		missing, path = append(missing, filepath.Base(path)), filepath.Dir(path)
	}
	dir, err := s.workspaces.FS.OpenRoot(path)
	if err != nil {
		return err
	}
	for n := len(missing) - 1; n >= 0; n-- {
		mode := fs.FileMode(0o755)
		if n == 0 { // its final mode is restored with its files
			mode = 0o700
		}
		if err = dir.Mkdir(missing[n], mode); err == nil {
			path = filepath.Join(path, missing[n])
			at.created = append(at.created, path)
			err = dir.Sync()
		}
		var next fsx.Dir
		if err == nil {
			next, err = dir.OpenDir(missing[n])
		}
		if cerr := dir.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return err
		}
		dir = next
	}
	at.close()
	at.root = dir
	return nil
}

// releaseRoot undoes claimRoot after a failed restore.
func (s *Rewinder) releaseRoot(at *rootLocation) error {
	if id, err := marker.Read(at.root); err == nil && id == at.ws.ID {
		if err := marker.Remove(at.root); err != nil {
			return err
		}
	}
	for len(at.created) > 0 {
		last := at.created[len(at.created)-1]
		parent, err := s.workspaces.FS.OpenRoot(filepath.Dir(last))
		if err != nil {
			return err
		}
		if err := errors.Join(parent.RemoveDir(filepath.Base(last)), parent.Close()); err != nil {
			return err
		}
		at.created = at.created[:len(at.created)-1]
	}
	return nil
}
