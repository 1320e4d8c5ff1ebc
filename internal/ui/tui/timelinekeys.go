package tui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/retake-dev/retake"
)

func (t *timeline) key(m *model, k string) tea.Cmd {
	switch k {
	case "esc":
		return t.escape(m)
	case "v":
		return t.goodOnly(m)
	case "u":
		return openPlan(m, retake.PlanRequest{Course: retake.CourseUndo})
	case "/":
		return askFind(m, &t.base)
	}
	if t.shot == nil || t.shot.rows.Len() == 0 {
		return nil
	}
	t.seek = nil
	if t.move(k) {
		return t.near(m)
	}
	switch k {
	case "G", "end":
		return t.start(m)
	case "n":
		return t.nextGood(m, 1)
	case "N":
		return t.nextGood(m, -1)
	case "h":
		t.folded = !t.folded
		return t.arrange(m)
	case "enter":
		return t.enter(m)
	}
	return t.about(m, k)
}

// move reports whether a key moved the choice.
func (t *timeline) move(k string) bool {
	page := max(t.height-1, 1)
	switch k {
	case "j", "down":
		t.step(1)
	case "k", "up":
		t.step(-1)
	case "g", "home":
		t.at = 0
		t.step(0)
	case "pgdown", "space", "ctrl+f":
		t.step(page)
	case "pgup", "ctrl+b":
		t.step(-page)
	case "ctrl+d":
		t.step(page / 2)
	case "ctrl+u":
		t.step(-page / 2)
	default:
		return false
	}
	return true
}

// step goes so many rows further.
func (t *timeline) step(n int) {
	dir := 1
	if n < 0 {
		dir = -1
	}
	t.at = t.stand(max(min(t.at+n, t.shot.rows.Len()-1), 0), dir)
	t.keep()
}

// start goes to the oldest checkpoint, when all are there.
func (t *timeline) start(m *model) tea.Cmd {
	t.seek = func(*model) bool {
		t.at = t.shot.rows.Len() - 1
		t.step(0)
		return !t.shot.more
	}
	return t.sought(m)
}

// nextGood goes to the next or the previous good checkpoint.
func (t *timeline) nextGood(m *model, step int) tea.Cmd {
	t.seek = func(m *model) bool {
		for i := t.at + step; i >= 0 && i < t.shot.rows.Len(); i += step {
			if c := t.shot.rows.At(i).Checkpoint; c != nil && t.shot.view.Findings[c.ID].Good {
				t.at = i
				t.keep()
				return true
			}
		}
		if step > 0 && t.shot.more {
			return false
		}
		m.note = "no good checkpoint further on"
		return true
	}
	return t.sought(m)
}

// sought goes on seeking; what is not found yet may be further down. It reads as much again
// as is there, so that rows are made ready few times.
func (t *timeline) sought(m *model) tea.Cmd {
	if t.seek(m) {
		t.seek = nil
		return nil
	}
	return t.want(m, wish{older: max(len(t.shot.view.Checkpoints)/olderPage, 1)})
}

// goodOnly shows good checkpoints only, or all again.
func (t *timeline) goodOnly(m *model) tea.Cmd {
	t.good = !t.good
	t.shot, t.at, t.top, t.fresh, t.seek = nil, 0, 0, 0, nil
	return t.begin(m)
}

// escape takes back the last choice about the list, and changes nothing else.
func (t *timeline) escape(m *model) tea.Cmd {
	switch {
	case t.seek != nil:
		t.seek = nil
	case t.mark != nil:
		t.mark = nil
	case t.good:
		return t.goodOnly(m)
	}
	return nil
}

func (t *timeline) enter(m *model) tea.Cmd {
	s := t.shot.rows.At(t.at)
	switch {
	case s.Now != nil:
		return openDiff(m, retake.DiffQuery{})
	case len(s.Left) > 0:
		t.folded = false
		return t.arrange(m)
	case s.Fork != nil:
		m.note = "a fork is a workspace of its own: " + m.look().Path(s.Fork.Root)
		return nil
	}
	if c := t.chosen(); c != nil {
		return openCheckpoint(m, *c)
	}
	return nil
}

// about hears the keys that are about the chosen checkpoint.
func (t *timeline) about(m *model, k string) tea.Cmd {
	if !aboutCheckpoint(k) {
		return nil
	}
	c := t.chosen()
	if c == nil {
		if s := t.shot.rows.At(t.at); s.Now != nil && (k == "d" || k == "D") {
			return openDiff(m, retake.DiffQuery{})
		}
		m.note = "choose a checkpoint first"
		return nil
	}
	return checkpointKey(m, k, *c)
}

func aboutCheckpoint(k string) bool {
	switch k {
	case "d", "D", "c", "r", "f":
		return true
	}
	return false
}

// checkpointKey does what a key says about a checkpoint, wherever it is looked at.
func checkpointKey(m *model, k string, c retake.Checkpoint) tea.Cmd {
	switch k {
	case "d":
		return openDiff(m, retake.DiffQuery{To: string(c.ID)})
	case "D":
		return openDiff(m, retake.DiffQuery{From: string(c.ID)})
	case "c":
		return m.compare(c)
	case "r":
		return openPlan(m, retake.PlanRequest{Course: retake.CourseRestore, Ref: string(c.ID)})
	case "f":
		return askFork(m, c)
	}
	return nil
}

// compare marks a checkpoint, or compares it with the marked one.
func (m *model) compare(c retake.Checkpoint) tea.Cmd {
	t := m.timeline()
	switch {
	case t.mark == nil:
		t.mark = &c
		m.note = fmt.Sprintf("marked %d: choose another checkpoint and press c; esc takes the mark away", c.Number)
		return nil
	case t.mark.ID == c.ID:
		t.mark = nil
		m.note = "mark removed"
		return nil
	}
	from, to := *t.mark, c
	if from.Number > to.Number {
		from, to = to, from
	}
	t.mark = nil
	return openDiff(m, retake.DiffQuery{From: string(from.ID), To: string(to.ID)})
}
