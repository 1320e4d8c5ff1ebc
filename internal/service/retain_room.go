package service

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/retention"
	"github.com/retake-dev/retake/internal/storage/store"
)

// pack is about the largest file that a store writes, and the least room in which a
// sweep works.
const pack = 24 << 20

// room is how much there is, and how much more is wanted.
type room struct {
	retake.StoreState
	budget int64
	need   retake.Need
	want   int64 // bytes to give back
	swept  bool  // since it was measured
}

// grip is the firmest hold that the need loosens.
func (r room) grip() retention.KeepLevel {
	switch r.need {
	case retake.NeedFloor:
		return retention.Firm
	case retake.NeedBudget, retake.NeedRoom:
		return retention.Kept
	case retake.NeedNone:
	}
	return retention.Loose
}

// urgent: a save that waits for a moment is better than one that is refused.
func (r room) urgent() bool { return r.need != retake.NeedNone }

// nearFloor wants a pack of room above the floor; of what is young no more goes than
// lets saves in again.
func (r *room) nearFloor() {
	switch short := r.Floor - r.Free; {
	case short > 0:
		r.need, r.want = retake.NeedFloor, max(r.want, short+pack/8)
	case short+pack > 0:
		r.need, r.want = retake.NeedRoom, max(r.want, short+pack)
	}
}

// measure looks at the store and its disk. Checkpoints begin to go a little before the
// budget is used up, and go on until there is some room below it, so that this is not
// to be done again with each save.
func (s *Service) measure(ctx context.Context, st store.Store) (room, error) {
	var r room
	var err error
	if r.Bytes, err = st.Size(ctx); err != nil {
		return r, err
	}
	free, total, err := s.p.FS.FreeSpace(s.p.Data)
	if err != nil {
		return r, fmt.Errorf("ask for room: %w", err)
	}
	r.Free, r.Floor = free, s.p.Floor(total)
	if s.p.Budget != nil {
		r.budget = s.p.Budget(total)
	}
	if s.p.Steadfast {
		s.bounds.mu.Lock()
		defer s.bounds.mu.Unlock()
		s.bounds.seen = r
		return r, nil
	}
	if r.budget > 0 && r.Bytes > r.budget-r.budget/16 {
		r.need, r.want = retake.NeedBudget, r.Bytes-(r.budget-r.budget*3/16)
	}
	if r.budget == 0 || r.Bytes > r.budget/10 { // a small store is not what fills a disk
		r.nearFloor()
	}
	s.bounds.mu.Lock()
	defer s.bounds.mu.Unlock()
	s.bounds.seen = r
	return r, nil
}

// hurryStep is how much is written between two looks that are out of turn.
const hurryStep = 2 << 20

// hurry reports whether the room may have run out since it was measured: saves that
// do not pause must not fill a disk. It asks only for the free space, so others may
// have taken it; who measures finds out.
func (s *Service) hurry() bool {
	s.bounds.mu.Lock()
	seen := s.bounds.seen
	s.bounds.mu.Unlock()
	free, floor, err := s.room()
	taken := seen.Free - free
	if err != nil || taken < hurryStep {
		return false
	}
	return free < floor+pack || seen.budget > 0 && seen.Bytes+taken > seen.budget-seen.budget/16
}

// pressed reports whether the disk is short of room: it may be so before anything is
// saved, and then no save tells us.
func (s *Service) pressed() bool {
	free, floor, err := s.room()
	return err == nil && free < floor+pack
}

// tidyNotes are what is worth remembering between two lives of a daemon. They are a
// mark of the catalog; without them a sweep comes early.
type tidyNotes struct {
	Debt      int64          `json:"debt"`      // bytes that forgotten checkpoints brought
	Numbers   int64          `json:"numbers"`   // of all lines together, at the last sweep
	Forgotten int64          `json:"forgotten"` // since the last sweep
	Yield     float64        `json:"yield"`     // what sweeps gave of what was thought
	Last      *retake.TidyUp `json:"last,omitempty"`
	Clock     clockNotes     `json:"clock,omitzero"`
}

// Bounds of the yield. A first guess that is too high drops less than is needed, and
// the next step drops more.
const (
	firstYield = 0.5
	leastYield = 0.1
	learnFrom  = 1 << 20 // less says nothing
)

func (n *tidyNotes) yield() float64 {
	if n.Yield == 0 {
		return firstYield
	}
	return n.Yield
}

// learn takes in what a sweep gave for a debt.
func (n *tidyNotes) learn(debt, gave int64) {
	if debt >= learnFrom {
		n.Yield = (n.yield() + min(max(float64(gave)/float64(debt), leastYield), 1)) / 2
	}
}

const tidyMark = "tidy"

// saveDebt is about what each save leaves that the next one supersedes.
const saveDebt = 6 << 10

func (s *Service) tidyNotes(ctx context.Context) (tidyNotes, error) {
	b := &s.bounds
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.notes == nil {
		text, err := s.p.Catalog.Mark(ctx, tidyMark)
		if err != nil {
			return tidyNotes{}, fmt.Errorf("read notes: %w", err)
		}
		var n tidyNotes
		_ = json.Unmarshal([]byte(text), &n) // none, or of another version: begin anew
		b.notes = &n
	}
	return *b.notes, nil
}

// noteTidy changes the notes. That they are written is not worth an error.
func (s *Service) noteTidy(ctx context.Context, change func(*tidyNotes)) {
	n, err := s.tidyNotes(ctx)
	if err != nil {
		return
	}
	change(&n)
	b := &s.bounds
	b.mu.Lock()
	defer b.mu.Unlock()
	b.notes = &n
	if text, err := json.Marshal(n); err == nil {
		_ = s.p.Catalog.SetMark(ctx, tidyMark, string(text))
	}
}

// garbage is about what a sweep would give back, and the sum of all newest numbers.
func (s *Service) garbage(ctx context.Context) (bytes, numbers int64, err error) {
	all, err := s.p.Catalog.Workspaces(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("list workspaces: %w", err)
	}
	for _, w := range all {
		if w.Latest != nil {
			numbers += w.Latest.Number
		}
	}
	n, err := s.tidyNotes(ctx)
	return int64(float64(n.Debt)*n.yield()) + max(numbers-n.Numbers, 0)*saveDebt, numbers, err
}

// worth is how much garbage is worth a sweep.
func worth(size int64) int64 { return min(max(size/16, 16<<20), 256<<20) }
