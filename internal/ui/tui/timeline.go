package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/term"
)

// timeline is the first page: the checkpoints, and the card of the chosen one.
type timeline struct {
	base
	shot    *shot // nil: nothing was heard yet
	at, top int
	height  int   // of the list
	fresh   int64 // checkpoints that came above what is looked at

	folded, good bool
	mark         *retake.Checkpoint

	busy    bool // a shot is being made
	wanted  *wish
	seek    func(m *model) bool // goes on when older checkpoints came; false: not found yet
	heardAt time.Time
	err     *retake.Error
}

func newTimeline(m *model) *timeline { return &timeline{base: m.newBase(), folded: true} }

func (t *timeline) begin(m *model) tea.Cmd { return t.want(m, wish{fresh: true}) }

// poll looks at the newest checkpoints again.
func (t *timeline) poll(m *model) tea.Cmd {
	if t.busy {
		return nil
	}
	return t.want(m, wish{fresh: true})
}

// arrange makes the rows again, for another width or another choice.
func (t *timeline) arrange(m *model) tea.Cmd {
	if t.shot == nil && !t.busy {
		return nil
	}
	return t.want(m, wish{})
}

// want asks for the next shot. While one is being made, wishes are put together.
func (t *timeline) want(m *model, w wish) tea.Cmd {
	if t.busy {
		if t.wanted != nil {
			w.fresh, w.older = w.fresh || t.wanted.fresh, max(w.older, t.wanted.older)
		}
		t.wanted = &w
		return nil
	}
	t.busy = true
	if t.shot == nil || w.older > 0 {
		t.began = m.o.Clock.Now()
	}
	w.good, w.folded, w.look = t.good, t.folded, m.look()
	old := t.shot
	return ask(&t.base, func(ctx context.Context) (*shot, error) {
		return gather(ctx, m.o.Service, m.o.Workspace.ID, old, w)
	}, func(next *shot, err error) tea.Cmd { return t.take(m, next, err, w) })
}

func (t *timeline) take(m *model, next *shot, err error, w wish) tea.Cmd {
	t.busy, t.began = false, time.Time{}
	if w.good != t.good { // it was asked before the choice changed
		return t.begin(m)
	}
	switch {
	case err != nil:
		t.err = retake.AsError(err)
		t.seek = nil
	default:
		if w.fresh {
			t.heardAt, t.err = m.o.Clock.Now(), nil
		}
		if next != nil {
			t.show(next)
		}
	}
	var cmds []tea.Cmd
	if w := t.wanted; w != nil {
		t.wanted = nil
		cmds = append(cmds, t.want(m, *w))
	}
	if t.seek != nil && w.older > 0 {
		cmds = append(cmds, t.sought(m))
	}
	return tea.Batch(append(cmds, t.near(m))...)
}

// show puts a shot on the screen. The chosen row stays chosen, and stays where it is on
// the screen unless the list begins at its top.
func (t *timeline) show(next *shot) {
	old := t.shot
	t.shot = next
	if old == nil || old.rows.Len() == 0 {
		t.at, t.top = t.first(), 0
		return
	}
	key := old.rows.At(t.at).Key()
	was := t.at
	t.at = min(t.at, max(next.rows.Len()-1, 0))
	for i := range next.rows.Len() {
		if next.rows.At(i).Key() == key {
			t.at = i
			break
		}
	}
	t.at = t.stand(t.at, 1)
	if t.top > 0 {
		t.top = max(t.top+t.at-was, 0)
		t.fresh += came(old.view, next.view)
	}
	t.keep()
}

// came is how many checkpoints are newer than all that were there.
func came(old, next term.View) int64 {
	if len(old.Checkpoints) == 0 {
		return 0
	}
	var n int64
	for _, c := range next.Checkpoints {
		if c.Number <= old.Checkpoints[0].Number {
			break
		}
		n++
	}
	return n
}

// first is the row that is chosen at the beginning: the newest checkpoint.
func (t *timeline) first() int {
	for i := range t.shot.rows.Len() {
		if t.shot.rows.At(i).Checkpoint != nil {
			return i
		}
	}
	return 0
}

// stand is the row nearest to i that can be chosen, in a direction first.
func (t *timeline) stand(i, step int) int {
	n := t.shot.rows.Len()
	for _, s := range []int{step, -step} {
		for k := i; k >= 0 && k < n; k += s {
			if t.shot.rows.At(k).Effect == nil {
				return k
			}
		}
	}
	return 0
}

// keep holds the chosen row on the screen.
func (t *timeline) keep() {
	h := max(t.height, 1)
	t.top = max(min(t.top, t.at), t.at-h+1, 0)
	t.top = max(min(t.top, t.shot.rows.Len()-h), 0)
	if t.top == 0 {
		t.fresh = 0
	}
}

// near asks for older checkpoints when the end of the list comes near.
func (t *timeline) near(m *model) tea.Cmd {
	if t.shot == nil || !t.shot.more || t.busy || t.err != nil || t.top+2*t.height+10 < t.shot.rows.Len() {
		return nil
	}
	return t.want(m, wish{older: 1})
}

// chosen is the checkpoint that the chosen row stands for, if it is one.
func (t *timeline) chosen() *retake.Checkpoint {
	if t.shot == nil || t.shot.rows.Len() == 0 {
		return nil
	}
	s := t.shot.rows.At(t.at)
	switch {
	case s.Checkpoint != nil:
		return s.Checkpoint
	case len(s.Run) > 0:
		return &s.Run[0]
	}
	return nil
}
