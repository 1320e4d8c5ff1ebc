package capture

import (
	"context"
	"crypto/sha256"
	"encoding/binary"

	"github.com/retake-dev/retake"
)

// gather keeps the rows that made it into the tree, and those that were not in
// question, in the order of their names.
func (v *visitor) gather() {
	v.n.kids = map[string]*node{}
	if v.n.part != nil {
		v.n.rows = make([]row, 0, len(v.old)+len(v.names))
	}
	j := 0
	for i, name := range v.names {
		for ; v.n.part != nil && j < len(v.old) && v.old[j].entry.Name <= name; j++ {
			if v.old[j].entry.Name != name {
				v.n.rows = append(v.n.rows, v.old[j])
			}
		}
		if v.state[i] != kept {
			continue
		}
		if v.kids[i] != nil {
			v.n.kids[name] = v.kids[i]
		}
		v.n.rows = append(v.n.rows, v.rows[i])
	}
	if v.n.part != nil {
		v.n.rows = append(v.n.rows, v.old[j:]...)
	}
}

// carried: the row is as the index had it, and was not looked at.
func (n *node) carried(name string) bool { return n.part != nil && !n.part[name] }

// headOf is the head of a sub-directory: as captured now, or as the index knows it.
func (w *walker) headOf(n *node, name string) (head, error) {
	if k := n.kids[name]; k != nil {
		return k.head, nil
	}
	if r := w.record(join(n.path, name)); r != nil && n.carried(name) {
		return r.head, nil
	}
	return head{}, errIndex
}

// finish writes a directory whose children are all written. One that holds hard
// links, and with it those above it, waits for the end of the walk.
func (w *walker) finish(ctx context.Context, n *node, old []row) error {
	if n.held {
		return nil
	}
	for _, k := range n.kids {
		if !k.done {
			return nil
		}
	}
	return w.commit(ctx, n, old)
}

// finishAll finishes what waited, from the leaves up.
func (w *walker) finishAll(ctx context.Context, n *node) error {
	if n.done {
		return nil
	}
	for _, k := range n.kids {
		if err := w.finishAll(ctx, k); err != nil {
			return err
		}
	}
	var old []row
	if n.base != nil {
		var err error
		if old, err = n.base.decode(); err != nil {
			return err
		}
	}
	return w.commit(ctx, n, old)
}

// commit gives a directory its head: the one it had when nothing in it differs,
// else a new one from the sink.
func (w *walker) commit(ctx context.Context, n *node, old []row) error {
	rowsSame, treeSame := n.compare(old)
	if treeSame {
		n.head = n.base.head
	} else {
		entries, content, err := w.entries(n)
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
		w.differences(n, old)
	}
	if err := w.dropGone(n, old); err != nil {
		return err
	}
	switch {
	case !rowsSame:
		w.x.put(n.path, newRecord(n.head, n.rows))
		w.records = append(w.records, n.path)
	case !treeSame:
		w.x.put(n.path, &record{head: n.head, rows: n.base.rows, n: n.base.n})
		w.heads = append(w.heads, n.path)
	}
	n.rows, n.kids, n.part, n.done = nil, nil, nil, true
	return nil
}

// dropGone lets the index forget directories that are gone. Under w.mu.
func (w *walker) dropGone(n *node, old []row) error {
	for i := range old {
		if old[i].entry.Kind != retake.KindDir || n.carried(old[i].entry.Name) {
			continue
		}
		if r := knownName(n.rows, old[i].entry.Name); r == nil || r.entry.Kind != retake.KindDir {
			if err := w.x.drop(join(n.path, old[i].entry.Name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// compare tells whether the rows are those of the index, private facts included,
// and whether the tree below is.
func (n *node) compare(old []row) (rowsSame, treeSame bool) {
	if n.base == nil || len(old) != len(n.rows) {
		return false, false
	}
	rowsSame, treeSame = true, true
	// An empty directory is stored with its own time.
	if len(n.rows) == 0 && n.base.head.sum.MaxTime != n.info.Mtime {
		treeSame = false
	}
	for i := range n.rows {
		a, b := &n.rows[i], &old[i]
		if a.entry.Name != b.entry.Name || !sameEntry(&a.entry, &b.entry) {
			return false, false
		}
		if a.ino != b.ino || a.ctime != b.ctime || a.nlink != b.nlink || a.unsettled != b.unsettled {
			rowsSame = false
		}
		if k := n.kids[a.entry.Name]; k != nil && (k.base == nil || k.base.head.object != k.head.object) {
			treeSame = false
		}
	}
	return rowsSame, treeSame
}

// entries are the rows with the heads of sub-directories, and the content id of all.
func (w *walker) entries(n *node) ([]retake.Entry, [32]byte, error) {
	out := make([]retake.Entry, len(n.rows))
	contents := map[string][32]byte{}
	for i := range n.rows {
		out[i] = n.rows[i].entry
		if out[i].Kind != retake.KindDir {
			continue
		}
		h, err := w.headOf(n, out[i].Name)
		if err != nil {
			return nil, [32]byte{}, err
		}
		out[i].Object, out[i].Sum = h.object, h.sum
		contents[out[i].Name] = h.content
	}
	return out, digest(n.rows, func(name string) [32]byte { return contents[name] }), nil
}

// digest is the content id of a directory: names, kinds, modes and bytes.
func digest(rows []row, kid func(name string) [32]byte) [32]byte {
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
