package capture

import (
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/tree"
)

// maxSince limits the changes of a Delta; for more, the trees are compared.
const maxSince = 2000

// Delta lists the differences from the checkpoint that the index was made with, below the
// root: what tree.Compare of both trees returns, without reading the trees.
type Delta struct {
	Checkpoint retake.CheckpointID
	Changes    []retake.Change
}

// deltaCollector collects a Delta while directories are finished.
type deltaCollector struct {
	base    retake.CheckpointID // "": nothing is collected, or there was too much
	changes []retake.Change
}

func (s *deltaCollector) result() *Delta {
	if s.base == "" {
		return nil
	}
	tree.Sort(s.changes)
	return &Delta{Checkpoint: s.base, Changes: s.changes}
}

// giveUp discards the list: an incomplete one is useless.
func (s *deltaCollector) giveUp() { s.base, s.changes = "", nil }

func (s *deltaCollector) add(path string, what retake.Difference, before, after *retake.Entry) {
	if s.base == "" || what == "" {
		return
	}
	if len(s.changes) == maxSince {
		s.giveUp()
		return
	}
	s.changes = append(s.changes, retake.Change{Path: path, What: what, Before: detachEntry(path, before), After: detachEntry(path, after)})
}

// detachEntry copies an entry out of the buffer of its rows, so that it can outlive them.
func detachEntry(path string, e *retake.Entry) *retake.Entry {
	if e == nil {
		return nil
	}
	out := *e
	out.Name = path[len(path)-len(e.Name):]
	out.Object = retake.ObjectID(strings.Clone(string(e.Object)))
	return &out
}

// addDirDelta adds the differences of a directory whose children are finished. The caller
// holds w.mu, and the index still knows what was deleted.
func (w *walker) addDirDelta(n *dirNode, old []row) {
	now := n.rows
	for w.delta.base != "" && (len(old) > 0 || len(now) > 0) {
		switch {
		case len(now) == 0 || len(old) > 0 && old[0].entry.Name < now[0].entry.Name:
			w.addDeleted(n.path, &old[0])
			old = old[1:]
		case len(old) == 0 || now[0].entry.Name < old[0].entry.Name:
			w.addCreated(n, &now[0])
			now = now[1:]
		default:
			w.addModified(n, &old[0], &now[0])
			old, now = old[1:], now[1:]
		}
	}
}

// addCreated adds a new name. The contents of a new directory were added when it was finished.
func (w *walker) addCreated(n *dirNode, r *row) {
	e := r.entry
	if k := n.children[e.Name]; k != nil {
		e.Object, e.Sum = k.head.object, k.head.sum
	}
	w.delta.add(joinPath(n.path, e.Name), retake.Added, nil, &e)
}

// addModified adds a name that exists before and after, if it differs.
func (w *walker) addModified(n *dirNode, old, now *row) {
	if n.isCarriedOver(now.entry.Name) {
		return
	}
	path := joinPath(n.path, now.entry.Name)
	x, y := old.entry, now.entry
	k := n.children[y.Name]
	if k != nil {
		y.Object, y.Sum = k.head.object, k.head.sum
	}
	switch {
	case x.Kind == retake.KindDir && y.Kind != retake.KindDir:
		if !w.applyHead(path, &x) {
			return
		}
		w.delta.add(path, retake.Retyped, &x, &y)
		w.addDeletedBelow(path)
		return
	case x.Kind == retake.KindDir && (k == nil || k.record == nil):
		w.delta.giveUp() // what it held before is not known
		return
	case x.Kind == retake.KindDir:
		x.Object, x.Sum = k.record.head.object, k.record.head.sum
	}
	w.delta.add(path, tree.DifferenceOf(&x, &y), &x, &y)
}

// addDeleted adds a deleted name and everything that the index has below it.
func (w *walker) addDeleted(dir string, r *row) {
	path, e := joinPath(dir, r.entry.Name), r.entry
	if e.Kind != retake.KindDir {
		w.delta.add(path, retake.Deleted, &e, nil)
		return
	}
	if w.applyHead(path, &e) {
		w.delta.add(path, retake.Deleted, &e, nil)
		w.addDeletedBelow(path)
	}
}

func (w *walker) addDeletedBelow(path string) {
	rows, err := w.index.dirs[path].decodeRows()
	if err != nil {
		w.delta.giveUp()
		return
	}
	for i := range rows {
		if w.delta.base == "" {
			return
		}
		w.addDeleted(path, &rows[i])
	}
}

// applyHead sets the object and summary of a directory from its record in the index.
func (w *walker) applyHead(path string, e *retake.Entry) bool {
	r := w.index.dirs[path]
	if r == nil {
		w.delta.giveUp()
		return false
	}
	e.Object, e.Sum = r.head.object, r.head.sum
	return true
}
