// Package edit writes and removes single files of a workspace, for clients that cannot reach
// its disk.
//
// It touches only what is below the directory that it is given. It never follows a symbolic
// link, never writes into the marker directory, and removes a directory only if it is empty.
//
//	E1  Whoever reads a file sees the one before or the new one, never a part.
//	E2  A write that fails leaves the file as it was.
package edit

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/marker"
)

const (
	unchanged   = "Nothing was changed."
	maxPath     = 4096
	chunkSize   = 64 << 10
	defaultMode = 0o644
	dirMode     = 0o755
)

// Write replaces the file at path, or creates it together with missing directories. With mode 0
// a file keeps its mode, and a new one has 0644.
func Write(ctx context.Context, root fsx.Dir, path string, mode uint32, content io.Reader) (retake.FileWritten, error) {
	names, err := splitPath(path)
	if err != nil {
		return retake.FileWritten{}, err
	}
	if mode&^0o777 != 0 {
		return retake.FileWritten{}, invalid("the mode may have only the bits 0777")
	}
	dir, closeDirs, err := openParent(root, names, true)
	if err != nil {
		return retake.FileWritten{}, err
	}
	defer closeDirs()
	name := names[len(names)-1]
	info, err := dir.Lstat(name)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case err != nil && !missing:
		return retake.FileWritten{}, explain(path, err)
	case !missing && info.Type != fsx.Regular:
		return retake.FileWritten{}, &retake.Error{Kind: retake.Exists, What: fmt.Sprintf("%q is no regular file", path), Safe: unchanged, Hint: "remove it first"}
	case mode == 0 && missing:
		mode = defaultMode
	case mode == 0:
		mode = info.Mode & 0o777
	}
	n, err := replace(ctx, dir, name, mode, content)
	return retake.FileWritten{Size: n, Mode: mode, Created: missing}, explain(path, err)
}

// replace writes a temporary file and gives it the name.
func replace(ctx context.Context, dir fsx.Dir, name string, mode uint32, content io.Reader) (n int64, err error) {
	temp := fsx.TempMark + rand.Text()[:12]
	f, err := dir.Create(temp, 0o600)
	if err != nil {
		return 0, err
	}
	n, err = io.CopyBuffer(struct{ io.Writer }{f}, contextReader{ctx, content}, make([]byte, chunkSize))
	var info fsx.Info
	if err == nil {
		info, err = f.Stat()
	}
	if err == nil {
		err = f.SetMetadata(fsx.Metadata{Mode: mode, Mtime: info.Mtime})
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = dir.Rename(temp, dir, name)
	}
	if err != nil {
		_ = dir.Remove(temp) // a leftover of ours
		return 0, err
	}
	return n, dir.Sync()
}

// Remove removes a file, a link or an empty directory.
func Remove(root fsx.Dir, path string) error {
	names, err := splitPath(path)
	if err != nil {
		return err
	}
	dir, closeDirs, err := openParent(root, names, false)
	if err != nil {
		return err
	}
	defer closeDirs()
	if err := dir.Remove(names[len(names)-1]); err != nil {
		return explain(path, err)
	}
	return explain(path, dir.Sync())
}

// splitPath returns the names of a path in a workspace.
func splitPath(path string) ([]string, error) {
	if len(path) > maxPath {
		return nil, invalid("the path is longer than %d bytes", maxPath)
	}
	names := strings.Split(path, "/")
	for _, name := range names {
		if fsx.CheckName(name) != nil {
			return nil, invalid("%q is no path in a workspace", path)
		}
	}
	if names[0] == marker.Dir {
		return nil, &retake.Error{Kind: retake.Denied, What: marker.Dir + " belongs to Retake", Safe: unchanged}
	}
	return names, nil
}

// openParent opens the directory of the last name.
func openParent(root fsx.Dir, names []string, create bool) (fsx.Dir, func(), error) {
	var opened []fsx.Dir
	closeAll := func() {
		for _, d := range opened {
			_ = d.Close() // names are synced by then
		}
	}
	at := root
	for i, name := range names[:len(names)-1] {
		next, err := at.OpenDir(name)
		if errors.Is(err, fs.ErrNotExist) && create {
			next, err = makeDir(at, name)
		}
		if err != nil {
			closeAll()
			return nil, nil, explain(strings.Join(names[:i+1], "/"), err)
		}
		opened, at = append(opened, next), next
	}
	return at, closeAll, nil
}

func makeDir(at fsx.Dir, name string) (fsx.Dir, error) {
	if err := at.Mkdir(name, dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if err := at.Sync(); err != nil {
		return nil, err
	}
	return at.OpenDir(name)
}

// explain turns the errors that a client can cause into errors for the client.
func explain(path string, err error) error {
	known := (*retake.Error)(nil)
	e := &retake.Error{Safe: unchanged, Err: err}
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case errors.Is(err, fs.ErrNotExist):
		e.Kind, e.What = retake.NotFound, fmt.Sprintf("there is no %q", path)
	case errors.Is(err, fsx.ErrNotDir), errors.Is(err, fsx.ErrOtherMount):
		e.Kind, e.What = retake.Exists, fmt.Sprintf("%q is no directory of this workspace", path)
	case errors.Is(err, fsx.ErrNotEmpty), errors.Is(err, fs.ErrExist):
		e.Kind, e.What = retake.Exists, fmt.Sprintf("%q is a directory that is not empty", path)
	case errors.Is(err, fsx.ErrNoSpace):
		e.Kind, e.What = retake.Limit, "there is no room for the file"
	case errors.Is(err, syscall.ENAMETOOLONG):
		e.Kind, e.What = retake.Invalid, "a name in the path is too long"
	case errors.Is(err, fs.ErrPermission):
		e.Kind, e.What = retake.Denied, fmt.Sprintf("the server may not change %q", path)
	default:
		return fmt.Errorf("edit %q: %w", path, err)
	}
	return e
}

func invalid(format string, args ...any) error {
	return &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf(format, args...), Safe: unchanged}
}

// contextReader reads until its context ends.
type contextReader struct {
	ctx context.Context
	io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}
