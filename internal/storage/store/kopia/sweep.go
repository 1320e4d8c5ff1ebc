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
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store"
)

// exclusiveSafety disables the engine's waiting times. A sweep runs alone: no writer of ours
// holds the use lock, there is no foreign session, and the clock does not go back.
var exclusiveSafety = maintenance.SafetyParameters{DisableEventualConsistencySafety: true}

// foreignTempAge is the age at which a half-written file of another engine counts as
// abandoned.
const foreignTempAge = time.Hour

// A sweep that nobody may stop lets waiting writers in between the batches that it copies, and
// goes on after them. After maxSweepTurns it no longer does, so that it ends however many come.
const (
	maxSweepTurns = 64
	writerEntry   = time.Second     // how long it waits for them to begin
	readerExit    = 5 * time.Second // see Store.readerExit
	writerExit    = 3 * time.Second // see Store.writerExit

	writerPollInterval = 20 * time.Millisecond
)

// Sweep removes what no history reaches. It marks while others write; alone, it visits only
// what was added since. The order matters: unreachable contents are dropped from the index
// before anything is copied, so that whole packs are deleted without a copy; only then are
// sparse packs rewritten, in batches that fit the free space. Every copy is durable before
// what it replaces is deleted.
func (s *Store) Sweep(ctx context.Context, o store.SweepOptions) (retake.SweepReport, error) {
	started := s.opts.Clock.Now()
	var rep retake.SweepReport
	for turn := 1; ; turn++ {
		one, rest, err := sweepOnce(ctx, s, o, turn < maxSweepTurns)
		if turn == 1 {
			rep.Before, rep.After = one.Before, one.Before
		}
		if err == nil { // others may have saved between two turns
			rep.After -= one.Before - one.After
		}
		rep.Peak, rep.Took = max(rep.Peak, one.Peak), s.opts.Clock.Now().Sub(started)
		if err == nil && rest {
			err = awaitWriters(ctx, s)
		}
		if err != nil || !rest {
			return rep, err
		}
	}
}

// sweepOnce sweeps until the end, or until it leaves a rest to let writers in.
func sweepOnce(ctx context.Context, s *Store, o store.SweepOptions, mayYield bool) (rep retake.SweepReport, rest bool, err error) {
	var m *reachableSet
	err = s.metadata.retry(ctx, func() (err error) {
		m, err = s.markReachable(ctx)
		return engineError(ctx, "mark", err)
	})
	if err != nil {
		return rep, false, fmt.Errorf("sweep: %w", err)
	}
	defer m.close(ctx)
	unlock, err := s.lockExclusive(ctx, o.Wait)
	if err != nil {
		return rep, false, err
	}
	defer unlock()
	if rep.Before, err = s.Size(ctx); err != nil {
		return rep, false, err
	}
	v, err := s.newOwnSession(ctx)
	if err != nil {
		return rep, false, fmt.Errorf("sweep: %w", err)
	}
	c := &sweeper{s: s, session: v, reachable: m, room: o.Room, stop: o.Stop, mayYield: mayYield && o.Stop == nil, wipe: o.Wipe, started: s.clock.Now(), begun: clock.Wall.Now()}
	defer c.unblockReaders()
	err = c.run(ctx)
	ctx = context.WithoutCancel(ctx) // what was begun must be left in order
	err = errors.Join(err, v.Close(ctx), s.retireView(ctx), s.refresh(ctx), s.metadata.copyNew(ctx))
	rep.Peak = c.peak.Load()
	if err != nil {
		return rep, false, fmt.Errorf("sweep: %w", err)
	}
	rep.After, err = s.Size(ctx)
	return rep, c.rest, err
}

// awaitWriters lets in who waits: writers until all have begun, at most for writerEntry, and others
// for a moment.
func awaitWriters(ctx context.Context, s *Store) error {
	limit, cancel := context.WithTimeout(ctx, writerEntry)
	defer cancel()
	t := time.NewTicker(writerPollInterval)
	defer t.Stop()
	for {
		select {
		case <-limit.Done():
			return ctx.Err()
		case <-t.C:
		}
		if s.waitingWriters.Load() == 0 {
			return nil
		}
	}
}

// lockExclusive makes new writers wait, then waits for the present ones, at most as long as
// wait; 0 means as long as ctx allows. A scrub counts as one and may take long, so new writers are
// let in from time to time.
func (s *Store) lockExclusive(ctx context.Context, wait time.Duration) (func(), error) {
	if wait > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, wait)
		defer cancel()
	}
	for {
		unlock, err := tryLockExclusive(ctx, s)
		if err == nil || ctx.Err() != nil || !errors.Is(err, store.ErrBusy) {
			return unlock, err
		}
		if err := awaitWriters(ctx, s); err != nil {
			return nil, asBusy(errors.Join(fsx.ErrLocked, err))
		}
	}
}

// tryLockExclusive is lockExclusive, for at most writerExit.
func tryLockExclusive(ctx context.Context, s *Store) (func(), error) {
	gate, err := s.opts.Locks.Lock(ctx, gateLock, true)
	if err != nil {
		return nil, asBusy(err)
	}
	limit, cancel := context.WithTimeout(ctx, s.writerExit)
	defer cancel()
	use, err := s.opts.Locks.Lock(limit, useLock, true)
	if err != nil {
		gate()
		return nil, asBusy(err)
	}
	return func() { use(); gate() }, nil
}

// lockShared keeps out sweeps and nothing else. It takes the gate briefly, so that a waiting
// sweep goes first.
func (s *Store) lockShared(ctx context.Context) (func(), error) {
	gate, err := s.opts.Locks.Lock(ctx, gateLock, false)
	if err != nil {
		return nil, asBusy(err)
	}
	defer gate()
	use, err := s.opts.Locks.Lock(ctx, useLock, false)
	if err != nil {
		return nil, asBusy(err)
	}
	return use, nil
}

type sweeper struct {
	s              *Store
	session        *session
	reachable      *reachableSet
	started        time.Time   // by the clock of the store
	begun          time.Time   // by the clock of the machine
	room           int64       // bytes a batch may copy; 0: chosen from the free space
	stop           func() bool // nil: to the end
	mayYield       bool        // to writers that wait, and to readers
	rest           bool        // something is left for the next turn
	copyingSince   time.Time   // when the first batch began
	copied         int         // batches
	wipe           bool        // no unreached bytes stay
	readersBlocked bool        // readers are kept waiting
	extra          atomic.Int64
	peak           atomic.Int64
}

// recordGrowth records that copies now take n more bytes than at the start.
func (c *sweeper) recordGrowth(n int64) {
	e := c.extra.Add(n)
	if e > c.peak.Load() {
		c.peak.Store(e)
	}
}

// run does the steps of a sweep in their order, see Sweep.
func (c *sweeper) run(ctx context.Context) error {
	steps := []struct {
		name string
		do   func(context.Context) error
	}{
		{"look for other writers", c.refuseForeignSessions},
		{"drop old heads", c.deleteOldHeads},
		{"mark", c.deleteUnreachable},
		{"drop", c.purgeDeleted},
		{"free packs", c.deleteUnusedPacks},
		{"rewrite sparse packs", c.rewriteSparse},
		{"squeeze index", c.shortenIndex},
		{"remove leftovers", func(context.Context) error { return c.s.blobs.removeOldTemps(foreignTempAge) }},
	}
	for _, st := range steps {
		if err := st.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", st.name, err)
		}
	}
	return nil
}

// shouldStop reports whether the rest is left for the next sweep. A sweep that can be stopped
// also stops for waiting readers.
func (c *sweeper) shouldStop() bool {
	return c.stop != nil && (c.stop() || c.s.readGate.isAwaited())
}

// leaveRest leaves the rest for the next turn if a writer waits. Each turn begins with the same
// work, so it first copies for as long as that took.
func (c *sweeper) leaveRest() bool {
	enough := c.s.shortTurns || clock.Wall.Now().Sub(c.copyingSince) >= c.copyingSince.Sub(c.begun)
	if c.mayYield && c.copied > 0 && enough && c.s.waitingWriters.Load() > 0 {
		c.rest = true
	}
	return c.rest
}

func (c *sweeper) shortenIndex(ctx context.Context) error {
	if c.shouldStop() || c.leaveRest() {
		return nil
	}
	return compactIndex(ctx, c.s, c.session)
}

// refuseForeignSessions returns store.ErrBusy if a session of another engine is open. Sessions
// of ours are dead: their writers would hold the use lock.
func (c *sweeper) refuseForeignSessions(ctx context.Context) error {
	if err := c.refuseForeignWriters(ctx); err != nil {
		return err
	}
	sessions, err := c.session.contents.ListActiveSessions(ctx)
	if err != nil {
		return err
	}
	for _, i := range sessions {
		if i.User != sessionIdentity || i.Host != sessionIdentity {
			return fmt.Errorf("%s@%s is writing: %w", i.User, i.Host, store.ErrBusy)
		}
	}
	return blob.IterateAllPrefixesInParallel(ctx, 1, c.s.blobs, []blob.ID{"s"}, func(m blob.Metadata) error {
		return c.s.blobs.DeleteBlob(ctx, m.BlobID)
	})
}

// refuseForeignWriters stops if a process writes that no lock of ours keeps out: what it
// stored is named by an index that we do not know and would be taken for garbage.
func (c *sweeper) refuseForeignWriters(ctx context.Context) error {
	if c.s.opts.StillOwned != nil {
		if err := c.s.opts.StillOwned(ctx); err != nil {
			return err
		}
	}
	found, err := c.s.blobs.foreignIndexes(ctx)
	if err != nil || len(found) == 0 {
		return err
	}
	return &retake.Error{
		Kind: retake.Denied, What: fmt.Sprintf("nothing was cleaned up: another server writes into this store (%s and %d more)", found[0], len(found)-1),
		Safe: "Nothing was deleted.", Hint: "stop that server: all servers of a bucket share one data directory\nthen restart this one",
	}
}

// deleteOldHeads deletes the superseded heads of all histories. It fails if a newest head
// cannot be read: then an older one may be all that is left.
func (c *sweeper) deleteOldHeads(ctx context.Context) error {
	all, err := findHistories(ctx, c.session, "")
	if err != nil {
		return err
	}
	seen := map[retake.WorkspaceID]bool{}
	for _, f := range all {
		if !seen[f.ws] { // an older head is all there is when the newest cannot be read
			if err := c.checkReadable(ctx, f.ws); err != nil {
				return err
			}
		} else if err := c.session.DeleteManifest(ctx, f.id); err != nil {
			return err
		}
		seen[f.ws] = true
	}
	return c.session.Flush(ctx)
}

// checkReadable reads the structure of a history down to its records.
func (c *sweeper) checkReadable(ctx context.Context, ws retake.WorkspaceID) error {
	l, err := readHistory(ctx, c.session, ws)
	if err != nil {
		return err
	}
	return l.eachGroup(ctx, c.session, 0, func(*recordGroup) error { return nil })
}

// purgeDeleted hides the deleted contents for good. The watermark has a resolution of seconds
// and hides what is not after it, so the clock moves to the next second before and again after
// it: bytes that are written again are then newer. The clock mark is durable first, or a clock
// that steps back would hide them again.
func (c *sweeper) purgeDeleted(ctx context.Context) error {
	if err := c.session.Flush(ctx); err != nil {
		return err
	}
	before := c.nextSecond()
	mark := before.Add(3 * time.Second)
	if err := errors.Join(writeClockMark(c.s.homeDir, mark), c.s.blobs.saveClockMark(ctx, mark)); err != nil {
		return err
	}
	_, err := c.session.contents.CompactIndexes(ctx, indexblob.CompactOptions{
		AllIndexes: true, DropDeletedBefore: before, DisableEventualConsistencySafety: true,
	})
	if err != nil {
		return err
	}
	c.nextSecond()
	return c.session.Refresh(ctx)
}

func (c *sweeper) nextSecond() time.Time {
	t := c.s.clock.Now().Truncate(time.Second).Add(time.Second + time.Millisecond)
	c.s.clock.RaiseTo(t)
	return t
}

func (c *sweeper) deleteUnusedPacks(ctx context.Context) error {
	st, err := maintenance.DeleteUnreferencedPacks(ctx, c.session, maintenance.DeleteUnreferencedPacksOptions{Parallel: 2, NotAfterTime: c.started.Add(-c.s.opts.MinPackAge)}, exclusiveSafety)
	if err != nil {
		return err
	}
	c.recordGrowth(-int64(st.DeletedTotalSize))
	return nil
}
