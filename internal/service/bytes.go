package service

import (
	"bytes"
	"context"
	"io"
	"sync"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/story"
)

// Bounds of the bytes that are kept while one story is told.
const (
	mostKept  = 64 << 10 // of one file
	allKept   = 4 << 20
	mostAhead = 64 // files that are read before somebody asks
)

// opened keeps small stored files while one story is told: several readers want them, and
// the lines are counted too.
type opened struct {
	open story.ObjectOpener
	kept map[retake.ObjectID]*keptBytes // never changes
}

// keptBytes are read once, by whoever comes first; nil when that did not work out.
type keptBytes struct {
	once sync.Once
	b    []byte
}

// onceOpened opens each small file of some changes once.
func onceOpened(open story.ObjectOpener, changes []retake.Change) story.ObjectOpener {
	o := &opened{open: open, kept: map[retake.ObjectID]*keptBytes{}}
	left := int64(allKept)
	for i := range changes {
		for _, e := range []*retake.Entry{changes[i].Before, changes[i].After} {
			if !keeps(e) || e.Size > left || o.kept[e.Object] != nil {
				continue
			}
			o.kept[e.Object] = &keptBytes{}
			left -= e.Size
		}
	}
	return o.bytes
}

// keeps: a live file may be another one the next time.
func keeps(e *retake.Entry) bool {
	return e != nil && e.Kind == retake.KindFile && e.Object != "" && e.Size > 0 && e.Size <= mostKept && !isLive(e.Object)
}

func (o *opened) bytes(ctx context.Context, id retake.ObjectID) (io.ReadCloser, error) {
	k := o.kept[id]
	if k == nil {
		return o.open(ctx, id)
	}
	k.once.Do(func() { k.b = o.read(ctx, id) })
	if k.b == nil {
		return o.open(ctx, id) // who asks hears why
	}
	return io.NopCloser(bytes.NewReader(k.b)), nil
}

func (o *opened) read(ctx context.Context, id retake.ObjectID) []byte {
	r, err := o.open(ctx, id)
	if err != nil || r == nil {
		return nil
	}
	b, err := io.ReadAll(io.LimitReader(r, mostKept+1))
	if closed := r.Close(); err != nil || closed != nil || len(b) > mostKept {
		return nil
	}
	return b
}

// ahead has the bytes read that readers are about to want, and the other side of them,
// while the catalog is asked what it remembers. Who calls it waits for the end.
func (r *reading) ahead(ctx context.Context) (wait func()) {
	var ids []retake.ObjectID
	for _, after := range []int{1, 0} {
		for _, one := range r.list {
			c := r.changed[one.Path]
			if e := [2]*retake.Entry{c.Before, c.After}[after]; kept(one) && keeps(e) && len(ids) < mostAhead {
				ids = append(ids, e.Object)
			}
		}
	}
	if len(ids) < 2 {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.s.p.Diag.Run(taskReadings, func() error { // who asks for it meets an error again
			for _, id := range ids {
				if f, err := r.in.OpenObject(ctx, id); err == nil && f != nil {
					_ = f.Close() // it is kept
				}
			}
			return nil
		})
	}()
	return func() { <-done }
}
