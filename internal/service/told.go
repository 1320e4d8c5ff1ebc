package service

import (
	"context"
	"slices"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/queue"
	"github.com/retake-dev/retake/internal/agents/session"
)

// attributeToAgents says of a checkpoint what is known of the agents: the effects since the one
// before, and the turn that was going on, whoever asked for it.
func (s *Service) attributeToAgents(cp *retake.Checkpoint) {
	h := s.agentStateOf(cp.Workspace)
	cp.Effects = h.endedEffects(cp.Time)
	if cp.Turn == nil && (cp.Trigger == retake.TriggerManual || cp.Trigger == retake.TriggerComplete) {
		cp.Turn = h.ongoingTurn(cp.Time)
	}
}

// dropSealedEffects ends what a sealed checkpoint carries on.
func (s *Service) dropSealedEffects(cp retake.Checkpoint) {
	if len(cp.Effects) == 0 {
		return
	}
	s.agentStateOf(cp.Workspace).dropEffects(cp.Effects)
}

// ongoingTurn is the turn that goes on at a time, if there is one.
func (h *agentState) ongoingTurn(at time.Time) *retake.Turn {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range slices.Backward(h.state.Sessions) {
		if t := h.state.OngoingTurn(i, at); t != nil {
			return t
		}
	}
	return nil
}

// agentPIDs are the processes of the sessions that are known.
func (h *agentState) agentPIDs() []int {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []int
	for _, x := range h.state.Sessions {
		if x.PID > 0 && x.Phase != session.Away {
			out = append(out, x.PID)
		}
	}
	return out
}

// turnKey names a turn among those of all sessions.
type turnKey struct{ agent, session, id string }

// turnKeyOf is the turn that a checkpoint was taken in, or at the end of.
func turnKeyOf(cp retake.Checkpoint) (turnKey, bool) {
	if !isInTurn(cp) || cp.Turn.ID == "" {
		return turnKey{}, false
	}
	return turnKey{cp.Turn.Agent, cp.Turn.Session, cp.Turn.ID}, true
}

// isSameTurn reports whether two checkpoints are parts of one turn.
func isSameTurn(a, b retake.Checkpoint) bool {
	x, inA := turnKeyOf(a)
	y, inB := turnKeyOf(b)
	return inA && inB && x == y
}

// isInTurn reports whether a checkpoint was taken while a turn went on, or at its end.
func isInTurn(cp retake.Checkpoint) bool {
	if cp.Turn == nil {
		return false
	}
	switch cp.Trigger {
	case retake.TriggerRisk, retake.TriggerTask, retake.TriggerCall, retake.TriggerTurn, retake.TriggerManual, retake.TriggerComplete, retake.TriggerSession:
		return true
	default:
		return false
	}
}

// CatchUp hears what waits, for a service that lives for one command: no daemon will.
func (s *Service) CatchUp() {
	if s.parts.SignalDir != "" && !queue.IsEmpty(s.parts.SignalDir) {
		s.background(taskEvents, s.handleQueuedSignals)
	}
}

// handleQueuedSignals hears what waits in the spool: signals that came while nobody listened,
// and those that were not done when the service ended.
func (s *Service) handleQueuedSignals() error {
	queue.RemoveStale(s.parts.SignalDir, s.parts.Clock.Now().Add(-time.Hour))
	most := 0
	if queue.Count(s.parts.SignalDir) > queue.MaxSignals { // somebody else put them there: nobody waits for all of it
		most = maxOlderSignals
	}
	return queue.ForEach(s.parts.SignalDir, most, func(sig retake.Signal, done func()) bool { // the next start looks again
		s.handleQueuedSignal(sig, done)
		return s.lifetime.Err() == nil
	})
}

// handleOlderSignals hears what waits before a signal that comes now: order is what tells a turn's
// end from the next one's. It reports whether the signal itself waits: then whoever sent it
// gave up and went on.
func (s *Service) handleOlderSignals(id retake.SignalID) (waited bool, err error) {
	if s.parts.SignalDir == "" || queue.IsEmpty(s.parts.SignalDir) {
		return false, nil
	}
	s.queueMu.Lock()
	defer s.queueMu.Unlock()
	err = queue.ForEach(s.parts.SignalDir, maxOlderSignals, func(waits retake.Signal, done func()) bool { // the next one looks again
		if waited = waits.ID == id; !waited && !s.isSignalQueued(waits) {
			s.handleQueuedSignal(waits, done)
		}
		return !waited && s.lifetime.Err() == nil
	})
	return waited, err
}

// mostOlder bounds what a signal waits for; the rest is heard by and by.
const maxOlderSignals = 64

// isSignalQueued reports whether a signal was heard and is being done.
func (s *Service) isSignalQueued(sig retake.Signal) bool {
	return slices.ContainsFunc(s.allAgentStates(), func(h *agentState) bool { return h.hasQueued(sig.ID) })
}

// tooOld is when a signal is worth nothing any more.
const maxSignalAge = 7 * 24 * time.Hour

// handleQueuedSignal hears one that waited. What cannot be done now waits on; what never can be,
// because there is no such workspace, goes.
func (s *Service) handleQueuedSignal(sig retake.Signal, drop func()) {
	r, err := s.observeSignal(s.lifetime, sig, true)
	done := err == nil && !r.Later
	for _, never := range []retake.ErrorKind{retake.Invalid, retake.Exists, retake.NotFound, retake.Moved} {
		done = done || retake.IsKind(err, never)
	}
	if done || s.parts.Clock.Now().Sub(sig.Time) > maxSignalAge && s.lifetime.Err() == nil {
		drop()
	}
}

// notifyRewind makes every agent that knows the files hear what became of them.
func (s *Service) notifyRewind(ws retake.WorkspaceID, w session.Rewind) {
	s.agentStateOf(ws).updateState(func(st *session.State) { st.AddRewind(w) })
}

// waitForAgents lets what was told become what is known: turns of agents that died, and
// conversations that are being kept.
func (s *Service) waitForAgents(ctx context.Context, ws retake.Workspace) {
	h := s.agentStateOf(ws.ID)
	if s.habitsOf(ws.ID).Paused {
		return
	}
	h.endDeadTurns(ws, s.habitsOf(ws.ID))
	for _, j := range h.unfinishedJobs() {
		select {
		case <-j.done:
		case <-ctx.Done():
			return
		}
	}
	for end := s.parts.Clock.Now().Add(transcriptWait); s.parts.Clock.Now().Before(end) && ctx.Err() == nil; <-time.After(agentPollInterval) {
		if h.transcriptMu.TryLock() { // whoever keeps a conversation has it until it is kept
			h.transcriptMu.Unlock()
			return
		}
	}
}

const agentPollInterval = 10 * time.Millisecond
