// Package marker is the small file that says which workspace a directory is. It moves with
// the directory, and survives the loss of the store.
//
// It reads, writes and removes the mark of an open directory, and finds the
// nearest marked one above a path. It knows nothing of workspaces but their ids.
//
//	M1  A mark is no change of the workspace: times stay, git does not see it.
//	M2  What we did not write is no mark.
package marker

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

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

// maxID is more than the text of a mark has.
const maxID = 128

// IsID reports whether a file in the marker directory, of that name and size, may be a
// mark. What it is, its text says.
func IsID(name string, size int64) bool { return name == idFile && size <= maxID }

// IsText reports whether a text is the mark of some workspace.
func IsText(text string) bool {
	_, err := retake.ParseWorkspaceID(strings.TrimSpace(text))
	return err == nil
}

// IsHold reports whether a name in the marker directory is one under which a restore keeps
// for a day what it replaced.
func IsHold(name string) bool {
	_, err := retake.ParseCheckpointID(name)
	return err == nil
}

// IsOwn reports whether a name in an open marker directory is the mark of that workspace.
func IsOwn(d fsx.Dir, name string, id retake.WorkspaceID) bool {
	return name == idFile && smallText(d, name) == string(id)+"\n"
}

// OnlyOurs reports whether the marker directory holds nothing but what we put there, and which
// holds are in it. One that is no directory, or cannot be read, is not ours.
func OnlyOurs(root fsx.Dir, id retake.WorkspaceID) (holds []string, alone bool) {
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
		case IsOwn(d, name, id), name == HideFile && smallText(d, name) == hidden:
		case IsHold(name):
			holds = append(holds, name)
		default:
			return nil, false
		}
	}
	return holds, true
}

// smallText is the text of a small regular file, and "" of anything else.
func smallText(d fsx.Dir, name string) string {
	f, err := d.OpenFile(name)
	if err != nil {
		return ""
	}
	defer f.Close() //nolint:errcheck // nothing was written
	b, err := io.ReadAll(io.LimitReader(f, maxID))
	if err != nil {
		return ""
	}
	return string(b)
}

// hidden is what HideFile says.
const hidden = "*\n"

// Read answers "" when there is no mark, or one we did not write.
func Read(root fsx.Dir) (retake.WorkspaceID, error) {
	x, err := root.Xattrs()
	if err != nil {
		return "", fmt.Errorf("read mark: %w", err)
	}
	text := string(x[Xattr])
	if text == "" {
		if text, err = readMarker(root); err != nil {
			return "", fmt.Errorf("read mark: %w", err)
		}
	}
	id, err := retake.ParseWorkspaceID(strings.TrimSpace(text))
	if err != nil {
		return "", nil
	}
	return id, nil
}

func readMarker(root fsx.Dir) (string, error) {
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
	b, err := io.ReadAll(io.LimitReader(f, maxID))
	return string(b), err
}

// Write marks the directory. It puts the directory's time back: a mark is no
// change of the workspace.
func Write(root fsx.Dir, id retake.WorkspaceID) error {
	err := root.SetXattr(Xattr, []byte(id))
	if err == nil {
		return nil
	}
	i, err := root.Stat()
	if err != nil {
		return fmt.Errorf("write mark: %w", err)
	}
	if err := removeMarker(root); err != nil {
		return fmt.Errorf("write mark: %w", err)
	}
	if err := root.Mkdir(Dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) { // somebody else's files are in it
		return fmt.Errorf("write mark: %w", err)
	}
	d, err := root.OpenDir(Dir)
	if err != nil {
		return fmt.Errorf("write mark: %w", err)
	}
	herr := WriteSmall(d, HideFile, hidden)
	if errors.Is(herr, fs.ErrExist) {
		herr = nil
	}
	err = errors.Join(herr, WriteSmall(d, idFile, string(id)+"\n"), d.Close(), root.SetMtime(i.Mtime))
	if err != nil {
		return fmt.Errorf("write mark: %w", err)
	}
	return nil
}

// WriteSmall makes a small file of ours in the marker directory.
func WriteSmall(d fsx.Dir, name, text string) error {
	f, err := d.Create(name, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte(text))
	return errors.Join(err, f.Close())
}

// Remove takes the mark off, in whichever form it is.
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
		err = removeMarker(root)
	}
	if err == nil {
		err = root.SetMtime(i.Mtime)
	}
	if err != nil {
		return fmt.Errorf("remove mark: %w", err)
	}
	return nil
}

// removeMarker removes the files we put into the marker directory, and the directory when
// nothing else is in it.
func removeMarker(root fsx.Dir) error {
	d, err := root.OpenDir(Dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fsx.ErrNotDir) {
		return nil
	}
	if err != nil {
		return err
	}
	ours := map[string]bool{idFile: IsText(smallText(d, idFile)), HideFile: smallText(d, HideFile) == hidden}
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

// Above reports whether dir or a directory above it is marked. It follows no
// link below dir, and asks nobody else.
func Above(fsys fsx.FS, dir string) bool {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if root, err := fsys.OpenRoot(at); err == nil {
			id, err := Read(root)
			_ = root.Close() // only looked
			if err == nil && id != "" {
				return true
			}
		}
		if at == filepath.Dir(at) {
			return false
		}
	}
}
