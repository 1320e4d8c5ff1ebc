package service

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/proc"
	"github.com/retake-dev/retake/internal/session"
	"github.com/retake-dev/retake/internal/spool"
)

// attribute says of a checkpoint what is known of the agents: the effects since the one
// before, and the turn that was going on, whoever asked for it.
func (s *Service) attribute(cp *retake.Checkpoint) {
	h, err := s.hearingOf(cp.Workspace)
	if err != nil {
		return // context
	}
	if cp.Effects = h.pending(); len(cp.Effects) == 0 {
		cp.Effects = nil
	}
	if cp.Turn == nil && cp.Trigger == retake.TriggerManual {
		cp.Turn = h.going(cp.Time)
	}
}

// told ends what a sealed checkpoint carries on.
func (s *Service) told(cp retake.Checkpoint) {
	if len(cp.Effects) == 0 {
		return
	}
	if h, err := s.hearingOf(cp.Workspace); err == nil {
		h.settled(cp.Effects)
	}
}

// going is the turn that goes on at a time, if there is one.
func (h *hearing) going(at time.Time) *retake.Turn {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range slices.Backward(h.state.Sessions) {
		if t := h.state.Going(i, at); t != nil {
			return t
		}
	}
	return nil
}

// sameTurn reports whether two neighbours on a timeline are parts of one turn.
func sameTurn(a, b retake.Checkpoint) bool {
	return inTurn(a) && inTurn(b) && a.Turn.Agent == b.Turn.Agent && a.Turn.Session == b.Turn.Session && a.Turn.ID == b.Turn.ID && a.Turn.ID != ""
}

// inTurn reports whether a checkpoint was taken while a turn went on, or at its end.
func inTurn(cp retake.Checkpoint) bool {
	if cp.Turn == nil {
		return false
	}
	switch cp.Trigger {
	case retake.TriggerRisk, retake.TriggerTask, retake.TriggerCall, retake.TriggerTurn, retake.TriggerManual, retake.TriggerComplete:
		return true
	default:
		return false
	}
}

// hearWaiting hears what waits in the spool: signals that came while nobody listened,
// and those that were not done when the service ended.
func (s *Service) hearWaiting() {
	waiting, err := spool.List(s.p.Signals)
	if err != nil {
		return // the next start looks again
	}
	for _, w := range waiting {
		if s.life.Err() != nil {
			return
		}
		s.hearAgain(w.Signal)
	}
}

// hearAgain hears one that waited. What cannot be done now waits on.
func (s *Service) hearAgain(sig retake.Signal) {
	r, err := s.Observe(s.life, sig)
	if err == nil && !r.Later || retake.IsKind(err, retake.Invalid) {
		_ = spool.Drop(s.p.Signals, sig) // again, it is heard and changes nothing
	}
}

// rewound makes every agent that knows the files hear what became of them.
func (s *Service) rewound(ws retake.WorkspaceID, w session.Rewind) {
	h, err := s.hearingOf(ws)
	if err != nil {
		return // context
	}
	h.speak(func(st *session.State) { st.Rewind = &w })
}

// bury ends the turns of agents that died in them: each becomes a moment before anything
// that comes after.
func (h *hearing) bury(ws retake.Workspace, habits retake.Habits) []*hearingJob {
	h.mu.Lock()
	gone := h.state.Gone(proc.Alive)
	h.mu.Unlock()
	var out []*hearingJob
	for _, x := range gone {
		j, err := h.hear(ws, retake.Signal{
			ID: spool.NewID(), Kind: retake.SignalSessionEnd, Time: h.s.p.Clock.Now(), Agent: x.Agent, Session: x.ID,
			Dir: filepath.Join(ws.Root, filepath.FromSlash(x.Dir)), Failed: "the agent is gone",
		}, habits)
		if err == nil && j.act.Save != nil { // else the next one tries
			out = append(out, j)
		}
	}
	return out
}

// settle lets what was told become what is known: turns of agents that died, and
// conversations that are being kept.
func (s *Service) settle(ctx context.Context, ws retake.Workspace) {
	h, err := s.hearingOf(ws.ID)
	if err != nil || s.habits(ws.ID).Paused {
		return // context
	}
	for _, j := range h.bury(ws, s.habits(ws.ID)) {
		select {
		case <-j.done:
		case <-ctx.Done():
			return
		}
	}
	h.keeps.Lock()   // whoever keeps a conversation has it until it is kept
	h.keeps.Unlock() //nolint:staticcheck // only waited
}

// lookAfter hears what waits, and ends the turns of agents that died, now and then.
func (s *Service) lookAfter(ctx context.Context) {
	if s.p.Signals != "" && spool.Count(s.p.Signals) > 0 {
		s.hearWaiting()
	}
	s.mu.Lock()
	hearings := slices.Collect(maps.Values(s.hearings))
	s.mu.Unlock()
	for _, h := range hearings {
		if ws, err := s.row(ctx, h.id); err == nil && ws.Ended == nil && !s.habits(h.id).Paused {
			h.bury(ws, s.habits(h.id))
		}
	}
}
