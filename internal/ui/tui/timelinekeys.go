package tui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/retake-dev/retake"
)

func (t *timelinePage) handleKey(m *model, k string) tea.Cmd {
	switch k {
	case "esc":
		return t.resetChoice(m)
	case "v":
		return t.toggleGoodOnly(m)
	case "u":
		return openPlan(m, retake.PlanRequest{Course: retake.CourseUndo})
	case "/":
		return promptFind(m, &t.pageBase)
	}
	if t.snapshot == nil || t.snapshot.rows.Len() == 0 {
		return nil
	}
	t.searching = nil
	if t.moveByKey(k) {
		return t.requestOlderNearEnd(m)
	}
	switch k {
	case "G", "end":
		return t.goToOldest(m)
	case "n":
		return t.goToGood(m, 1)
	case "N":
		return t.goToGood(m, -1)
	case "h":
		t.folded = !t.folded
		return t.arrange(m)
	case "enter":
		return t.openSelected(m)
	}
	return t.handleCheckpointKey(m, k)
}

// moveByKey reports whether a key moved the choice.
func (t *timelinePage) moveByKey(k string) bool {
	page := max(t.height-1, 1)
	switch k {
	case "j", "down":
		t.moveBy(1)
	case "k", "up":
		t.moveBy(-1)
	case "g", "home":
		t.selected = 0
		t.moveBy(0)
	case "pgdown", "space", "ctrl+f":
		t.moveBy(page)
	case "pgup", "ctrl+b":
		t.moveBy(-page)
	case "ctrl+d":
		t.moveBy(page / 2)
	case "ctrl+u":
		t.moveBy(-page / 2)
	default:
		return false
	}
	return true
}

// moveBy goes so many rows further.
func (t *timelinePage) moveBy(n int) {
	dir := 1
	if n < 0 {
		dir = -1
	}
	t.selected = t.nearestRow(max(min(t.selected+n, t.snapshot.rows.Len()-1), 0), dir)
	t.keepVisible()
}

// goToOldest goes to the oldest checkpoint, after all were read.
func (t *timelinePage) goToOldest(m *model) tea.Cmd {
	t.searching = func(*model) bool {
		t.selected = t.snapshot.rows.Len() - 1
		t.moveBy(0)
		return !t.snapshot.more
	}
	return t.continueSearch(m)
}

// goToGood goes to the next or the previous good checkpoint.
func (t *timelinePage) goToGood(m *model, step int) tea.Cmd {
	t.searching = func(m *model) bool {
		for i := t.selected + step; i >= 0 && i < t.snapshot.rows.Len(); i += step {
			if s := t.snapshot.rows.At(i); s.Checkpoint() != nil && s.Row.Good {
				t.selected = i
				t.keepVisible()
				return true
			}
		}
		if step > 0 && t.snapshot.more {
			return false
		}
		m.notice = "no good checkpoint further on"
		return true
	}
	return t.continueSearch(m)
}

// continueSearch continues a search that needs older checkpoints. It doubles what is read, so
// that rows are laid out only a few times.
func (t *timelinePage) continueSearch(m *model) tea.Cmd {
	if t.searching(m) {
		t.searching = nil
		return nil
	}
	return t.requestSnapshot(m, snapshotRequest{older: max(int(t.snapshot.view.Shown)/olderPage, 1)})
}

// toggleGoodOnly shows good checkpoints only, or all again.
func (t *timelinePage) toggleGoodOnly(m *model) tea.Cmd {
	t.good = !t.good
	t.snapshot, t.selected, t.top, t.newAbove, t.searching = nil, 0, 0, 0, nil
	return t.requestFirst(m)
}

// resetChoice ends a search, or takes back the mark or the filter, and nothing else.
func (t *timelinePage) resetChoice(m *model) tea.Cmd {
	switch {
	case t.searching != nil:
		t.searching = nil
	case t.marked != nil:
		t.marked = nil
	case t.good:
		return t.toggleGoodOnly(m)
	}
	return nil
}

func (t *timelinePage) openSelected(m *model) tea.Cmd {
	s := t.snapshot.rows.At(t.selected)
	switch s.Row.Kind {
	case retake.RowNow:
		return openDiff(m, retake.DiffQuery{})
	case retake.RowReplaced:
		t.folded = false
		return t.arrange(m)
	case retake.RowFork:
		m.notice = "a fork is a workspace of its own: " + m.style().DisplayPath(s.Row.Fork.Root)
		return nil
	case retake.RowCheckpoint, retake.RowQuiet, retake.RowMore:
	}
	if c := t.selectedCheckpoint(); c != nil {
		return openCheckpoint(m, *c)
	}
	return nil
}

// handleCheckpointKey hears the keys that are about the chosen checkpoint.
func (t *timelinePage) handleCheckpointKey(m *model, k string) tea.Cmd {
	if !isCheckpointKey(k) {
		return nil
	}
	c := t.selectedCheckpoint()
	if c == nil {
		if s := t.snapshot.rows.At(t.selected); s.Row.Kind == retake.RowNow && (k == "d" || k == "D") {
			return openDiff(m, retake.DiffQuery{})
		}
		m.notice = "choose a checkpoint first"
		return nil
	}
	return runCheckpointKey(m, k, *c)
}

func isCheckpointKey(k string) bool {
	switch k {
	case "d", "D", "c", "r", "f":
		return true
	}
	return false
}

// runCheckpointKey runs the action of a key on a checkpoint, on any page.
func runCheckpointKey(m *model, k string, c retake.Checkpoint) tea.Cmd {
	switch k {
	case "d":
		return openDiff(m, retake.DiffQuery{To: string(c.ID)})
	case "D":
		return openDiff(m, retake.DiffQuery{From: string(c.ID)})
	case "c":
		return m.markOrCompare(c)
	case "r":
		return openPlan(m, retake.PlanRequest{Course: retake.CourseRestore, Ref: string(c.ID)})
	case "f":
		return promptFork(m, c)
	}
	return nil
}

// markOrCompare marks a checkpoint, or compares it with the marked one.
func (m *model) markOrCompare(c retake.Checkpoint) tea.Cmd {
	t := m.timelinePage()
	switch {
	case t.marked == nil:
		t.marked = &c
		m.notice = fmt.Sprintf("marked %d: choose another checkpoint and press c; esc takes the mark away", c.Number)
		return nil
	case t.marked.ID == c.ID:
		t.marked = nil
		m.notice = "mark removed"
		return nil
	}
	from, to := *t.marked, c
	if from.Number > to.Number {
		from, to = to, from
	}
	t.marked = nil
	return openDiff(m, retake.DiffQuery{From: string(from.ID), To: string(to.ID)})
}
