package capture

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/retake-dev/retake"
)

// Index is what the last capture learned about a workspace: the rows and the head of every
// directory. Rows stay encoded until their directory is visited, so that a million files cost
// bytes and not objects.
type Index struct {
	dirs        map[string]*dirRecord
	seal        Seal
	dev         uint64
	encodedSize int64 // encoded bytes that are in force
	fileSize    int64 // bytes of the file it came from; 0: none, or one that must be written anew

	// What only a capture in this process knows: it is not in the file.
	complete        bool                // everything below was looked at by this process
	timesUnreliable bool                // times do not show changes of bytes here
	links           map[uint64][]string // inodes with several names to those that we know
	externalInodes  map[uint64]bool     // inodes that have names elsewhere too

	undoRecords map[string]*dirRecord // how directories were before the capture that is under way; nil: none is
}

// dirRecord is one directory of the index.
type dirRecord struct {
	head  dirHead
	rows  []byte
	count int
}

// NewIndex returns the index of a workspace that was never captured.
func NewIndex() *Index { return &Index{dirs: map[string]*dirRecord{}} }

// Seal identifies the checkpoint that contains what an index describes.
type Seal struct {
	Checkpoint retake.CheckpointID `json:"checkpoint"`
	Number     int64               `json:"number"`
	Tree       retake.ObjectID     `json:"tree"`
}

// Seal returns the checkpoint that the index was made with; it is zero for a new index.
func (x *Index) Seal() Seal { return x.seal }

// beginCapture starts a capture. Until it is accepted, rollback undoes its changes.
func (x *Index) beginCapture() { x.undoRecords = map[string]*dirRecord{} }

// rollback resets the index to the last accepted capture.
func (x *Index) rollback() {
	before := x.undoRecords
	x.undoRecords = nil
	for path, r := range before {
		if r == nil {
			x.removeDir(path)
		} else {
			x.putDir(path, r)
		}
	}
}

func (x *Index) saveUndo(path string) {
	if x.undoRecords == nil {
		return
	}
	if _, ok := x.undoRecords[path]; !ok {
		x.undoRecords[path] = x.dirs[path]
	}
}

func (x *Index) removeDir(path string) {
	if r := x.dirs[path]; r != nil {
		x.saveUndo(path)
		x.encodedSize -= int64(len(r.rows))
		delete(x.dirs, path)
	}
}

func (x *Index) putDir(path string, r *dirRecord) {
	x.saveUndo(path)
	if old := x.dirs[path]; old != nil {
		x.encodedSize -= int64(len(old.rows))
	}
	x.encodedSize += int64(len(r.rows))
	x.dirs[path] = r
}

// dropTree removes a deleted directory and everything below it.
func (x *Index) dropTree(path string) error {
	r := x.dirs[path]
	if r == nil {
		return nil
	}
	x.removeDir(path)
	rows, err := r.decodeRows()
	if err != nil {
		return err
	}
	for i := range rows {
		if rows[i].entry.Kind == retake.KindDir {
			if err := x.dropTree(joinPath(path, rows[i].entry.Name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Distrust forgets the directories that are damaged in the store, or hold a file that is: the next
// capture that comes there reads every file of them.
func (x *Index) Distrust(damaged func(retake.ObjectID) bool) {
	for path, r := range x.dirs {
		rows, err := r.decodeRows()
		if err != nil || damaged(r.head.object) || slices.ContainsFunc(rows, func(w row) bool { return w.entry.Object != "" && damaged(w.entry.Object) }) {
			x.removeDir(path)
		}
	}
}

// decodeRows returns the rows of a record.
func (r *dirRecord) decodeRows() ([]row, error) {
	rows := make([]row, r.count)
	d := decoder{b: r.rows, arena: make([]byte, 0, 32*r.count)}
	for i := range rows {
		if err := d.decodeRow(&rows[i]); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

func newDirRecord(h dirHead, rows []row) *dirRecord {
	var b []byte
	for i := range rows {
		b = rows[i].appendTo(b)
	}
	return &dirRecord{head: h, rows: b, count: len(rows)}
}

func (r *dirRecord) appendTo(b []byte, path string) []byte {
	b = appendBytes(b, path)
	b = r.head.appendTo(b)
	b = binary.AppendUvarint(b, uint64(r.count))
	return appendBytes(b, string(r.rows))
}

func (d *decoder) decodeRecord() (string, *dirRecord, error) {
	path := string(d.byteString())
	r := &dirRecord{}
	if err := d.decodeHead(&r.head); err != nil {
		return "", nil, err
	}
	r.count = int(d.uvarint())
	r.rows = d.byteString()
	if d.err == nil && r.count > len(r.rows) {
		d.fail()
	}
	return path, r, d.err
}

// Lister reads the directories of a stored tree.
type Lister interface {
	Dir(ctx context.Context, id retake.ObjectID) ([]retake.Entry, error)
}

// IndexOfTree makes an index from a stored tree alone. It knows names and entries, so that
// changes can be reported, but no inodes: every file will be read.
func IndexOfTree(ctx context.Context, l Lister, root retake.Entry, seal Seal) (*Index, error) {
	x := NewIndex()
	x.seal = seal
	if _, err := x.addTree(ctx, l, "", root); err != nil {
		return nil, err
	}
	return x, nil
}

// addTree adds a stored directory and all below it to the index.
func (x *Index) addTree(ctx context.Context, l Lister, path string, e retake.Entry) (dirHead, error) {
	entries, err := l.Dir(ctx, e.Object)
	if err != nil {
		return dirHead{}, err
	}
	rows := make([]row, len(entries))
	heads := map[string]dirHead{}
	for i, c := range entries {
		rows[i].entry = c
		if c.Kind == retake.KindDir {
			if heads[c.Name], err = x.addTree(ctx, l, joinPath(path, c.Name), c); err != nil {
				return dirHead{}, err
			}
			rows[i].entry.Object, rows[i].entry.Sum, rows[i].entry.Size = "", retake.Summary{}, 0
		}
	}
	h := dirHead{object: e.Object, sum: e.Sum}
	h.content = contentDigest(rows, func(name string) [32]byte { return heads[name].content })
	x.putDir(path, newDirRecord(h, rows))
	return h, nil
}

func joinPath(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}
