package service

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/fsx"
)

// The mark says which workspace a directory is, and moves with it: an extended
// attribute, which changes no file and no listing; where those do not exist, a
// directory that hides itself from git.
const (
	markXattr = "user.retake.workspace"
	markerDir = ".retake"
	idFile    = "id"
	hideFile  = ".gitignore"
)

// readMark answers "" when there is no mark, or one we did not write.
func readMark(root fsx.Dir) (retake.WorkspaceID, error) {
	x, err := root.Xattrs()
	if err != nil {
		return "", fmt.Errorf("read mark: %w", err)
	}
	text := string(x[markXattr])
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
	d, err := root.OpenDir(markerDir)
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
	b, err := io.ReadAll(io.LimitReader(f, 128))
	return string(b), err
}

// writeMark marks the directory. It puts the directory's time back: a mark is no
// change of the workspace.
func writeMark(root fsx.Dir, id retake.WorkspaceID) error {
	err := root.SetXattr(markXattr, []byte(id))
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
	if err := root.Mkdir(markerDir, 0o700); err != nil {
		return fmt.Errorf("write mark: %w", err)
	}
	d, err := root.OpenDir(markerDir)
	if err != nil {
		return fmt.Errorf("write mark: %w", err)
	}
	err = errors.Join(writeSmall(d, hideFile, "*\n"), writeSmall(d, idFile, string(id)+"\n"), d.Close(), root.SetMtime(i.Mtime))
	if err != nil {
		return fmt.Errorf("write mark: %w", err)
	}
	return nil
}

func writeSmall(d fsx.Dir, name, text string) error {
	f, err := d.Create(name, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte(text))
	return errors.Join(err, f.Close())
}

// removeMark takes the mark off, in whichever form it is.
func removeMark(root fsx.Dir) error {
	x, err := root.Xattrs()
	if err != nil {
		return fmt.Errorf("remove mark: %w", err)
	}
	if _, ok := x[markXattr]; ok {
		if err := root.RemoveXattr(markXattr); err != nil {
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

// removeMarker removes the marker directory and only the files we put there.
func removeMarker(root fsx.Dir) error {
	d, err := root.OpenDir(markerDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, name := range []string{idFile, hideFile} {
		if err := d.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(err, d.Close())
		}
	}
	if err := d.Close(); err != nil {
		return err
	}
	return root.Remove(markerDir)
}
