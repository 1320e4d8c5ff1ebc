package maintenance

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/retention"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

// retentionState is what the service knows of the disk use of checkpoints. All of it can be
// rebuilt: without it rows are read again, and a sweep comes earlier or later.
type retentionState struct {
	cleanupMu     sync.Mutex                         // one cleanup at a time
	cancelCleanup atomic.Pointer[context.CancelFunc] // cancels a background cleanup

	mu         sync.Mutex // guards everything below
	rows       map[retake.WorkspaceID][]retention.Row
	notes      *cleanupState // nil: not read yet
	lastSpace  spaceState    // the last measurement
	lastAgeRun time.Time     // when checkpoints were last dropped for their age
}

// evaluateAll evaluates the retention of all workspaces. A workspace whose restore journal
// cannot be read is returned in closed: nothing of it may be dropped.
func (s *Maintenance) evaluateAll(ctx context.Context) (lines []retention.History, closed map[retake.WorkspaceID]string, err error) {
	all, err := s.workspaces.Catalog.Workspaces(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("list workspaces: %w", err)
	}
	closed = map[retake.WorkspaceID]string{}
	for _, w := range all {
		rows, err := s.loadRows(ctx, w, all)
		switch {
		case errors.Is(err, errNeedsUnknown):
			closed[w.ID] = err.Error()
			continue
		case err != nil:
			return nil, nil, err
		}
		lines = append(lines, retention.History{Workspace: w.ID, Verdicts: s.evaluate(ctx, w.ID, rows)})
	}
	return lines, closed, nil
}

func (s *Maintenance) evaluate(ctx context.Context, id retake.WorkspaceID, rows []retention.Row) []retention.Verdict {
	return retention.Evaluate(rows, retention.Policy{Within: s.keepWithin(id), GoneBefore: s.removeBefore(ctx, id)}, s.workspaces.Clock.Now())
}

func (s *Maintenance) keepWithin(id retake.WorkspaceID) time.Duration {
	if s.opts.Within == nil {
		return 0
	}
	return s.opts.Within(id)
}

// errNeedsUnknown means that it is not known which checkpoints a workspace needs.
var errNeedsUnknown = errors.New("what a restore needs that was interrupted cannot be read")

// loadRows returns the retention rows of a workspace with all reasons to keep them.
func (s *Maintenance) loadRows(ctx context.Context, w retake.WorkspaceState, all []retake.WorkspaceState) ([]retention.Row, error) {
	plain, err := s.loadPlainRows(ctx, w)
	if err != nil {
		return nil, err
	}
	needed, err := s.findKeepReasons(ctx, w.ID, all)
	if err != nil {
		return nil, err
	}
	rows := make([]retention.Row, len(plain))
	for i, r := range plain {
		n := needed[r.ID]
		r.Pinned, r.Base, r.InUse, r.Good, r.ResultChanged = n.pinned, n.base, n.inUse, n.good, n.resultChanged
		rows[i] = r
	}
	return rows, nil
}

// keepReasons are reasons to keep a checkpoint other than its age.
type keepReasons struct{ pinned, base, inUse, good, resultChanged bool }

// findKeepReasons finds the checkpoints that must be kept: pins, good ones, origins of
// forks, and those that an interrupted restore or a fork being built needs.
func (s *Maintenance) findKeepReasons(ctx context.Context, id retake.WorkspaceID, all []retake.WorkspaceState) (map[retake.CheckpointID]keepReasons, error) {
	out := map[retake.CheckpointID]keepReasons{}
	note := func(cp retake.CheckpointID, n keepReasons) {
		o := out[cp]
		out[cp] = keepReasons{o.pinned || n.pinned, o.base || n.base, o.inUse || n.inUse, o.good || n.good, o.resultChanged || n.resultChanged}
	}
	pins, err := s.workspaces.Catalog.Pins(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("list pins: %w", err)
	}
	for _, p := range pins {
		note(p.Checkpoint, keepReasons{pinned: true})
	}
	if good, err := s.history.FindNewestGood(ctx, id); err == nil && good != nil { // an error is no reason to keep more
		note(good.ID, keepReasons{good: true})
	}
	turned, err := s.history.FindTurningPoints(ctx, id)
	if err != nil {
		return nil, err
	}
	for _, cp := range turned {
		note(cp, keepReasons{resultChanged: true})
	}
	for _, f := range all {
		if f.Origin != nil && f.Ended == nil {
			note(f.Origin.Checkpoint, keepReasons{base: true})
		}
	}
	cut, err := s.workspaces.ReadInterrupted(id)
	if err != nil {
		return nil, errors.Join(errNeedsUnknown, err)
	}
	if cut != nil {
		note(cut.Target.ID, keepReasons{inUse: true})
		note(cut.Safety.ID, keepReasons{inUse: true})
	}
	for _, cp := range s.workspaces.InUse.List() {
		note(cp, keepReasons{inUse: true})
	}
	return out, nil
}

// rowPageSize is how many rows are read at once.
const rowPageSize = 512

// loadPlainRows returns the rows of a timeline by number, from memory as far as possible.
// Rows never change; they are appended and dropped.
func (s *Maintenance) loadPlainRows(ctx context.Context, w retake.WorkspaceState) ([]retention.Row, error) {
	s.retention.mu.Lock()
	known := s.retention.rows[w.ID]
	s.retention.mu.Unlock()
	if w.Latest == nil {
		return nil, nil
	}
	if n := len(known); int64(n) == w.Count && n > 0 && known[n-1].ID == w.Latest.ID {
		return known, nil
	}
	rows, err := s.readRowsAfter(ctx, w.ID, known)
	if err == nil && int64(len(rows)) != w.Count { // some known rows were dropped
		rows, err = s.readRowsAfter(ctx, w.ID, nil)
	}
	if err != nil {
		return nil, err
	}
	s.retention.mu.Lock()
	defer s.retention.mu.Unlock()
	if s.retention.rows == nil {
		s.retention.rows = map[retake.WorkspaceID][]retention.Row{}
	}
	s.retention.rows[w.ID] = rows
	return rows, nil
}

// readRowsAfter reads the rows that follow the known ones.
func (s *Maintenance) readRowsAfter(ctx context.Context, id retake.WorkspaceID, known []retention.Row) ([]retention.Row, error) {
	var last int64
	if n := len(known); n > 0 {
		last = known[n-1].Number
	}
	var fresh []retention.Row
	q := retake.LogQuery{Workspace: id, Limit: rowPageSize}
	for {
		page, err := s.workspaces.Catalog.Page(ctx, q)
		if err != nil && !errors.Is(err, catalog.ErrNotFound) {
			return nil, fmt.Errorf("list checkpoints: %w", err)
		}
		for _, cp := range page {
			if cp.Number <= last {
				return appendReversed(known, fresh), nil
			}
			fresh = append(fresh, retentionRow(cp))
		}
		if len(page) < rowPageSize {
			return appendReversed(known, fresh), nil
		}
		q.Before = page[len(page)-1].Number
	}
}

// appendReversed appends fresh rows, which are newest first, to the known ones.
func appendReversed(known, fresh []retention.Row) []retention.Row {
	out := make([]retention.Row, 0, len(known)+len(fresh))
	out = append(out, known...)
	for i := len(fresh) - 1; i >= 0; i-- {
		out = append(out, fresh[i])
	}
	return out
}

// recordOverhead is roughly what a checkpoint takes besides its files.
const recordOverhead = 8 << 10

func retentionRow(cp retake.Checkpoint) retention.Row {
	return retention.Row{
		ID: cp.ID, Number: cp.Number, Parent: cp.Parent, Time: cp.Time, Trigger: cp.Trigger, Return: cp.Return,
		Partial: cp.Coverage.Grade == retake.Partial, Bytes: cp.NewBytes + recordOverhead,
	}
}
