package agentstate

import (
	"fmt"
	"time"

	"github.com/retake-dev/retake/internal/agents/session"
	"github.com/retake-dev/retake/internal/service/history"
)

// TurnSpan is the time span of a turn that may overlap others.
type TurnSpan struct {
	Name       string
	Began, End time.Time // a zero end: it goes on
	Paths      []string
}

// Overlaps reports whether the turn went on between two times.
func (w *TurnSpan) Overlaps(from, to time.Time) bool {
	return w.Began.Before(to) && (w.End.IsZero() || w.End.After(from))
}

// OtherTurns returns the turns that go on now, except the given ones.
func (h *State) OtherTurns(mine map[history.TurnKey]bool) []TurnSpan {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []TurnSpan
	for _, x := range h.state.Sessions {
		if x.Phase == session.Working && !mine[history.TurnKey{Agent: x.Agent, Session: x.ID, ID: x.Turn.ID}] {
			out = append(out, TurnSpan{Name: SessionName(x.Agent, x.ID), Began: x.Turn.Since, Paths: x.Turn.Wrote})
		}
	}
	return out
}

func SessionName(agent, id string) string { return fmt.Sprintf("%s %.8s", agent, id) }
