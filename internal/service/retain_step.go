package service

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/retention"
	"github.com/retake-dev/retake/internal/storage/store"
)

// A tidy-up that nobody asked for goes in steps. A save that comes meanwhile waits for
// the piece that is under way, and when room is short for a sweep of this length.
const (
	dropBatchSize  = 64                     // checkpoints that are dropped at once
	minDropStep    = 8                      // of a step, when room is short
	dropTimeLimit  = 700 * time.Millisecond // for all pieces of a step
	dropLockWait   = 300 * time.Millisecond // for who is at work, when room is short
	sweepTimeLimit = 500 * time.Millisecond // beside a save that waits
	sweepLockWait  = 300 * time.Millisecond // for a writer to finish
	sweepCopyLimit = 16 << 20               // that is copied at once
	ageInterval    = time.Hour              // between two looks at what is too old
	minDueDrops    = 32                     // unless this many are
)

// tryCleanup does one step of what holds the bounds, between saves, and reports whether
// there is more to do. What does not work out is tried after the next save. A store
// that nobody opened yet is opened when room is short: saves may be refused for that.
func (s *Service) tryCleanup(ctx context.Context, st store.Store) bool {
	b := &s.retention
	if st == nil && !s.isDiskLow() || !b.cleanupMu.TryLock() {
		return false
	}
	defer b.cleanupMu.Unlock()
	if st == nil {
		var err error
		if st, err = s.store(ctx); err != nil {
			return false
		}
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	b.cancelCleanup.Store(&end)
	defer b.cancelCleanup.Store(nil)
	more, err := s.runCleanupStep(ctx, st)
	return more && err == nil
}

func (s *Service) runCleanupStep(ctx context.Context, st store.Store) (more bool, err error) {
	s.confirmClock(ctx)
	r, err := s.measureSpace(ctx, st)
	if err != nil {
		return false, err
	}
	if !r.isUrgent() && s.isAnySaving() {
		return false, nil // the end of that calls us
	}
	dropped, more, err := s.runDropStep(ctx, r)
	if err != nil {
		return false, err
	}
	garbage, _, err := s.estimateGarbage(ctx)
	if err != nil {
		return false, err
	}
	if garbage < minSweepBytes(r.Bytes) && (!r.isUrgent() || dropped == 0 && garbage < r.bytesToFree) {
		return more, nil
	}
	rest, err := s.runSweepStep(ctx, st, r.isUrgent())
	return more || rest || r.isUrgent(), err
}

// runDropStep drops what is due, or what the need asks for and garbage alone does not
// give.
func (s *Service) runDropStep(ctx context.Context, r spaceState) (dropped int64, more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, dropTimeLimit)
	defer cancel()
	drops, err := s.selectDrops(ctx, r)
	if err != nil || len(drops) == 0 {
		return 0, false, err
	}
	wait := time.Duration(0)
	if r.isUrgent() {
		wait = dropLockWait
	}
	dropped, err = s.dropCheckpoints(ctx, drops, dropOptions{level: r.dropLevel(), lockWait: wait})
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, store.ErrBusy) {
		err = nil // the rest is for the next step
	}
	return dropped, r.isUrgent() || dropped < int64(len(drops)), err
}

// selectDrops are the checkpoints of the next step, the oldest first.
func (s *Service) selectDrops(ctx context.Context, r spaceState) ([]retention.Drop, error) {
	lines, _, err := s.evaluateAll(ctx)
	if err != nil {
		return nil, err
	}
	due := retention.Expired(lines)
	if !r.isUrgent() {
		return s.batchDue(due), nil
	}
	garbage, _, err := s.estimateGarbage(ctx)
	if err != nil || garbage >= r.bytesToFree {
		return due, err
	}
	part, err := s.freedShare(ctx, lines, r.Bytes)
	drops := retention.SelectToFree(lines, int64(float64(r.bytesToFree-garbage)/part), r.dropLevel())
	most := len(retention.SelectToFree(lines, allBytes, r.dropLevel())) / 4 // what it gives is measured before more goes
	return drops[:min(len(drops), max(most, minDropStep, len(due)))], err
}

// everything is more bytes than there are.
const allBytes = int64(^uint64(0) >> 1)

// batchDue lets what is too old go together: each time costs a change of the line.
func (s *Service) batchDue(due []retention.Drop) []retention.Drop {
	b := &s.retention
	b.mu.Lock()
	defer b.mu.Unlock()
	now := s.parts.Clock.Now()
	if len(due) < minDueDrops && now.Sub(b.lastAgeRun) < ageInterval {
		return nil
	}
	b.lastAgeRun = now
	return due
}

// freedShare is about how much of the bytes that checkpoints brought is given back when they
// go: the store shrinks them, and others may hold the same.
func (s *Service) freedShare(ctx context.Context, lines []retention.History, size int64) (float64, error) {
	n, err := s.loadCleanupState(ctx)
	return storedShare(lines, size) * n.expectedYield(), err
}

// storedShare is about how much of the bytes that checkpoints brought the store takes for
// them.
func storedShare(lines []retention.History, size int64) float64 {
	var brought int64
	for _, l := range lines {
		for _, v := range l.Verdicts {
			brought += v.Bytes
		}
	}
	if size <= 0 || brought <= size {
		return 1
	}
	return float64(size) / float64(brought)
}

// isAnySaving reports whether a save or a restore is under way or waits.
func (s *Service) isAnySaving() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.caches {
		if l.isSaving.Load() {
			return true
		}
	}
	return false
}

// runSweepStep sweeps beside saves, and reports whether it left something.
func (s *Service) runSweepStep(ctx context.Context, st store.Store, urgent bool) (rest bool, err error) {
	var limit context.Context
	stop := func() bool {
		if limit == nil { // what must be done is done, and pieces begin
			var end context.CancelFunc
			limit, end = context.WithTimeout(ctx, sweepTimeLimit)
			context.AfterFunc(limit, end)
		}
		rest = s.isAnySaving() && (!urgent || limit.Err() != nil)
		return rest
	}
	_, err = s.sweepAndRecord(ctx, st, store.SweepOptions{Room: sweepCopyLimit, Wait: sweepLockWait, Stop: stop}, &rest)
	if errors.Is(err, store.ErrBusy) {
		return urgent, nil // somebody writes for long
	}
	if err != nil {
		return false, err
	}
	return rest, nil
}

// sweepAndRecord sweeps, and notes what it gave and what is left.
func (s *Service) sweepAndRecord(ctx context.Context, st store.Store, o store.SweepOptions, rest *bool) (retake.SweepReport, error) {
	_, numbers, err := s.estimateGarbage(ctx)
	if err != nil {
		return retake.SweepReport{}, err
	}
	before, err := s.loadCleanupState(ctx)
	if err != nil {
		return retake.SweepReport{}, err
	}
	defer s.retention.markSpaceStale()
	rep, err := st.Sweep(ctx, o)
	if err != nil {
		return rep, err
	}
	s.updateCleanupState(ctx, func(n *cleanupState) {
		gave := max(rep.Before-rep.After, 0)
		n.learnYield(before.Debt, gave)
		n.Numbers = numbers
		n.Debt = 0
		if *rest {
			n.Debt = max(before.Debt-gave, 0)
		}
		n.Last = &retake.TidyUp{At: s.parts.Clock.Now(), Forgotten: n.Forgotten, Gave: gave, Took: rep.Took}
		n.Forgotten = 0
	})
	return rep, nil
}

// groupByWorkspace parts drops by workspace, in the order in which each comes first.
func groupByWorkspace(drops []retention.Drop) [][]retention.Drop {
	at := map[retake.WorkspaceID]int{}
	var out [][]retention.Drop
	for _, d := range drops {
		i, ok := at[d.Workspace]
		if !ok {
			i = len(out)
			at[d.Workspace] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], d)
	}
	return out
}

// splitBatches cuts a list into parts of at most n.
func splitBatches(drops []retention.Drop, n int) [][]retention.Drop {
	return slices.Collect(slices.Chunk(drops, n))
}
