package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/marker"
	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/store"
)

// Locate finds the workspace that contains dir, and says how it is.
func (s *Registry) Locate(ctx context.Context, dir string) (retake.Workspace, error) {
	ws, err := Find(ctx, s, dir)
	if err == nil {
		ws.Interrupted, ws.Unprotected = s.InterruptionOf(ctx, ws.ID), s.Unprotected(ctx, ws)
	}
	return ws, err
}

// Find finds the workspace that contains dir, by the nearest marker above it. A moved root is
// recorded; a copy is not taken for the original. It writes no test files, so hooks can wait for it.
func Find(ctx context.Context, s *Registry, dir string) (retake.Workspace, error) {
	stale, err := s.ensureCatalogCurrent(ctx)
	if err != nil {
		return retake.Workspace{}, WrapError("the catalog does not follow the store", Unchanged, err)
	}
	path, err := RealPath(dir)
	if err != nil {
		return retake.Workspace{}, s.withLostHint(ctx, resolveExisting(dir), WrapError("there is no directory "+dir, Unchanged, err))
	}
	foreign := ""
	for at := path; ; at = filepath.Dir(at) {
		ws, found, err := s.findMarkedAt(ctx, at)
		if errors.Is(err, ErrOtherInstallation) { // ours may be above
			foreign, err = cmp.Or(foreign, at), nil
		}
		if err != nil || found {
			ws.Stale = stale
			return ws, WrapError("the workspace was not found", Unchanged, err)
		}
		if at == filepath.Dir(at) && foreign != "" {
			return retake.Workspace{}, otherInstallationError(foreign)
		}
		if at == filepath.Dir(at) {
			return retake.Workspace{}, s.withLostHint(ctx, path, &retake.Error{Kind: retake.NotFound, What: fmt.Sprintf("%s is not in a protected workspace", path), Safe: Unchanged, Hint: "protect it: retake init\nlist workspaces: retake workspaces"})
		}
	}
}

func RealPath(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// resolveExisting resolves links in the part of a path that exists.
func resolveExisting(dir string) string {
	path, err := filepath.Abs(dir)
	if err != nil {
		return dir
	}
	rest := ""
	for at := path; ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if at == filepath.Dir(at) {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// findMarkedAt finds the workspace whose marker is in exactly this directory.
func (s *Registry) findMarkedAt(ctx context.Context, path string) (retake.Workspace, bool, error) {
	root, err := s.FS.OpenRoot(path)
	if err != nil {
		return retake.Workspace{}, false, nil // not readable for us: the root may be above
	}
	defer root.Close() //nolint:errcheck // only looked
	id, err := marker.Read(root)
	if errors.Is(err, syscall.EIO) {
		return retake.Workspace{}, false, WrapError("the directory cannot be read", Unchanged, err)
	}
	if err != nil || id == "" {
		return retake.Workspace{}, false, err
	}
	ws, err := s.LoadWorkspace(ctx, id)
	if errors.Is(err, catalog.ErrNotFound) {
		return retake.Workspace{}, false, ErrOtherInstallation
	}
	if err == nil && ws.Ended != nil {
		return retake.Workspace{}, false, nil
	}
	if err != nil {
		return ws, false, err
	}
	i, err := root.Stat()
	if err != nil {
		return ws, false, err
	}
	if ws.Root == path && ws.Dev == i.Dev && ws.Ino == i.Ino {
		return ws, true, nil
	}
	return s.ResolveRelocated(ctx, ws, path, i)
}

// ResolveRelocated decides whether a marked directory in another place is the moved
// workspace or a copy of it: it is a copy if the original is still in place.
func (s *Registry) ResolveRelocated(ctx context.Context, ws retake.Workspace, path string, i fsx.Info) (retake.Workspace, bool, error) {
	if ws.Root != path && s.IsRootPresent(ws) {
		return ws, true, &retake.Error{
			Kind: retake.Exists,
			What: fmt.Sprintf("%s carries the mark of %s, which is still at %s", path, ws.Name, ws.Root),
			Safe: Unchanged,
			Hint: "if it is a copy: retake init --copy\nif it was moved here: retake init --moved",
		}
	}
	ws.Root, ws.Dev, ws.Ino = path, i.Dev, i.Ino
	err := s.Catalog.PutWorkspace(ctx, ws)
	if errors.Is(err, catalog.ErrUnwritable) {
		err = nil // it is recorded the next time
	}
	return ws, true, err
}

// IsRootPresent reports whether the recorded root still carries the marker of the
// workspace.
func (s *Registry) IsRootPresent(ws retake.Workspace) bool {
	root, err := s.FS.OpenRoot(ws.Root)
	if err != nil {
		return false
	}
	defer root.Close() //nolint:errcheck // only looked
	id, err := marker.Read(root)
	return err == nil && id == ws.ID
}

// LoadWorkspace reads a workspace from the catalog. For a caller without access it does not
// exist.
func (s *Registry) LoadWorkspace(ctx context.Context, id retake.WorkspaceID) (retake.Workspace, error) {
	if !retake.MayLoad(ctx, id) {
		return retake.Workspace{}, noWorkspaceError(id)
	}
	s.CatalogMu.RLock()
	defer s.CatalogMu.RUnlock()
	ws, err := s.Catalog.Workspace(ctx, id)
	if errors.Is(err, catalog.ErrNotFound) {
		err = noWorkspaceError(id)
	}
	return ws, err
}

// FindInCatalog calls find, and again as long as it finds nothing in a catalog that was rebuilt
// meanwhile. find runs without a lock, so that it may load what it needs.
func FindInCatalog[T any](s *Registry, find func() (T, error)) (T, error) {
	for {
		before := s.catalogChanges.Load()
		found, err := find()
		if !errors.Is(err, catalog.ErrNotFound) || before%2 == 0 && before == s.catalogChanges.Load() {
			return found, err
		}
		s.CatalogMu.RLock()
		s.CatalogMu.RUnlock() //nolint:staticcheck // only waited for the end of the rebuild
	}
}

// noWorkspaceError says that a workspace does not exist, or not for this caller. It also
// matches catalog.ErrNotFound.
func noWorkspaceError(id retake.WorkspaceID) error {
	return errors.Join(&retake.Error{Kind: retake.NotFound, What: fmt.Sprintf("there is no workspace %.80q", string(id)), Safe: Unchanged, Hint: "list workspaces: retake workspaces"}, catalog.ErrNotFound)
}

// LoadCheckpoint reads a checkpoint by its ID. For a caller without access to its workspace
// it does not exist.
func (s *Registry) LoadCheckpoint(ctx context.Context, id retake.CheckpointID) (retake.Checkpoint, error) {
	cp, err := FindInCatalog(s, func() (retake.Checkpoint, error) { return s.Catalog.Checkpoint(ctx, id) })
	if err == nil && !retake.MayLoad(ctx, cp.Workspace) {
		return retake.Checkpoint{}, catalog.ErrNotFound
	}
	return cp, err
}

// OpenRoot opens the root of a workspace and checks its marker.
func (s *Registry) OpenRoot(ctx context.Context, id retake.WorkspaceID) (retake.Workspace, fsx.Dir, error) {
	ws, err := s.LoadWorkspace(ctx, id)
	if err != nil {
		return ws, nil, WrapError("no such workspace", Unchanged, err)
	}
	root, err := s.FS.OpenRoot(ws.Root)
	if errors.Is(err, fs.ErrNotExist) {
		return ws, nil, s.rootGoneError(ctx, ws)
	}
	if err != nil {
		return ws, nil, WrapError(fmt.Sprintf("the directory of %s cannot be opened", ws.Name), Unchanged, err)
	}
	marked, err := marker.Read(root)
	if err == nil && marked != ws.ID {
		err = s.rootReplacedError(ctx, ws, root)
	}
	if err != nil {
		return ws, nil, errors.Join(WrapError("the mark cannot be read", Unchanged, err), root.Close())
	}
	return ws, root, nil
}

// Workspaces lists all workspaces.
func (s *Registry) Workspaces(ctx context.Context) ([]retake.WorkspaceState, error) {
	if _, err := s.ensureCatalogCurrent(ctx); err != nil {
		return nil, WrapError("the catalog does not follow the store", Unchanged, err)
	}
	all, err := s.Catalog.Workspaces(ctx)
	if err != nil {
		return nil, WrapError("the catalog cannot be read", Unchanged, err)
	}
	for i := range all {
		w := &all[i]
		if w.Gone = !s.IsRootPresent(w.Workspace); !w.Gone && w.Ended == nil {
			w.Unprotected = s.Unprotected(ctx, w.Workspace)
		}
	}
	return all, nil
}

// Deinit ends the protection of a workspace: the marker is removed, the history stays.
func (s *Registry) Deinit(ctx context.Context, id retake.WorkspaceID) (retake.Workspace, error) {
	ws, err := s.LoadWorkspace(ctx, id)
	if err != nil {
		return ws, WrapError("no such workspace", Unchanged, err)
	}
	now := s.Clock.Now()
	ws.Ended = &now
	if err := s.amendWorkspace(ctx, ws); err != nil {
		return ws, WrapError("the workspace is still protected", Unchanged, err)
	}
	l := s.CacheFor(ws.ID)
	l.Mu.Lock()
	s.StopWatch(l)
	l.Mu.Unlock()
	if root, err := s.FS.OpenRoot(ws.Root); err == nil {
		defer root.Close() //nolint:errcheck // the marker is removed or the error returned
		if id, err := marker.Read(root); err == nil && id == ws.ID {
			if err := marker.Remove(root); err != nil {
				return ws, WrapError("the workspace is no longer protected, but its mark is still there", "The history is intact.", err)
			}
		}
	}
	return ws, nil
}

// amendWorkspace changes a workspace in the store, then in the catalog.
func (s *Registry) amendWorkspace(ctx context.Context, ws retake.Workspace) error {
	return s.WithWriter(ctx, ws, func(w store.Writer) error {
		if err := w.Amend(ctx, ws, w.Head().Pins); err != nil {
			return err
		}
		return s.Catalog.PutWorkspace(ctx, ws)
	})
}

// WithWriter calls do with the exclusive writer of a workspace. The catalog is synced
// before and after.
func (s *Registry) WithWriter(ctx context.Context, ws retake.Workspace, do func(store.Writer) error) error {
	st, err := s.Store(ctx)
	if err != nil {
		return err
	}
	wait, cancel := context.WithTimeout(ctx, s.LockWait)
	defer cancel()
	w, err := st.Begin(wait, ws)
	if err != nil {
		return err
	}
	defer w.Close() //nolint:errcheck // upkeep only
	if err := s.SyncCatalog(ctx, st, w.Head()); err != nil {
		return err
	}
	if err := do(w); err != nil {
		return err
	}
	return s.MarkCatalogSynced(ctx, w.Head())
}
