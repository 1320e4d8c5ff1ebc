package archive

import (
	"errors"
	"fmt"
	"slices"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

// dirOpener keeps the directories from the root to one directory open.
type dirOpener struct {
	root      fsx.Dir
	openNames []string
	openDirs  []fsx.Dir
}

// openDir opens the directory at names. The handle is valid until the next call.
func (r *dirOpener) openDir(names []string) (fsx.Dir, error) {
	same := 0
	for same < len(names) && same < len(r.openNames) && names[same] == r.openNames[same] {
		same++
	}
	r.closeFrom(same)
	for _, name := range names[same:] {
		d, err := r.deepest().OpenDir(name)
		if err != nil {
			return nil, fmt.Errorf("open directory %q: %w", name, err)
		}
		r.openNames, r.openDirs = append(r.openNames, name), append(r.openDirs, d)
	}
	return r.deepest(), nil
}

func (r *dirOpener) deepest() fsx.Dir {
	if len(r.openDirs) == 0 {
		return r.root
	}
	return r.openDirs[len(r.openDirs)-1]
}

func (r *dirOpener) closeFrom(n int) {
	for _, d := range slices.Backward(r.openDirs[n:]) {
		_ = d.Close() // nothing is written through it
	}
	r.openNames, r.openDirs = r.openNames[:n], r.openDirs[:n]
}

func (r *dirOpener) closeAll() { r.closeFrom(0) }

// clearDir removes everything below a directory that was empty before.
func clearDir(d fsx.Dir) error {
	names, err := d.Names()
	if err != nil {
		return fmt.Errorf("clear the directory: %w", err)
	}
	var all error
	for _, name := range names {
		all = errors.Join(all, removeEntry(d, name))
	}
	return all
}

func removeEntry(d fsx.Dir, name string) error {
	is, err := d.Lstat(name)
	if err != nil {
		return fmt.Errorf("remove %q: %w", name, err)
	}
	if is.Type == fsx.Directory {
		if err := clearSubdir(d, name, is); err != nil {
			return err
		}
	}
	if err := d.Remove(name); err != nil {
		return fmt.Errorf("remove %q: %w", name, err)
	}
	return nil
}

// clearSubdir clears a directory whatever its mode.
func clearSubdir(d fsx.Dir, name string, is fsx.Info) error {
	if err := d.SetMetadata(name, is.Ino, fsx.Metadata{Mode: 0o700, Mtime: is.Mtime}); err != nil {
		return fmt.Errorf("clear %q: %w", name, err)
	}
	sub, err := d.OpenDir(name)
	if err != nil {
		return fmt.Errorf("clear %q: %w", name, err)
	}
	defer sub.Close() //nolint:errcheck // nothing is written through it
	return clearDir(sub)
}
