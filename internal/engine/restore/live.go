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

// LiveTree is the workspace as it is now, presented as a tree: a stored tree overlaid with the
// changes since. Content that is not stored yet has an address that only LiveTree understands.
type LiveTree struct {
	stored         store.Trees
	root           fsx.Dir
	changedEntries map[string]map[string]*retake.Entry // directory to name to what is there; nil: nothing
	changedDirs    map[string]bool                     // directories with something below that changed
	storedDirs     map[string]retake.ObjectID          // their stored addresses
}

const livePrefix = "live:"

// NewLiveTree overlays changes on the stored tree at base and returns the tree and its root.
// self is the root directory as it is now.
func NewLiveTree(stored store.Trees, root fsx.Dir, base, self retake.Entry, changes []retake.Change, gaps []retake.Gap) (*LiveTree, retake.Entry) {
	l := &LiveTree{stored: stored, root: root, changedEntries: map[string]map[string]*retake.Entry{}, changedDirs: map[string]bool{}, storedDirs: map[string]retake.ObjectID{"": base.Object}}
	for _, c := range changes {
		l.overlay(c.Path, l.addressChange(c))
	}
	for _, g := range gaps { // a capture would not contain it now, even if the last one did
		if path := strings.TrimSuffix(g.Path, "/"); !g.Reason.Held() && path != "" {
			l.overlay(path, nil)
		}
	}
	self.Object, self.Sum = base.Object, base.Sum
	if l.changedDirs[""] {
		self.Object = livePrefix
	}
	return l, self
}

// overlay records what is at a path now; nil means that nothing is.
func (l *LiveTree) overlay(path string, e *retake.Entry) {
	dir, name := splitPath(path)
	if l.changedEntries[dir] == nil {
		l.changedEntries[dir] = map[string]*retake.Entry{}
	}
	l.changedEntries[dir][name] = e
	for at := dir; !l.changedDirs[at]; at, _ = splitPath(at) {
		l.changedDirs[at] = true
		if at == "" {
			break
		}
	}
}

// addressChange returns the new entry of a change, with a live address unless its bytes are
// already stored.
func (l *LiveTree) addressChange(c retake.Change) *retake.Entry {
	if c.After == nil {
		return nil
	}
	e := *c.After
	_, e.Name = splitPath(c.Path)
	switch {
	case e.Kind == retake.KindDir:
		if c.Before == nil || c.Before.Kind != retake.KindDir { // otherwise its contents decide
			l.changedDirs[c.Path] = true
		}
	case e.Object == "" || c.What == retake.Edited || c.What == retake.Retyped:
		e.Object = retake.ObjectID(livePrefix + c.Path)
	}
	return &e
}

// Dir lists a directory of the workspace, or a stored one.
func (l *LiveTree) Dir(ctx context.Context, id retake.ObjectID) ([]retake.Entry, error) {
	path, ok := strings.CutPrefix(string(id), livePrefix)
	if !ok {
		return l.stored.Dir(ctx, id)
	}
	var entries []retake.Entry
	if below := l.storedDirs[path]; below != "" {
		var err error
		if entries, err = l.stored.Dir(ctx, below); err != nil {
			return nil, err
		}
	}
	out := make([]retake.Entry, 0, len(entries))
	news, known := l.changedEntries[path], map[string]bool{}
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
		out = append(out, l.addressDir(path, e))
	}
	for name, now := range news {
		if now != nil && !known[name] {
			out = append(out, l.addressDir(path, *now))
		}
	}
	slices.SortFunc(out, func(a, b retake.Entry) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// addressDir gives a directory with changes below it a live address.
func (l *LiveTree) addressDir(dir string, e retake.Entry) retake.Entry {
	path := joinPath(dir, e.Name)
	if e.Kind == retake.KindDir && (l.changedDirs[path] || e.Object == "") {
		l.storedDirs[path] = e.Object
		e.Object = retake.ObjectID(livePrefix + path)
	}
	return e
}

// File opens the bytes of a live or a stored file.
func (l *LiveTree) File(ctx context.Context, id retake.ObjectID) (io.ReadSeekCloser, error) {
	path, ok := strings.CutPrefix(string(id), livePrefix)
	if !ok {
		return l.stored.File(ctx, id)
	}
	w := newDirOpener(l.root)
	defer w.closeAll()
	dir, name, err := w.openParent(path)
	if err != nil {
		return nil, err
	}
	if text, err := dir.Readlink(name); err == nil {
		return stringFile{strings.NewReader(text)}, nil
	}
	f, err := dir.OpenFile(name)
	if err != nil {
		return nil, err
	}
	i, err := f.Stat()
	if err != nil {
		return nil, joinClose(err, f)
	}
	return liveFile{io.NewSectionReader(f, 0, i.Size), f}, nil
}

type stringFile struct{ *strings.Reader }

func (stringFile) Close() error { return nil }

type liveFile struct {
	*io.SectionReader
	io.Closer
}

// IsUnstored reports whether an address belongs to a live file whose bytes are not stored.
func IsUnstored(id retake.ObjectID) bool { return id == "" || isLiveID(id) }

// isLiveID reports whether only the live file has these bytes.
func isLiveID(id retake.ObjectID) bool { return strings.HasPrefix(string(id), livePrefix) }

func splitPath(path string) (dir, name string) {
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i], path[i+1:]
	}
	return "", path
}

func joinPath(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}
