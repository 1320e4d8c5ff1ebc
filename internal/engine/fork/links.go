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

// oneFile tells files with several names apart. Bytes count more than a group: names
// that were captured with different bytes become different files.
type oneFile struct {
	group  string
	object retake.ObjectID
}

// link is another name for the file at a path.
type link struct{ first, path string }

func group(e *retake.Entry) string {
	if e.Extra == nil {
		return ""
	}
	return e.Extra.Group
}

// linked notes a file with several names, and reports whether another name has its bytes.
func (g *grower) linked(p *plot, path string, e *retake.Entry) bool {
	if group(e) == "" {
		return false
	}
	p.mu.Lock()
	p.linked = append(p.linked, e.Name)
	p.mu.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	key := oneFile{group(e), e.Object}
	first, ok := g.firsts[key]
	if !ok {
		g.firsts[key] = path
		return false
	}
	g.links = append(g.links, link{first, path})
	return true
}

func (g *grower) linkAll(ctx context.Context) error {
	slices.SortFunc(g.links, func(a, b link) int { return cmp.Compare(a.path, b.path) })
	old, made := &way{root: g.To}, &way{root: g.To}
	defer old.cut(0)
	defer made.cut(0)
	for _, l := range g.links {
		if err := ctx.Err(); err != nil {
			return err
		}
		from, name, err := old.parent(l.first)
		if err != nil {
			return told(l.first, err)
		}
		to, newName, err := made.parent(l.path)
		if err != nil {
			return told(l.path, err)
		}
		if err := from.Link(name, to, newName); err != nil {
			return told(l.path, err)
		}
	}
	return nil
}

// settleBelow dresses what waited for links, the deepest first.
func (g *grower) settleBelow(ctx context.Context, d fsx.Dir, p *plot) error {
	for _, below := range p.later {
		if err := ctx.Err(); err != nil {
			return err
		}
		sub, err := d.OpenDir(below.e.Name)
		if err != nil {
			return told(below.path, err)
		}
		if err := errors.Join(g.settleBelow(ctx, sub, below), sub.Close()); err != nil {
			return err
		}
	}
	for _, name := range p.linked {
		path := join(p.path, name)
		if err := g.wrote(path, func() (fsx.Info, error) { return d.Lstat(name) }); err != nil {
			return told(path, err)
		}
	}
	return g.settle(d, p)
}

// way keeps the directories of the last path open: neighbours come one after the other.
type way struct {
	root  fsx.Dir
	names []string
	dirs  []fsx.Dir
}

// parent opens the directory that a path lies in. The handle stays the way's own.
func (w *way) parent(path string) (fsx.Dir, string, error) {
	names := strings.Split(path, "/")
	last := len(names) - 1
	same := 0
	for same < min(last, len(w.names)) && names[same] == w.names[same] {
		same++
	}
	w.cut(same)
	for _, name := range names[same:last] {
		d, err := w.end().OpenDir(name)
		if err != nil {
			return nil, "", err
		}
		w.names, w.dirs = append(w.names, name), append(w.dirs, d)
	}
	return w.end(), names[last], nil
}

func (w *way) end() fsx.Dir {
	if len(w.dirs) == 0 {
		return w.root
	}
	return w.dirs[len(w.dirs)-1]
}

// cut closes all but the first n.
func (w *way) cut(n int) {
	for _, d := range w.dirs[n:] {
		_ = d.Close() // a directory handle: nothing waits in it
	}
	w.names, w.dirs = w.names[:n], w.dirs[:n]
}
