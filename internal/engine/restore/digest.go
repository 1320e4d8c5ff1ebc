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

// planDigest returns the digest of everything that a plan does and of the files it does it to.
// The current bytes do not count, only what stat returns: the digest must be the same before
// and after they are stored. The state of logs and build output does not count either: the
// safety checkpoint contains it, and what is written after that is left in place.
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

// writeCurrent adds the entry that a step changes.
func (d digester) writeCurrent(s retake.Step) {
	if s.Now != nil && s.Now.Kind == retake.KindFile && s.Merge == nil && isGenerated(s.Path) {
		d.writeString(string(s.Now.Kind))
		return
	}
	d.writeEntry(s.Now, false)
}

// writeEntry adds the metadata of an entry and, with bytes, its content.
func (d digester) writeEntry(e *retake.Entry, bytes bool) {
	if e == nil {
		d.writeInt(-1)
		return
	}
	d.writeString(string(e.Kind))
	for _, n := range []int64{int64(e.Mode), int64(e.UID), int64(e.GID)} {
		d.writeInt(n)
	}
	if e.Kind == retake.KindDir { // its contents are compared path by path, and change its time
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
