package service

import (
	"context"
	"slices"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/capture"
	"github.com/retake-dev/retake/internal/pure/tree"
)

// sealed is what a capture knew of the checkpoint that it became: with it no tree has to be
// read to tell what changed. It only saves time; without it the trees are compared.
type sealed struct {
	files  retake.Entry // the root
	since  *capture.Delta
	before *retake.Entry // the root of the checkpoint before, once it is known
}

func (s *sealed) size() int {
	if s == nil || s.since == nil {
		return 0
	}
	return len(s.since.Changes)
}

// lastTold is what the next checkpoint of a workspace builds on.
type lastTold struct {
	id    retake.CheckpointID
	files retake.Entry
	head  string
	sure  bool // of the head
}

// Bounds of what is kept in memory for stories.
const (
	mostHeld = 20_000 // changes of all checkpoints that wait
	mostLast = 1_000  // workspaces

	mostFresh   = 8     // checkpoints that were told just now
	freshLength = 4_000 // changes of them
)

// sealed asks for the story of a checkpoint that was just sealed.
func (t *teller) sealed(cp retake.Checkpoint, res *capture.Result) {
	t.put(untold{Checkpoint: cp, sealed: &sealed{files: res.Files, since: res.Delta}})
}

// bounded lets go what many checkpoints that wait would hold. Under t.mu.
func (t *teller) bounded(u untold) untold {
	if t.held+u.sealed.size() > mostHeld {
		u.sealed.since = nil
	}
	t.held += u.sealed.size()
	return u
}

// lastOf answers what is known of a checkpoint, when it was the last one told.
func (t *teller) lastOf(cp retake.Checkpoint) (lastTold, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.last[cp.Workspace]
	return l, l.id == cp.ID
}

func (t *teller) keep(ws retake.WorkspaceID, l lastTold) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, known := t.last[ws]; t.last == nil || !known && len(t.last) >= mostLast {
		t.last = map[retake.WorkspaceID]lastTold{}
	}
	t.last[ws] = l
}

// keepFresh keeps what a capture knew for who wants to read the story in full. Nothing
// changed on the machine with it.
func (t *teller) keepFresh(u untold) {
	if u.sealed.size() == 0 || u.sealed.before == nil { // from here on others read it
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fresh = append(t.fresh, u)
	n := 0
	for i := range slices.Backward(t.fresh) {
		if n += t.fresh[i].sealed.size(); n > freshLength || len(t.fresh)-i > mostFresh {
			t.fresh = slices.Clone(t.fresh[i+1:])
			return
		}
	}
}

// dropFresh forgets it: there is more to know.
func (t *teller) dropFresh(id retake.CheckpointID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fresh = slices.DeleteFunc(t.fresh, func(u untold) bool { return u.ID == id })
}

// freshOf answers a checkpoint with what its capture knew, if that is still there.
func (t *teller) freshOf(cp retake.Checkpoint) untold {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.freshWithin(cp)
}

// freshWithin is freshOf under t.mu.
func (t *teller) freshWithin(cp retake.Checkpoint) untold {
	for _, u := range t.fresh {
		if u.ID == cp.ID {
			own := *u.sealed // who tells it writes there
			u.sealed = &own
			return u
		}
	}
	return untold{Checkpoint: cp}
}

// compared is what a checkpoint changed: as its capture told, when that was against the
// checkpoint before it, else by the trees.
func (s *Service) compared(ctx context.Context, u untold) (retake.Comparison, error) {
	q := retake.DiffQuery{Workspace: u.Workspace}
	if u.sealed == nil || u.sealed.since == nil {
		return s.diffTo(ctx, q, u.Checkpoint)
	}
	from, err := s.from(ctx, q, u.Checkpoint)
	if err != nil || from == nil || from.ID != u.sealed.since.Checkpoint {
		return s.diffTo(ctx, q, u.Checkpoint)
	}
	before, err := s.rootBefore(ctx, u.sealed, *from)
	if err != nil {
		return retake.Comparison{}, err
	}
	d := retake.Comparison{From: from, To: &u.Checkpoint, Changes: u.sealed.since.Changes}
	if what := tree.DifferenceOf(before, &u.sealed.files); what != "" {
		self := retake.Change{Path: tree.Root, What: what, Before: before, After: &u.sealed.files}
		d.Changes = append([]retake.Change{self}, d.Changes...)
	}
	return d, nil
}

// rootBefore is the root of the checkpoint before: its capture does not know it.
func (s *Service) rootBefore(ctx context.Context, u *sealed, from retake.Checkpoint) (*retake.Entry, error) {
	if u.before != nil {
		return u.before, nil
	}
	last, ok := s.teller.lastOf(from)
	if !ok {
		st, err := s.store(ctx)
		if err != nil {
			return nil, err
		}
		if last.files, err = s.files(ctx, st, from); err != nil {
			return nil, err
		}
	}
	u.before = &last.files
	return u.before, nil
}

// headOf answers the commit that is checked out at a checkpoint, and remembers it: as long as
// nothing changes that it is read from, it is that of the checkpoint before. Nil when the
// capture is not known.
func (s *Service) headOf(ctx context.Context, u untold, d retake.Comparison) *string {
	if u.sealed == nil {
		return nil
	}
	now := lastTold{id: u.ID, files: u.sealed.files}
	if self, ok := s.teller.lastOf(u.Checkpoint); ok && self.sure {
		return &self.head
	}
	last, ok := lastTold{}, false
	if d.From != nil {
		last, ok = s.teller.lastOf(*d.From)
	}
	if ok && last.sure && !movesHead(d.Changes) {
		now.head, now.sure = last.head, true
	} else {
		st, err := s.store(ctx)
		if err != nil {
			return nil
		}
		now.head, now.sure = commitIn(ctx, st, now.files)
	}
	s.teller.keep(u.Workspace, now)
	return &now.head
}
