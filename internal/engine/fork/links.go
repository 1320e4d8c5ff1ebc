package fork

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
)

// Files with several names. The name that comes first gets the bytes; the others are
// made when all files are there, and only then do the directories on the way to them
// get their own modes, which may let nobody in.

// linkKey identifies a file with several names. Names that were captured with different bytes
// become different files, even in one group.
type linkKey struct {
	group  string
	object retake.ObjectID
}

// pendingLink is another name for the file at a path.
type pendingLink struct{ first, path string }

func linkGroup(e *retake.Entry) string {
	if e.Extra == nil {
		return ""
	}
	return e.Extra.Group
}

// deferLink records a file with several names and reports whether another name already has its
// bytes.
func (g *builder) deferLink(p *pendingDir, path string, e *retake.Entry) bool {
	if linkGroup(e) == "" {
		return false
	}
	p.mu.Lock()
	p.linkedNames = append(p.linkedNames, e.Name)
	p.mu.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	key := linkKey{linkGroup(e), e.Object}
	first, ok := g.linkTargets[key]
	if !ok {
		g.linkTargets[key] = path
		return false
	}
	g.links = append(g.links, pendingLink{first, path})
	return true
}

// createLinks creates the deferred hard links.
func (g *builder) createLinks(ctx context.Context) error {
	slices.SortFunc(g.links, func(a, b pendingLink) int { return cmp.Compare(a.path, b.path) })
	old, made := &dirOpener{root: g.To}, &dirOpener{root: g.To}
	defer old.closeFrom(0)
	defer made.closeFrom(0)
	for _, l := range g.links {
		if err := ctx.Err(); err != nil {
			return err
		}
		from, name, err := old.openParent(l.first)
		if err != nil {
			return wrapPath(l.first, err)
		}
		to, newName, err := made.openParent(l.path)
		if err != nil {
			return wrapPath(l.path, err)
		}
		if err := from.Link(name, to, newName); err != nil {
			return wrapPath(l.path, err)
		}
	}
	return nil
}

// finishDeferred sets the metadata of directories that waited for links, the deepest first.
func (g *builder) finishDeferred(ctx context.Context, d fsx.Dir, p *pendingDir) error {
	for _, below := range p.deferred {
		if err := ctx.Err(); err != nil {
			return err
		}
		sub, err := d.OpenDir(below.entry.Name)
		if err != nil {
			return wrapPath(below.path, err)
		}
		if err := errors.Join(g.finishDeferred(ctx, sub, below), sub.Close()); err != nil {
			return err
		}
	}
	for _, name := range p.linkedNames {
		path := joinPath(p.path, name)
		if err := g.notifyWritten(path, func() (fsx.Info, error) { return d.Lstat(name) }); err != nil {
			return wrapPath(path, err)
		}
	}
	return g.applyDirMetadata(d, p)
}

// dirOpener keeps the directories of the last path open, since neighbouring paths follow each
// other.
type dirOpener struct {
	root      fsx.Dir
	openNames []string
	openDirs  []fsx.Dir
}

// openParent opens the parent directory of a path. The opener owns the handle.
func (w *dirOpener) openParent(path string) (fsx.Dir, string, error) {
	names := strings.Split(path, "/")
	last := len(names) - 1
	same := 0
	for same < min(last, len(w.openNames)) && names[same] == w.openNames[same] {
		same++
	}
	w.closeFrom(same)
	for _, name := range names[same:last] {
		d, err := w.deepest().OpenDir(name)
		if err != nil {
			return nil, "", err
		}
		w.openNames, w.openDirs = append(w.openNames, name), append(w.openDirs, d)
	}
	return w.deepest(), names[last], nil
}

func (w *dirOpener) deepest() fsx.Dir {
	if len(w.openDirs) == 0 {
		return w.root
	}
	return w.openDirs[len(w.openDirs)-1]
}

// closeFrom closes all but the first n directories.
func (w *dirOpener) closeFrom(n int) {
	for _, d := range w.openDirs[n:] {
		_ = d.Close() // a directory handle: nothing waits in it
	}
	w.openNames, w.openDirs = w.openNames[:n], w.openDirs[:n]
}
