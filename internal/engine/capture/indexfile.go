package capture

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

// The index file is a list of frames: length, checksum, kind, payload. Frames of
// records count only when a seal frame follows them, and only when the store
// still knows that seal. It is never synced: a file that a power cut left in
// pieces fails its checksums, and then everything is read again.
const (
	frameRecords = 'R'
	frameHeads   = 'H' // heads only: rows stay as they were
	frameSeal    = 'S'
	frameLimit   = 1 << 20
	frameHeader  = 9
	indexMagic   = "retake index 2\n"
)

var crcTable = crc32.MakeTable(crc32.Castagnoli)

// sealFrame is the payload of a seal frame.
type sealFrame struct {
	Seal
	Dev uint64 `json:"dev"`
}

// LoadIndex reads an index up to the last seal that known accepts. A missing, foreign or
// damaged file gives a new index and never an error: the index only saves time.
func LoadIndex(dir fsx.Dir, name string, known func(Seal) bool) (*Index, error) {
	f, err := dir.OpenFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return NewIndex(), nil
	}
	if err != nil {
		return NewIndex(), fmt.Errorf("open stat index: %w", err)
	}
	defer f.Close() //nolint:errcheck // nothing was written
	st, err := f.Stat()
	if err != nil {
		return NewIndex(), fmt.Errorf("open stat index: %w", err)
	}
	b := make([]byte, st.Size)
	if _, err := io.ReadFull(f, b); err != nil {
		return NewIndex(), fmt.Errorf("read stat index: %w", err)
	}
	return parseIndex(b, known), nil
}

type frame struct {
	kind    byte
	payload []byte
	end     int
}

// parseFrames returns the frames before the first one that is truncated or damaged.
func parseFrames(b []byte) []frame {
	if len(b) < len(indexMagic) || string(b[:len(indexMagic)]) != indexMagic {
		return nil
	}
	var out []frame
	at := len(indexMagic)
	for len(b)-at >= frameHeader {
		n := int(binary.LittleEndian.Uint32(b[at:]))
		if n > len(b)-at-frameHeader {
			break
		}
		body := b[at+8 : at+frameHeader+n]
		if crc32.Checksum(body, crcTable) != binary.LittleEndian.Uint32(b[at+4:]) {
			break
		}
		at += frameHeader + n
		out = append(out, frame{body[0], body[1:], at})
	}
	return out
}

// parseIndex applies the frames up to the last seal that known accepts. It returns a new index
// if there is none or if a frame cannot be decoded.
func parseIndex(b []byte, known func(Seal) bool) *Index {
	all := parseFrames(b)
	last, seal := -1, sealFrame{}
	for i := len(all) - 1; i >= 0 && last < 0; i-- {
		if all[i].kind != frameSeal {
			continue
		}
		var s sealFrame
		if json.Unmarshal(all[i].payload, &s) == nil && known(s.Seal) {
			last, seal = i, s
		}
	}
	x := NewIndex()
	for _, f := range all[:last+1] {
		if x.applyFrame(f) != nil {
			return NewIndex()
		}
	}
	if last < 0 || x.dirs[""] == nil {
		return NewIndex()
	}
	x.seal, x.dev = seal.Seal, seal.Dev
	if all[last].end == len(b) {
		x.fileSize = int64(len(b))
	}
	return x
}

// applyFrame applies one frame of records or heads.
func (x *Index) applyFrame(f frame) error {
	d := decoder{b: f.payload}
	for f.kind != frameSeal && len(d.b) > 0 {
		path, r, err := d.decodeRecord()
		if err != nil {
			return err
		}
		if f.kind == frameHeads {
			old := x.dirs[path]
			if old == nil {
				return errIndexDamaged
			}
			r.rows, r.count = old.rows, old.count
		}
		x.putDir(path, r)
	}
	return nil
}

// Save writes what an accepted capture learned under its seal. A small change is appended; a
// file that is mostly out of date is rewritten.
func (d *Draft) Save(dir fsx.Dir, name string) error {
	fresh := d.index.fileSize == 0 || d.index.fileSize > 4*d.index.encodedSize+4*frameLimit
	n, err := d.writeFile(dir, name, fresh)
	if err != nil {
		d.index.fileSize = 0 // frames behind a torn one would never be read
		return fmt.Errorf("write stat index: %w", err)
	}
	if fresh {
		d.index.fileSize = 0
	}
	d.index.fileSize += n
	return nil
}

// writeFile appends to the index file, or writes a new one and renames it into place, and
// returns its size.
func (d *Draft) writeFile(dir fsx.Dir, name string, fresh bool) (int64, error) {
	tmp := name + ".new"
	var f fsx.File
	var err error
	if fresh {
		if err = dir.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
		f, err = dir.Create(tmp, 0o600)
	} else {
		f, err = dir.Append(name, 0o600)
	}
	if err != nil {
		return 0, err
	}
	w := &frameWriter{w: f}
	if fresh {
		w.write([]byte(indexMagic))
		d.index.writeAllRecords(w)
	} else {
		d.writeRecords(w)
	}
	s, _ := json.Marshal(sealFrame{d.index.seal, d.index.dev}) // plain data: always encodes
	w.flush()
	w.writeFrame(frameSeal, s)
	if err = errors.Join(w.err, f.Close()); err != nil || !fresh {
		return w.written, err
	}
	return w.written, dir.Rename(tmp, dir, name)
}

// writeAllRecords writes every directory that is reachable from the root; records of deleted
// directories are dropped here.
func (x *Index) writeAllRecords(w *frameWriter) {
	var visit func(path string)
	visit = func(path string) {
		r := x.dirs[path]
		if r == nil {
			return
		}
		w.addRecord(frameRecords, path, r)
		rows, err := r.decodeRows()
		if err != nil {
			w.err = errors.Join(w.err, err)
			return
		}
		for i := range rows {
			if rows[i].entry.Kind == "dir" {
				visit(joinPath(path, rows[i].entry.Name))
			}
		}
	}
	visit("")
}

// frameWriter collects records of one kind into frames.
type frameWriter struct {
	w       io.Writer
	kind    byte
	buf     []byte
	written int64 // bytes written
	err     error
}

func (w *frameWriter) write(b []byte) {
	if w.err == nil {
		_, w.err = w.w.Write(b)
		w.written += int64(len(b))
	}
}

func (w *frameWriter) addRecord(kind byte, path string, r *dirRecord) {
	if kind != w.kind || len(w.buf) > frameLimit {
		w.flush()
		w.kind = kind
	}
	w.buf = r.appendTo(w.buf, path)
}

func (w *frameWriter) flush() {
	if len(w.buf) > 0 {
		w.writeFrame(w.kind, w.buf)
		w.buf = w.buf[:0]
	}
}

func (w *frameWriter) writeFrame(kind byte, payload []byte) {
	sum := crc32.Update(crc32.Checksum([]byte{kind}, crcTable), crcTable, payload)
	h := binary.LittleEndian.AppendUint32(nil, uint32(len(payload)))
	h = binary.LittleEndian.AppendUint32(h, sum)
	w.write(append(h, kind))
	w.write(payload)
}
