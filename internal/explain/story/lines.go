package story

import (
	"bytes"
	"context"
	"io"
	"slices"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/merge"
	"github.com/retake-dev/retake/internal/pure/pathclass"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// Bounds of counting lines.
const (
	maxText = 1 << 20  // bytes of one file
	maxRead = 16 << 20 // bytes of one story
	maxWork = 1 << 30  // lines of both texts times lines that differ
	sniff   = 8 << 10  // bytes in which a file shows that it is no text
)

// Notes about lines that were not counted.
const (
	noteBinary = "binary"
	noteHuge   = "huge"
	noteMany   = "lines not counted"
	noteUnread = "not readable"
)

// texts reads stored bytes as long as there is room.
type texts struct {
	open Bytes
	left int64
	kept map[retake.ObjectID][]byte // small ones, read for a rename
}

// small reads a text that is asked for more than once.
func (t *texts) small(ctx context.Context, e *retake.Entry) []byte {
	if b, ok := t.kept[e.Object]; ok {
		return b
	}
	b, _ := t.read(ctx, e)
	t.kept[e.Object] = b
	return b
}

// read answers the bytes of a file, or why there are none.
func (t *texts) read(ctx context.Context, e *retake.Entry) (b []byte, why string) {
	if b, ok := t.kept[e.Object]; ok && b != nil {
		return b, ""
	}
	switch {
	case e.Size == 0:
		return []byte{}, ""
	case e.Size > maxText || e.Size < 0:
		return nil, noteHuge
	case e.Size > t.left:
		return nil, noteMany
	}
	t.left -= e.Size
	r, err := t.open(ctx, e.Object)
	if err != nil || r == nil {
		return nil, noteUnread
	}
	b, err = io.ReadAll(io.LimitReader(r, maxText+1))
	if closed := r.Close(); err != nil || closed != nil {
		return nil, noteUnread
	}
	if len(b) > maxText {
		return nil, noteHuge
	}
	return b, ""
}

// count counts lines, first of what was edited, since room may end.
func (t *teller) count(ctx context.Context) error {
	if t.in.Bytes == nil {
		return nil
	}
	list := make([]*record, 0, len(t.all))
	for _, r := range t.all {
		if r.readable() {
			list = append(list, r)
		}
	}
	slices.SortStableFunc(list, func(a, b *record) int { return a.turn() - b.turn() })
	work := int64(maxWork)
	for _, r := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		if work <= 0 {
			r.notes = append(r.notes, noteMany)
			continue
		}
		work -= t.lines(ctx, r)
	}
	return nil
}

// readable are files that people read line by line, with other bytes than before.
func (r *record) readable() bool {
	switch r.class.Theme() {
	case retake.ThemeSource, retake.ThemeSettings:
	default:
		return false
	}
	switch r.what {
	case retake.Added:
		return file(r.after)
	case retake.Deleted:
		return file(r.before)
	case retake.Edited, retake.Renamed:
		return file(r.before) && file(r.after) && r.before.Object != r.after.Object
	default:
		return false
	}
}

func file(e *retake.Entry) bool { return e != nil && e.Kind == retake.KindFile }

func (r *record) turn() int {
	n := 0
	switch r.what {
	case retake.Added:
		n = 1
	case retake.Deleted:
		n = 2
	default:
	}
	if r.class == pathclass.Lock {
		n += 3
	}
	return n
}

// lines counts those of one record and answers the work it took.
func (t *teller) lines(ctx context.Context, r *record) int64 {
	if pathclass.Binary(r.path) {
		r.notes = append(r.notes, noteBinary)
		return 0
	}
	var sides [2][]byte
	for i, e := range []*retake.Entry{r.before, r.after} {
		if i == 0 && r.what == retake.Added || i == 1 && r.what == retake.Deleted {
			continue
		}
		b, why := t.texts.read(ctx, e)
		if why == "" && binary(b) {
			why = noteBinary
		}
		if why != "" {
			r.notes = append(r.notes, why)
			return 0
		}
		sides[i] = b
	}
	for _, s := range merge.Spans(sides[0], sides[1]) {
		r.minus += int64(s.Gone)
		r.plus += int64(s.Came)
	}
	n := bytes.Count(sides[0], []byte{'\n'}) + bytes.Count(sides[1], []byte{'\n'})
	if r.what == retake.Added || r.what == retake.Deleted {
		return int64(n)
	}
	return int64(n+1) * (r.plus + r.minus + 1)
}

func binary(b []byte) bool {
	return b == nil || bytes.IndexByte(b, 0) >= 0 || termtext.Binary(string(b[:min(len(b), sniff)]))
}
