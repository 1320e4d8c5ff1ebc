package restore

import (
	"errors"
	"io"
	"strings"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

// dirOpener opens directories by walking down from the root one name at a time, never
// following links. It keeps the directories of the last path open, since neighbouring paths
// follow each other.
type dirOpener struct {
	root      fsx.Dir
	openNames []string
	openDirs  []fsx.Dir
}

func newDirOpener(root fsx.Dir) *dirOpener { return &dirOpener{root: root} }

// openDir opens the directory at path; "" is the root. The opener owns the handle.
func (w *dirOpener) openDir(path string) (fsx.Dir, error) {
	var names []string
	if path != "" {
		names = strings.Split(path, "/")
	}
	same := 0
	for same < len(names) && same < len(w.openNames) && names[same] == w.openNames[same] {
		same++
	}
	w.closeFrom(same)
	for _, name := range names[same:] {
		next, err := w.deepest().OpenDir(name)
		if err != nil {
			return nil, err
		}
		w.openNames, w.openDirs = append(w.openNames, name), append(w.openDirs, next)
	}
	return w.deepest(), nil
}

// openParent opens the parent directory of a path and returns it with the last name.
func (w *dirOpener) openParent(path string) (fsx.Dir, string, error) {
	dir, name := splitPath(path)
	d, err := w.openDir(dir)
	return d, name, err
}

func (w *dirOpener) deepest() fsx.Dir {
	if len(w.openDirs) == 0 {
		return w.root
	}
	return w.openDirs[len(w.openDirs)-1]
}

func (w *dirOpener) closeFrom(n int) {
	for i := n; i < len(w.openDirs); i++ {
		_ = w.openDirs[i].Close() // a directory handle
	}
	w.openNames, w.openDirs = w.openNames[:n], w.openDirs[:n]
}

// invalidate closes the handles at and below a path, where another directory may be now.
func (w *dirOpener) invalidate(path string) {
	names := strings.Split(path, "/")
	for i := range w.openNames {
		if i >= len(names) || w.openNames[i] != names[i] {
			return
		}
		if i == len(names)-1 {
			w.closeFrom(i)
			return
		}
	}
}

func (w *dirOpener) closeAll() { w.closeFrom(0) }

// joinClose closes c and joins its error with err.
func joinClose(err error, c io.Closer) error { return errors.Join(err, c.Close()) }
