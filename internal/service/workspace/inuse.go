package workspace

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/retake-dev/retake"
)

// CheckpointsInUse are the checkpoints that must not be dropped because somebody reads them
// just now.
type CheckpointsInUse struct {
	DropMu sync.Mutex // held while checkpoints are dropped, and while one is marked as in use

	mu    sync.Mutex // guards count
	count map[retake.CheckpointID]int
}

// List returns the checkpoints in use.
func (u *CheckpointsInUse) List() []retake.CheckpointID {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Collect(maps.Keys(u.count))
}

// add marks a checkpoint as in use until release is called.
func (u *CheckpointsInUse) add(id retake.CheckpointID) (release func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.count == nil {
		u.count = map[retake.CheckpointID]int{}
	}
	u.count[id]++
	return sync.OnceFunc(func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		if u.count[id]--; u.count[id] == 0 {
			delete(u.count, id)
		}
	})
}

// ProtectCheckpoint keeps a checkpoint from being dropped until release is called. A fork
// takes long to build, and its first checkpoint has the very same tree.
func (s *Registry) ProtectCheckpoint(ctx context.Context, cp retake.Checkpoint) (release func(), err error) {
	s.InUse.DropMu.Lock()
	defer s.InUse.DropMu.Unlock()
	if _, err := s.Catalog.Checkpoint(ctx, cp.ID); err != nil { // it was dropped since it was found
		return nil, err
	}
	return s.InUse.add(cp.ID), nil
}
