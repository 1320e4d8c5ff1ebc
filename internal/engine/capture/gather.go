package capture

import (
	"context"
	"crypto/sha256"
	"encoding/binary"

	"github.com/retake-dev/retake"
)

// collectRows keeps the rows that are part of the tree and those that were not scanned, sorted
// by name.
func (v *visitor) collectRows() {
	v.node.children = map[string]*dirNode{}
	if v.node.scanned != nil {
		v.node.rows = make([]row, 0, len(v.old)+len(v.names))
	}
	j := 0
	for i, name := range v.names {
		for ; v.node.scanned != nil && j < len(v.old) && v.old[j].entry.Name <= name; j++ {
			if v.old[j].entry.Name != name {
				v.node.rows = append(v.node.rows, v.old[j])
			}
		}
		if v.states[i] != stateKept {
			continue
		}
		if v.children[i] != nil {
			v.node.children[name] = v.children[i]
		}
		v.node.rows = append(v.node.rows, v.rows[i])
	}
	if v.node.scanned != nil {
		v.node.rows = append(v.node.rows, v.old[j:]...)
	}
}

// isCarriedOver reports whether a row is taken from the index because it was not scanned.
func (n *dirNode) isCarriedOver(name string) bool { return n.scanned != nil && !n.scanned[name] }

// subdirHead returns the head of a subdirectory, as captured now or as the index knows it.
func (w *walker) subdirHead(n *dirNode, name string) (dirHead, error) {
	if k := n.children[name]; k != nil {
		return k.head, nil
	}
	if r := w.findRecord(joinPath(n.path, name)); r != nil && n.isCarriedOver(name) {
		return r.head, nil
	}
	return dirHead{}, errIndexDamaged
}

// finishDir writes a directory whose children are all written. A directory that contains hard
// links, and all above it, waits for the end of the walk.
func (w *walker) finishDir(ctx context.Context, n *dirNode, old []row) error {
	if n.awaitsLinks {
		return nil
	}
	for _, k := range n.children {
		if !k.done {
			return nil
		}
	}
	return w.commitDir(ctx, n, old)
}

// finishDeferred finishes the directories that waited, the deepest first.
func (w *walker) finishDeferred(ctx context.Context, n *dirNode) error {
	if n.done {
		return nil
	}
	for _, k := range n.children {
		if err := w.finishDeferred(ctx, k); err != nil {
			return err
		}
	}
	var old []row
	if n.record != nil {
		var err error
		if old, err = n.record.decodeRows(); err != nil {
			return err
		}
	}
	return w.commitDir(ctx, n, old)
}

// commitDir gives a directory its head: the previous one if nothing in it differs, otherwise a
// new one from the sink.
func (w *walker) commitDir(ctx context.Context, n *dirNode, old []row) error {
	rowsSame, treeSame := n.compareRows(old)
	if treeSame {
		n.head = n.record.head
	} else {
		entries, content, err := w.dirEntries(n)
		if err != nil {
			return err
		}
		if n.head.object, n.head.sum, err = w.sink.WriteDir(ctx, entries, n.info.Mtime); err != nil {
			return err
		}
		n.head.content = content
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !treeSame {
		w.addDirDelta(n, old)
	}
	if err := w.forgetDeletedDirs(n, old); err != nil {
		return err
	}
	switch {
	case !rowsSame:
		w.index.putDir(n.path, newDirRecord(n.head, n.rows))
		w.records = append(w.records, n.path)
	case !treeSame:
		w.index.putDir(n.path, &dirRecord{head: n.head, rows: n.record.rows, count: n.record.count})
		w.heads = append(w.heads, n.path)
	}
	n.rows, n.children, n.scanned, n.done = nil, nil, nil, true
	return nil
}

// forgetDeletedDirs removes deleted directories from the index. The caller holds w.mu.
func (w *walker) forgetDeletedDirs(n *dirNode, old []row) error {
	for i := range old {
		if old[i].entry.Kind != retake.KindDir || n.isCarriedOver(old[i].entry.Name) {
			continue
		}
		if r := findRow(n.rows, old[i].entry.Name); r == nil || r.entry.Kind != retake.KindDir {
			if err := w.index.dropTree(joinPath(n.path, old[i].entry.Name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// compareRows reports whether the rows equal those of the index including private fields, and
// whether the tree below is equal.
func (n *dirNode) compareRows(old []row) (rowsSame, treeSame bool) {
	if n.record == nil || len(old) != len(n.rows) {
		return false, false
	}
	rowsSame, treeSame = true, true
	// An empty directory is stored with its own time.
	if len(n.rows) == 0 && n.record.head.sum.MaxTime != n.info.Mtime {
		treeSame = false
	}
	for i := range n.rows {
		a, b := &n.rows[i], &old[i]
		if a.entry.Name != b.entry.Name || !sameEntry(&a.entry, &b.entry) {
			return false, false
		}
		if a.ino != b.ino || a.ctime != b.ctime || a.nlink != b.nlink || a.mustReread != b.mustReread {
			rowsSame = false
		}
		if k := n.children[a.entry.Name]; k != nil && (k.record == nil || k.record.head.object != k.head.object) {
			treeSame = false
		}
	}
	return rowsSame, treeSame
}

// dirEntries returns the rows as entries with the heads of subdirectories, and the content id
// of all of them.
func (w *walker) dirEntries(n *dirNode) ([]retake.Entry, [32]byte, error) {
	out := make([]retake.Entry, len(n.rows))
	contents := map[string][32]byte{}
	for i := range n.rows {
		out[i] = n.rows[i].entry
		if out[i].Kind != retake.KindDir {
			continue
		}
		h, err := w.subdirHead(n, out[i].Name)
		if err != nil {
			return nil, [32]byte{}, err
		}
		out[i].Object, out[i].Sum = h.object, h.sum
		contents[out[i].Name] = h.content
	}
	return out, contentDigest(n.rows, func(name string) [32]byte { return contents[name] }), nil
}

// contentDigest returns the content id of a directory: names, kinds, modes and bytes.
func contentDigest(rows []row, kid func(name string) [32]byte) [32]byte {
	h := sha256.New()
	var b []byte
	for i := range rows {
		e := &rows[i].entry
		b = append(b[:0], e.Kind...)
		b = binary.BigEndian.AppendUint32(append(b, 0), e.Mode)
		b = binary.BigEndian.AppendUint32(b, uint32(len(e.Name)))
		b = append(b, e.Name...)
		if e.Kind == retake.KindDir {
			c := kid(e.Name)
			b = append(b, c[:]...)
		} else {
			b = append(append(b, e.Object...), 0)
		}
		_, _ = h.Write(b) // never fails
	}
	return [32]byte(h.Sum(nil))
}
