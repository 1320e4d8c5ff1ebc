package service

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
	"github.com/retake-dev/retake/internal/storage/catalog"
)

// place is the root of a workspace as a restore finds it: the workspace's own directory,
// another one without a mark, or none at all.
type place struct {
	ws   retake.Workspace
	root fsx.Dir          // an empty one in memory when there is none
	lost *retake.LostRoot // nil: it is the workspace's own
	none bool             // there is no directory
	made []string         // directories that were created for it, the outermost first
}

// bare reports whether there is nothing at the place of a lost root. Then the newest
// checkpoint is the last known state, and one of an empty directory would only be a
// state that nobody wants back.
func (p *place) bare() bool { return p.lost != nil && !p.lost.There }

func (p *place) close() { _ = p.root.Close() } // everything is synced by then

// openPlace opens the root that a plan is for. Only a restore of files takes a root that was
// lost: everything else is measured against what is there.
func (s *Service) openPlace(ctx context.Context, req retake.PlanRequest) (*place, error) {
	ws, root, err := s.openRoot(ctx, req.Workspace)
	if err == nil {
		return &place{ws: ws, root: root}, nil
	}
	if ws.ID == "" || req.Course != retake.CourseRestore || !retake.IsKind(err, retake.NotFound) && !retake.IsKind(err, retake.Moved) {
		return nil, err
	}
	root, oerr := s.p.FS.OpenRoot(ws.Root)
	switch {
	case errors.Is(oerr, fs.ErrNotExist):
		if root, err = fsx.NewMemory().OpenRoot("/"); err != nil {
			return nil, err
		}
		return &place{ws: ws, root: root, none: true, lost: &retake.LostRoot{Root: ws.Root}}, nil
	case oerr != nil:
		return nil, err
	}
	names, nerr := root.Names()
	if other := s.ownerOf(ctx, root); other != "" || nerr != nil {
		return nil, errors.Join(err, nerr, root.Close())
	}
	return &place{ws: ws, root: root, lost: &retake.LostRoot{Root: ws.Root, There: len(names) > 0}}, nil
}

// ownerOf names whose mark a directory carries: nobody's when there is none, or when that
// workspace ended.
func (s *Service) ownerOf(ctx context.Context, root fsx.Dir) string {
	id, err := marker.Read(root)
	if err != nil || id == "" {
		return ""
	}
	ws, err := s.row(ctx, id)
	switch {
	case err != nil:
		return string(id)
	case ws.Ended != nil:
		return ""
	}
	return ws.Name
}

// seenAt looks at a place without storing anything.
func (s *Service) seenAt(ctx context.Context, l *live, at *place) (view, error) {
	if at.lost == nil {
		return s.seen(ctx, l, at.ws, at.root)
	}
	var v view
	tip, err := s.p.Catalog.Latest(ctx, at.ws.ID, 0)
	if errors.Is(err, catalog.ErrNotFound) {
		return v, &retake.Error{Kind: retake.NotFound, What: fmt.Sprintf("%s has no checkpoint to bring back", at.ws.Name), Safe: unchanged}
	}
	if err != nil {
		return v, err
	}
	if !at.bare() {
		changes, cov, err := s.lookAt(ctx, l, at.ws, at.root, tip)
		if err != nil {
			return v, err
		}
		v, err = s.viewOf(ctx, l, at.root, tip, changes, cov)
		v.lost, v.still = true, false // what is there is in no checkpoint of this workspace
		return v, err
	}
	return s.seenBare(ctx, l, at, tip)
}

// seenBare is the view of nothing. The root that will be created wears what the last one did.
func (s *Service) seenBare(ctx context.Context, l *live, at *place, tip retake.Checkpoint) (view, error) {
	v := view{tip: tip, loose: map[string]bool{}, lost: true}
	st, err := s.store(ctx)
	if err != nil {
		return v, err
	}
	files, err := s.files(ctx, st, tip)
	if err != nil {
		return v, err
	}
	self := files
	if !at.none {
		if self, err = rootNow(at.root); err != nil {
			return v, err
		}
	}
	trees := l.lists.over(st)
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

// lookAt compares a directory that nobody watches with a checkpoint.
func (s *Service) lookAt(ctx context.Context, l *live, ws retake.Workspace, root fsx.Dir, cp retake.Checkpoint) ([]retake.Change, retake.Coverage, error) {
	x, err := s.indexFor(ctx, l, ws.ID, &cp)
	if err != nil {
		return nil, retake.Coverage{}, err
	}
	o, err := s.captureOptions(ws.ID, ws.Root, 0, nil)
	if err != nil {
		return nil, retake.Coverage{}, err
	}
	return capture.Diff(ctx, root, x, o, s.equal)
}

// freeAt is the room on the disk that the root is on, or will be.
func (s *Service) freeAt(at *place) (int64, error) {
	path := at.ws.Root
	for {
		free, _, err := s.p.FS.FreeSpace(path)
		if err == nil || !errors.Is(err, fs.ErrNotExist) || path == filepath.Dir(path) {
			return free, err
		}
		path = filepath.Dir(path)
	}
}

// takeOver makes a lost root the workspace's own again: it is created when it is not
// there, and marked. A crash leaves a marked directory, which a restore fills.
func (s *Service) takeOver(ctx context.Context, l *live, at *place) error {
	if at.none {
		if err := s.makeRoot(at); err != nil {
			return errors.Join(fault(fmt.Sprintf("%s cannot be created", at.ws.Root), unchanged, err), s.abandon(at))
		}
	}
	i, err := at.root.Stat()
	if err == nil {
		at.ws.Dev, at.ws.Ino = i.Dev, i.Ino
		err = marker.Write(at.root, at.ws.ID)
	}
	if err == nil {
		err = s.p.Catalog.PutWorkspace(ctx, at.ws)
	}
	if err == nil { // a restore of files that were lost since has nothing to be finished
		err = s.endReturn(at.ws.ID)
	}
	if err != nil {
		return errors.Join(fault("not restored", unchanged, err), s.abandon(at))
	}
	s.unwatch(l) // it watches the directory that was lost
	l.doubt = "the directory was lost"
	return nil
}

// makeRoot creates the root and the directories above it that are gone too. It follows no
// link that was not there when the workspace was protected.
func (s *Service) makeRoot(at *place) error {
	path := at.ws.Root
	var missing []string
	for {
		real, err := filepath.EvalSymlinks(path)
		if err == nil && real != path {
			return &retake.Error{Kind: retake.Moved, What: fmt.Sprintf("%s leads to %s now", path, real), Safe: unchanged}
		}
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || path == filepath.Dir(path) {
			return err
		}
		missing, path = append(missing, filepath.Base(path)), filepath.Dir(path)
	}
	dir, err := s.p.FS.OpenRoot(path)
	if err != nil {
		return err
	}
	for n := len(missing) - 1; n >= 0; n-- {
		mode := fs.FileMode(0o755)
		if n == 0 { // its own mode comes with its files
			mode = 0o700
		}
		if err = dir.Mkdir(missing[n], mode); err == nil {
			path = filepath.Join(path, missing[n])
			at.made = append(at.made, path)
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

// abandon takes back what takeOver did, when nothing was restored after all.
func (s *Service) abandon(at *place) error {
	if id, err := marker.Read(at.root); err == nil && id == at.ws.ID {
		if err := marker.Remove(at.root); err != nil {
			return err
		}
	}
	for len(at.made) > 0 {
		last := at.made[len(at.made)-1]
		parent, err := s.p.FS.OpenRoot(filepath.Dir(last))
		if err != nil {
			return err
		}
		if err := errors.Join(parent.RemoveDir(filepath.Base(last)), parent.Close()); err != nil {
			return err
		}
		at.made = at.made[:len(at.made)-1]
	}
	return nil
}
