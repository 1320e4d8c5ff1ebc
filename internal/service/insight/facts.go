package insight

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/story"
	"github.com/retake-dev/retake/internal/explain/xray"
	"github.com/retake-dev/retake/internal/service/history"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

// readFacts reads the meaning of changed files, in a child process without any rights. What
// cannot be read is returned as unread and is never an error. The returned function stores
// the new readings.
func (s *Insight) readFacts(ctx context.Context, in story.Input) ([]retake.Fact, []retake.Unread, func()) {
	r := factReader{svc: s, input: in, changes: map[string]retake.Change{}}
	for _, c := range in.Changes {
		r.changes[c.Path] = c
	}
	for _, c := range in.Changes {
		r.addSide(ctx, c, c.Before, 0)
		r.addSide(ctx, c, c.After, 1)
		r.addDatabaseOfLog(ctx, c)
	}
	defer r.readAhead(ctx)()
	if err := r.readAll(ctx); err != nil {
		return nil, []retake.Unread{{Path: ".", Reader: "all", Why: err.Error()}}, func() {}
	}
	var before, after []xray.SidedReading
	var unread []retake.Unread
	for _, one := range r.sides {
		if one.Reading.Why != "" {
			name, _, _ := strings.Cut(one.Reader, "@")
			unread = append(unread, retake.Unread{Path: one.Path, Reader: name, Why: one.Reading.Why})
		}
		if one.side == 0 {
			before = append(before, one.SidedReading)
		} else {
			after = append(after, one.SidedReading)
		}
	}
	return xray.CompareReadings(before, after), uniqueUnread(unread), func() {
		s.workspaces.Diag.Note(workspace.TaskReadings, s.workspaces.Catalog.PutReadings(ctx, r.newReadings)) // on failure they are read again
	}
}

// uniqueUnread removes repeated entries for a path and a reader.
func uniqueUnread(unread []retake.Unread) []retake.Unread {
	seen := map[string]bool{}
	out := unread[:0]
	for _, u := range unread {
		if key := u.Path + "\x00" + u.Reader; !seen[key] {
			seen[key] = true
			out = append(out, u)
		}
	}
	return out
}

// errNoReader is returned when there is no child process: this process does not parse
// untrusted files itself.
var errNoReader = errors.New("there is no child to read them in")

// maxReadingSize bounds what is stored of one reading; larger ones are read again.
const maxReadingSize = 64 << 10

// factReader reads one set of changes for their meaning.
type factReader struct {
	svc         *Insight
	input       story.Input
	changes     map[string]retake.Change
	sides       []sideReading
	newReadings map[catalog.ReadingKey][]byte // that the catalog does not have yet
}

// sideReading is one reading of one side of a change.
type sideReading struct {
	xray.SidedReading
	side      int             // 0: before, 1: after
	logObject retake.ObjectID // the write-ahead log of a database
}

// addSide adds the readings of one side of a change. A file of which only the time changed
// is not read.
func (r *factReader) addSide(ctx context.Context, c retake.Change, e *retake.Entry, after int) {
	if e == nil || e.Kind != retake.KindFile || c.What == retake.Timed {
		return
	}
	for _, name := range xray.ReadersFor(c.Path, *e) {
		if bare := !xray.IsCacheable(name); bare && (c.Before == nil || c.After == nil) && strings.HasPrefix(name, "mode@") || !bare && c.What == retake.Moded {
			continue
		}
		one := sideReading{SidedReading: xray.SidedReading{Path: c.Path, Entry: *e, Reader: name}, side: after}
		if path, ok := xray.LogPath(name, c.Path); ok {
			if log := r.entryOnSide(ctx, path, after); log != nil && log.Kind == retake.KindFile {
				one.logObject = log.Object
			}
		}
		r.sides = append(r.sides, one)
	}
}

// addDatabaseOfLog adds a database of which only the log changed.
func (r *factReader) addDatabaseOfLog(ctx context.Context, c retake.Change) {
	path, ok := xray.DatabaseOfLog(c.Path)
	if _, told := r.changes[path]; !ok || told || c.What == retake.Timed || c.What == retake.Moded {
		return
	}
	for after := range 2 {
		r.addSide(ctx, retake.Change{Path: path, What: retake.Edited}, r.entryOnSide(ctx, path, after), after)
	}
}

// entryOnSide returns the entry at a path on one side, or nil. What did not change is as in
// the earlier checkpoint.
func (r *factReader) entryOnSide(ctx context.Context, path string, after int) *retake.Entry {
	if c, ok := r.changes[path]; ok {
		return [2]*retake.Entry{c.Before, c.After}[after]
	}
	if r.input.From == nil {
		return nil
	}
	e, err := r.svc.history.FindEntry(ctx, *r.input.From, path)
	if err != nil {
		return nil
	}
	return e
}

// readAll fills in all readings, from the catalog or by the child process.
func (r *factReader) readAll(ctx context.Context) error {
	asks, at := r.missingReadings(r.loadReadings(ctx))
	if len(asks) == 0 {
		return nil
	}
	if r.svc.opts.Readers == nil {
		return errNoReader
	}
	got, err := r.readInBatches(ctx, asks)
	if err != nil {
		return err
	}
	r.newReadings = map[catalog.ReadingKey][]byte{}
	for n, i := range at {
		one := &r.sides[i]
		one.Reading = got[n]
		if b, err := json.Marshal(got[n]); err == nil && isCacheableReading(*one) && got[n].Why == "" && len(b) <= maxReadingSize {
			r.newReadings[readingKeyOf(*one)] = b
		}
	}
	return nil
}

// Bounds of what one story keeps in memory.
const (
	readBatchSize = 200
	maxTraits     = 200_000
)

// readInBatches lets the child process read in batches, until there are more traits than a
// story can use.
func (r *factReader) readInBatches(ctx context.Context, asks []xray.Request) ([]xray.Reading, error) {
	got := make([]xray.Reading, 0, len(asks))
	traits := 0
	for len(got) < len(asks) {
		if traits > maxTraits {
			got = append(got, xray.Reading{Why: "there is too much of it"})
			continue
		}
		some, err := r.svc.opts.Readers.Read(ctx, asks[len(got):min(len(got)+readBatchSize, len(asks))])
		if err != nil {
			return nil, err
		}
		for _, one := range some {
			traits += len(one.Traits)
		}
		got = append(got, some...)
	}
	return got, nil
}

// loadReadings returns the stored readings. On an error all files are read again.
func (r *factReader) loadReadings(ctx context.Context) map[catalog.ReadingKey][]byte {
	var keys []catalog.ReadingKey
	for _, one := range r.sides {
		if isCacheableReading(one) {
			keys = append(keys, readingKeyOf(one))
		}
	}
	known, err := r.svc.workspaces.Catalog.Readings(ctx, keys)
	if err != nil {
		return nil
	}
	return known
}

// missingReadings returns the requests for the child process, and their places in sides.
func (r *factReader) missingReadings(known map[catalog.ReadingKey][]byte) (asks []xray.Request, at []int) {
	for i := range r.sides {
		one := &r.sides[i]
		if b, ok := known[readingKeyOf(*one)]; ok && isCacheableReading(*one) && json.Unmarshal(b, &one.Reading) == nil {
			continue
		}
		ask := xray.Request{Reader: one.Reader, Path: one.Path, Entry: one.Entry, Open: r.objectOpener(one.Entry.Object)}
		if one.logObject != "" {
			ask.Log = r.objectOpener(one.logObject)
		}
		asks = append(asks, ask)
		at = append(at, i)
	}
	return asks, at
}

func (r *factReader) objectOpener(id retake.ObjectID) func(context.Context) (io.ReadCloser, error) {
	return func(ctx context.Context) (io.ReadCloser, error) { return r.input.OpenObject(ctx, id) }
}

// isCacheableReading reports whether a reading may be stored: it must be of stored bytes.
func isCacheableReading(one sideReading) bool {
	return xray.IsCacheable(one.Reader) && !history.IsLiveObject(one.Entry.Object) && !history.IsLiveObject(one.logObject)
}

// readingKeyOf returns the catalog key of a reading: the bytes of the file and of its log.
func readingKeyOf(one sideReading) catalog.ReadingKey {
	k := catalog.ReadingKey{Object: one.Entry.Object, Reader: one.Reader}
	if one.logObject != "" {
		k.Reader += " " + string(one.logObject)
	}
	return k
}
