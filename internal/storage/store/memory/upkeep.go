package memory

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

// Sweep removes what no line reaches. It waits until no writer is open and keeps
// new ones waiting.
func (s *Store) Sweep(ctx context.Context, o store.SweepOptions) (retake.SweepReport, error) {
	start := clock.Wall.Now()
	waiting, cancel := context.WithCancel(ctx)
	if o.Wait > 0 {
		waiting, cancel = context.WithTimeout(ctx, o.Wait)
	}
	defer cancel()
	mine := false
	err := s.wait(waiting, func() bool {
		mine = mine || !s.sweep
		s.sweep = true
		return mine && len(s.held) == 0
	})
	if mine {
		defer func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.sweep = false
			s.wake()
		}()
	}
	if err != nil {
		return retake.SweepReport{}, fmt.Errorf("sweep: %w: %w", store.ErrBusy, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	report := retake.SweepReport{Before: s.size()}
	live, err := s.mark(ctx)
	if err != nil {
		return retake.SweepReport{}, fmt.Errorf("sweep: %w", err)
	}
	maps.DeleteFunc(s.objects, func(id retake.ObjectID, _ []byte) bool { return !live[id] })
	report.After = s.size()
	report.Took = clock.Wall.Now().Sub(start)
	return report, nil
}

// mark answers what the lines reach. A directory that cannot be read stops it:
// what lies below is not known, and nothing may be removed. It is called with mu
// held.
func (s *Store) mark(ctx context.Context) (map[retake.ObjectID]bool, error) {
	live := map[retake.ObjectID]bool{}
	var todo []retake.Entry
	for _, l := range s.lines {
		for _, lf := range l.leaves {
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
		if address(dirPrefix, b) != e.Object {
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

// Tend has nothing to do.
func (s *Store) Tend(ctx context.Context) error { return ctx.Err() }

// Size answers the bytes of all objects.
func (s *Store) Size(ctx context.Context) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size(), nil
}

func (s *Store) size() int64 {
	var n int64
	for _, b := range s.objects {
		n += int64(len(b))
	}
	return n
}

// Prove has no stock engine to ask.
func (s *Store) Prove(context.Context, retake.Entry) (retake.ObjectID, string, error) {
	return "", "", fmt.Errorf("prove: no stock engine: %w", store.ErrNotFound)
}

// Damage flips a byte of an object, as a bad disk would. It is for tests.
func (s *Store) Damage(id retake.ObjectID) {
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

// Scrub reads the card and the directories of every checkpoint and a share of
// the file bytes, each object once.
func (s *Store) Scrub(ctx context.Context, q retake.ScrubQuery) (retake.ScrubReport, error) {
	c := scrub{s: s, q: q, seen: map[retake.ObjectID]bool{}, report: retake.ScrubReport{Failed: []string{}}}
	s.mu.Lock()
	var leaves []leaf
	for _, id := range slices.Sorted(maps.Keys(s.lines)) {
		l := s.lines[id]
		for _, n := range slices.Sorted(maps.Keys(l.leaves)) {
			leaves = append(leaves, l.leaves[n])
		}
	}
	s.mu.Unlock()
	for _, lf := range leaves {
		c.report.Checkpoints++
		if err := c.leaf(ctx, lf); err != nil {
			return c.report, fmt.Errorf("scrub: %w", err)
		}
	}
	return c.report, nil
}

type scrub struct {
	s      *Store
	q      retake.ScrubQuery
	seen   map[retake.ObjectID]bool
	report retake.ScrubReport
}

func (c *scrub) leaf(ctx context.Context, lf leaf) error {
	if _, err := c.read(ctx, lf.card, cardPrefix); err != nil {
		return err
	}
	for _, b := range [][]byte{lf.files, lf.state} {
		if err := c.entries(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

func (c *scrub) entries(ctx context.Context, b []byte) error {
	entries, err := decodeDir(b)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch {
		case e.Object == "" || c.seen[e.Object]:
		case e.Kind == retake.KindDir:
			b, err := c.read(ctx, e.Object, dirPrefix)
			if err == nil && b != nil {
				err = c.entries(ctx, b)
			}
			if err != nil {
				return err
			}
		default:
			if err := c.file(ctx, e.Object); err != nil {
				return err
			}
		}
	}
	return nil
}

// file reads the share; of the rest it asks only whether they are there.
func (c *scrub) file(ctx context.Context, id retake.ObjectID) error {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id))
	if float64(h.Sum32()) < c.q.Share*(1<<32) {
		_, err := c.read(ctx, id, filePrefix)
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

// read counts an object. Its trouble goes to the report, not to the caller, who
// gets nil bytes then.
func (c *scrub) read(ctx context.Context, id retake.ObjectID, prefix string) ([]byte, error) {
	c.seen[id] = true
	b, err := c.s.read(ctx, id, prefix)
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
