package capture

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"unsafe"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
)

// row is one name in a directory: its tree entry, and the private fields by which the file is
// recognized. The rows of a directory are sorted by name.
type row struct {
	entry      retake.Entry // Object and Sum stay empty for directories: their own head has them
	ino        uint64
	nlink      uint64
	ctime      int64
	mustReread bool // must be read again next time: changed too recently, or torn
}

// matches reports whether the file is, as far as stat shows, the one that the row was made
// from.
func (r *row) matches(i *fsx.Info) bool {
	return !r.mustReread && r.ino != 0 && r.ino == i.Ino && r.ctime == i.Ctime && r.nlink == i.Nlink &&
		r.entry.Size == i.Size && r.entry.ModTime == i.Mtime && r.entry.Mode == i.Mode &&
		r.entry.UID == i.UID && r.entry.GID == i.GID && r.entry.Kind == kindOf(i.Type)
}

// sameEntry reports whether two rows have the same tree entry; for directories, apart from
// their heads.
func sameEntry(a, b *retake.Entry) bool {
	return a.Kind == b.Kind && a.Mode == b.Mode && a.UID == b.UID && a.GID == b.GID && a.Size == b.Size &&
		a.ModTime == b.ModTime && a.Object == b.Object && sameExtra(a.Extra, b.Extra)
}

func sameExtra(a, b *retake.Extra) bool {
	if a == nil || b == nil {
		return a == b
	}
	x, _ := json.Marshal(a) // plain data: always encodes, keys sorted
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

func kindOf(t fsx.Type) retake.Kind {
	switch t {
	case fsx.Regular:
		return retake.KindFile
	case fsx.Directory:
		return retake.KindDir
	case fsx.Symlink:
		return retake.KindSymlink
	case fsx.FIFO:
		return retake.KindFIFO
	case fsx.Socket:
		return retake.KindSocket
	case fsx.Device:
	}
	return ""
}

func entryOf(name string, i *fsx.Info) retake.Entry {
	e := retake.Entry{Name: name, Kind: kindOf(i.Type), Mode: i.Mode, UID: i.UID, GID: i.GID, ModTime: i.Mtime}
	if e.Kind == retake.KindFile || e.Kind == retake.KindSymlink {
		e.Size = i.Size
	}
	return e
}

// dirHead is what the record of a directory says about the directory itself.
type dirHead struct {
	object  retake.ObjectID
	sum     retake.Summary
	content [32]byte
}

var errIndexDamaged = errors.New("the stat index is damaged")

const (
	flagReread = 1 << iota
	flagExtra
	flagHexObject
)

var kindCodes = []retake.Kind{"", retake.KindFile, retake.KindDir, retake.KindSymlink, retake.KindFIFO, retake.KindSocket}

// appendTo appends the encoded row; decodeRow reads it back.
func (r *row) appendTo(b []byte) []byte {
	var flags byte
	var extra []byte
	if r.mustReread {
		flags |= flagReread
	}
	if r.entry.Extra != nil {
		flags |= flagExtra
		extra, _ = json.Marshal(r.entry.Extra) // plain data: always encodes
	}
	raw, err := hex.DecodeString(string(r.entry.Object))
	if err == nil && len(raw) == 16 {
		flags |= flagHexObject
	}
	var code byte
	for c, k := range kindCodes {
		if k == r.entry.Kind {
			code = byte(c)
		}
	}
	b = append(b, code, flags)
	b = appendBytes(b, r.entry.Name)
	b = binary.AppendUvarint(b, uint64(r.entry.Mode))
	b = binary.AppendUvarint(b, uint64(r.entry.UID))
	b = binary.AppendUvarint(b, uint64(r.entry.GID))
	b = binary.AppendVarint(b, r.entry.Size)
	b = binary.LittleEndian.AppendUint64(b, uint64(r.entry.ModTime))
	b = binary.LittleEndian.AppendUint64(b, uint64(r.ctime))
	b = binary.AppendUvarint(b, r.ino)
	b = binary.AppendUvarint(b, r.nlink)
	if flags&flagHexObject != 0 {
		b = append(b, raw...)
	} else {
		b = appendBytes(b, string(r.entry.Object))
	}
	if flags&flagExtra != 0 {
		b = appendBytes(b, string(extra))
	}
	return b
}

func (h *dirHead) appendTo(b []byte) []byte {
	b = appendBytes(b, string(h.object))
	for _, n := range []int64{h.sum.Files, h.sum.Dirs, h.sum.Symlinks, h.sum.Bytes, h.sum.MaxTime} {
		b = binary.AppendVarint(b, n)
	}
	return append(b, h.content[:]...)
}

func appendBytes(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// decoder reads what the appends wrote. The index is ours, but a disk may return anything: every length is
// checked.
//
// Names and addresses of rows are not copied one by one: names are views of the
// buffer, which nobody changes, and addresses of one directory share one array.
type decoder struct {
	b     []byte
	arena []byte
	err   error
}

func unsafeString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// objectID decodes an address of 16 bytes as text.
func (d *decoder) objectID() retake.ObjectID {
	raw := d.next(16)
	if raw == nil {
		return ""
	}
	from := len(d.arena)
	d.arena = hex.AppendEncode(d.arena, raw)
	return retake.ObjectID(unsafeString(d.arena[from:]))
}

func (d *decoder) fail() {
	d.err = errIndexDamaged
	d.b = nil
}

func (d *decoder) uvarint() uint64 {
	n, k := binary.Uvarint(d.b)
	if k <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[k:]
	return n
}

func (d *decoder) varint() int64 {
	n, k := binary.Varint(d.b)
	if k <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[k:]
	return n
}

func (d *decoder) next(n uint64) []byte {
	if n > uint64(len(d.b)) {
		d.fail()
		return nil
	}
	v := d.b[:n]
	d.b = d.b[n:]
	return v
}

func (d *decoder) byteString() []byte { return d.next(d.uvarint()) }

func (d *decoder) u64() int64 {
	v := d.next(8)
	if v == nil {
		return 0
	}
	return int64(binary.LittleEndian.Uint64(v))
}

// decodeRow decodes what row.appendTo wrote.
func (d *decoder) decodeRow(r *row) error {
	kf := d.next(2)
	if kf == nil || int(kf[0]) >= len(kindCodes) {
		return errIndexDamaged
	}
	flags := kf[1]
	*r = row{mustReread: flags&flagReread != 0}
	r.entry.Kind = kindCodes[kf[0]]
	r.entry.Name = unsafeString(d.byteString())
	r.entry.Mode = uint32(d.uvarint())
	r.entry.UID = uint32(d.uvarint())
	r.entry.GID = uint32(d.uvarint())
	r.entry.Size = d.varint()
	r.entry.ModTime = d.u64()
	r.ctime = d.u64()
	r.ino = d.uvarint()
	r.nlink = d.uvarint()
	if flags&flagHexObject != 0 {
		r.entry.Object = d.objectID()
	} else {
		r.entry.Object = retake.ObjectID(d.byteString())
	}
	if flags&flagExtra != 0 {
		r.entry.Extra = &retake.Extra{}
		if err := json.Unmarshal(d.byteString(), r.entry.Extra); err != nil {
			return fmt.Errorf("%w: %w", errIndexDamaged, err)
		}
	}
	return d.err
}

func (d *decoder) decodeHead(h *dirHead) error {
	h.object = retake.ObjectID(d.byteString())
	for _, p := range []*int64{&h.sum.Files, &h.sum.Dirs, &h.sum.Symlinks, &h.sum.Bytes, &h.sum.MaxTime} {
		*p = d.varint()
	}
	copy(h.content[:], d.next(32))
	return d.err
}
