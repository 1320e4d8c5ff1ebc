package service

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/retention"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store"
)

// dropping is how checkpoints are dropped.
type dropping struct {
	need  retention.KeepLevel
	wait  time.Duration                // for who is at work
	tell  func(int64)                  // how many went; nil: nobody asks
	bases map[retake.CheckpointID]bool // what forks grew from
}

// drop forgets checkpoints, in pieces, and answers how many went. Each is judged again
// when its line is ours: it may have been pinned, or become what a fork grows from,
// since it was chosen.
func (s *Service) drop(ctx context.Context, drops []retention.Drop, how dropping) (int64, error) {
	var err error
	if how.bases, err = s.bases(ctx); err != nil {
		return 0, err
	}
	var n int64
	var errs []error
	for _, line := range byLine(drops) {
		for _, piece := range pieces(line, dropPiece) {
			went, err := s.dropPiece(ctx, piece, how)
			if n += went; how.tell != nil {
				how.tell(n)
			}
			if errors.Is(err, errAtWork) || errors.Is(err, errClosed) {
				break // its time comes
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

// bases are what forks grew from, as the store says: a catalog that is being made again
// may not know of a fork yet. A line that cannot be read may be one.
func (s *Service) bases(ctx context.Context) (map[retake.CheckpointID]bool, error) {
	st, err := s.store(ctx)
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

// errAtWork: somebody works in the workspace, and may need what would go.
var errAtWork = errors.New("another operation is running here")

// dropPiece forgets checkpoints of one workspace. Nobody saves, restores or begins to fork
// meanwhile.
func (s *Service) dropPiece(ctx context.Context, piece []retention.Drop, how dropping) (int64, error) {
	id := piece[0].Workspace
	l := s.liveOf(id)
	if !l.lockWithin(ctx, how.wait) {
		return 0, errAtWork
	}
	defer l.mu.Unlock()
	release, err := s.alone(ctx, id)
	if err != nil {
		return 0, err
	}
	defer release()
	s.bounds.using.Lock()
	defer s.bounds.using.Unlock()
	ws, err := s.row(asMaintainer(ctx), id)
	if err != nil {
		return 0, err
	}
	var stones []retake.Tombstone
	err = s.onLine(ctx, ws, func(w store.Writer) error {
		stones, err = s.stillLoose(ctx, l, w.Head(), piece, how)
		if err != nil || len(stones) == 0 {
			return err
		}
		_ = s.handOver(ctx, w, id, stones) // what an answer is worth never keeps room from being made
		if err := w.Forget(context.WithoutCancel(ctx), stones); err != nil {
			return err
		}
		return s.p.Catalog.Bury(asMaintainer(context.WithoutCancel(ctx)), id, stones)
	})
	s.strike(id, stones, err != nil)
	if err != nil {
		return 0, err
	}
	s.noteTidy(ctx, func(n *tidyNotes) {
		n.Forgotten += int64(len(stones))
		for _, d := range piece {
			if buried(stones, d.ID) {
				n.Debt += d.Bytes
			}
		}
	})
	return int64(len(stones)), nil
}

func buried(stones []retake.Tombstone, id retake.CheckpointID) bool {
	return slices.ContainsFunc(stones, func(t retake.Tombstone) bool { return t.ID == id })
}

// alone holds a workspace against restores, also those of other processes.
func (s *Service) alone(ctx context.Context, id retake.WorkspaceID) (func(), error) {
	if s.p.Locks == nil {
		return func() {}, nil
	}
	once, cancel := context.WithTimeout(ctx, 0)
	defer cancel()
	release, err := s.p.Locks.Lock(once, lockName(id), true)
	if errors.Is(err, fsx.ErrLocked) {
		return nil, errAtWork
	}
	return release, err
}

// strike takes what went from the rows that are known; in doubt all are read again.
func (s *Service) strike(id retake.WorkspaceID, stones []retake.Tombstone, doubt bool) {
	b := &s.bounds
	b.mu.Lock()
	defer b.mu.Unlock()
	if doubt {
		delete(b.rows, id)
		return
	}
	left := make([]retention.Row, 0, len(b.rows[id]))
	for _, r := range b.rows[id] {
		if !buried(stones, r.ID) {
			left = append(left, r)
		}
	}
	b.rows[id] = left
}

// shownKept is how long the target of a plan stays that was shown and not applied.
const shownKept = time.Hour

// lockWithin takes the lock between two who work, if there is such a checkpoint.
func (l *live) lockWithin(ctx context.Context, wait time.Duration) bool {
	end := time.NewTimer(wait)
	defer end.Stop()
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for {
		if l.mu.TryLock() {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-end.C:
			return false
		case <-again.C:
		}
	}
}

// stillLoose judges the line again, by what the store and the catalog say now, and
// gives tombstones for those of the piece that may go.
func (s *Service) stillLoose(ctx context.Context, l *live, head store.Head, piece []retention.Drop, how dropping) ([]retake.Tombstone, error) {
	s.rows.RLock() // half a catalog knows of half of what is needed
	defer s.rows.RUnlock()
	id := piece[0].Workspace
	all, err := s.p.Catalog.Workspaces(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(w retake.WorkspaceState) bool { return w.ID == id })
	if i < 0 || all[i].Latest == nil || all[i].Latest.Number != head.Latest {
		return nil, errAtWork // the catalog is behind, and a save brings it up
	}
	rows, err := s.rowsOf(ctx, all[i], all)
	if err != nil {
		return nil, err
	}
	s.hold(rows, l, head, how)
	loose := map[retake.CheckpointID]bool{}
	for _, v := range s.judge(ctx, id, rows) {
		loose[v.ID] = v.Level <= min(how.need, retention.Firm)
	}
	var stones []retake.Tombstone
	for _, d := range piece {
		if loose[d.ID] {
			stones = append(stones, retake.Tombstone{Number: d.Number, ID: d.ID, Parent: d.Parent, Time: d.Time, At: s.p.Clock.Now()})
		}
	}
	return stones, nil
}

// hold adds what only he knows who has the line and the workspace: the pins of the
// store, the plan that was shown, what forks grew from by the store's word.
func (s *Service) hold(rows []retention.Row, l *live, head store.Head, how dropping) {
	shown := retake.CheckpointID("")
	if l.shown != nil && l.shown.Target != nil && s.p.Clock.Now().Sub(l.shownAt) < shownKept {
		shown = l.shown.Target.ID
	}
	for i, r := range rows {
		rows[i].InUse = r.InUse || r.ID == shown
		rows[i].Base = r.Base || how.bases[r.ID]
		rows[i].Pinned = r.Pinned || slices.ContainsFunc(head.Pins, func(p retake.Pin) bool { return p.Checkpoint == r.ID })
	}
}
