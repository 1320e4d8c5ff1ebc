package restore

import (
	"errors"
	"io"
	"strings"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

// way opens directories by walking down from the root, one name at a time, and
// keeps those of the last path open: neighbours come one after the other.
type way struct {
	root  fsx.Dir
	names []string
	dirs  []fsx.Dir
}

func newWay(root fsx.Dir) *way { return &way{root: root} }

// dir opens the directory at a path; "" is the root. The handle is the way's.
func (w *way) dir(path string) (fsx.Dir, error) {
	var names []string
	if path != "" {
		names = strings.Split(path, "/")
	}
	same := 0
	for same < len(names) && same < len(w.names) && names[same] == w.names[same] {
		same++
	}
	w.cut(same)
	for _, name := range names[same:] {
		next, err := w.last().OpenDir(name)
		if err != nil {
			return nil, err
		}
		w.names, w.dirs = append(w.names, name), append(w.dirs, next)
	}
	return w.last(), nil
}

// parent opens the directory that a path lies in, and answers its last name.
func (w *way) parent(path string) (fsx.Dir, string, error) {
	dir, name := split(path)
	d, err := w.dir(dir)
	return d, name, err
}

func (w *way) last() fsx.Dir {
	if len(w.dirs) == 0 {
		return w.root
	}
	return w.dirs[len(w.dirs)-1]
}

func (w *way) cut(n int) {
	for i := n; i < len(w.dirs); i++ {
		_ = w.dirs[i].Close() // a directory handle
	}
	w.names, w.dirs = w.names[:n], w.dirs[:n]
}

// forget drops handles at and below a path: another directory may be there now.
func (w *way) forget(path string) {
	names := strings.Split(path, "/")
	for i := range w.names {
		if i >= len(names) || w.names[i] != names[i] {
			return
		}
		if i == len(names)-1 {
			w.cut(i)
			return
		}
	}
}

func (w *way) close() { w.cut(0) }

func closing(err error, c io.Closer) error { return errors.Join(err, c.Close()) }
