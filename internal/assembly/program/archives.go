package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/archive"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/ui/cli"
)

const unchanged = "Nothing was changed."

// archiveFiles reads and writes archives for the command line. What is unpacked leaves as much
// of the disk free as the user wants.
type archiveFiles struct{ floor func(total int64) int64 }

// Create writes beside the name that is meant, for its owner alone: a checkpoint holds secrets.
func (archiveFiles) Create(path string, replace bool) (cli.ArchiveFile, error) {
	if _, err := os.Lstat(path); err == nil && !replace {
		return nil, fileExists(path)
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return nil, fileError("the archive cannot be written", err)
	}
	return &archiveFile{File: f, to: path, replace: replace}, nil
}

type archiveFile struct {
	*os.File
	to      string
	replace bool
}

// Keep gives the file its name, when all of it is on the disk.
func (a *archiveFile) Keep() error {
	defer os.Remove(a.Name()) //nolint:errcheck // gone, or a second name
	if err := errors.Join(a.Sync(), a.Close()); err != nil {
		return fileError("the archive cannot be written", err)
	}
	if !a.replace {
		// Unlike a rename, a link never takes the place of what somebody put there meanwhile.
		switch err := os.Link(a.Name(), a.to); {
		case err == nil:
			return nil
		case errors.Is(err, fs.ErrExist):
			return fileExists(a.to)
		}
	}
	if err := os.Rename(a.Name(), a.to); err != nil {
		return fileError("the archive cannot be given its name", err)
	}
	return nil
}

// Drop leaves nothing behind.
func (a *archiveFile) Drop() {
	_ = a.Close()
	_ = os.Remove(a.Name())
}

func fileExists(path string) error {
	return &retake.Error{Kind: retake.Exists, What: "the file " + path + " is there already", Safe: unchanged}
}

func fileError(what string, err error) error {
	kind := retake.Internal
	switch {
	case errors.Is(err, fs.ErrNotExist):
		kind = retake.NotFound
	case errors.Is(err, fs.ErrPermission):
		kind = retake.Denied
	}
	return &retake.Error{Kind: kind, What: what + ": " + err.Error(), Safe: unchanged}
}

// Open reads an archive.
func (archiveFiles) Open(path string) (io.ReadCloser, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, fileError("the archive cannot be read", err)
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, 0, errors.Join(fileError("the archive cannot be read", err), f.Close())
	case info.IsDir():
		return nil, 0, errors.Join(&retake.Error{Kind: retake.Invalid, What: "not an archive but a directory: " + path, Safe: unchanged}, f.Close())
	case !info.Mode().IsRegular():
		return f, 0, nil
	}
	return f, info.Size(), nil
}

// Prepare makes a directory, or takes an empty one.
func (archiveFiles) Prepare(dir string) (func(), error) {
	err := os.Mkdir(dir, 0o755)
	if err == nil {
		return func() { _ = os.Remove(dir) }, nil // not if somebody put something there
	}
	if !errors.Is(err, fs.ErrExist) {
		return nil, fileError("the directory cannot be made", err)
	}
	names, err := os.ReadDir(dir)
	if err != nil {
		return nil, fileError("the directory cannot be read", err)
	}
	if len(names) > 0 {
		return nil, &retake.Error{Kind: retake.Exists, What: "the directory " + dir + " is not empty", Safe: unchanged, Hint: "name a directory that is new or empty"}
	}
	return func() {}, nil
}

// Extract fills a directory by handles.
func (a archiveFiles) Extract(ctx context.Context, dir string, r io.Reader) (archive.Report, error) {
	root, err := fsx.OS().OpenRoot(dir)
	if err != nil {
		return archive.Report{}, fmt.Errorf("open the directory: %w", err)
	}
	defer root.Close() //nolint:errcheck // a directory handle
	return archive.Extract(ctx, r, root, archive.Limits{Room: func() (int64, error) {
		free, total, err := fsx.OS().FreeSpace(dir)
		return free - a.floor(total), err
	}})
}
