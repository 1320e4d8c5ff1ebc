package maintenance

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/retention"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/store"
)

// dropOptions says how checkpoints are dropped.
type dropOptions struct {
	level      retention.KeepLevel
	lockWait   time.Duration                // how long to wait for the workspace
	onProgress func(int64)                  // called with the number dropped so far; may be nil
	forkBases  map[retake.CheckpointID]bool // origins of forks
}

// dropCheckpoints forgets checkpoints in batches and returns how many. Each is evaluated
// again under the lock: since it was selected it may have been pinned or forked.
func (s *Maintenance) dropCheckpoints(ctx context.Context, drops []retention.Drop, how dropOptions) (int64, error) {
	var err error
	if how.forkBases, err = s.loadForkBases(ctx); err != nil {
		return 0, err
	}
	var n int64
	var errs []error
	for _, line := range groupByWorkspace(drops) {
		for _, piece := range splitBatches(line, dropBatchSize) {
			went, err := s.dropBatch(ctx, piece, how)
			if n += went; how.onProgress != nil {
				how.onProgress(n)
			}
			if errors.Is(err, errWorkspaceBusy) || errors.Is(err, errNeedsUnknown) {
				break // tried again later
			}
			if err != nil {
				errs = append(errs, err)
				break
			}
			if ctx.Err() != nil {
				return n, errors.Join(append(errs, ctx.Err())...)
			}
		}
	}
	return n, errors.Join(errs...)
}

// loadForkBases returns the origins of forks from the store, because a catalog that is
// being rebuilt may not know all forks. A workspace that cannot be read is an error: it may
// be a fork.
func (s *Maintenance) loadForkBases(ctx context.Context) (map[retake.CheckpointID]bool, error) {
	st, err := s.workspaces.Store(ctx)
	if err != nil {
		return nil, err
	}
	heads, err := st.Heads(ctx)
	if err != nil {
		return nil, err
	}
	out := map[retake.CheckpointID]bool{}
	for _, h := range heads {
		if h.Workspace.Origin != nil && h.Workspace.Ended == nil {
			out[h.Workspace.Origin.Checkpoint] = true
		}
	}
	return out, nil
}

// errWorkspaceBusy means that another operation may need the checkpoints.
var errWorkspaceBusy = errors.New("another operation is running here")

// dropBatch forgets checkpoints of one workspace, while saves, restores and new forks are
// locked out.
func (s *Maintenance) dropBatch(ctx context.Context, piece []retention.Drop, how dropOptions) (int64, error) {
	id := piece[0].Workspace
	l := s.workspaces.CacheFor(id)
	if !l.Mu.LockWithin(ctx, how.lockWait) {
		return 0, errWorkspaceBusy
	}
	defer l.Mu.Unlock()
	release, err := s.lockAgainstRestores(ctx, id)
	if err != nil {
		return 0, err
	}
	defer release()
	s.workspaces.InUse.DropMu.Lock()
	defer s.workspaces.InUse.DropMu.Unlock()
	ws, err := s.workspaces.LoadWorkspace(workspace.AsMaintainer(ctx), id)
	if err != nil {
		return 0, err
	}
	var stones []retake.Tombstone
	err = s.workspaces.WithWriter(ctx, ws, func(w store.Writer) error {
		stones, err = s.selectDroppable(ctx, l, w.Head(), piece, how)
		if err != nil || len(stones) == 0 {
			return err
		}
		_ = s.history.ReassignVerifications(ctx, w, id, stones) // a failure must not keep space from being freed
		if err := w.Forget(context.WithoutCancel(ctx), stones); err != nil {
			return err
		}
		return s.workspaces.Catalog.Bury(workspace.AsMaintainer(context.WithoutCancel(ctx)), id, stones)
	})
	s.removeRows(id, stones, err != nil)
	if err != nil {
		return 0, err
	}
	s.updateCleanupState(ctx, func(n *cleanupState) {
		n.Forgotten += int64(len(stones))
		for _, d := range piece {
			if hasTombstone(stones, d.ID) {
				n.Debt += d.Bytes
			}
		}
	})
	return int64(len(stones)), nil
}

func hasTombstone(stones []retake.Tombstone, id retake.CheckpointID) bool {
	return slices.ContainsFunc(stones, func(t retake.Tombstone) bool { return t.ID == id })
}

// lockAgainstRestores locks out restores of a workspace, also those of other processes.
func (s *Maintenance) lockAgainstRestores(ctx context.Context, id retake.WorkspaceID) (func(), error) {
	if s.workspaces.Locks == nil {
		return func() {}, nil
	}
	once, cancel := context.WithTimeout(ctx, 0)
	defer cancel()
	release, err := s.workspaces.Locks.Lock(once, workspace.RestoreLockName(id), true)
	if errors.Is(err, fsx.ErrLocked) {
		return nil, errWorkspaceBusy
	}
	return release, err
}

// removeRows removes dropped checkpoints from the known rows; when in doubt all are read
// again.
func (s *Maintenance) removeRows(id retake.WorkspaceID, stones []retake.Tombstone, doubt bool) {
	b := &s.retention
	b.mu.Lock()
	defer b.mu.Unlock()
	if doubt {
		delete(b.rows, id)
		return
	}
	left := make([]retention.Row, 0, len(b.rows[id]))
	for _, r := range b.rows[id] {
		if !hasTombstone(stones, r.ID) {
			left = append(left, r)
		}
	}
	b.rows[id] = left
}

// planProtectTime is how long the target of a shown plan is kept.
const planProtectTime = time.Hour

// selectDroppable evaluates a batch again with the current store and catalog, and returns
// tombstones for the checkpoints that may be dropped.
func (s *Maintenance) selectDroppable(ctx context.Context, l *workspace.Cache, head store.Head, piece []retention.Drop, how dropOptions) ([]retake.Tombstone, error) {
	s.workspaces.CatalogMu.RLock() // a catalog in rebuild does not know everything that is needed
	defer s.workspaces.CatalogMu.RUnlock()
	id := piece[0].Workspace
	all, err := s.workspaces.Catalog.Workspaces(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(w retake.WorkspaceState) bool { return w.ID == id })
	if i < 0 || all[i].Latest == nil || all[i].Latest.Number != head.Latest {
		return nil, errWorkspaceBusy // the catalog is behind; the next save syncs it
	}
	rows, err := s.loadRows(ctx, all[i], all)
	if err != nil {
		return nil, err
	}
	s.addLiveReasons(rows, l, head, how)
	loose := map[retake.CheckpointID]bool{}
	for _, v := range s.evaluate(ctx, id, rows) {
		loose[v.ID] = v.Level <= min(how.level, retention.Firm)
	}
	var stones []retake.Tombstone
	for _, d := range piece {
		if loose[d.ID] {
			stones = append(stones, retake.Tombstone{Number: d.Number, ID: d.ID, Parent: d.Parent, Time: d.Time, At: s.workspaces.Clock.Now()})
		}
	}
	return stones, nil
}

// addLiveReasons adds the reasons that are only known under the lock: the pins in the
// store, the plan that was shown, and the origins of forks in the store.
func (s *Maintenance) addLiveReasons(rows []retention.Row, l *workspace.Cache, head store.Head, how dropOptions) {
	shown := retake.CheckpointID("")
	if l.LastPlan != nil && l.LastPlan.Target != nil && s.workspaces.Clock.Now().Sub(l.LastPlanAt) < planProtectTime {
		shown = l.LastPlan.Target.ID
	}
	for i, r := range rows {
		rows[i].InUse = r.InUse || r.ID == shown
		rows[i].Base = r.Base || how.forkBases[r.ID]
		rows[i].Pinned = r.Pinned || slices.ContainsFunc(head.Pins, func(p retake.Pin) bool { return p.Checkpoint == r.ID })
	}
}
