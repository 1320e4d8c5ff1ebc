package kopia

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math"
	"path"
	"slices"

	"github.com/kopia/kopia/repo"
	"github.com/kopia/kopia/repo/blob"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/store"
)

// Scrub reads every directory, card and state of every checkpoint, and a sample of the files
// chosen by address; of the other files it checks that all parts exist. What several
// checkpoints share is read once.
func (s *Store) Scrub(ctx context.Context, q retake.ScrubQuery) (retake.ScrubReport, error) {
	if q.Share < 0 || q.Share > 1 {
		return retake.ScrubReport{}, fmt.Errorf("scrub: the share %v is not between 0 and 1", q.Share)
	}
	if q.Repair {
		if err := (recovery{s}).repair(ctx); err != nil {
			return retake.ScrubReport{}, fmt.Errorf("scrub: %w", err)
		}
	}
	unlock, err := s.lockShared(ctx) // a sweep would move packs under our hands
	if err != nil {
		return retake.ScrubReport{}, err
	}
	defer unlock()
	s.metadata.restoreKeys(ctx)
	if err := s.refresh(ctx); err != nil {
		return retake.ScrubReport{}, fmt.Errorf("scrub: %w", err)
	}
	s.blobs.dropCache()
	if restored, err := s.metadata.restore(ctx, false); err != nil {
		return retake.ScrubReport{}, fmt.Errorf("scrub: %w", err)
	} else if restored {
		if err := errors.Join(s.retireView(ctx), s.refresh(ctx)); err != nil {
			return retake.ScrubReport{}, fmt.Errorf("scrub: %w", err)
		}
	}
	r, release, err := s.acquireReader(ctx)
	if err != nil {
		return retake.ScrubReport{}, fmt.Errorf("scrub: %w", err)
	}
	defer release()
	lines, err := findHistories(ctx, r, "")
	if err != nil {
		return retake.ScrubReport{}, fmt.Errorf("scrub: %w", err)
	}
	c := &scrubber{s: s, r: r, q: q, found: map[retake.ObjectID][]failure{}, packs: map[blob.ID]error{}}
	c.report.Failed = []string{}
	seen := map[retake.WorkspaceID]bool{}
	for _, f := range lines {
		if seen[f.ws] {
			continue
		}
		seen[f.ws] = true
		if err := c.scrubHistory(ctx, f.ws); err != nil {
			return c.report, fmt.Errorf("scrub: %w", err)
		}
	}
	return c.report, nil
}

type scrubber struct {
	s      *Store
	r      repo.Repository
	q      retake.ScrubQuery
	found  map[retake.ObjectID][]failure // what is damaged in and below an object that was read
	report retake.ScrubReport
	packs  map[blob.ID]error // why it cannot be found; nil: it is there
}

// failure is a path that cannot be read, below the entry it is asked of.
type failure struct {
	path string // "": the entry itself
	err  error
}

// scrubHistory reads all records of a history.
func (c *scrubber) scrubHistory(ctx context.Context, ws retake.WorkspaceID) error {
	l, err := readHistory(ctx, c.r, ws)
	if err != nil {
		return c.addFailure(ctx, retake.DamagedPath{Workspace: ws}, string(ws), err)
	}
	err = l.eachGroup(ctx, c.r, 0, func(b *recordGroup) error {
		for _, n := range slices.Sorted(maps.Keys(b.records)) {
			if err := c.scrubRecord(ctx, l, n, b.records[n]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return c.addFailure(ctx, retake.DamagedPath{Workspace: ws}, string(ws), err)
	}
	return nil
}

// scrubRecord reads one checkpoint.
func (c *scrubber) scrubRecord(ctx context.Context, l *openHistory, number int64, e retake.Entry) error {
	c.report.Checkpoints++
	where, name := retake.DamagedPath{Workspace: l.ws, Number: number}, fmt.Sprintf("%s %d", l.info.Workspace.Name, number)
	rec, err := readRecord(ctx, c.r, e)
	if err != nil {
		return c.addFailure(ctx, where, name, err)
	}
	all, err := c.scrubEntry(ctx, rec.Files)
	if err != nil {
		return err
	}
	for _, f := range all {
		where.Path = f.path
		if err := c.addFailure(ctx, where, name+"/"+f.path, f.err); err != nil {
			return err
		}
	}
	for _, x := range rec.State {
		all, err := c.scrubEntry(ctx, x)
		if err != nil {
			return err
		}
		for _, f := range all {
			where.Path, where.State = path.Join(x.Name, f.path), true
			if err := c.addFailure(ctx, where, name+" state/"+where.Path, f.err); err != nil {
				return err
			}
		}
	}
	return nil
}

// addFailure adds one path to the report. A cancelled context ends the scrub, and so does storage
// that cannot be reached: nothing can be said about its bytes.
func (c *scrubber) addFailure(ctx context.Context, where retake.DamagedPath, name string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if retake.IsKind(err, retake.Away) {
		return err
	}
	c.report.Failed = append(c.report.Failed, name+": "+failureText(err))
	c.report.Damaged = append(c.report.Damaged, where)
	return nil
}

// failureText says what is wrong with stored bytes, without the words of the engine.
func failureText(err error) string {
	switch {
	case errors.Is(err, blob.ErrBlobNotFound):
		return "its pack is gone"
	case errors.Is(err, store.ErrDamaged):
		return "its stored bytes are damaged"
	case errors.Is(err, store.ErrNotFound):
		return "its stored bytes are gone"
	}
	return err.Error()
}

// scrubEntry scrubs an entry and everything below it, unless that was done already.
func (c *scrubber) scrubEntry(ctx context.Context, e retake.Entry) ([]failure, error) {
	if all, done := c.found[e.Object]; done {
		return all, nil
	}
	c.report.Objects++
	if c.q.Progress != nil {
		c.q.Progress(retake.Progress{Files: c.report.Objects, Bytes: c.report.Bytes})
	}
	var all []failure
	var err error
	if e.Kind == retake.KindDir {
		all, err = c.scrubDir(ctx, e)
	} else if ferr := c.scrubFile(ctx, e); ferr != nil {
		all, err = []failure{{"", ferr}}, ctx.Err()
	}
	if err == nil {
		c.found[e.Object] = all
	}
	return all, err
}

func (c *scrubber) scrubDir(ctx context.Context, e retake.Entry) ([]failure, error) {
	entries, err := readDir(ctx, c.r, e.Object)
	if err != nil {
		return []failure{{"", c.s.damage.note(e.Object, err)}}, ctx.Err()
	}
	var all []failure
	for _, child := range entries {
		below, err := c.scrubEntry(ctx, child)
		if err != nil {
			return nil, err
		}
		for _, f := range below {
			all = append(all, failure{path.Join(child.Name, f.path), f.err})
		}
	}
	return all, ctx.Err()
}

// scrubFile reads a file of the sample; of the others it checks the parts.
func (c *scrubber) scrubFile(ctx context.Context, e retake.Entry) error {
	var err error
	if isSampled(e.Object, c.q.Share) {
		err = c.readFile(ctx, e)
	} else {
		err = c.checkParts(ctx, e)
	}
	if err != nil {
		return c.s.damage.note(e.Object, err)
	}
	return nil
}

func (c *scrubber) readFile(ctx context.Context, e retake.Entry) error {
	rd, err := openObject(ctx, c.r, e.Object)
	if err != nil {
		return err
	}
	defer rd.Close() //nolint:errcheck // nothing was written
	n, err := io.Copy(io.Discard, rd)
	c.report.Bytes += n
	if err != nil {
		return translateError(e.Object, err)
	}
	if n != e.Size {
		return errors.Join(store.ErrDamaged, fmt.Errorf("%d bytes instead of %d", n, e.Size))
	}
	return nil
}

// checkParts checks that every part of a file is in the index, its pack exists, and it was not
// found damaged before.
func (c *scrubber) checkParts(ctx context.Context, e retake.Entry) error {
	oid, err := parseObject(e.Object)
	if err != nil {
		return err
	}
	ids, err := c.r.VerifyObject(ctx, oid)
	if err != nil {
		return translateError(e.Object, err)
	}
	for _, id := range ids {
		i, err := c.r.ContentInfo(ctx, id)
		if err == nil {
			err = c.checkPack(ctx, i.PackBlobID)
		}
		if err == nil && i.Deleted && c.s.damage.has(id) {
			err = errKnownDamaged
		}
		if err != nil {
			return translateError(e.Object, err)
		}
	}
	return nil
}

var errKnownDamaged = errors.New("it was found damaged before")

// checkPack looks for a pack, once.
func (c *scrubber) checkPack(ctx context.Context, id blob.ID) error {
	err, asked := c.packs[id]
	if !asked {
		_, err = c.s.blobs.GetMetadata(ctx, id)
		c.packs[id] = err
	}
	return err
}

// isSampled chooses the same sample of files in every run, by address.
func isSampled(id retake.ObjectID, share float64) bool {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id)) // never fails
	return share >= 1 || float64(h.Sum64())/math.MaxUint64 < share
}
