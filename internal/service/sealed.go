package service

import (
	"context"
	"slices"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/capture"
	"github.com/retake-dev/retake/internal/pure/tree"
)

// captureInfo is what a capture knew of the checkpoint that it became: with it no tree has to be
// read to tell what changed. It only saves time; without it the trees are compared.
type captureInfo struct {
	root       retake.Entry // the root
	delta      *capture.Delta
	parentRoot *retake.Entry // the root of the checkpoint before, once it is known
}

func (s *captureInfo) changeCount() int {
	if s == nil || s.delta == nil {
		return 0
	}
	return len(s.delta.Changes)
}

// lastSummary is what the next checkpoint of a workspace builds on.
type lastSummary struct {
	id        retake.CheckpointID
	root      retake.Entry
	head      string
	headKnown bool // of the head
}

// Bounds of what is kept in memory for stories.
const (
	maxHeldChanges   = 20_000 // changes of all checkpoints that wait
	maxLastSummaries = 1_000  // workspaces

	maxRecentSummaries = 8     // checkpoints that were told just now
	maxRecentChanges   = 4_000 // changes of them
)

// enqueueSealed asks for the story of a checkpoint that was just sealed.
func (t *summarizer) enqueueSealed(cp retake.Checkpoint, res *capture.Result) {
	t.enqueue(pendingSummary{Checkpoint: cp, captured: &captureInfo{root: res.Files, delta: res.Delta}})
}

// limitHeldLocked lets go what many checkpoints that wait would hold. Under t.mu.
func (t *summarizer) limitHeldLocked(u pendingSummary) pendingSummary {
	if t.heldChanges+u.captured.changeCount() > maxHeldChanges {
		u.captured.delta = nil
	}
	t.heldChanges += u.captured.changeCount()
	return u
}

// lastSummaryOf answers what is known of a checkpoint, when it was the last one told.
func (t *summarizer) lastSummaryOf(cp retake.Checkpoint) (lastSummary, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.lastSummaries[cp.Workspace]
	return l, l.id == cp.ID
}

func (t *summarizer) setLastSummary(ws retake.WorkspaceID, l lastSummary) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, known := t.lastSummaries[ws]; t.lastSummaries == nil || !known && len(t.lastSummaries) >= maxLastSummaries {
		t.lastSummaries = map[retake.WorkspaceID]lastSummary{}
	}
	t.lastSummaries[ws] = l
}

// addRecent keeps what a capture knew for who wants to read the story in full. Nothing
// changed on the machine with it.
func (t *summarizer) addRecent(u pendingSummary) {
	if u.captured.changeCount() == 0 || u.captured.parentRoot == nil { // from here on others read it
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.recent = append(t.recent, u)
	n := 0
	for i := range slices.Backward(t.recent) {
		if n += t.recent[i].captured.changeCount(); n > maxRecentChanges || len(t.recent)-i > maxRecentSummaries {
			t.recent = slices.Clone(t.recent[i+1:])
			return
		}
	}
}

// dropRecent forgets it: there is more to know.
func (t *summarizer) dropRecent(id retake.CheckpointID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.recent = slices.DeleteFunc(t.recent, func(u pendingSummary) bool { return u.ID == id })
}

// findRecent answers a checkpoint with what its capture knew, if that is still there.
func (t *summarizer) findRecent(cp retake.Checkpoint) pendingSummary {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.findRecentLocked(cp)
}

// findRecentLocked is freshOf under t.mu.
func (t *summarizer) findRecentLocked(cp retake.Checkpoint) pendingSummary {
	for _, u := range t.recent {
		if u.ID == cp.ID {
			own := *u.captured // who tells it writes there
			u.captured = &own
			return u
		}
	}
	return pendingSummary{Checkpoint: cp}
}

// compareWithParent is what a checkpoint changed: as its capture told, when that was against the
// checkpoint before it, else by the trees.
func (s *Service) compareWithParent(ctx context.Context, u pendingSummary) (retake.Comparison, error) {
	q := retake.DiffQuery{Workspace: u.Workspace}
	if u.captured == nil || u.captured.delta == nil {
		return s.diffCheckpoints(ctx, q, u.Checkpoint)
	}
	from, err := s.diffBase(ctx, q, u.Checkpoint)
	if err != nil || from == nil || from.ID != u.captured.delta.Checkpoint {
		return s.diffCheckpoints(ctx, q, u.Checkpoint)
	}
	before, err := s.loadParentRoot(ctx, u.captured, *from)
	if err != nil {
		return retake.Comparison{}, err
	}
	d := retake.Comparison{From: from, To: &u.Checkpoint, Changes: u.captured.delta.Changes}
	if what := tree.DifferenceOf(before, &u.captured.root); what != "" {
		self := retake.Change{Path: tree.Root, What: what, Before: before, After: &u.captured.root}
		d.Changes = append([]retake.Change{self}, d.Changes...)
	}
	return d, nil
}

// loadParentRoot is the root of the checkpoint before: its capture does not know it.
func (s *Service) loadParentRoot(ctx context.Context, u *captureInfo, from retake.Checkpoint) (*retake.Entry, error) {
	if u.parentRoot != nil {
		return u.parentRoot, nil
	}
	last, ok := s.summarizer.lastSummaryOf(from)
	if !ok {
		st, err := s.store(ctx)
		if err != nil {
			return nil, err
		}
		if last.root, err = s.treeRoot(ctx, st, from); err != nil {
			return nil, err
		}
	}
	u.parentRoot = &last.root
	return u.parentRoot, nil
}

// resolveHead answers the commit that is checked out at a checkpoint, and remembers it: as long as
// nothing changes that it is read from, it is that of the checkpoint before. Nil when the
// capture is not known.
func (s *Service) resolveHead(ctx context.Context, u pendingSummary, d retake.Comparison) *string {
	if u.captured == nil {
		return nil
	}
	now := lastSummary{id: u.ID, root: u.captured.root}
	if self, ok := s.summarizer.lastSummaryOf(u.Checkpoint); ok && self.headKnown {
		return &self.head
	}
	last, ok := lastSummary{}, false
	if d.From != nil {
		last, ok = s.summarizer.lastSummaryOf(*d.From)
	}
	if ok && last.headKnown && !mayMoveHead(d.Changes) {
		now.head, now.headKnown = last.head, true
	} else {
		st, err := s.store(ctx)
		if err != nil {
			return nil
		}
		now.head, now.headKnown = readCommit(ctx, st, now.root)
	}
	s.summarizer.setLastSummary(u.Workspace, now)
	return &now.head
}
