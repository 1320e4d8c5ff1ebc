package capture

import (
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/tree"
)

// maxSince bounds what a capture hands over: of more than that, the trees tell.
const maxSince = 2000

// Since is what a capture found to differ from the checkpoint that its index was made with:
// what tree.Compare of the two trees tells below the root, without reading one of them.
type Since struct {
	Checkpoint retake.CheckpointID
	Changes    []retake.Change
}

// since collects it while directories are finished.
type since struct {
	base retake.CheckpointID // "": nothing is collected, or there was too much
	list []retake.Change
}

func (s *since) result() *Since {
	if s.base == "" {
		return nil
	}
	tree.Sort(s.list)
	return &Since{Checkpoint: s.base, Changes: s.list}
}

// stop gives up: a list that is not whole says nothing.
func (s *since) stop() { s.base, s.list = "", nil }

func (s *since) add(path string, what retake.Difference, before, after *retake.Entry) {
	if s.base == "" || what == "" {
		return
	}
	if len(s.list) == maxSince {
		s.stop()
		return
	}
	s.list = append(s.list, retake.Change{Path: path, What: what, Before: apart(path, before), After: apart(path, after)})
}

// apart is an entry without the memory of the rows that it lies in: it lives longer.
func apart(path string, e *retake.Entry) *retake.Entry {
	if e == nil {
		return nil
	}
	out := *e
	out.Name = path[len(path)-len(e.Name):]
	out.Object = retake.ObjectID(strings.Clone(string(e.Object)))
	return &out
}

// differences adds those of a directory whose children are finished. Under w.mu, before
// the index forgets what is gone.
func (w *walker) differences(n *node, old []row) {
	now := n.rows
	for w.since.base != "" && (len(old) > 0 || len(now) > 0) {
		switch {
		case len(now) == 0 || len(old) > 0 && old[0].entry.Name < now[0].entry.Name:
			w.gone(n.path, &old[0])
			old = old[1:]
		case len(old) == 0 || now[0].entry.Name < old[0].entry.Name:
			w.came(n, &now[0])
			now = now[1:]
		default:
			w.stayed(n, &old[0], &now[0])
			old, now = old[1:], now[1:]
		}
	}
}

// came adds what is new. What lies below a new directory was added when that was finished.
func (w *walker) came(n *node, r *row) {
	e := r.entry
	if k := n.kids[e.Name]; k != nil {
		e.Object, e.Sum = k.head.object, k.head.sum
	}
	w.since.add(join(n.path, e.Name), retake.Added, nil, &e)
}

// stayed adds a name that is there before and after, when it differs.
func (w *walker) stayed(n *node, old, now *row) {
	if n.carried(now.entry.Name) {
		return
	}
	path := join(n.path, now.entry.Name)
	x, y := old.entry, now.entry
	k := n.kids[y.Name]
	if k != nil {
		y.Object, y.Sum = k.head.object, k.head.sum
	}
	switch {
	case x.Kind == retake.KindDir && y.Kind != retake.KindDir:
		if !w.headed(path, &x) {
			return
		}
		w.since.add(path, retake.Retyped, &x, &y)
		w.below(path)
		return
	case x.Kind == retake.KindDir && (k == nil || k.base == nil):
		w.since.stop() // what it held before is not known
		return
	case x.Kind == retake.KindDir:
		x.Object, x.Sum = k.base.head.object, k.base.head.sum
	}
	w.since.add(path, tree.Differ(&x, &y), &x, &y)
}

// gone adds what was there before, and all that the index has below it.
func (w *walker) gone(dir string, r *row) {
	path, e := join(dir, r.entry.Name), r.entry
	if e.Kind != retake.KindDir {
		w.since.add(path, retake.Deleted, &e, nil)
		return
	}
	if w.headed(path, &e) {
		w.since.add(path, retake.Deleted, &e, nil)
		w.below(path)
	}
}

func (w *walker) below(path string) {
	rows, err := w.x.dirs[path].decode()
	if err != nil {
		w.since.stop()
		return
	}
	for i := range rows {
		if w.since.base == "" {
			return
		}
		w.gone(path, &rows[i])
	}
}

// headed gives a directory of the index what its head says.
func (w *walker) headed(path string, e *retake.Entry) bool {
	r := w.x.dirs[path]
	if r == nil {
		w.since.stop()
		return false
	}
	e.Object, e.Sum = r.head.object, r.head.sum
	return true
}
