package history

import (
	"bytes"
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
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/store"
)

// LiveRef is the ref of the live files.
const LiveRef = "now"

// TreeRoot returns the root entry of a checkpoint's tree.
func (s *History) TreeRoot(ctx context.Context, st store.Store, cp retake.Checkpoint) (retake.Entry, error) {
	leaf, err := st.Record(ctx, cp.Workspace, cp.Number)
	if err != nil {
		return retake.Entry{}, workspace.WrapError(fmt.Sprintf("checkpoint %d cannot be read", cp.Number), workspace.Unchanged, err)
	}
	return leaf.Files, nil
}

// List lists a directory of a checkpoint.
func (s *History) List(ctx context.Context, ws retake.WorkspaceID, ref, dir string) ([]retake.Entry, error) {
	st, e, err := s.FindRefEntry(ctx, ws, ref, dir)
	if err != nil {
		return nil, err
	}
	if e.Kind != retake.KindDir {
		return []retake.Entry{e}, nil
	}
	out, err := st.Dir(ctx, e.Object)
	return out, workspace.WrapError(fmt.Sprintf("cannot read %s", dir), workspace.Unchanged, err)
}

// FindRefEntry resolves a ref and finds the entry at a path of that checkpoint.
func (s *History) FindRefEntry(ctx context.Context, ws retake.WorkspaceID, ref, name string) (store.Store, retake.Entry, error) {
	cp, err := s.Find(ctx, ws, ref)
	if err != nil {
		return nil, retake.Entry{}, err
	}
	st, err := s.workspaces.Store(ctx)
	if err != nil {
		return nil, retake.Entry{}, workspace.WrapError("the store cannot be opened", workspace.Unchanged, err)
	}
	root, err := s.TreeRoot(ctx, st, cp)
	if err != nil {
		return nil, retake.Entry{}, err
	}
	e, err := tree.Find(ctx, st, root, CleanPath(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, e, &retake.Error{Kind: retake.NotFound, What: fmt.Sprintf("there is no %s in checkpoint %d", name, cp.Number), Safe: workspace.Unchanged, Hint: fmt.Sprintf("list its files: retake ls %d", cp.Number)}
	}
	return st, e, workspace.WrapError(fmt.Sprintf("cannot read %s", name), workspace.Unchanged, err)
}

func CleanPath(p string) string {
	p = strings.Trim(path.Clean("/"+p), "/")
	return p
}

// Open returns the bytes of a file of a checkpoint, or of the live file.
func (s *History) Open(ctx context.Context, ws retake.WorkspaceID, ref, name string) (io.ReadCloser, retake.Entry, error) {
	if ref == LiveRef {
		return s.OpenLiveFile(ctx, ws, CleanPath(name))
	}
	st, e, err := s.FindRefEntry(ctx, ws, ref, name)
	if err != nil {
		return nil, e, err
	}
	if e.Kind == retake.KindDir {
		return nil, e, &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("that is a directory: %s", name), Safe: workspace.Unchanged, Hint: "list it: retake ls " + ref + " " + name}
	}
	r, err := st.File(ctx, e.Object)
	return r, e, workspace.WrapError(fmt.Sprintf("cannot read %s", name), workspace.Unchanged, err)
}

// OpenLiveFile opens a live file by walking handles: no part of the path may be a link.
func (s *History) OpenLiveFile(ctx context.Context, id retake.WorkspaceID, name string) (io.ReadCloser, retake.Entry, error) {
	dir, last, err := s.OpenLiveDir(ctx, id, name)
	if err != nil {
		return nil, retake.Entry{}, err
	}
	defer dir.Close() //nolint:errcheck // a directory handle
	if text, err := dir.Readlink(last); err == nil {
		return io.NopCloser(strings.NewReader(text)), retake.Entry{Name: last, Kind: retake.KindSymlink, Size: int64(len(text))}, nil
	}
	f, err := dir.OpenFile(last)
	if err != nil {
		return nil, retake.Entry{}, workspace.WrapError(fmt.Sprintf("cannot read %s", name), workspace.Unchanged, err)
	}
	i, err := f.Stat()
	return f, retake.Entry{Name: last, Kind: retake.KindFile, Size: i.Size, Mode: i.Mode, ModTime: i.Mtime}, err
}

// OpenLiveDir opens the parent directory of a live path and returns the last name.
func (s *History) OpenLiveDir(ctx context.Context, id retake.WorkspaceID, name string) (fsx.Dir, string, error) {
	_, dir, err := s.workspaces.OpenRoot(ctx, id)
	if err != nil {
		return nil, "", err
	}
	parts := strings.Split(name, "/")
	for _, p := range parts[:len(parts)-1] {
		next, err := dir.OpenDir(p)
		_ = dir.Close() // a directory handle
		if err != nil {
			return nil, "", workspace.WrapError(fmt.Sprintf("cannot read %s", name), workspace.Unchanged, err)
		}
		dir = next
	}
	return dir, parts[len(parts)-1], nil
}

// LiveExists reports whether there is something at a path now.
func (s *History) LiveExists(ctx context.Context, id retake.WorkspaceID, name string) bool {
	dir, last, err := s.OpenLiveDir(ctx, id, name)
	if err != nil {
		return false
	}
	defer dir.Close() //nolint:errcheck // only looked
	_, err = dir.Lstat(last)
	return err == nil
}

// Bytes returns the bytes of a stored object.
func (s *History) Bytes(ctx context.Context, id retake.ObjectID) (io.ReadCloser, error) {
	st, err := s.workspaces.Store(ctx)
	if err != nil {
		return nil, workspace.WrapError("the store cannot be opened", workspace.Unchanged, err)
	}
	r, err := st.File(ctx, id)
	return r, workspace.WrapError("the bytes cannot be read", workspace.Unchanged, err)
}

// CompareLive compares the live files with a checkpoint. If it is the newest one, only the
// dirty set is read.
func (s *History) CompareLive(ctx context.Context, cp retake.Checkpoint) ([]retake.Change, retake.Coverage, error) {
	l := s.workspaces.CacheFor(cp.Workspace)
	l.LockAndCancelCheck()
	defer l.Mu.Unlock()
	return s.CompareLiveLocked(ctx, l, cp)
}

// CompareLiveLocked is compareLive for a caller that holds the lock of the cache.
func (s *History) CompareLiveLocked(ctx context.Context, l *workspace.Cache, cp retake.Checkpoint) ([]retake.Change, retake.Coverage, error) {
	ws, root, err := s.workspaces.OpenRoot(ctx, cp.Workspace)
	if err != nil {
		return nil, retake.Coverage{}, err
	}
	defer root.Close() //nolint:errcheck // only looked
	l.LastUsed = s.workspaces.Clock.Now()
	x, err := s.workspaces.IndexFor(ctx, l, cp.Workspace, &cp)
	if err != nil {
		return nil, retake.Coverage{}, err
	}
	o, err := s.workspaces.CaptureOptions(cp.Workspace, ws.Root, 0, nil)
	if err != nil {
		return nil, retake.Coverage{}, err
	}
	if x == l.Index {
		s.workspaces.DrainTracker(l, ws.Root)
		l.LimitToDirty(&o)
	}
	return capture.Diff(ctx, root, x, o, s.MatchesStored)
}

// matchedByName is the size up to which bytes are compared with the name of an object first.
const matchedByName = 1 << 20

// nameMatcher is a store that can tell by the name of an object that it has some bytes.
type nameMatcher interface {
	Matches(id retake.ObjectID, data []byte) bool
}

// MatchesStored compares live bytes with a stored object. What is unchanged is found so without
// reading the store, which may be far away.
func (s *History) MatchesStored(ctx context.Context, id retake.ObjectID, r io.Reader) (bool, error) {
	st, err := s.workspaces.Store(ctx)
	if err != nil {
		return false, err
	}
	if by, ok := st.(nameMatcher); ok {
		begin, err := io.ReadAll(io.LimitReader(r, matchedByName+1))
		if err != nil || len(begin) <= matchedByName && by.Matches(id, begin) {
			return err == nil, err
		}
		r = io.MultiReader(bytes.NewReader(begin), r)
	}
	stored, err := st.File(ctx, id)
	if err != nil {
		return false, err
	}
	defer stored.Close() //nolint:errcheck // nothing was written
	return store.SameBytes(r, stored)
}

// LiveObjectPrefix marks the object ID of a live file that is not stored. It is valid only
// within one story.
const LiveObjectPrefix = "now:"

func IsLiveObject(id retake.ObjectID) bool { return strings.HasPrefix(string(id), LiveObjectPrefix) }
