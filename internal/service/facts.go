package service

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/story"
	"github.com/retake-dev/retake/internal/explain/xray"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

// facts reads what changed for its meaning: each file once in its life, in a child that
// can touch nothing. What cannot be read is said, and is never an error. Who has told
// them calls what comes with them: it remembers what was read.
func (s *Service) facts(ctx context.Context, in story.Input) ([]retake.Fact, []retake.Unread, func()) {
	r := reading{s: s, in: in, changed: map[string]retake.Change{}}
	for _, c := range in.Changes {
		r.changed[c.Path] = c
	}
	for _, c := range in.Changes {
		r.side(ctx, c, c.Before, 0)
		r.side(ctx, c, c.After, 1)
		r.logged(ctx, c)
	}
	defer r.ahead(ctx)()
	if err := r.read(ctx); err != nil {
		return nil, []retake.Unread{{Path: ".", Reader: "all", Why: err.Error()}}, func() {}
	}
	var before, after []xray.SidedReading
	var unread []retake.Unread
	for _, one := range r.list {
		if one.Reading.Why != "" {
			name, _, _ := strings.Cut(one.Reader, "@")
			unread = append(unread, retake.Unread{Path: one.Path, Reader: name, Why: one.Reading.Why})
		}
		if one.after == 0 {
			before = append(before, one.SidedReading)
		} else {
			after = append(after, one.SidedReading)
		}
	}
	return xray.CompareReadings(before, after), onceEach(unread), func() {
		s.p.Diag.Note(taskReadings, s.p.Catalog.PutReadings(ctx, r.fresh)) // else they are read again
	}
}

// onceEach leaves one of several words about a path.
func onceEach(unread []retake.Unread) []retake.Unread {
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

// errNoChild: this process does not know its own program, and reads nothing hostile
// itself.
var errNoChild = errors.New("there is no child to read them in")

// maxReading bounds what is remembered of one file: longer ones are read again.
const maxReading = 64 << 10

// reading is one pass over what changed.
type reading struct {
	s       *Service
	in      story.Input
	changed map[string]retake.Change
	list    []sideRead
	fresh   map[catalog.ReadingKey][]byte // what nobody remembers yet
}

type sideRead struct {
	xray.SidedReading
	after int
	log   retake.ObjectID // what a database has written ahead, beside it
}

// side lists what is to be read of one side of a change. A file that only got another
// time says what it said before.
func (r *reading) side(ctx context.Context, c retake.Change, e *retake.Entry, after int) {
	if e == nil || e.Kind != retake.KindFile || c.What == retake.Timed {
		return
	}
	for _, name := range xray.ReadersFor(c.Path, *e) {
		if bare := !xray.IsCacheable(name); bare && (c.Before == nil || c.After == nil) && strings.HasPrefix(name, "mode@") || !bare && c.What == retake.Moded {
			continue
		}
		one := sideRead{SidedReading: xray.SidedReading{Path: c.Path, Entry: *e, Reader: name}, after: after}
		if path, ok := xray.LogPath(name, c.Path); ok {
			if log := r.at(ctx, path, after); log != nil && log.Kind == retake.KindFile {
				one.log = log.Object
			}
		}
		r.list = append(r.list, one)
	}
}

// logged reads a database that only its log changed of.
func (r *reading) logged(ctx context.Context, c retake.Change) {
	path, ok := xray.DatabaseOfLog(c.Path)
	if _, told := r.changed[path]; !ok || told || c.What == retake.Timed || c.What == retake.Moded {
		return
	}
	for after := range 2 {
		r.side(ctx, retake.Change{Path: path, What: retake.Edited}, r.at(ctx, path, after), after)
	}
}

// at is what lies at a path on one side; what did not change is as it was.
func (r *reading) at(ctx context.Context, path string, after int) *retake.Entry {
	if c, ok := r.changed[path]; ok {
		return [2]*retake.Entry{c.Before, c.After}[after]
	}
	if r.in.From == nil {
		return nil
	}
	e, err := r.s.entryAt(ctx, *r.in.From, path)
	if err != nil {
		return nil
	}
	return e
}

// read fills the readings: from what the catalog remembers, else by the child.
func (r *reading) read(ctx context.Context) error {
	asks, at := r.unknown(r.remembered(ctx))
	if len(asks) == 0 {
		return nil
	}
	if r.s.readers == nil {
		return errNoChild
	}
	got, err := r.ask(ctx, asks)
	if err != nil {
		return err
	}
	r.fresh = map[catalog.ReadingKey][]byte{}
	for n, i := range at {
		one := &r.list[i]
		one.Reading = got[n]
		if b, err := json.Marshal(got[n]); err == nil && kept(*one) && got[n].Why == "" && len(b) <= maxReading {
			r.fresh[keyOf(*one)] = b
		}
	}
	return nil
}

// Bounds of what one story keeps in memory while it is told.
const (
	portion    = 200
	mostTraits = 200_000
)

// ask lets the child read, in portions, until there is more than a story can tell.
func (r *reading) ask(ctx context.Context, asks []xray.Request) ([]xray.Reading, error) {
	got := make([]xray.Reading, 0, len(asks))
	traits := 0
	for len(got) < len(asks) {
		if traits > mostTraits {
			got = append(got, xray.Reading{Why: "there is too much of it"})
			continue
		}
		some, err := r.s.readers.Read(ctx, asks[len(got):min(len(got)+portion, len(asks))])
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

// remembered are the readings of files that were read before. Without them they are read
// again.
func (r *reading) remembered(ctx context.Context) map[catalog.ReadingKey][]byte {
	var keys []catalog.ReadingKey
	for _, one := range r.list {
		if kept(one) {
			keys = append(keys, keyOf(one))
		}
	}
	known, err := r.s.p.Catalog.Readings(ctx, keys)
	if err != nil {
		return nil
	}
	return known
}

// unknown are what the child must read, and their places in the list.
func (r *reading) unknown(known map[catalog.ReadingKey][]byte) (asks []xray.Request, at []int) {
	for i := range r.list {
		one := &r.list[i]
		if b, ok := known[keyOf(*one)]; ok && kept(*one) && json.Unmarshal(b, &one.Reading) == nil {
			continue
		}
		ask := xray.Request{Reader: one.Reader, Path: one.Path, Entry: one.Entry, Open: r.open(one.Entry.Object)}
		if one.log != "" {
			ask.Log = r.open(one.log)
		}
		asks = append(asks, ask)
		at = append(at, i)
	}
	return asks, at
}

func (r *reading) open(id retake.ObjectID) func(context.Context) (io.ReadCloser, error) {
	return func(ctx context.Context) (io.ReadCloser, error) { return r.in.OpenObject(ctx, id) }
}

// kept reports whether a reading is worth remembering: it is of stored bytes.
func kept(one sideRead) bool {
	return xray.IsCacheable(one.Reader) && !isLive(one.Entry.Object) && !isLive(one.log)
}

// keyOf names what was read: the bytes of the file, and of its log.
func keyOf(one sideRead) catalog.ReadingKey {
	k := catalog.ReadingKey{Object: one.Entry.Object, Reader: one.Reader}
	if one.log != "" {
		k.Reader += " " + string(one.log)
	}
	return k
}
