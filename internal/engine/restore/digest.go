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

// digest is of everything that a plan would do, and of what it would do it to. The
// bytes that are there now do not count, only what they look like: a plan must give
// the same digest before and after they were stored. What logs and build output look
// like does not count either: the safety checkpoint holds what is there by then, and what
// is written after that is left in its place.
func digest(p *retake.Plan) string {
	d := digester{sha256.New()}
	d.text(string(p.Course))
	for _, steps := range [][]retake.Step{p.Writes, p.Deletes, p.Merges, p.Times} {
		d.number(int64(len(steps)))
		for _, s := range steps {
			d.text(s.Path)
			d.text(string(s.What))
			d.present(s)
			d.entry(s.Then, s.What != retake.Moded && s.What != retake.Timed) // else the bytes are those that are there
			if s.Merge != nil {
				d.text(s.Merge.Digest)
			}
		}
	}
	for _, k := range p.Keeps {
		if k.Side == "" { // nothing is done: before it is stored, a repository may seem to differ that does not
			continue
		}
		d.text(k.Side)
		d.entry(k.Then, true)
	}
	return hex.EncodeToString(d.Sum(nil))
}

type digester struct{ hash.Hash }

func (d digester) number(n int64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(n))
	_, _ = d.Write(b[:]) // a hash takes everything
}

func (d digester) text(s string) {
	d.number(int64(len(s)))
	_, _ = d.Write([]byte(s))
}

// present is what a step is done to.
func (d digester) present(s retake.Step) {
	if s.Now != nil && s.Now.Kind == retake.KindFile && s.Merge == nil && flowing(s.Path) {
		d.text(string(s.Now.Kind))
		return
	}
	d.entry(s.Now, false)
}

func (d digester) entry(e *retake.Entry, bytes bool) {
	if e == nil {
		d.number(-1)
		return
	}
	d.text(string(e.Kind))
	for _, n := range []int64{int64(e.Mode), int64(e.UID), int64(e.GID)} {
		d.number(n)
	}
	if e.Kind == retake.KindDir { // what lies in it is told path by path, and its time moves with that
		return
	}
	d.number(e.Size)
	d.number(e.ModTime)
	x := extra(e)
	for _, name := range slices.Sorted(maps.Keys(x.Xattrs)) {
		d.text(name)
		d.text(string(x.Xattrs[name]))
	}
	if bytes {
		d.text(string(e.Object))
		d.text(x.Group)
	}
}
