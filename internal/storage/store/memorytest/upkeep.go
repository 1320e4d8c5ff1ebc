package memorytest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/storage/store"
)

// Sweep removes what no history reaches. It waits until no writer is open and keeps new ones
// waiting.
func (s *Store) Sweep(ctx context.Context, o store.SweepOptions) (retake.SweepReport, error) {
	start := clock.Wall.Now()
	waiting, cancel := context.WithCancel(ctx)
	if o.Wait > 0 {
		waiting, cancel = context.WithTimeout(ctx, o.Wait)
	}
	defer cancel()
	mine := false
	err := s.waitUntil(waiting, func() bool {
		mine = mine || !s.sweeping
		s.sweeping = true
		return mine && len(s.writing) == 0
	})
	if mine {
		defer func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.sweeping = false
			s.notifyWaiters()
		}()
	}
	if err != nil {
		return retake.SweepReport{}, fmt.Errorf("sweep: %w: %w", store.ErrBusy, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	report := retake.SweepReport{Before: s.totalSize()}
	live, err := s.markReachable(ctx)
	if err != nil {
		return retake.SweepReport{}, fmt.Errorf("sweep: %w", err)
	}
	maps.DeleteFunc(s.objects, func(id retake.ObjectID, _ []byte) bool { return !live[id] })
	report.After = s.totalSize()
	report.Took = clock.Wall.Now().Sub(start)
	return report, nil
}

// markReachable returns what the histories reach. It fails if a directory cannot be read: what
// is below it is unknown, and nothing may be removed. The caller holds mu.
func (s *Store) markReachable(ctx context.Context) (map[retake.ObjectID]bool, error) {
	live := map[retake.ObjectID]bool{}
	var todo []retake.Entry
	for _, l := range s.histories {
		for _, lf := range l.records {
			live[lf.card] = true
			for _, b := range [][]byte{lf.files, lf.state} {
				entries, err := decodeDir(b)
				if err != nil {
					return nil, err
				}
				todo = append(todo, entries...)
			}
		}
	}
	for len(todo) > 0 {
		e := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if live[e.Object] {
			continue
		}
		live[e.Object] = true
		if e.Kind != retake.KindDir {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		b := s.objects[e.Object]
		if objectID(dirPrefix, b) != e.Object {
			return nil, fmt.Errorf("mark directory %q: %w", e.Object, store.ErrDamaged)
		}
		entries, err := decodeDir(b)
		if err != nil {
			return nil, err
		}
		todo = append(todo, entries...)
	}
	return live, nil
}

// Contents calls f with all objects.
func (s *Store) Contents(ctx context.Context, f func([]byte) error) error {
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.objects))
	s.mu.Unlock()
	for _, b := range all {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f(bytes.Clone(b)); err != nil {
			return err
		}
	}
	return nil
}

// Maintain has nothing to do.
func (s *Store) Maintain(ctx context.Context) error { return ctx.Err() }

// Damage returns none: memory is not damaged.
func (s *Store) Damage() store.Damage { return store.Damage{} }

// Size returns the bytes of all objects.
func (s *Store) Size(ctx context.Context) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.totalSize(), nil
}

func (s *Store) totalSize() int64 {
	var n int64
	for _, b := range s.objects {
		n += int64(len(b))
	}
	return n
}

// Prove returns store.ErrNotFound: there is no stock engine.
func (s *Store) Prove(context.Context, retake.Entry) (retake.ObjectID, string, error) {
	return "", "", fmt.Errorf("prove: no stock engine: %w", store.ErrNotFound)
}

// FlipByte changes a byte of an object, as a bad disk would. For tests.
func (s *Store) FlipByte(id retake.ObjectID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.objects[id]
	if !ok {
		return
	}
	b = append(bytes.Clone(b), 0)
	if len(b) > 1 {
		b = b[:len(b)-1]
		b[len(b)/2] ^= 1
	}
	s.objects[id] = b
}

// Scrub reads the card and the directories of every checkpoint and a sample of the file bytes,
// each object once.
func (s *Store) Scrub(ctx context.Context, q retake.ScrubQuery) (retake.ScrubReport, error) {
	c := scrubber{s: s, q: q, seen: map[retake.ObjectID]bool{}, report: retake.ScrubReport{Failed: []string{}}}
	s.mu.Lock()
	var records []checkpointRecord
	for _, id := range slices.Sorted(maps.Keys(s.histories)) {
		l := s.histories[id]
		for _, n := range slices.Sorted(maps.Keys(l.records)) {
			records = append(records, l.records[n])
		}
	}
	s.mu.Unlock()
	for _, lf := range records {
		c.report.Checkpoints++
		if err := c.scrubRecord(ctx, lf); err != nil {
			return c.report, fmt.Errorf("scrub: %w", err)
		}
	}
	return c.report, nil
}

type scrubber struct {
	s      *Store
	q      retake.ScrubQuery
	seen   map[retake.ObjectID]bool
	report retake.ScrubReport
}

func (c *scrubber) scrubRecord(ctx context.Context, lf checkpointRecord) error {
	if _, err := c.readObject(ctx, lf.card, cardPrefix); err != nil {
		return err
	}
	for _, b := range [][]byte{lf.files, lf.state} {
		if err := c.scrubEntries(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

// scrubEntries scrubs encoded entries and everything below them.
func (c *scrubber) scrubEntries(ctx context.Context, b []byte) error {
	entries, err := decodeDir(b)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch {
		case e.Object == "" || c.seen[e.Object]:
		case e.Kind == retake.KindDir:
			b, err := c.readObject(ctx, e.Object, dirPrefix)
			if err == nil && b != nil {
				err = c.scrubEntries(ctx, b)
			}
			if err != nil {
				return err
			}
		default:
			if err := c.scrubFile(ctx, e.Object); err != nil {
				return err
			}
		}
	}
	return nil
}

// scrubFile reads the files of the sample; of the others it checks only that they exist.
func (c *scrubber) scrubFile(ctx context.Context, id retake.ObjectID) error {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id))
	if float64(h.Sum32()) < c.q.Share*(1<<32) {
		_, err := c.readObject(ctx, id, filePrefix)
		return err
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if _, ok := c.s.objects[id]; !ok && !c.seen[id] {
		c.report.Failed = append(c.report.Failed, fmt.Sprintf("%s: %v", id, store.ErrNotFound))
	}
	c.seen[id] = true
	return nil
}

// readObject reads and counts an object. A damaged object is added to the report and returned
// as nil.
func (c *scrubber) readObject(ctx context.Context, id retake.ObjectID, prefix string) ([]byte, error) {
	c.seen[id] = true
	b, err := c.s.readObject(ctx, id, prefix)
	c.report.Objects++
	c.report.Bytes += int64(len(b))
	switch {
	case errors.Is(err, store.ErrDamaged) || errors.Is(err, store.ErrNotFound):
		c.report.Failed = append(c.report.Failed, fmt.Sprintf("%s: %v", id, err))
		return nil, nil
	case err != nil:
		return nil, err
	}
	if c.q.Progress != nil {
		c.q.Progress(retake.Progress{Files: c.report.Objects, Bytes: c.report.Bytes})
	}
	return b, nil
}
