// Package around tells which paths of a tree were touched between two looks at it.
//
// It only reads. It follows no link and enters no other file system.
//
//	A1  Whoever writes, replaces, renames or dresses a path changes its inode or the
//	    time of its last change, and no program can put these back. What was touched
//	    right before a look may be touched again in the same tick of the clock.
package around

import (
	"errors"
	"fmt"
	"path"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

// Traces are what every path below a root looked like; the root is ".".
type Traces map[string]trace

type trace struct {
	ino   uint64
	ctime int64
}

// Look takes the traces of a tree.
func Look(root string) (Traces, error) {
	d, err := fsx.OS().OpenRoot(root)
	if err != nil {
		return nil, fmt.Errorf("look around: %w", err)
	}
	t := Traces{}
	if err := errors.Join(t.below(d, "."), d.Close()); err != nil {
		return nil, fmt.Errorf("look around: %w", err)
	}
	return t, nil
}

func (t Traces) below(d fsx.Dir, at string) error {
	i, err := d.Stat()
	if err != nil {
		return err
	}
	t[at] = trace{i.Ino, i.Ctime}
	names, err := d.Names()
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := t.name(d, name, path.Join(at, name)); err != nil {
			return err
		}
	}
	return nil
}

func (t Traces) name(d fsx.Dir, name, at string) error {
	i, err := d.Lstat(name)
	if err != nil {
		return err
	}
	if i.Type != fsx.Directory {
		t[at] = trace{i.Ino, i.Ctime}
		return nil
	}
	sub, err := d.OpenDir(name)
	if err != nil {
		return err
	}
	return errors.Join(t.below(sub, at), sub.Close())
}

// Touched counts the paths that came, went or were touched until a later look, and are
// neither among the files nor the directory of one of them.
func (t Traces) Touched(later Traces, files []string) int {
	known := map[string]bool{}
	for _, f := range files {
		known[f], known[path.Dir(f)] = true, true
	}
	n := 0
	for p, now := range later {
		if was, ok := t[p]; (!ok || was != now) && !known[p] {
			n++
		}
	}
	for p := range t {
		if _, ok := later[p]; !ok && !known[p] {
			n++
		}
	}
	return n
}
