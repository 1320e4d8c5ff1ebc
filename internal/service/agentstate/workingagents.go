package agentstate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/session"
	"github.com/retake-dev/retake/internal/platform/proc"
)

// WorkingSessions returns the sessions in the middle of a turn, except those that the asker
// runs in.
func (h *State) WorkingSessions(now time.Time, asker []int) []retake.Worker {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []retake.Worker
	for i := range h.state.Sessions {
		x := &h.state.Sessions[i]
		dead := x.PID > 0 && !proc.IsAlive(x.PID)
		own := x.PID == 0 && len(asker) == 0 // a program that reports its own turns and asks through the API
		if h.state.OngoingTurn(i, now) == nil || dead || own || slices.Contains(asker, x.PID) {
			continue
		}
		out = append(out, retake.Worker{Agent: x.Agent, Session: x.ID, Since: turnStart(x)})
	}
	return out
}

// workingTurn returns the turn that a session is in, and whether it began in another workspace.
func (h *State) workingTurn(key string) (t session.Turn, joined, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	x := h.state.Find(key)
	if x == nil || x.Phase != session.Working {
		return t, false, false
	}
	return x.Turn, x.Joined, true
}

// turnStart returns when a turn began, or when the session was first seen.
func turnStart(x *session.Session) time.Time {
	if x.Turn.Since.IsZero() {
		return x.Since
	}
	return x.Turn.Since
}

// FormatDuration formats a duration for people.
func FormatDuration(d time.Duration) string {
	d = max(d, 0).Round(time.Second)
	h, m, s := int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60
	switch {
	case h > 0:
		return fmt.Sprintf("%d h %d min", h, m)
	case m > 0:
		return fmt.Sprintf("%d min %d s", m, s)
	}
	return fmt.Sprintf("%d s", s)
}

// AgentTitle returns the display name of an agent.
func AgentTitle(name string) string {
	words := strings.Split(name, "-")
	for i, w := range words {
		if w != "" && name != "opencode" && name != "pi" {
			words[i] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, " ")
}
