package maintenance

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/retention"
	"github.com/retake-dev/retake/internal/storage/store"
)

// packSize is roughly the largest file that a store writes, and the least space in which a
// sweep works.
const packSize = 24 << 20

// spaceState is how much space there is, and how much must be freed.
type spaceState struct {
	retake.StoreState
	budget      int64
	need        retake.Need
	bytesToFree int64 // bytes to give back
	isStale     bool  // a sweep ran since it was measured
}

// dropLevel returns the highest keep level that may be dropped for the need.
func (r spaceState) dropLevel() retention.KeepLevel {
	switch r.need {
	case retake.NeedFloor:
		return retention.Firm
	case retake.NeedBudget, retake.NeedRoom:
		return retention.Kept
	case retake.NeedNone:
	}
	return retention.Loose
}

// isUrgent reports whether space must be freed now: a save that waits is better than one
// that is refused.
func (r spaceState) isUrgent() bool { return r.need != retake.NeedNone }

// applyFloor asks for a pack of space above the minimum. Below the minimum only as much is
// freed as lets saves in again.
func (r *spaceState) applyFloor() {
	switch short := r.Floor - r.Free; {
	case short > 0:
		r.need, r.bytesToFree = retake.NeedFloor, max(r.bytesToFree, short+packSize/8)
	case short+packSize > 0:
		r.need, r.bytesToFree = retake.NeedRoom, max(r.bytesToFree, short+packSize)
	}
}

// measureSpace measures the store and its disk. Checkpoints start to go a little before the
// budget is reached, until there is some space below it, so that not every save triggers a
// cleanup.
func (s *Maintenance) measureSpace(ctx context.Context, st store.Store) (spaceState, error) {
	var r spaceState
	var err error
	if r.Bytes, err = st.Size(ctx); err != nil {
		return r, err
	}
	free, total, err := s.workspaces.FS.FreeSpace(s.workspaces.DataDir)
	if err != nil {
		return r, fmt.Errorf("ask for room: %w", err)
	}
	r.Free, r.Floor = free, s.workspaces.MinFree(total)
	if s.opts.Budget != nil {
		r.budget = s.opts.Budget(total)
	}
	if s.opts.RefuseWhenFull {
		s.retention.mu.Lock()
		defer s.retention.mu.Unlock()
		s.retention.lastSpace = r
		return r, nil
	}
	if r.budget > 0 && r.Bytes > r.budget-r.budget/16 {
		r.need, r.bytesToFree = retake.NeedBudget, r.Bytes-(r.budget-r.budget*3/16)
	}
	if r.budget == 0 || r.Bytes > r.budget/10 { // a small store does not fill a disk
		r.applyFloor()
	}
	s.retention.mu.Lock()
	defer s.retention.mu.Unlock()
	s.retention.lastSpace = r
	return r, nil
}

// spaceCheckStep is how much must be written before space is checked between saves.
const spaceCheckStep = 2 << 20

// isSpaceRunningOut reports whether space may have run out since it was measured: saves
// without a pause must not fill the disk. It only asks for the free space, which other
// programs use too.
func (s *Maintenance) isSpaceRunningOut() bool {
	s.retention.mu.Lock()
	seen := s.retention.lastSpace
	s.retention.mu.Unlock()
	free, floor, err := s.workspaces.DiskSpace()
	taken := seen.Free - free
	if err != nil || taken < spaceCheckStep {
		return false
	}
	return free < floor+packSize || seen.budget > 0 && seen.Bytes+taken > seen.budget-seen.budget/16
}

// isDiskLow reports whether the disk is near its minimum. That can happen without any save.
func (s *Maintenance) isDiskLow() bool {
	free, floor, err := s.workspaces.DiskSpace()
	return err == nil && free < floor+packSize
}

// cleanupState is kept between runs of the daemon, as a mark of the catalog. Without it a
// sweep comes early.
type cleanupState struct {
	Debt      int64          `json:"debt"`      // bytes that forgotten checkpoints brought
	Numbers   int64          `json:"numbers"`   // of all lines together, at the last sweep
	Forgotten int64          `json:"forgotten"` // since the last sweep
	Yield     float64        `json:"yield"`     // what sweeps gave of what was thought
	Last      *retake.TidyUp `json:"last,omitempty"`
	Clock     clockState     `json:"clock,omitzero"`
}

// Bounds of the yield. If the first guess is too high too little is dropped, and the next
// step drops more.
const (
	firstYield    = 0.5
	minYield      = 0.1
	minLearnBytes = 1 << 20 // less is not significant
)

func (n *cleanupState) expectedYield() float64 {
	if n.Yield == 0 {
		return firstYield
	}
	return n.Yield
}

// learnYield updates the yield with what a sweep freed for a debt.
func (n *cleanupState) learnYield(debt, gave int64) {
	if debt >= minLearnBytes {
		n.Yield = (n.expectedYield() + min(max(float64(gave)/float64(debt), minYield), 1)) / 2
	}
}

const cleanupMark = "tidy"

// garbagePerSave is roughly what each save leaves that the next one supersedes.
const garbagePerSave = 6 << 10

// loadCleanupState returns the cleanup state, from the catalog on first use.
func (s *Maintenance) loadCleanupState(ctx context.Context) (cleanupState, error) {
	b := &s.retention
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.notes == nil {
		text, err := s.workspaces.Catalog.Mark(ctx, cleanupMark)
		if err != nil {
			return cleanupState{}, fmt.Errorf("read notes: %w", err)
		}
		var n cleanupState
		if json.Unmarshal([]byte(text), &n) != nil { // none, or of another version
			n = cleanupState{}
		}
		b.notes = &n
	}
	return *b.notes, nil
}

// updateCleanupState changes the cleanup state. Failing to store it is not an error.
func (s *Maintenance) updateCleanupState(ctx context.Context, change func(*cleanupState)) {
	n, err := s.loadCleanupState(ctx)
	if err != nil {
		return
	}
	change(&n)
	b := &s.retention
	b.mu.Lock()
	defer b.mu.Unlock()
	b.notes = &n
	if text, err := json.Marshal(n); err == nil {
		_ = s.workspaces.Catalog.SetMark(ctx, cleanupMark, string(text))
	}
}

// estimateGarbage returns roughly what a sweep would free, and the sum of the newest
// numbers of all workspaces.
func (s *Maintenance) estimateGarbage(ctx context.Context) (bytes, numbers int64, err error) {
	all, err := s.workspaces.Catalog.Workspaces(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("list workspaces: %w", err)
	}
	for _, w := range all {
		if w.Latest != nil {
			numbers += w.Latest.Number
		}
	}
	n, err := s.loadCleanupState(ctx)
	return int64(float64(n.Debt)*n.expectedYield()) + max(numbers-n.Numbers, 0)*garbagePerSave, numbers, err
}

// minSweepBytes returns how much garbage is worth a sweep.
func minSweepBytes(size int64) int64 { return min(max(size/16, 16<<20), 256<<20) }
