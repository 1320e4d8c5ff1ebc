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

// Limits on counting lines.
const (
	maxTextSize  = 1 << 20  // bytes of one file
	maxTotalRead = 16 << 20 // bytes of one story
	maxDiffWork  = 1 << 30  // lines of both texts times lines that differ
	sniffSize    = 8 << 10  // bytes that are checked for binary content
)

// Notes about lines that were not counted.
const (
	noteBinary = "binary"
	noteHuge   = "huge"
	noteMany   = "lines not counted"
	noteUnread = "not readable"
)

// textReader reads stored texts until its budget is spent.
type textReader struct {
	open   ObjectOpener
	budget int64
	cache  map[retake.ObjectID][]byte // small ones, read for a rename
}

// readCached reads a small text that is needed more than once.
func (t *textReader) readCached(ctx context.Context, e *retake.Entry) []byte {
	if b, ok := t.cache[e.Object]; ok {
		return b
	}
	b, _ := t.readText(ctx, e)
	t.cache[e.Object] = b
	return b
}

// readText returns the bytes of a file, or the note that says why there are none.
func (t *textReader) readText(ctx context.Context, e *retake.Entry) (b []byte, why string) {
	if b, ok := t.cache[e.Object]; ok && b != nil {
		return b, ""
	}
	switch {
	case e.Size == 0:
		return []byte{}, ""
	case e.Size > maxTextSize || e.Size < 0:
		return nil, noteHuge
	case e.Size > t.budget:
		return nil, noteMany
	}
	t.budget -= e.Size
	r, err := t.open(ctx, e.Object)
	if err != nil || r == nil {
		return nil, noteUnread
	}
	b, err = io.ReadAll(io.LimitReader(r, maxTextSize+1))
	if closed := r.Close(); err != nil || closed != nil {
		return nil, noteUnread
	}
	if len(b) > maxTextSize {
		return nil, noteHuge
	}
	return b, ""
}

// countLines counts lines of edited files first, since the budget may end.
func (t *storyBuilder) countLines(ctx context.Context) error {
	if t.input.OpenObject == nil {
		return nil
	}
	list := make([]*pathRecord, 0, len(t.records))
	for _, r := range t.records {
		if r.hasCountableLines() {
			list = append(list, r)
		}
	}
	slices.SortStableFunc(list, func(a, b *pathRecord) int { return a.countPriority() - b.countPriority() })
	work := int64(maxDiffWork)
	for _, r := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		if work <= 0 {
			r.notes = append(r.notes, noteMany)
			continue
		}
		work -= t.countRecordLines(ctx, r)
	}
	return nil
}

// hasCountableLines reports whether a record is a text file of people whose bytes changed.
func (r *pathRecord) hasCountableLines() bool {
	switch r.class.Theme() {
	case retake.ThemeSource, retake.ThemeSettings:
	default:
		return false
	}
	switch r.what {
	case retake.Added:
		return isFile(r.after)
	case retake.Deleted:
		return isFile(r.before)
	case retake.Edited, retake.Renamed:
		return isFile(r.before) && isFile(r.after) && r.before.Object != r.after.Object
	default:
		return false
	}
}

func isFile(e *retake.Entry) bool { return e != nil && e.Kind == retake.KindFile }

// countPriority orders records for counting: edited, added, deleted, then lock files.
func (r *pathRecord) countPriority() int {
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

// countRecordLines counts the lines of one record and returns the work it took.
func (t *storyBuilder) countRecordLines(ctx context.Context, r *pathRecord) int64 {
	if pathclass.IsBinary(r.path) {
		r.notes = append(r.notes, noteBinary)
		return 0
	}
	var sides [2][]byte
	for i, e := range []*retake.Entry{r.before, r.after} {
		if i == 0 && r.what == retake.Added || i == 1 && r.what == retake.Deleted {
			continue
		}
		b, why := t.texts.readText(ctx, e)
		if why == "" && isBinary(b) {
			why = noteBinary
		}
		if why != "" {
			r.notes = append(r.notes, why)
			return 0
		}
		sides[i] = b
	}
	for _, s := range merge.Spans(sides[0], sides[1]) {
		r.minus += int64(s.Removed)
		r.plus += int64(s.Added)
	}
	n := bytes.Count(sides[0], []byte{'\n'}) + bytes.Count(sides[1], []byte{'\n'})
	if r.what == retake.Added || r.what == retake.Deleted {
		return int64(n)
	}
	return int64(n+1) * (r.plus + r.minus + 1)
}

func isBinary(b []byte) bool {
	return b == nil || bytes.IndexByte(b, 0) >= 0 || termtext.IsBinary(string(b[:min(len(b), sniffSize)]))
}
