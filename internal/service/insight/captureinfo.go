package insight

import (
	"context"
	"slices"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/capture"
	"github.com/retake-dev/retake/internal/pure/tree"
	"github.com/retake-dev/retake/internal/service/history"
)

// captureInfo is what a capture knew of the checkpoint it became. With it no tree has to be
// read to find what changed; without it the trees are compared.
type captureInfo struct {
	root       retake.Entry // the root
	delta      *capture.Delta
	parentRoot *retake.Entry // root of the previous checkpoint, once it is loaded
}

func (s *captureInfo) changeCount() int {
	if s == nil || s.delta == nil {
		return 0
	}
	return len(s.delta.Changes)
}

// lastSummary is what the summary of the next checkpoint of a workspace builds on.
type lastSummary struct {
	id        retake.CheckpointID
	root      retake.Entry
	head      string
	headKnown bool // head was read without errors
}

// Bounds of what is kept in memory for summaries.
const (
	maxHeldChanges   = 20_000 // changes of all queued checkpoints
	maxLastSummaries = 1_000  // workspaces

	maxRecentSummaries = 8     // checkpoints that were summarized just now
	maxRecentChanges   = 4_000 // changes of these
)

// enqueueSealed asks for the summary of a checkpoint that was just sealed.
func (t *summarizer) enqueueSealed(cp retake.Checkpoint, res *capture.Result) {
	t.enqueue(pendingSummary{Checkpoint: cp, captured: &captureInfo{root: res.Files, delta: res.Delta}})
}

// limitHeldLocked drops the changes of a capture if the queue holds too many. The caller
// holds mu.
func (t *summarizer) limitHeldLocked(u pendingSummary) pendingSummary {
	if t.heldChanges+u.captured.changeCount() > maxHeldChanges {
		u.captured.delta = nil
	}
	t.heldChanges += u.captured.changeCount()
	return u
}

// lastSummaryOf returns what is known of a checkpoint if it was the last one summarized.
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

// addRecent keeps what a capture knew, for readers of the full story. It is called only
// when nothing changed on the host.
func (t *summarizer) addRecent(u pendingSummary) {
	if u.captured.changeCount() == 0 || u.captured.parentRoot == nil { // from here on it is shared
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

// dropRecent removes a checkpoint from the recent ones.
func (t *summarizer) dropRecent(id retake.CheckpointID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.recent = slices.DeleteFunc(t.recent, func(u pendingSummary) bool { return u.ID == id })
}

// findRecent returns a checkpoint with what its capture knew, if that is still in memory.
func (t *summarizer) findRecent(cp retake.Checkpoint) pendingSummary {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.findRecentLocked(cp)
}

// findRecentLocked is findRecent for a caller that holds mu.
func (t *summarizer) findRecentLocked(cp retake.Checkpoint) pendingSummary {
	for _, u := range t.recent {
		if u.ID == cp.ID {
			own := *u.captured // a copy, because the summarizer writes to it
			u.captured = &own
			return u
		}
	}
	return pendingSummary{Checkpoint: cp}
}

// compareWithParent returns what a checkpoint changed: from its capture if that was against
// the previous checkpoint, else by comparing the trees.
func (s *Insight) compareWithParent(ctx context.Context, u pendingSummary) (retake.Comparison, error) {
	q := retake.DiffQuery{Workspace: u.Workspace}
	if u.captured == nil || u.captured.delta == nil {
		return s.history.DiffCheckpoints(ctx, q, u.Checkpoint)
	}
	from, err := s.history.DiffBase(ctx, q, u.Checkpoint)
	if err != nil || from == nil || from.ID != u.captured.delta.Checkpoint {
		return s.history.DiffCheckpoints(ctx, q, u.Checkpoint)
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

// loadParentRoot returns the root entry of the previous checkpoint, which the capture does
// not know.
func (s *Insight) loadParentRoot(ctx context.Context, u *captureInfo, from retake.Checkpoint) (*retake.Entry, error) {
	if u.parentRoot != nil {
		return u.parentRoot, nil
	}
	last, ok := s.summarizer.lastSummaryOf(from)
	if !ok {
		st, err := s.workspaces.Store(ctx)
		if err != nil {
			return nil, err
		}
		if last.root, err = s.history.TreeRoot(ctx, st, from); err != nil {
			return nil, err
		}
	}
	u.parentRoot = &last.root
	return u.parentRoot, nil
}

// resolveHead returns the commit that is checked out at a checkpoint and remembers it:
// while nothing it is read from changes, it is that of the previous checkpoint. It returns
// nil if there is no capture.
func (s *Insight) resolveHead(ctx context.Context, u pendingSummary, d retake.Comparison) *string {
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
	if ok && last.headKnown && !history.MayMoveHead(d.Changes) {
		now.head, now.headKnown = last.head, true
	} else {
		st, err := s.workspaces.Store(ctx)
		if err != nil {
			return nil
		}
		now.head, now.headKnown = history.ReadCommit(ctx, st, now.root)
	}
	s.summarizer.setLastSummary(u.Workspace, now)
	return &now.head
}
