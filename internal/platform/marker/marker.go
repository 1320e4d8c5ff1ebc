// Package marker is the small file that says which workspace a directory is. It moves with
// the directory, and survives the loss of the store.
//
// It reads, writes and removes the mark of an open directory, and finds the
// nearest marked directory above a path. It knows nothing of workspaces but their ids.
//
//	M1  A mark does not change the workspace: times are kept, and git does not see it.
//	M2  What we did not write is not a mark.
package marker

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
)

// The mark is an extended attribute, which changes no file and no listing; where
// those do not exist, a directory that hides itself from git.
const (
	Xattr    = "user.retake.workspace"
	Dir      = ".retake"
	HideFile = ".gitignore" // in Dir
	idFile   = "id"
)

// maxID is longer than any mark.
const maxID = 128

// IsMarkFile reports whether a file in the marker directory may be a mark, by name and size.
// Only its text can confirm that; see IsMarkText.
func IsMarkFile(name string, size int64) bool { return name == idFile && size <= maxID }

// IsMarkText reports whether text is the mark of some workspace.
func IsMarkText(text string) bool {
	_, err := retake.ParseWorkspaceID(strings.TrimSpace(text))
	return err == nil
}

// IsReplacedName reports whether a name in the marker directory is one under which a restore
// keeps for a day what it replaced.
func IsReplacedName(name string) bool {
	_, err := retake.ParseCheckpointID(name)
	return err == nil
}

// IsMarkOf reports whether a name in an open marker directory is the mark of workspace id.
func IsMarkOf(d fsx.Dir, name string, id retake.WorkspaceID) bool {
	return name == idFile && readSmallFile(d, name) == string(id)+"\n"
}

// HasOnlyOwnFiles reports whether the marker directory contains only what we put there, and
// returns the names under which restores keep what they replaced. A marker directory that is
// not a directory, or cannot be read, is not ours.
func HasOnlyOwnFiles(root fsx.Dir, id retake.WorkspaceID) (holds []string, alone bool) {
	d, err := root.OpenDir(Dir)
	if err != nil {
		return nil, false
	}
	defer d.Close() //nolint:errcheck // nothing was written
	names, err := d.Names()
	if err != nil {
		return nil, false
	}
	for _, name := range names {
		switch {
		case IsMarkOf(d, name, id), name == HideFile && readSmallFile(d, name) == hideFileText:
		case IsReplacedName(name):
			holds = append(holds, name)
		default:
			return nil, false
		}
	}
	return holds, true
}

// readSmallFile returns the text of a small regular file, and "" for anything else.
func readSmallFile(d fsx.Dir, name string) string {
	f, err := d.OpenFile(name)
	if err != nil {
		return ""
	}
	defer f.Close() //nolint:errcheck // nothing was written
	b, err := io.ReadAll(io.LimitReader(f, maxID+1))
	if err != nil || len(b) > maxID {
		return ""
	}
	return string(b)
}

// hideFileText is the content of HideFile.
const hideFileText = "*\n"

// Read returns the workspace of a marked directory. It returns "" if there is no mark, or one
// that we did not write.
func Read(root fsx.Dir) (retake.WorkspaceID, error) {
	x, err := root.Xattrs()
	if err != nil {
		return "", fmt.Errorf("read mark: %w", err)
	}
	text := string(x[Xattr])
	if text == "" {
		if text, err = readMarkFile(root); err != nil {
			return "", fmt.Errorf("read mark: %w", err)
		}
	}
	id, err := retake.ParseWorkspaceID(strings.TrimSpace(text))
	if err != nil {
		return "", nil
	}
	return id, nil
}

// readMarkFile returns the text of the mark in the marker directory, "" if there is none.
func readMarkFile(root fsx.Dir) (string, error) {
	d, err := root.OpenDir(Dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fsx.ErrNotDir) || errors.Is(err, fsx.ErrOtherMount) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer d.Close() //nolint:errcheck // nothing was written
	f, err := d.OpenFile(idFile)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fsx.ErrNotRegular) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	b, err := io.ReadAll(io.LimitReader(f, maxID+1))
	if len(b) > maxID {
		return "", err
	}
	return string(b), err
}

// Write marks the directory. It restores the modification time of the directory: a mark does
// not change the workspace.
func Write(root fsx.Dir, id retake.WorkspaceID) error {
	err := root.SetXattr(Xattr, []byte(id))
	if err == nil {
		return nil
	}
	i, err := root.Stat()
	if err != nil {
		return fmt.Errorf("write mark: %w", err)
	}
	if err := removeMarkerDir(root); err != nil {
		return fmt.Errorf("write mark: %w", err)
	}
	if err := root.Mkdir(Dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) { // it exists and contains files that are not ours
		return fmt.Errorf("write mark: %w", err)
	}
	d, err := root.OpenDir(Dir)
	if err != nil {
		return fmt.Errorf("write mark: %w", err)
	}
	herr := WriteSmallFile(d, HideFile, hideFileText)
	if errors.Is(herr, fs.ErrExist) {
		herr = nil
	}
	err = errors.Join(herr, WriteSmallFile(d, idFile, string(id)+"\n"), d.Close(), root.SetMtime(i.Mtime))
	if err != nil {
		return fmt.Errorf("write mark: %w", err)
	}
	return nil
}

// WriteSmallFile creates a small file in the marker directory.
func WriteSmallFile(d fsx.Dir, name, text string) error {
	f, err := d.Create(name, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte(text))
	return errors.Join(err, f.Close())
}

// Remove removes the mark in either form.
func Remove(root fsx.Dir) error {
	x, err := root.Xattrs()
	if err != nil {
		return fmt.Errorf("remove mark: %w", err)
	}
	if _, ok := x[Xattr]; ok {
		if err := root.RemoveXattr(Xattr); err != nil {
			return fmt.Errorf("remove mark: %w", err)
		}
	}
	i, err := root.Stat()
	if err == nil {
		err = removeMarkerDir(root)
	}
	if err == nil {
		err = root.SetMtime(i.Mtime)
	}
	if err != nil {
		return fmt.Errorf("remove mark: %w", err)
	}
	return nil
}

// removeMarkerDir removes our files from the marker directory, and the directory itself if it
// is empty then.
func removeMarkerDir(root fsx.Dir) error {
	d, err := root.OpenDir(Dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fsx.ErrNotDir) {
		return nil
	}
	if err != nil {
		return err
	}
	ours := map[string]bool{idFile: IsMarkText(readSmallFile(d, idFile)), HideFile: readSmallFile(d, HideFile) == hideFileText}
	for name, is := range ours {
		if !is {
			continue
		}
		if err := d.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(err, d.Close())
		}
	}
	names, err := d.Names()
	if err = errors.Join(err, d.Close()); err != nil || len(names) > 0 {
		return err
	}
	return root.Remove(Dir)
}

// HasMarkAbove reports whether dir or a directory above it is marked, or may be: a disk that fails
// does not say. It follows no link below dir.
func HasMarkAbove(fsys fsx.FS, dir string) bool {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if root, err := fsys.OpenRoot(at); err == nil {
			id, err := Read(root)
			_ = root.Close() // only looked
			if err == nil && id != "" || errors.Is(err, syscall.EIO) {
				return true
			}
		}
		if at == filepath.Dir(at) {
			return false
		}
	}
}
