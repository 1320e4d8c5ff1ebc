package capture

import (
	"context"
	"encoding/binary"

	"github.com/retake-dev/retake"
)

// Index is what we know of a workspace from its last capture: for every directory
// the rows and the head. Rows stay encoded until their directory is visited, so
// that a million files cost bytes, not objects.
type Index struct {
	dirs map[string]*record
	seal Seal
	dev  uint64
	size int64 // encoded bytes that are in force
	file int64 // bytes of the file it came from; 0: none, or one that must be written anew

	// What only a capture in this process knows: it is not in the file.
	whole    bool                // everything below was looked at by this process
	untraced bool                // times tell nothing about bytes here
	links    map[uint64][]string // inodes with several names to those that we know
	outside  map[uint64]bool     // inodes that have names elsewhere too

	undo map[string]*record // how directories were before the capture that is under way; nil: none is
}

// record is one directory.
type record struct {
	head head
	rows []byte
	n    int
}

// NewIndex is the index of a workspace that was never captured.
func NewIndex() *Index { return &Index{dirs: map[string]*record{}} }

// Seal is the checkpoint that holds what an index vouches for.
type Seal struct {
	Checkpoint retake.CheckpointID `json:"checkpoint"`
	Number     int64               `json:"number"`
	Tree       retake.ObjectID     `json:"tree"`
}

// Seal answers the checkpoint that the index was made with; zero for a new one.
func (x *Index) Seal() Seal { return x.seal }

// begin starts a capture; until it is accepted everything can be put back.
func (x *Index) begin() { x.undo = map[string]*record{} }

// revert puts the index back to the last accepted capture.
func (x *Index) revert() {
	before := x.undo
	x.undo = nil
	for path, r := range before {
		if r == nil {
			x.remove(path)
		} else {
			x.put(path, r)
		}
	}
}

func (x *Index) remember(path string) {
	if x.undo == nil {
		return
	}
	if _, ok := x.undo[path]; !ok {
		x.undo[path] = x.dirs[path]
	}
}

func (x *Index) remove(path string) {
	if r := x.dirs[path]; r != nil {
		x.remember(path)
		x.size -= int64(len(r.rows))
		delete(x.dirs, path)
	}
}

func (x *Index) put(path string, r *record) {
	x.remember(path)
	if old := x.dirs[path]; old != nil {
		x.size -= int64(len(old.rows))
	}
	x.size += int64(len(r.rows))
	x.dirs[path] = r
}

// drop forgets a directory that is gone, and all below it.
func (x *Index) drop(path string) error {
	r := x.dirs[path]
	if r == nil {
		return nil
	}
	x.remove(path)
	rows, err := r.decode()
	if err != nil {
		return err
	}
	for i := range rows {
		if rows[i].entry.Kind == retake.KindDir {
			if err := x.drop(join(path, rows[i].entry.Name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// decode gives the rows of a record.
func (r *record) decode() ([]row, error) {
	rows := make([]row, r.n)
	d := decoder{b: r.rows, arena: make([]byte, 0, 32*r.n)}
	for i := range rows {
		if err := d.row(&rows[i]); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

func newRecord(h head, rows []row) *record {
	var b []byte
	for i := range rows {
		b = rows[i].append(b)
	}
	return &record{head: h, rows: b, n: len(rows)}
}

func (r *record) append(b []byte, path string) []byte {
	b = appendBytes(b, path)
	b = r.head.append(b)
	b = binary.AppendUvarint(b, uint64(r.n))
	return appendBytes(b, string(r.rows))
}

func (d *decoder) record() (string, *record, error) {
	path := string(d.bytes())
	r := &record{}
	if err := d.head(&r.head); err != nil {
		return "", nil, err
	}
	r.n = int(d.uvarint())
	r.rows = d.bytes()
	if d.err == nil && r.n > len(r.rows) {
		d.fail()
	}
	return path, r, d.err
}

// Lister reads directories of a stored tree.
type Lister interface {
	Dir(ctx context.Context, id retake.ObjectID) ([]retake.Entry, error)
}

// IndexOfTree makes an index from a stored tree alone. It knows names and
// entries, so changes can be told, but no inodes: every file will be read.
func IndexOfTree(ctx context.Context, l Lister, root retake.Entry, seal Seal) (*Index, error) {
	x := NewIndex()
	x.seal = seal
	if _, err := x.addTree(ctx, l, "", root); err != nil {
		return nil, err
	}
	return x, nil
}

func (x *Index) addTree(ctx context.Context, l Lister, path string, e retake.Entry) (head, error) {
	entries, err := l.Dir(ctx, e.Object)
	if err != nil {
		return head{}, err
	}
	rows := make([]row, len(entries))
	heads := map[string]head{}
	for i, c := range entries {
		rows[i].entry = c
		if c.Kind == retake.KindDir {
			if heads[c.Name], err = x.addTree(ctx, l, join(path, c.Name), c); err != nil {
				return head{}, err
			}
			rows[i].entry.Object, rows[i].entry.Sum, rows[i].entry.Size = "", retake.Summary{}, 0
		}
	}
	h := head{object: e.Object, sum: e.Sum}
	h.content = digest(rows, func(name string) [32]byte { return heads[name].content })
	x.put(path, newRecord(h, rows))
	return h, nil
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}
