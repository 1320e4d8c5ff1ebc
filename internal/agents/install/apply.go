package install

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
)

const (
	fileMode   fs.FileMode = 0o644
	scriptMode fs.FileMode = 0o755
)

// Apply makes the change completely or not at all. A link is followed: the file behind it
// is replaced. Of several files, those that were changed stay changed if a later one is
// refused, and the error says so.
func (c Change) Apply() error {
	for i, m := range c.files {
		if err := m.Apply(); err != nil {
			if i > 0 {
				e := *retake.AsError(err)
				e.Safe = fmt.Sprintf("%d of %d files were done before; the others are as they were.", i, len(c.files))
				return &e
			}
			return err
		}
	}
	if c.files != nil || c.Empty() {
		return nil
	}
	real, err := resolveLinks(c.File)
	if err != nil {
		return err
	}
	if err := c.checkUnchanged(real); err != nil {
		return err
	}
	if c.After == nil {
		return c.removeFile(real)
	}
	made, err := makeDirs(filepath.Dir(real))
	if err != nil {
		return c.deniedError(filepath.Dir(real), err)
	}
	if err := c.replaceFile(real); err != nil {
		for _, dir := range made {
			_ = os.Remove(dir) // ours, and empty
		}
		return err
	}
	return nil
}

// checkUnchanged refuses if the file is not what the plan saw.
func (c Change) checkUnchanged(real string) error {
	text, there, err := settingsFile{path: c.File, realPath: real}.read()
	if err != nil {
		return c.deniedError(real, err)
	}
	if there == c.Existed && bytes.Equal(text, c.Before) {
		return nil
	}
	return &retake.Error{Kind: retake.Moved, What: c.File + " was changed since the plan", Safe: nothingChanged, Hint: "plan again"}
}

// replaceFile replaces the file in one step: a reader sees the old file or the new one,
// also after a crash.
func (c Change) replaceFile(real string) error {
	dir := filepath.Dir(real)
	if err := checkWritable(dir, true); err != nil {
		return c.deniedError(dir, err)
	}
	var old fs.FileInfo
	if c.Existed {
		if err := checkWritable(real, false); err != nil {
			return c.deniedError(real, err)
		}
		info, err := os.Stat(real)
		if err != nil {
			return c.deniedError(real, err)
		}
		old = info
	}
	temp, err := c.stageFile(dir, old)
	if err != nil {
		return c.deniedError(dir, err)
	}
	defer os.Remove(temp) //nolint:errcheck // already renamed if all went well
	if err := c.checkUnchanged(real); err != nil {
		return err
	}
	if err := c.commitStaged(temp, real); err != nil {
		return err
	}
	return fsx.SyncDir(dir)
}

// stageFile writes the new bytes to a temporary file beside the old one, with its mode and
// owner.
func (c Change) stageFile(dir string, old fs.FileInfo) (name string, err error) {
	f, err := os.CreateTemp(dir, ".retake-*")
	if err != nil {
		return "", fmt.Errorf("create file: %w", err)
	}
	defer func() {
		err = errors.Join(err, f.Close())
		if err != nil {
			_ = os.Remove(f.Name()) // a leftover of ours
		}
	}()
	if _, err := f.Write(c.After); err != nil {
		return "", fmt.Errorf("write file: %w", err)
	}
	mode := c.mode
	if old != nil {
		if err := keepOwner(f, old); err != nil {
			return "", fmt.Errorf("keep owner: %w", err)
		}
		mode = old.Mode().Perm()
	}
	if err := f.Chmod(mode); err != nil {
		return "", fmt.Errorf("keep mode: %w", err)
	}
	if err := f.Sync(); err != nil {
		return "", fmt.Errorf("sync file: %w", err)
	}
	return f.Name(), nil
}

// commitStaged gives the staged file its name. A file that appeared since the plan is not
// replaced.
func (c Change) commitStaged(temp, real string) error {
	if !c.Existed {
		err := os.Link(temp, real)
		if errors.Is(err, fs.ErrExist) {
			return &retake.Error{Kind: retake.Moved, What: c.File + " came up since the plan", Safe: nothingChanged, Hint: "plan again"}
		}
		if err == nil {
			return nil
		}
	}
	if err := os.Rename(temp, real); err != nil {
		return c.deniedError(real, err)
	}
	return nil
}

// removeFile removes a file that Retake created, and the directories above it that are
// empty then.
func (c Change) removeFile(real string) error {
	for path, dir := range map[string]bool{filepath.Dir(real): true, real: false} {
		if err := checkWritable(path, dir); err != nil {
			return c.deniedError(path, err)
		}
	}
	if err := os.Remove(real); err != nil {
		return c.deniedError(real, err)
	}
	if err := fsx.SyncDir(filepath.Dir(real)); err != nil {
		return err
	}
	for dir := filepath.Dir(c.File); c.baseDir != "" && len(dir) > len(c.baseDir); dir = filepath.Dir(dir) {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || os.Remove(dir) != nil {
			break
		}
	}
	return nil
}

// checkWritable returns an error if a file or a directory is write-protected. The mode
// counts even for a user who could ignore it: it was set on purpose.
func checkWritable(path string, dir bool) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o222 == 0 {
		return fs.ErrPermission
	}
	if dir {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

// makeDirs creates the missing directories of a path and returns those it created, the
// deepest first.
func makeDirs(dir string) (made []string, err error) {
	if _, err := os.Stat(dir); err == nil {
		return nil, nil
	}
	if made, err = makeDirs(filepath.Dir(dir)); err != nil {
		return nil, err
	}
	if err := checkWritable(filepath.Dir(dir), true); err != nil {
		return nil, err
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("make directory: %w", err)
	}
	return append([]string{dir}, made...), nil
}

// deniedError says that a path cannot be changed, and hints at how to do it by hand.
func (c Change) deniedError(path string, err error) error {
	e := &retake.Error{Kind: retake.Denied, What: path + " cannot be changed", Safe: nothingChanged, Err: err}
	if errors.Is(err, fs.ErrPermission) || isReadOnlyFS(err) {
		e.Hint = "make it writable, or write the lines yourself: retake agents install " + c.Agent + " shows them"
	}
	return e
}
