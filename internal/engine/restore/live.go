package restore

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store"
)

// Live is the workspace as it is now, seen as a tree: a stored one, with what
// changed since laid over it. What was not stored yet has an address that only
// Live knows.
type Live struct {
	stored  store.Trees
	root    fsx.Dir
	changed map[string]map[string]*retake.Entry // directory to name to what is there; nil: nothing
	moved   map[string]bool                     // directories with something below that changed
	under   map[string]retake.ObjectID          // their stored addresses
}

const livePrefix = "live:"

// NewLive lays changes over the stored tree at base, and answers the root of the
// whole. self is the root as it is now.
func NewLive(stored store.Trees, root fsx.Dir, base, self retake.Entry, changes []retake.Change, gaps []retake.Gap) (*Live, retake.Entry) {
	l := &Live{stored: stored, root: root, changed: map[string]map[string]*retake.Entry{}, moved: map[string]bool{}, under: map[string]retake.ObjectID{"": base.Object}}
	for _, c := range changes {
		l.lay(c.Path, l.address(c))
	}
	for _, g := range gaps { // no capture of now would hold it, whatever the last one did
		if path := strings.TrimSuffix(g.Path, "/"); !g.Reason.Held() && path != "" {
			l.lay(path, nil)
		}
	}
	self.Object, self.Sum = base.Object, base.Sum
	if l.moved[""] {
		self.Object = livePrefix
	}
	return l, self
}

// lay puts what is there now over the stored tree.
func (l *Live) lay(path string, e *retake.Entry) {
	dir, name := split(path)
	if l.changed[dir] == nil {
		l.changed[dir] = map[string]*retake.Entry{}
	}
	l.changed[dir][name] = e
	for at := dir; !l.moved[at]; at, _ = split(at) {
		l.moved[at] = true
		if at == "" {
			break
		}
	}
}

// address gives what is there now an address of its own, unless its bytes are known.
func (l *Live) address(c retake.Change) *retake.Entry {
	if c.After == nil {
		return nil
	}
	e := *c.After
	_, e.Name = split(c.Path)
	switch {
	case e.Kind == retake.KindDir:
		if c.Before == nil || c.Before.Kind != retake.KindDir { // else what lies in it decides
			l.moved[c.Path] = true
		}
	case e.Object == "" || c.What == retake.Edited || c.What == retake.Retyped:
		e.Object = retake.ObjectID(livePrefix + c.Path)
	}
	return &e
}

// Dir lists a directory of the workspace, or a stored one.
func (l *Live) Dir(ctx context.Context, id retake.ObjectID) ([]retake.Entry, error) {
	path, ok := strings.CutPrefix(string(id), livePrefix)
	if !ok {
		return l.stored.Dir(ctx, id)
	}
	var entries []retake.Entry
	if below := l.under[path]; below != "" {
		var err error
		if entries, err = l.stored.Dir(ctx, below); err != nil {
			return nil, err
		}
	}
	out := make([]retake.Entry, 0, len(entries))
	news, known := l.changed[path], map[string]bool{}
	for _, e := range entries {
		if now, ok := news[e.Name]; ok {
			known[e.Name] = true
			if now == nil {
				continue
			}
			was := e
			e = *now
			if e.Kind == retake.KindDir && was.Kind == retake.KindDir {
				e.Object, e.Sum = was.Object, was.Sum
			}
		}
		out = append(out, l.entry(path, e))
	}
	for name, now := range news {
		if now != nil && !known[name] {
			out = append(out, l.entry(path, *now))
		}
	}
	slices.SortFunc(out, func(a, b retake.Entry) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// entry gives a directory with changes below it an address of ours.
func (l *Live) entry(dir string, e retake.Entry) retake.Entry {
	path := join(dir, e.Name)
	if e.Kind == retake.KindDir && (l.moved[path] || e.Object == "") {
		l.under[path] = e.Object
		e.Object = retake.ObjectID(livePrefix + path)
	}
	return e
}

// File opens bytes, of the live file or stored.
func (l *Live) File(ctx context.Context, id retake.ObjectID) (io.ReadSeekCloser, error) {
	path, ok := strings.CutPrefix(string(id), livePrefix)
	if !ok {
		return l.stored.File(ctx, id)
	}
	w := newWay(l.root)
	defer w.close()
	dir, name, err := w.parent(path)
	if err != nil {
		return nil, err
	}
	if text, err := dir.Readlink(name); err == nil {
		return textFile{strings.NewReader(text)}, nil
	}
	f, err := dir.OpenFile(name)
	if err != nil {
		return nil, err
	}
	i, err := f.Stat()
	if err != nil {
		return nil, closing(err, f)
	}
	return liveFile{io.NewSectionReader(f, 0, i.Size), f}, nil
}

type textFile struct{ *strings.Reader }

func (textFile) Close() error { return nil }

type liveFile struct {
	*io.SectionReader
	io.Closer
}

// OnlyLive reports whether an address is of a live file whose bytes are not stored.
func OnlyLive(id retake.ObjectID) bool { return id == "" || isLive(id) }

// isLive reports whether only the live file holds these bytes.
func isLive(id retake.ObjectID) bool { return strings.HasPrefix(string(id), livePrefix) }

func split(path string) (dir, name string) {
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i], path[i+1:]
	}
	return "", path
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}
