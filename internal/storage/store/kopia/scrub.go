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

// Scrub reads back. Every directory, card and state of every checkpoint is read;
// of the files a share, chosen by their address, and of the others it is checked
// that all their parts are there. What two checkpoints share is read once.
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
	s.blobs.cool()
	r, release, err := s.reading(ctx)
	if err != nil {
		return retake.ScrubReport{}, fmt.Errorf("scrub: %w", err)
	}
	defer release()
	lines, err := findLines(ctx, r, "")
	if err != nil {
		return retake.ScrubReport{}, fmt.Errorf("scrub: %w", err)
	}
	c := &scrub{s: s, r: r, q: q, seen: map[retake.ObjectID]bool{}, packs: map[blob.ID]error{}}
	c.rep.Failed = []string{}
	seen := map[retake.WorkspaceID]bool{}
	for _, f := range lines {
		if seen[f.ws] {
			continue
		}
		seen[f.ws] = true
		if err := c.line(ctx, f.ws); err != nil {
			return c.rep, fmt.Errorf("scrub: %w", err)
		}
	}
	return c.rep, nil
}

type scrub struct {
	s     *Store
	r     repo.Repository
	q     retake.ScrubQuery
	seen  map[retake.ObjectID]bool
	rep   retake.ScrubReport
	packs map[blob.ID]error // why it cannot be found; nil: it is there
}

func (c *scrub) line(ctx context.Context, ws retake.WorkspaceID) error {
	l, err := readLine(ctx, c.r, ws)
	if err != nil {
		return c.fail(ctx, string(ws), err)
	}
	err = l.eachShelf(ctx, c.r, 0, func(b *shelf) error {
		for n, e := range b.leaves {
			c.rep.Checkpoints++
			at := fmt.Sprintf("%s %d", l.record.Workspace.Name, n)
			leaf, err := readLeaf(ctx, c.r, e)
			if err != nil {
				if err := c.fail(ctx, at, err); err != nil {
					return err
				}
				continue
			}
			if err := c.entry(ctx, at, leaf.Files); err != nil {
				return err
			}
			for _, f := range leaf.State {
				if err := c.entry(ctx, at+" state/"+f.Name, f); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return c.fail(ctx, string(ws), err)
	}
	return nil
}

// fail notes what is damaged. The end of ctx ends a scrub, and bytes that are away:
// nothing can be said of them.
func (c *scrub) fail(ctx context.Context, at string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if retake.IsKind(err, retake.Away) {
		return err
	}
	c.rep.Failed = append(c.rep.Failed, at+": "+err.Error())
	return nil
}

func (c *scrub) entry(ctx context.Context, at string, e retake.Entry) error {
	if c.seen[e.Object] {
		return nil
	}
	c.seen[e.Object] = true
	c.rep.Objects++
	if c.q.Progress != nil {
		c.q.Progress(retake.Progress{Files: c.rep.Objects, Bytes: c.rep.Bytes})
	}
	if e.Kind != retake.KindDir {
		return c.file(ctx, at, e)
	}
	entries, err := readDir(ctx, c.r, e.Object)
	if err != nil {
		return c.fail(ctx, at, err)
	}
	for _, child := range entries {
		if err := c.entry(ctx, at+"/"+child.Name, child); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (c *scrub) file(ctx context.Context, at string, e retake.Entry) error {
	rd, err := openObject(ctx, c.r, e.Object)
	if err != nil {
		return c.fail(ctx, at, err)
	}
	defer rd.Close() //nolint:errcheck // nothing was written
	if !chosen(e.Object, c.q.Share) {
		return c.parts(ctx, at, e)
	}
	n, err := io.Copy(io.Discard, rd)
	c.rep.Bytes += n
	if err == nil && n != e.Size {
		err = errors.Join(store.ErrDamaged, fmt.Errorf("%d bytes instead of %d", n, e.Size))
	}
	if err != nil {
		return c.fail(ctx, at, err)
	}
	return nil
}

// parts checks that every part of a file is in the index and its pack on disk.
func (c *scrub) parts(ctx context.Context, at string, e retake.Entry) error {
	oid, err := parseObject(e.Object)
	if err != nil {
		return c.fail(ctx, at, err)
	}
	ids, err := c.r.VerifyObject(ctx, oid)
	if err != nil {
		return c.fail(ctx, at, err)
	}
	for _, id := range ids {
		i, err := c.r.ContentInfo(ctx, id)
		if err == nil {
			err = c.pack(ctx, i.PackBlobID)
		}
		if err != nil {
			return c.fail(ctx, at, err)
		}
	}
	return nil
}

// pack asks once for a pack, whoever lies in it.
func (c *scrub) pack(ctx context.Context, id blob.ID) error {
	err, asked := c.packs[id]
	if !asked {
		_, err = c.s.blobs.GetMetadata(ctx, id)
		c.packs[id] = err
	}
	return err
}

// chosen picks the same share of files at every run, by address.
func chosen(id retake.ObjectID, share float64) bool {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id)) // never fails
	return share >= 1 || float64(h.Sum64())/math.MaxUint64 < share
}
