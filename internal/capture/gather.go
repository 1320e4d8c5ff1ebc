package capture

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"github.com/retake-dev/retake"
)

// gather keeps the rows that made it into the tree.
func (v *visitor) gather() {
	v.n.kids = map[string]*node{}
	for i := range v.names {
		if v.state[i] != kept {
			continue
		}
		if v.kids[i] != nil {
			v.n.kids[v.names[i]] = v.kids[i]
		}
		v.n.rows = append(v.n.rows, v.rows[i])
	}
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
		var err error
		if n.head.object, n.head.sum, err = w.sink.WriteDir(ctx, n.entries(), n.info.Mtime); err != nil {
			return err
		}
		n.head.content = digest(n.rows, func(name string) [32]byte { return n.kids[name].head.content })
	}
	w.mu.Lock()
	switch {
	case !rowsSame:
		w.x.put(n.path, newRecord(n.head, n.rows))
		w.records = append(w.records, n.path)
	case !treeSame:
		w.x.put(n.path, &record{head: n.head, rows: n.base.rows, n: n.base.n})
		w.heads = append(w.heads, n.path)
	}
	w.mu.Unlock()
	n.rows, n.kids, n.done = nil, nil, true
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

func (n *node) entries() []retake.Entry {
	out := make([]retake.Entry, len(n.rows))
	for i := range n.rows {
		out[i] = n.rows[i].entry
		if k := n.kids[out[i].Name]; k != nil {
			out[i].Object, out[i].Sum = k.head.object, k.head.sum
		}
	}
	return out
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

// linkRef is one name of an inode that has several.
type linkRef struct {
	n *node
	i int
}

func (w *walker) noteLinks(n *node) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range n.rows {
		if r := &n.rows[i]; r.nlink > 1 && r.entry.Kind == retake.KindFile {
			w.links[r.ino] = append(w.links[r.ino], linkRef{n, i})
			n.held = true
		}
	}
}

// resolveLinks names the groups. A group is named by its smallest path, so that
// equal trees get equal ids; an inode whose other names lie outside the root is
// an ordinary file.
func (w *walker) resolveLinks() {
	for _, refs := range w.links {
		group := ""
		if len(refs) > 1 {
			least := ""
			for _, r := range refs {
				if p := join(r.n.path, r.n.rows[r.i].entry.Name); least == "" || p < least {
					least = p
				}
			}
			h := sha256.Sum256([]byte(least))
			group = hex.EncodeToString(h[:8])
		}
		for _, r := range refs {
			setGroup(&r.n.rows[r.i].entry, group)
		}
	}
}

func setGroup(e *retake.Entry, group string) {
	x := retake.Extra{}
	if e.Extra != nil {
		x = *e.Extra
	}
	x.Group = group
	if e.Extra = &x; group == "" && len(x.Xattrs) == 0 && len(x.Holes) == 0 {
		e.Extra = nil
	}
}
