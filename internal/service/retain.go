package service

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

// bounds is what a service knows of the room that checkpoints take. All of it can be
// made again: without it rows are read again, and a sweep comes earlier or later.
type bounds struct {
	tidying sync.Mutex                         // one tidy-up at a time
	running atomic.Pointer[context.CancelFunc] // ends the one that nobody asked for

	mu    sync.Mutex // guards everything below
	rows  map[retake.WorkspaceID][]retention.Row
	notes *tidyNotes // nil: to be read
	seen  room       // as it was measured last
	aged  time.Time  // when checkpoints went by their age last
	used  map[retake.CheckpointID]int

	using sync.Mutex // held while checkpoints are dropped, and while somebody says what is in use
}

// keepWhile keeps a checkpoint from being dropped until release. A fork grows for
// long, and its first checkpoint is the very tree that it grows from.
func (s *Service) keepWhile(ctx context.Context, cp retake.Checkpoint) (release func(), err error) {
	b := &s.bounds
	b.using.Lock()
	defer b.using.Unlock()
	if _, err := s.p.Catalog.Checkpoint(ctx, cp.ID); err != nil { // it went since it was found
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used == nil {
		b.used = map[retake.CheckpointID]int{}
	}
	b.used[cp.ID]++
	return sync.OnceFunc(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.used[cp.ID]--; b.used[cp.ID] == 0 {
			delete(b.used, cp.ID)
		}
	}), nil
}

// lineUp judges the timelines of all workspaces. One whose journal cannot be read is
// told as closed: what it needs is not known, and nothing of it goes.
func (s *Service) lineUp(ctx context.Context) (lines []retention.History, closed map[retake.WorkspaceID]string, err error) {
	all, err := s.p.Catalog.Workspaces(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("list workspaces: %w", err)
	}
	closed = map[retake.WorkspaceID]string{}
	for _, w := range all {
		rows, err := s.rowsOf(ctx, w, all)
		switch {
		case errors.Is(err, errClosed):
			closed[w.ID] = err.Error()
			continue
		case err != nil:
			return nil, nil, err
		}
		lines = append(lines, retention.History{Workspace: w.ID, Verdicts: s.judge(ctx, w.ID, rows)})
	}
	return lines, closed, nil
}

func (s *Service) judge(ctx context.Context, id retake.WorkspaceID, rows []retention.Row) []retention.Verdict {
	return retention.Evaluate(rows, retention.Policy{Within: s.within(id), GoneBefore: s.goneBefore(ctx, id)}, s.p.Clock.Now())
}

func (s *Service) within(id retake.WorkspaceID) time.Duration {
	if s.p.Within == nil {
		return 0
	}
	return s.p.Within(id)
}

// errClosed: it is not known what a workspace needs.
var errClosed = errors.New("what a restore needs that was interrupted cannot be read")

// rowsOf gives the rows of a workspace with everything that keeps them.
func (s *Service) rowsOf(ctx context.Context, w retake.WorkspaceState, all []retake.WorkspaceState) ([]retention.Row, error) {
	plain, err := s.plainRows(ctx, w)
	if err != nil {
		return nil, err
	}
	needed, err := s.needed(ctx, w.ID, all)
	if err != nil {
		return nil, err
	}
	rows := make([]retention.Row, len(plain))
	for i, r := range plain {
		n := needed[r.ID]
		r.Pinned, r.Base, r.InUse, r.Good, r.ResultChanged = n.pinned, n.base, n.held, n.good, n.turned
		rows[i] = r
	}
	return rows, nil
}

type needs struct{ pinned, base, held, good, turned bool }

// needed finds what keeps checkpoints of a workspace beside their age: pins, forks
// that live, a restore that was cut off, a plan that was shown, a fork that grows.
func (s *Service) needed(ctx context.Context, id retake.WorkspaceID, all []retake.WorkspaceState) (map[retake.CheckpointID]needs, error) {
	out := map[retake.CheckpointID]needs{}
	note := func(cp retake.CheckpointID, n needs) {
		o := out[cp]
		out[cp] = needs{o.pinned || n.pinned, o.base || n.base, o.held || n.held, o.good || n.good, o.turned || n.turned}
	}
	pins, err := s.p.Catalog.Pins(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("list pins: %w", err)
	}
	for _, p := range pins {
		note(p.Checkpoint, needs{pinned: true})
	}
	if good, err := s.newestGood(ctx, id); err == nil && good != nil { // not knowing it makes no room
		note(good.ID, needs{good: true})
	}
	turned, err := s.turnedResults(ctx, id)
	if err != nil {
		return nil, err
	}
	for _, cp := range turned {
		note(cp, needs{turned: true})
	}
	for _, f := range all {
		if f.Origin != nil && f.Ended == nil {
			note(f.Origin.Checkpoint, needs{base: true})
		}
	}
	cut, err := s.cutOff(id)
	if err != nil {
		return nil, errors.Join(errClosed, err)
	}
	if cut != nil {
		note(cut.Target.ID, needs{held: true})
		note(cut.Safety.ID, needs{held: true})
	}
	s.bounds.mu.Lock()
	for cp := range s.bounds.used {
		note(cp, needs{held: true})
	}
	s.bounds.mu.Unlock()
	return out, nil
}

// rowsStep is how many rows are read at once.
const rowsStep = 512

// plainRows gives the rows of a timeline by number, from memory as far as they are
// known. Rows never change; they come at the end, and go.
func (s *Service) plainRows(ctx context.Context, w retake.WorkspaceState) ([]retention.Row, error) {
	s.bounds.mu.Lock()
	known := s.bounds.rows[w.ID]
	s.bounds.mu.Unlock()
	if w.Latest == nil {
		return nil, nil
	}
	if n := len(known); int64(n) == w.Count && n > 0 && known[n-1].ID == w.Latest.ID {
		return known, nil
	}
	rows, err := s.rowsAfter(ctx, w.ID, known)
	if err == nil && int64(len(rows)) != w.Count { // some of those that were known are gone
		rows, err = s.rowsAfter(ctx, w.ID, nil)
	}
	if err != nil {
		return nil, err
	}
	s.bounds.mu.Lock()
	defer s.bounds.mu.Unlock()
	if s.bounds.rows == nil {
		s.bounds.rows = map[retake.WorkspaceID][]retention.Row{}
	}
	s.bounds.rows[w.ID] = rows
	return rows, nil
}

// rowsAfter reads what came after those that are known.
func (s *Service) rowsAfter(ctx context.Context, id retake.WorkspaceID, known []retention.Row) ([]retention.Row, error) {
	var last int64
	if n := len(known); n > 0 {
		last = known[n-1].Number
	}
	var fresh []retention.Row
	q := retake.LogQuery{Workspace: id, Limit: rowsStep}
	for {
		page, err := s.p.Catalog.Page(ctx, q)
		if err != nil && !errors.Is(err, catalog.ErrNotFound) {
			return nil, fmt.Errorf("list checkpoints: %w", err)
		}
		for _, cp := range page {
			if cp.Number <= last {
				return joined(known, fresh), nil
			}
			fresh = append(fresh, rowOf(cp))
		}
		if len(page) < rowsStep {
			return joined(known, fresh), nil
		}
		q.Before = page[len(page)-1].Number
	}
}

// joined puts what came, the newest first, behind what was known.
func joined(known, fresh []retention.Row) []retention.Row {
	out := make([]retention.Row, 0, len(known)+len(fresh))
	out = append(out, known...)
	for i := len(fresh) - 1; i >= 0; i-- {
		out = append(out, fresh[i])
	}
	return out
}

// leafBytes is about what a checkpoint takes beside its files: its card, listings, and
// its place on the line.
const leafBytes = 8 << 10

func rowOf(cp retake.Checkpoint) retention.Row {
	return retention.Row{
		ID: cp.ID, Number: cp.Number, Parent: cp.Parent, Time: cp.Time, Trigger: cp.Trigger, Return: cp.Return,
		Partial: cp.Coverage.Grade == retake.Partial, Bytes: cp.NewBytes + leafBytes,
	}
}
