package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/capture"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/pure/tree"
	"github.com/retake-dev/retake/internal/storage/store"
)

// liveRef is the ref of the live files.
const liveRef = "now"

// treeRoot returns the root entry of a checkpoint's tree.
func (s *Service) treeRoot(ctx context.Context, st store.Store, cp retake.Checkpoint) (retake.Entry, error) {
	leaf, err := st.Record(ctx, cp.Workspace, cp.Number)
	if err != nil {
		return retake.Entry{}, wrapError(fmt.Sprintf("checkpoint %d cannot be read", cp.Number), unchanged, err)
	}
	return leaf.Files, nil
}

// List lists a directory of a checkpoint.
func (s *Service) List(ctx context.Context, ws retake.WorkspaceID, ref, dir string) ([]retake.Entry, error) {
	st, e, err := s.findRefEntry(ctx, ws, ref, dir)
	if err != nil {
		return nil, err
	}
	if e.Kind != retake.KindDir {
		return []retake.Entry{e}, nil
	}
	out, err := st.Dir(ctx, e.Object)
	return out, wrapError(fmt.Sprintf("cannot read %s", dir), unchanged, err)
}

// findRefEntry resolves a ref and finds the entry at a path of that checkpoint.
func (s *Service) findRefEntry(ctx context.Context, ws retake.WorkspaceID, ref, name string) (store.Store, retake.Entry, error) {
	cp, err := s.Find(ctx, ws, ref)
	if err != nil {
		return nil, retake.Entry{}, err
	}
	st, err := s.store(ctx)
	if err != nil {
		return nil, retake.Entry{}, wrapError("the store cannot be opened", unchanged, err)
	}
	root, err := s.treeRoot(ctx, st, cp)
	if err != nil {
		return nil, retake.Entry{}, err
	}
	e, err := tree.Find(ctx, st, root, cleanPath(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, e, &retake.Error{Kind: retake.NotFound, What: fmt.Sprintf("there is no %s in checkpoint %d", name, cp.Number), Safe: unchanged, Hint: fmt.Sprintf("list its files: retake ls %d", cp.Number)}
	}
	return st, e, wrapError(fmt.Sprintf("cannot read %s", name), unchanged, err)
}

func cleanPath(p string) string {
	p = strings.Trim(path.Clean("/"+p), "/")
	return p
}

// Open returns the bytes of a file of a checkpoint, or of the live file.
func (s *Service) Open(ctx context.Context, ws retake.WorkspaceID, ref, name string) (io.ReadCloser, retake.Entry, error) {
	if ref == liveRef {
		return s.openLiveFile(ctx, ws, cleanPath(name))
	}
	st, e, err := s.findRefEntry(ctx, ws, ref, name)
	if err != nil {
		return nil, e, err
	}
	if e.Kind == retake.KindDir {
		return nil, e, &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("that is a directory: %s", name), Safe: unchanged, Hint: "list it: retake ls " + ref + " " + name}
	}
	r, err := st.File(ctx, e.Object)
	return r, e, wrapError(fmt.Sprintf("cannot read %s", name), unchanged, err)
}

// openLiveFile opens a live file by walking handles: no part of the path may be a link.
func (s *Service) openLiveFile(ctx context.Context, id retake.WorkspaceID, name string) (io.ReadCloser, retake.Entry, error) {
	dir, last, err := s.openLiveDir(ctx, id, name)
	if err != nil {
		return nil, retake.Entry{}, err
	}
	defer dir.Close() //nolint:errcheck // a directory handle
	if text, err := dir.Readlink(last); err == nil {
		return io.NopCloser(strings.NewReader(text)), retake.Entry{Name: last, Kind: retake.KindSymlink, Size: int64(len(text))}, nil
	}
	f, err := dir.OpenFile(last)
	if err != nil {
		return nil, retake.Entry{}, wrapError(fmt.Sprintf("cannot read %s", name), unchanged, err)
	}
	i, err := f.Stat()
	return f, retake.Entry{Name: last, Kind: retake.KindFile, Size: i.Size, Mode: i.Mode, ModTime: i.Mtime}, err
}

// openLiveDir opens the parent directory of a live path and returns the last name.
func (s *Service) openLiveDir(ctx context.Context, id retake.WorkspaceID, name string) (fsx.Dir, string, error) {
	_, dir, err := s.openRoot(ctx, id)
	if err != nil {
		return nil, "", err
	}
	parts := strings.Split(name, "/")
	for _, p := range parts[:len(parts)-1] {
		next, err := dir.OpenDir(p)
		_ = dir.Close() // a directory handle
		if err != nil {
			return nil, "", wrapError(fmt.Sprintf("cannot read %s", name), unchanged, err)
		}
		dir = next
	}
	return dir, parts[len(parts)-1], nil
}

// liveExists reports whether there is something at a path now.
func (s *Service) liveExists(ctx context.Context, id retake.WorkspaceID, name string) bool {
	dir, last, err := s.openLiveDir(ctx, id, name)
	if err != nil {
		return false
	}
	defer dir.Close() //nolint:errcheck // only looked
	_, err = dir.Lstat(last)
	return err == nil
}

// Bytes returns the bytes of a stored object.
func (s *Service) Bytes(ctx context.Context, id retake.ObjectID) (io.ReadCloser, error) {
	st, err := s.store(ctx)
	if err != nil {
		return nil, wrapError("the store cannot be opened", unchanged, err)
	}
	r, err := st.File(ctx, id)
	return r, wrapError("the bytes cannot be read", unchanged, err)
}

// compareLive compares the live files with a checkpoint. If it is the newest one, only the
// dirty set is read.
func (s *Service) compareLive(ctx context.Context, cp retake.Checkpoint) ([]retake.Change, retake.Coverage, error) {
	l := s.cacheFor(cp.Workspace)
	l.lockAndCancelCheck()
	defer l.mu.Unlock()
	return s.compareLiveLocked(ctx, l, cp)
}

// compareLiveLocked is compareLive for a caller that holds the lock of the cache.
func (s *Service) compareLiveLocked(ctx context.Context, l *workspaceCache, cp retake.Checkpoint) ([]retake.Change, retake.Coverage, error) {
	ws, root, err := s.openRoot(ctx, cp.Workspace)
	if err != nil {
		return nil, retake.Coverage{}, err
	}
	defer root.Close() //nolint:errcheck // only looked
	l.lastUsed = s.parts.Clock.Now()
	x, err := s.indexFor(ctx, l, cp.Workspace, &cp)
	if err != nil {
		return nil, retake.Coverage{}, err
	}
	o, err := s.captureOptions(cp.Workspace, ws.Root, 0, nil)
	if err != nil {
		return nil, retake.Coverage{}, err
	}
	if x == l.index {
		s.drainTracker(l, ws.Root)
		l.limitToDirty(&o)
	}
	return capture.Diff(ctx, root, x, o, s.matchesStored)
}

// matchesStored compares live bytes with a stored object.
func (s *Service) matchesStored(ctx context.Context, id retake.ObjectID, r io.Reader) (bool, error) {
	st, err := s.store(ctx)
	if err != nil {
		return false, err
	}
	stored, err := st.File(ctx, id)
	if err != nil {
		return false, err
	}
	defer stored.Close() //nolint:errcheck // nothing was written
	return store.SameBytes(r, stored)
}
