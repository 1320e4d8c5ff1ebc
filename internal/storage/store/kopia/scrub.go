package kopia

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"

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
	unlock, err := s.lockShared(ctx) // a sweep would move packs under our hands
	if err != nil {
		return retake.ScrubReport{}, err
	}
	defer unlock()
	if err := s.refresh(ctx); err != nil {
		return retake.ScrubReport{}, fmt.Errorf("scrub: %w", err)
	}
	s.blobs.dropCache()
	r, release, err := s.acquireReader(ctx)
	if err != nil {
		return retake.ScrubReport{}, fmt.Errorf("scrub: %w", err)
	}
	defer release()
	lines, err := findHistories(ctx, r, "")
	if err != nil {
		return retake.ScrubReport{}, fmt.Errorf("scrub: %w", err)
	}
	c := &scrubber{s: s, r: r, q: q, seen: map[retake.ObjectID]bool{}, packs: map[blob.ID]error{}}
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
	seen   map[retake.ObjectID]bool
	report retake.ScrubReport
	packs  map[blob.ID]error // why it cannot be found; nil: it is there
}

// scrubHistory reads all records of a history.
func (c *scrubber) scrubHistory(ctx context.Context, ws retake.WorkspaceID) error {
	l, err := readHistory(ctx, c.r, ws)
	if err != nil {
		return c.recordFailure(ctx, string(ws), err)
	}
	err = l.eachGroup(ctx, c.r, 0, func(b *recordGroup) error {
		for n, e := range b.records {
			c.report.Checkpoints++
			at := fmt.Sprintf("%s %d", l.info.Workspace.Name, n)
			rec, err := readRecord(ctx, c.r, e)
			if err != nil {
				if err := c.recordFailure(ctx, at, err); err != nil {
					return err
				}
				continue
			}
			if err := c.scrubEntry(ctx, at, rec.Files); err != nil {
				return err
			}
			for _, f := range rec.State {
				if err := c.scrubEntry(ctx, at+" state/"+f.Name, f); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return c.recordFailure(ctx, string(ws), err)
	}
	return nil
}

// recordFailure records damage. A cancelled context ends the scrub, and so does storage that
// cannot be reached: nothing can be said about its bytes.
func (c *scrubber) recordFailure(ctx context.Context, at string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if retake.IsKind(err, retake.Away) {
		return err
	}
	c.report.Failed = append(c.report.Failed, at+": "+err.Error())
	return nil
}

// scrubEntry scrubs an entry and everything below it, unless that was done already.
func (c *scrubber) scrubEntry(ctx context.Context, at string, e retake.Entry) error {
	if c.seen[e.Object] {
		return nil
	}
	c.seen[e.Object] = true
	c.report.Objects++
	if c.q.Progress != nil {
		c.q.Progress(retake.Progress{Files: c.report.Objects, Bytes: c.report.Bytes})
	}
	if e.Kind != retake.KindDir {
		return c.scrubFile(ctx, at, e)
	}
	entries, err := readDir(ctx, c.r, e.Object)
	if err != nil {
		return c.recordFailure(ctx, at, err)
	}
	for _, child := range entries {
		if err := c.scrubEntry(ctx, at+"/"+child.Name, child); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// scrubFile reads a file of the sample; of the others it checks the parts.
func (c *scrubber) scrubFile(ctx context.Context, at string, e retake.Entry) error {
	rd, err := openObject(ctx, c.r, e.Object)
	if err != nil {
		return c.recordFailure(ctx, at, err)
	}
	defer rd.Close() //nolint:errcheck // nothing was written
	if !isSampled(e.Object, c.q.Share) {
		return c.checkParts(ctx, at, e)
	}
	n, err := io.Copy(io.Discard, rd)
	c.report.Bytes += n
	if err == nil && n != e.Size {
		err = errors.Join(store.ErrDamaged, fmt.Errorf("%d bytes instead of %d", n, e.Size))
	}
	if err != nil {
		return c.recordFailure(ctx, at, err)
	}
	return nil
}

// checkParts checks that every part of a file is in the index and its pack exists.
func (c *scrubber) checkParts(ctx context.Context, at string, e retake.Entry) error {
	oid, err := parseObject(e.Object)
	if err != nil {
		return c.recordFailure(ctx, at, err)
	}
	ids, err := c.r.VerifyObject(ctx, oid)
	if err != nil {
		return c.recordFailure(ctx, at, err)
	}
	for _, id := range ids {
		i, err := c.r.ContentInfo(ctx, id)
		if err == nil {
			err = c.checkPack(ctx, i.PackBlobID)
		}
		if err != nil {
			return c.recordFailure(ctx, at, err)
		}
	}
	return nil
}

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
