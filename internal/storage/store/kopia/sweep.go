package kopia

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/kopia/kopia/repo/blob"
	"github.com/kopia/kopia/repo/content/indexblob"
	"github.com/kopia/kopia/repo/maintenance"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/store"
)

// exclusive is safe because a sweep is alone: no writer of ours holds the use
// lock, no foreign session is there, and the clock does not go back.
var exclusive = maintenance.SafetyParameters{DisableEventualConsistencySafety: true}

// foreignTemps is the age at which a half-written file of another engine counts as abandoned.
const foreignTemps = time.Hour

// Sweep gives back what no line reaches. What is reached is found while others go on
// writing; alone it looks only at what came since. The order matters: unreachable
// contents are dropped from the index before anything is copied, so that whole packs
// go without a copy; only then are sparse packs rewritten, in batches that fit the
// room. Every copy is durable before what it replaces is deleted.
func (s *Store) Sweep(ctx context.Context, o store.SweepOptions) (retake.SweepReport, error) {
	started := s.opts.Clock.Now()
	var rep retake.SweepReport
	m, err := s.mark(ctx)
	if err != nil {
		return rep, fmt.Errorf("sweep: mark: %w", err)
	}
	defer m.close(ctx)
	unlock, err := s.lockAlone(ctx, o.Wait)
	if err != nil {
		return rep, err
	}
	defer unlock()
	if rep.Before, err = s.Size(ctx); err != nil {
		return rep, err
	}
	v, err := s.ownSession(ctx)
	if err != nil {
		return rep, fmt.Errorf("sweep: %w", err)
	}
	c := &sweep{s: s, v: v, mark: m, room: o.Room, stop: o.Stop, wipe: o.Wipe, begun: s.clock.Now()}
	defer c.letRead()
	err = c.run(ctx)
	ctx = context.WithoutCancel(ctx) // what was begun must be left in order
	err = errors.Join(err, v.Close(ctx), s.retire(ctx), s.refresh(ctx))
	rep.Peak = c.peak.Load()
	if err != nil {
		return rep, fmt.Errorf("sweep: %w", err)
	}
	rep.After, err = s.Size(ctx)
	rep.Took = s.opts.Clock.Now().Sub(started)
	return rep, err
}

// lockAlone keeps new writers waiting, then waits for those that are there, at most
// for so long; 0 is as long as ctx allows.
func (s *Store) lockAlone(ctx context.Context, wait time.Duration) (func(), error) {
	if wait > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, wait)
		defer cancel()
	}
	gate, err := s.opts.Locks.Lock(ctx, gateLock, true)
	if err != nil {
		return nil, busy(err)
	}
	use, err := s.opts.Locks.Lock(ctx, useLock, true)
	if err != nil {
		gate()
		return nil, busy(err)
	}
	return func() { use(); gate() }, nil
}

// lockShared holds sweeps back, and nobody else.
func (s *Store) lockShared(ctx context.Context) (func(), error) {
	gate, err := s.opts.Locks.Lock(ctx, gateLock, false)
	if err != nil {
		return nil, busy(err)
	}
	defer gate()
	use, err := s.opts.Locks.Lock(ctx, useLock, false)
	if err != nil {
		return nil, busy(err)
	}
	return use, nil
}

type sweep struct {
	s     *Store
	v     *session
	mark  *mark
	begun time.Time
	room  int64       // bytes a batch may copy; 0: chosen from the free space
	stop  func() bool // nil: to the end
	wipe  bool        // no unreached bytes stay
	quiet bool        // readers are kept waiting
	extra atomic.Int64
	peak  atomic.Int64
}

// grew notes that copies now take n more bytes than at the start.
func (c *sweep) grew(n int64) {
	e := c.extra.Add(n)
	if e > c.peak.Load() {
		c.peak.Store(e)
	}
}

func (c *sweep) run(ctx context.Context) error {
	steps := []struct {
		name string
		do   func(context.Context) error
	}{
		{"look for other writers", c.refuseForeign},
		{"drop old heads", c.dropOldHeads},
		{"mark", c.dropUnreached},
		{"drop", c.dropDeleted},
		{"free packs", c.freePacks},
		{"rewrite sparse packs", c.rewriteSparse},
		{"squeeze index", c.squeezeIndex},
		{"remove leftovers", func(context.Context) error { return c.s.blobs.sweepTemps(foreignTemps) }},
	}
	for _, st := range steps {
		if err := st.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", st.name, err)
		}
	}
	return nil
}

// enough reports whether the rest is for the next sweep. Who may be stopped also stops
// for readers that wait.
func (c *sweep) enough() bool { return c.stop != nil && (c.stop() || c.s.waiting.Load() > 0) }

func (c *sweep) squeezeIndex(ctx context.Context) error {
	if c.enough() {
		return nil
	}
	return squeeze(ctx, c.s, c.v)
}

// refuseForeign answers store.ErrBusy when a session of another engine is open.
// Sessions of ours are dead: their writers would hold the use lock.
func (c *sweep) refuseForeign(ctx context.Context) error {
	if err := c.refuseStrangers(ctx); err != nil {
		return err
	}
	sessions, err := c.v.contents.ListActiveSessions(ctx)
	if err != nil {
		return err
	}
	for _, i := range sessions {
		if i.User != identity || i.Host != identity {
			return fmt.Errorf("%s@%s is writing: %w", i.User, i.Host, store.ErrBusy)
		}
	}
	return blob.IterateAllPrefixesInParallel(ctx, 1, c.s.blobs, []blob.ID{"s"}, func(m blob.Metadata) error {
		return c.s.blobs.DeleteBlob(ctx, m.BlobID)
	})
}

// refuseStrangers stops where somebody else writes whom no lock of ours holds back: what
// he stored is named by an index that we do not know, and would be taken for garbage.
func (c *sweep) refuseStrangers(ctx context.Context) error {
	if c.s.opts.Still != nil {
		if err := c.s.opts.Still(ctx); err != nil {
			return err
		}
	}
	found, err := c.s.blobs.strangers(ctx)
	if err != nil || len(found) == 0 {
		return err
	}
	return &retake.Error{
		Kind: retake.Denied, What: fmt.Sprintf("nothing was cleaned up: another server writes into this store (%s and %d more)", found[0], len(found)-1),
		Safe: "Nothing was deleted.", Hint: "stop that server: all servers of a bucket share one data directory\nthen restart this one",
	}
}

func (c *sweep) dropOldHeads(ctx context.Context) error {
	all, err := findLines(ctx, c.v, "")
	if err != nil {
		return err
	}
	seen := map[retake.WorkspaceID]bool{}
	for _, f := range all {
		if !seen[f.ws] { // an older head is all there is when the newest cannot be read
			if err := c.readable(ctx, f.ws); err != nil {
				return err
			}
		} else if err := c.v.DeleteManifest(ctx, f.id); err != nil {
			return err
		}
		seen[f.ws] = true
	}
	return c.v.Flush(ctx)
}

// readable reads the structure of a line down to its leaves.
func (c *sweep) readable(ctx context.Context, ws retake.WorkspaceID) error {
	l, err := readLine(ctx, c.v, ws)
	if err != nil {
		return err
	}
	return l.eachShelf(ctx, c.v, 0, func(*shelf) error { return nil })
}

// dropDeleted hides the deleted contents for good. The watermark counts whole
// seconds and hides what is not after it, so the clock moves on to the next one
// before, and again after: bytes that come back are then younger than it. The
// mark is durable first, or a clock that steps back would hide them again.
func (c *sweep) dropDeleted(ctx context.Context) error {
	if err := c.v.Flush(ctx); err != nil {
		return err
	}
	before := c.nextSecond()
	mark := before.Add(3 * time.Second)
	if err := errors.Join(writeMark(c.s.home, mark), c.s.blobs.keepMark(ctx, mark)); err != nil {
		return err
	}
	_, err := c.v.contents.CompactIndexes(ctx, indexblob.CompactOptions{
		AllIndexes: true, DropDeletedBefore: before, DisableEventualConsistencySafety: true,
	})
	if err != nil {
		return err
	}
	c.nextSecond()
	return c.v.Refresh(ctx)
}

func (c *sweep) nextSecond() time.Time {
	t := c.s.clock.Now().Truncate(time.Second).Add(time.Second + time.Millisecond)
	c.s.clock.Raise(t)
	return t
}

func (c *sweep) freePacks(ctx context.Context) error {
	st, err := maintenance.DeleteUnreferencedPacks(ctx, c.v, maintenance.DeleteUnreferencedPacksOptions{Parallel: 2, NotAfterTime: c.begun.Add(-c.s.opts.Spare)}, exclusive)
	if err != nil {
		return err
	}
	c.grew(-int64(st.DeletedTotalSize))
	return nil
}
