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
	dropPiece  = 64                     // checkpoints that are dropped at once
	dropLeast  = 8                      // of a step, when room is short
	dropTime   = 700 * time.Millisecond // for all pieces of a step
	dropWait   = 300 * time.Millisecond // for who is at work, when room is short
	sweepTime  = 500 * time.Millisecond // beside a save that waits
	sweepWait  = 300 * time.Millisecond // for a writer to finish
	sweepRoom  = 16 << 20               // that is copied at once
	ageStep    = time.Hour              // between two looks at what is too old
	dueAtLeast = 32                     // unless this many are
)

// tidy does one step of what holds the bounds, between saves, and reports whether
// there is more to do. What does not work out is tried after the next save. A store
// that nobody opened yet is opened when room is short: saves may be refused for that.
func (s *Service) tidy(ctx context.Context, st store.Store) bool {
	b := &s.bounds
	if st == nil && !s.pressed() || !b.tidying.TryLock() {
		return false
	}
	defer b.tidying.Unlock()
	if st == nil {
		var err error
		if st, err = s.store(ctx); err != nil {
			return false
		}
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	b.running.Store(&end)
	defer b.running.Store(nil)
	more, err := s.tidyStep(ctx, st)
	return more && err == nil
}

func (s *Service) tidyStep(ctx context.Context, st store.Store) (more bool, err error) {
	s.confirmClock(ctx)
	r, err := s.measure(ctx, st)
	if err != nil {
		return false, err
	}
	if !r.urgent() && s.atWork() {
		return false, nil // the end of that calls us
	}
	dropped, more, err := s.dropStep(ctx, r)
	if err != nil {
		return false, err
	}
	garbage, _, err := s.garbage(ctx)
	if err != nil {
		return false, err
	}
	if garbage < worth(r.Bytes) && (!r.urgent() || dropped == 0 && garbage < r.want) {
		return more, nil
	}
	rest, err := s.sweepStep(ctx, st, r.urgent())
	return more || rest || r.urgent(), err
}

// dropStep drops what is due, or what the need asks for and garbage alone does not
// give.
func (s *Service) dropStep(ctx context.Context, r room) (dropped int64, more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, dropTime)
	defer cancel()
	drops, err := s.nextDrops(ctx, r)
	if err != nil || len(drops) == 0 {
		return 0, false, err
	}
	wait := time.Duration(0)
	if r.urgent() {
		wait = dropWait
	}
	dropped, err = s.drop(ctx, drops, dropping{need: r.grip(), wait: wait})
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, store.ErrBusy) {
		err = nil // the rest is for the next step
	}
	return dropped, r.urgent() || dropped < int64(len(drops)), err
}

// nextDrops are the checkpoints of the next step, the oldest first.
func (s *Service) nextDrops(ctx context.Context, r room) ([]retention.Drop, error) {
	lines, _, err := s.lineUp(ctx)
	if err != nil {
		return nil, err
	}
	due := retention.Expired(lines)
	if !r.urgent() {
		return s.whenDue(due), nil
	}
	garbage, _, err := s.garbage(ctx)
	if err != nil || garbage >= r.want {
		return due, err
	}
	part, err := s.part(ctx, lines, r.Bytes)
	drops := retention.SelectToFree(lines, int64(float64(r.want-garbage)/part), r.grip())
	most := len(retention.SelectToFree(lines, everything, r.grip())) / 4 // what it gives is measured before more goes
	return drops[:min(len(drops), max(most, dropLeast, len(due)))], err
}

// everything is more bytes than there are.
const everything = int64(^uint64(0) >> 1)

// whenDue lets what is too old go together: each time costs a change of the line.
func (s *Service) whenDue(due []retention.Drop) []retention.Drop {
	b := &s.bounds
	b.mu.Lock()
	defer b.mu.Unlock()
	now := s.p.Clock.Now()
	if len(due) < dueAtLeast && now.Sub(b.aged) < ageStep {
		return nil
	}
	b.aged = now
	return due
}

// part is about how much of the bytes that checkpoints brought is given back when they
// go: the store shrinks them, and others may hold the same.
func (s *Service) part(ctx context.Context, lines []retention.History, size int64) (float64, error) {
	n, err := s.tidyNotes(ctx)
	return shrink(lines, size) * n.yield(), err
}

// shrink is about how much of the bytes that checkpoints brought the store takes for
// them.
func shrink(lines []retention.History, size int64) float64 {
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

// atWork reports whether a save or a restore is under way or waits.
func (s *Service) atWork() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.lives {
		if l.saving.Load() {
			return true
		}
	}
	return false
}

// sweepStep sweeps beside saves, and reports whether it left something.
func (s *Service) sweepStep(ctx context.Context, st store.Store, urgent bool) (rest bool, err error) {
	var limit context.Context
	stop := func() bool {
		if limit == nil { // what must be done is done, and pieces begin
			var end context.CancelFunc
			limit, end = context.WithTimeout(ctx, sweepTime)
			context.AfterFunc(limit, end)
		}
		rest = s.atWork() && (!urgent || limit.Err() != nil)
		return rest
	}
	_, err = s.sweepNoted(ctx, st, store.SweepOptions{Room: sweepRoom, Wait: sweepWait, Stop: stop}, &rest)
	if errors.Is(err, store.ErrBusy) {
		return urgent, nil // somebody writes for long
	}
	if err != nil {
		return false, err
	}
	return rest, nil
}

// sweepNoted sweeps, and notes what it gave and what is left.
func (s *Service) sweepNoted(ctx context.Context, st store.Store, o store.SweepOptions, rest *bool) (retake.SweepReport, error) {
	_, numbers, err := s.garbage(ctx)
	if err != nil {
		return retake.SweepReport{}, err
	}
	before, err := s.tidyNotes(ctx)
	if err != nil {
		return retake.SweepReport{}, err
	}
	defer s.bounds.swept()
	rep, err := st.Sweep(ctx, o)
	if err != nil {
		return rep, err
	}
	s.noteTidy(ctx, func(n *tidyNotes) {
		gave := max(rep.Before-rep.After, 0)
		n.learn(before.Debt, gave)
		n.Numbers = numbers
		n.Debt = 0
		if *rest {
			n.Debt = max(before.Debt-gave, 0)
		}
		n.Last = &retake.TidyUp{At: s.p.Clock.Now(), Forgotten: n.Forgotten, Gave: gave, Took: rep.Took}
		n.Forgotten = 0
	})
	return rep, nil
}

// byLine parts drops by workspace, in the order in which each comes first.
func byLine(drops []retention.Drop) [][]retention.Drop {
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

// pieces cuts a list into parts of at most n.
func pieces(drops []retention.Drop, n int) [][]retention.Drop {
	return slices.Collect(slices.Chunk(drops, n))
}
