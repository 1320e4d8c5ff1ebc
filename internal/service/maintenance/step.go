package maintenance

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/retention"
	"github.com/retake-dev/retake/internal/platform/diag"
	"github.com/retake-dev/retake/internal/storage/store"
)

// A background cleanup runs in steps. A save waits for the current batch and, when space is
// short, for a sweep of at most this length.
const (
	dropBatchSize  = 64                     // checkpoints that are dropped at once
	minDropStep    = 8                      // of a step, when space is short
	dropTimeLimit  = 700 * time.Millisecond // for all batches of a step
	dropLockWait   = 300 * time.Millisecond // for a busy workspace, when space is short
	sweepTimeLimit = 500 * time.Millisecond // while a save waits
	sweepLockWait  = 300 * time.Millisecond // for a writer to finish
	sweepCopyLimit = 16 << 20               // bytes copied at once
	ageInterval    = time.Hour              // between two drops by age
	minDueDrops    = 32                     // unless this many are due
)

// tryCleanup runs one step of a background cleanup and reports whether there is more to do.
// What fails is tried after the next save. A store that is not open yet is opened only when
// the disk is low, because then saves may be refused.
func (s *Maintenance) tryCleanup(ctx context.Context, st store.Store) (more bool, err error) {
	b := &s.retention
	if st == nil && !s.isDiskLow() || !b.cleanupMu.TryLock() {
		return false, diag.ErrSkipped
	}
	defer b.cleanupMu.Unlock()
	if st == nil {
		if st, err = s.workspaces.Store(ctx); err != nil {
			return false, err
		}
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	b.cancelCleanup.Store(&end)
	defer b.cancelCleanup.Store(nil)
	more, err = s.runCleanupStep(ctx, st)
	if errors.Is(err, store.ErrBusy) {
		err = diag.ErrSkipped // the end of the other writer starts the next run
	}
	return more && err == nil, err
}

// runCleanupStep drops what is due and sweeps if that is worth it. Unless space is short it
// does nothing while a save is running.
func (s *Maintenance) runCleanupStep(ctx context.Context, st store.Store) (more bool, err error) {
	s.confirmClock(ctx)
	r, err := s.measureSpace(ctx, st)
	if err != nil {
		return false, err
	}
	if !r.isUrgent() && s.workspaces.IsAnySaving() {
		return false, nil // the end of the save starts the next run
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

// runDropStep drops what is due, or what is needed beyond the garbage.
func (s *Maintenance) runDropStep(ctx context.Context, r spaceState) (dropped int64, more bool, err error) {
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
		err = nil // the next step does the rest
	}
	return dropped, r.isUrgent() || dropped < int64(len(drops)), err
}

// selectDrops returns the checkpoints for the next step, oldest first.
func (s *Maintenance) selectDrops(ctx context.Context, r spaceState) ([]retention.Drop, error) {
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
	most := len(retention.SelectToFree(lines, allBytes, r.dropLevel())) / 4 // measure the result before dropping more
	return drops[:min(len(drops), max(most, minDropStep, len(due)))], err
}

// allBytes is more than any store has.
const allBytes = int64(^uint64(0) >> 1)

// batchDue returns the due drops once enough came together, because each batch rewrites the
// timeline.
func (s *Maintenance) batchDue(due []retention.Drop) []retention.Drop {
	b := &s.retention
	b.mu.Lock()
	defer b.mu.Unlock()
	now := s.workspaces.Clock.Now()
	if len(due) < minDueDrops && now.Sub(b.lastAgeRun) < ageInterval {
		return nil
	}
	b.lastAgeRun = now
	return due
}

// freedShare returns roughly how much of the bytes of dropped checkpoints is freed: the
// store compresses, and others may share them.
func (s *Maintenance) freedShare(ctx context.Context, lines []retention.History, size int64) (float64, error) {
	n, err := s.loadCleanupState(ctx)
	return storedShare(lines, size) * n.expectedYield(), err
}

// storedShare returns roughly how much of the bytes of checkpoints the store takes for
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

// runSweepStep sweeps between saves and reports whether something is left.
func (s *Maintenance) runSweepStep(ctx context.Context, st store.Store, urgent bool) (rest bool, err error) {
	var limit context.Context
	stop := func() bool {
		if limit == nil { // called first when the optional part of the sweep begins
			var end context.CancelFunc
			limit, end = context.WithTimeout(ctx, sweepTimeLimit)
			context.AfterFunc(limit, end)
		}
		rest = s.workspaces.IsAnySaving() && (!urgent || limit.Err() != nil)
		return rest
	}
	_, err = s.sweepAndRecord(ctx, st, store.SweepOptions{Room: sweepCopyLimit, Wait: sweepLockWait, Stop: stop}, &rest)
	if errors.Is(err, store.ErrBusy) {
		return urgent, nil // a writer takes long
	}
	if err != nil {
		return false, err
	}
	return rest, nil
}

// SweepAndWipe removes what no checkpoint needs, and leaves none of its bytes in the
// remaining files. A cleanup in the background is canceled.
func (s *Maintenance) SweepAndWipe(ctx context.Context, st store.Store) (retake.SweepReport, error) {
	b := &s.retention
	if end := b.cancelCleanup.Load(); end != nil {
		(*end)()
	}
	b.cleanupMu.Lock()
	defer b.cleanupMu.Unlock()
	return s.sweepAndRecord(ctx, st, store.SweepOptions{Wipe: true}, new(bool))
}

// sweepAndRecord sweeps, and records what was freed and what is left.
func (s *Maintenance) sweepAndRecord(ctx context.Context, st store.Store, o store.SweepOptions, rest *bool) (retake.SweepReport, error) {
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
		n.Last = &retake.TidyUp{At: s.workspaces.Clock.Now(), Forgotten: n.Forgotten, Gave: gave, Took: rep.Took}
		n.Forgotten = 0
	})
	return rep, nil
}

// groupByWorkspace splits drops by workspace, in the order of first appearance.
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

// splitBatches splits a list into batches of at most n.
func splitBatches(drops []retention.Drop, n int) [][]retention.Drop {
	return slices.Collect(slices.Chunk(drops, n))
}
