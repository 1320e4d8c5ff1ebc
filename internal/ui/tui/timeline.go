package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/retake-dev/retake"
)

// timelinePage is the first page: the checkpoints, and the card of the selected one.
type timelinePage struct {
	pageBase
	snapshot      *snapshot // nil: nothing was heard yet
	selected, top int
	height        int   // of the list
	newAbove      int64 // checkpoints that came above what is looked at

	folded, good bool
	marked       *retake.Checkpoint

	busy      bool // a shot is being made
	wanted    *snapshotRequest
	searching func(m *model) bool // goes on when older checkpoints came; false: not found yet
	updatedAt time.Time
	err       *retake.Error
}

func newTimelinePage(m *model) *timelinePage {
	return &timelinePage{pageBase: m.newBase(), folded: true}
}

func (t *timelinePage) requestFirst(m *model) tea.Cmd {
	return t.requestSnapshot(m, snapshotRequest{fresh: true})
}

// poll reads the newest checkpoints again.
func (t *timelinePage) poll(m *model) tea.Cmd {
	if t.busy {
		return nil
	}
	return t.requestSnapshot(m, snapshotRequest{fresh: true})
}

// arrange lays out the rows again, after the width or a filter changed.
func (t *timelinePage) arrange(m *model) tea.Cmd {
	if t.snapshot == nil && !t.busy {
		return nil
	}
	return t.requestSnapshot(m, snapshotRequest{})
}

// requestSnapshot requests the next snapshot. While one is being built, requests are merged.
func (t *timelinePage) requestSnapshot(m *model, w snapshotRequest) tea.Cmd {
	if t.busy {
		if t.wanted != nil {
			w.fresh, w.older = w.fresh || t.wanted.fresh, max(w.older, t.wanted.older)
		}
		t.wanted = &w
		return nil
	}
	t.busy = true
	if t.snapshot == nil || w.older > 0 {
		t.waitingSince = m.options.Clock.Now()
	}
	w.good, w.folded, w.look = t.good, t.folded, m.style()
	old := t.snapshot
	return callService(&t.pageBase, func(ctx context.Context) (*snapshot, error) {
		return takeSnapshot(ctx, m.options.Service, m.options.Workspace.ID, old, w)
	}, func(next *snapshot, err error) tea.Cmd { return t.handleSnapshot(m, next, err, w) })
}

func (t *timelinePage) handleSnapshot(m *model, next *snapshot, err error, w snapshotRequest) tea.Cmd {
	t.busy, t.waitingSince = false, time.Time{}
	if w.good != t.good { // it was asked before the choice changed
		return t.requestFirst(m)
	}
	switch {
	case err != nil:
		t.err = retake.AsError(err)
		t.searching = nil
	default:
		if w.fresh {
			t.updatedAt, t.err = m.options.Clock.Now(), nil
		}
		if next != nil {
			t.showSnapshot(next)
		}
	}
	var cmds []tea.Cmd
	if w := t.wanted; w != nil {
		t.wanted = nil
		cmds = append(cmds, t.requestSnapshot(m, *w))
	}
	if t.searching != nil && w.older > 0 {
		cmds = append(cmds, t.continueSearch(m))
	}
	return tea.Batch(append(cmds, t.requestOlderNearEnd(m))...)
}

// showSnapshot shows a snapshot. The selected row stays selected and stays in place on the
// screen, unless the list is at its top.
func (t *timelinePage) showSnapshot(next *snapshot) {
	old := t.snapshot
	t.snapshot = next
	if old == nil || old.rows.Len() == 0 {
		t.selected, t.top = t.initialRow(), 0
		return
	}
	key := old.rows.At(t.selected).Key()
	was := t.selected
	t.selected = min(t.selected, max(next.rows.Len()-1, 0))
	for i := range next.rows.Len() {
		if next.rows.At(i).Key() == key {
			t.selected = i
			break
		}
	}
	t.selected = t.nearestRow(t.selected, 1)
	if t.top > 0 {
		t.top = max(t.top+t.selected-was, 0)
		t.newAbove += countNew(&old.view, &next.view)
	}
	t.keepVisible()
}

// countNew returns how many checkpoints are newer than all old ones.
func countNew(old, next *retake.TimelineView) (n int64) {
	for newest := range old.Checkpoints {
		for r := range next.Checkpoints {
			if r.Number <= newest.Number {
				break
			}
			n++
		}
		break
	}
	return n
}

// initialRow returns the row that is selected first: the newest checkpoint.
func (t *timelinePage) initialRow() int {
	for i := range t.snapshot.rows.Len() {
		if t.snapshot.rows.At(i).Checkpoint() != nil {
			return i
		}
	}
	return 0
}

// nearestRow returns the selectable row nearest to i, searching in the direction of step
// first.
func (t *timelinePage) nearestRow(i, step int) int {
	n := t.snapshot.rows.Len()
	for _, s := range []int{step, -step} {
		for k := i; k >= 0 && k < n; k += s {
			if t.snapshot.rows.At(k).Effect == nil {
				return k
			}
		}
	}
	return 0
}

// keepVisible scrolls so that the selected row is on the screen.
func (t *timelinePage) keepVisible() {
	h := max(t.height, 1)
	t.top = max(min(t.top, t.selected), t.selected-h+1, 0)
	t.top = max(min(t.top, t.snapshot.rows.Len()-h), 0)
	if t.top == 0 {
		t.newAbove = 0
	}
}

// requestOlderNearEnd requests older checkpoints when the end of the list is near.
func (t *timelinePage) requestOlderNearEnd(m *model) tea.Cmd {
	if t.snapshot == nil || !t.snapshot.more || t.busy || t.err != nil || t.top+2*t.height+10 < t.snapshot.rows.Len() {
		return nil
	}
	return t.requestSnapshot(m, snapshotRequest{older: 1})
}

// selectedCheckpoint returns the selected checkpoint, or nil if the row is not one.
func (t *timelinePage) selectedCheckpoint() *retake.Checkpoint {
	if t.snapshot == nil || t.snapshot.rows.Len() == 0 {
		return nil
	}
	s := t.snapshot.rows.At(t.selected)
	if s.Row.Kind == retake.RowQuiet {
		return s.Row.Inside[0].Checkpoint
	}
	return s.Checkpoint()
}
