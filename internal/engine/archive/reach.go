package archive

import (
	"errors"
	"fmt"
	"slices"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

// reach holds the way from the root to one directory open.
type reach struct {
	root  fsx.Dir
	names []string
	dirs  []fsx.Dir
}

// to opens the directory at names. It stays open until another is asked for.
func (r *reach) to(names []string) (fsx.Dir, error) {
	same := 0
	for same < len(names) && same < len(r.names) && names[same] == r.names[same] {
		same++
	}
	r.cut(same)
	for _, name := range names[same:] {
		d, err := r.last().OpenDir(name)
		if err != nil {
			return nil, fmt.Errorf("open directory %q: %w", name, err)
		}
		r.names, r.dirs = append(r.names, name), append(r.dirs, d)
	}
	return r.last(), nil
}

func (r *reach) last() fsx.Dir {
	if len(r.dirs) == 0 {
		return r.root
	}
	return r.dirs[len(r.dirs)-1]
}

func (r *reach) cut(n int) {
	for _, d := range slices.Backward(r.dirs[n:]) {
		_ = d.Close() // nothing is written through it
	}
	r.names, r.dirs = r.names[:n], r.dirs[:n]
}

func (r *reach) close() { r.cut(0) }

// clear removes all below a directory that was empty.
func clear(d fsx.Dir) error {
	names, err := d.Names()
	if err != nil {
		return fmt.Errorf("clear the directory: %w", err)
	}
	var all error
	for _, name := range names {
		all = errors.Join(all, remove(d, name))
	}
	return all
}

func remove(d fsx.Dir, name string) error {
	is, err := d.Lstat(name)
	if err != nil {
		return fmt.Errorf("remove %q: %w", name, err)
	}
	if is.Type == fsx.Directory {
		if err := open(d, name, is); err != nil {
			return err
		}
	}
	if err := d.Remove(name); err != nil {
		return fmt.Errorf("remove %q: %w", name, err)
	}
	return nil
}

// open clears a directory, whatever its mode.
func open(d fsx.Dir, name string, is fsx.Info) error {
	if err := d.Dress(name, is.Ino, fsx.Dressing{Mode: 0o700, Mtime: is.Mtime}); err != nil {
		return fmt.Errorf("clear %q: %w", name, err)
	}
	sub, err := d.OpenDir(name)
	if err != nil {
		return fmt.Errorf("clear %q: %w", name, err)
	}
	defer sub.Close() //nolint:errcheck // nothing is written through it
	return clear(sub)
}
