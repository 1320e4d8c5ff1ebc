package restore

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"maps"
	"slices"

	"github.com/retake-dev/retake"
)

// planDigest is of everything that a plan would do, and of what it would do it to. The
// bytes that are there now do not count, only what they look like: a plan must give
// the same digest before and after they were stored. What logs and build output look
// like does not count either: the safety checkpoint holds what is there by then, and what
// is written after that is left in its place.
func planDigest(p *retake.Plan) string {
	d := digester{sha256.New()}
	d.writeString(string(p.Course))
	for _, steps := range [][]retake.Step{p.Writes, p.Deletes, p.Merges, p.Times} {
		d.writeInt(int64(len(steps)))
		for _, s := range steps {
			d.writeString(s.Path)
			d.writeString(string(s.What))
			d.writeCurrent(s)
			d.writeEntry(s.Then, s.What != retake.Moded && s.What != retake.Timed) // else the bytes are those that are there
			if s.Merge != nil {
				d.writeString(s.Merge.Digest)
			}
		}
	}
	for _, k := range p.Keeps {
		if k.Side == "" { // nothing is done: before it is stored, a repository may seem to differ that does not
			continue
		}
		d.writeString(k.Side)
		d.writeEntry(k.Then, true)
	}
	return hex.EncodeToString(d.Sum(nil))
}

type digester struct{ hash.Hash }

func (d digester) writeInt(n int64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(n))
	_, _ = d.Write(b[:]) // a hash takes everything
}

func (d digester) writeString(s string) {
	d.writeInt(int64(len(s)))
	_, _ = d.Write([]byte(s))
}

// writeCurrent is what a step is done to.
func (d digester) writeCurrent(s retake.Step) {
	if s.Now != nil && s.Now.Kind == retake.KindFile && s.Merge == nil && isGenerated(s.Path) {
		d.writeString(string(s.Now.Kind))
		return
	}
	d.writeEntry(s.Now, false)
}

func (d digester) writeEntry(e *retake.Entry, bytes bool) {
	if e == nil {
		d.writeInt(-1)
		return
	}
	d.writeString(string(e.Kind))
	for _, n := range []int64{int64(e.Mode), int64(e.UID), int64(e.GID)} {
		d.writeInt(n)
	}
	if e.Kind == retake.KindDir { // what lies in it is told path by path, and its time moves with that
		return
	}
	d.writeInt(e.Size)
	d.writeInt(e.ModTime)
	x := extraOf(e)
	for _, name := range slices.Sorted(maps.Keys(x.Xattrs)) {
		d.writeString(name)
		d.writeString(string(x.Xattrs[name]))
	}
	if bytes {
		d.writeString(string(e.Object))
		d.writeString(x.Group)
	}
}
