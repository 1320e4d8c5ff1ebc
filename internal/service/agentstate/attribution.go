package agentstate

import (
	"context"
	"slices"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/queue"
	"github.com/retake-dev/retake/internal/agents/session"
	"github.com/retake-dev/retake/internal/service/workspace"
)

// AttributeToAgents adds to a new checkpoint what is known of the agents: the effects since
// the previous checkpoint and, whoever asked for the checkpoint, the turn that was going
// on.
func (s *Agents) AttributeToAgents(cp *retake.Checkpoint) {
	h := s.StateOf(cp.Workspace)
	cp.Effects = h.endedEffects(cp.Time)
	if cp.Turn == nil && (cp.Trigger == retake.TriggerManual || cp.Trigger == retake.TriggerComplete) {
		cp.Turn = h.OngoingTurn(cp.Time)
	}
}

// DropSealedEffects removes the effects that a sealed checkpoint holds from the pending
// ones.
func (s *Agents) DropSealedEffects(cp retake.Checkpoint) {
	if len(cp.Effects) == 0 {
		return
	}
	s.StateOf(cp.Workspace).dropEffects(cp.Effects)
}

// OngoingTurn returns the turn that is going on at the given time, or nil.
func (h *State) OngoingTurn(at time.Time) *retake.Turn {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range slices.Backward(h.state.Sessions) {
		if t := h.state.OngoingTurn(i, at); t != nil {
			return t
		}
	}
	return nil
}

// agentPIDs returns the processes of the known sessions.
func (h *State) agentPIDs() []int {
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

// CatchUp handles the queued signals in the background. It is for a service that lives for
// one command, where no daemon does it.
func (s *Agents) CatchUp() {
	if s.workspaces.SignalDir != "" && !queue.IsEmpty(s.workspaces.SignalDir) {
		s.workspaces.RunTask(workspace.TaskEvents, s.handleQueuedSignals)
	}
}

// handleQueuedSignals handles the signals in the queue: those that arrived while no service
// was running, and those that were not finished when the last one ended.
func (s *Agents) handleQueuedSignals() error {
	queue.RemoveStale(s.workspaces.SignalDir, s.workspaces.Clock.Now().Add(-time.Hour))
	most := 0
	if queue.Count(s.workspaces.SignalDir) > queue.MaxSignals { // more than we ever queue: handle only some
		most = maxOlderSignals
	}
	return queue.ForEach(s.workspaces.SignalDir, most, func(sig retake.Signal, done func()) bool { // the next start continues
		s.handleQueuedSignal(sig, done)
		return s.workspaces.Lifetime.Err() == nil
	})
}

// HandleOlderSignals handles the signals that were queued before the given one, because
// only their order tells the end of one turn from that of the next. It reports whether the
// signal itself is in the queue: then its sender gave up waiting.
func (s *Agents) HandleOlderSignals(id retake.SignalID) (waited bool, err error) {
	if s.workspaces.SignalDir == "" || queue.IsEmpty(s.workspaces.SignalDir) {
		return false, nil
	}
	s.queueMu.Lock()
	defer s.queueMu.Unlock()
	err = queue.ForEach(s.workspaces.SignalDir, maxOlderSignals, func(waits retake.Signal, done func()) bool { // the next signal continues
		if waited = waits.ID == id; !waited && !s.isSignalQueued(waits) {
			s.handleQueuedSignal(waits, done)
		}
		return !waited && s.workspaces.Lifetime.Err() == nil
	})
	return waited, err
}

// maxOlderSignals bounds how many queued signals a new one waits for; the rest is handled
// later.
const maxOlderSignals = 64

// isSignalQueued reports whether a signal is being handled already.
func (s *Agents) isSignalQueued(sig retake.Signal) bool {
	return slices.ContainsFunc(s.allAgentStates(), func(h *State) bool { return h.hasQueued(sig.ID) })
}

// maxSignalAge is the age from which a queued signal is dropped.
const maxSignalAge = 7 * 24 * time.Hour

// handleQueuedSignal handles one signal from the queue and calls drop when it is finished.
// A signal that fails for now stays in the queue; one that can never succeed, such as for
// an unknown workspace, is dropped.
func (s *Agents) handleQueuedSignal(sig retake.Signal, drop func()) {
	r, err := s.observeSignal(s.workspaces.Lifetime, sig, true)
	done := err == nil && !r.Later
	for _, never := range []retake.ErrorKind{retake.Invalid, retake.Exists, retake.NotFound, retake.Moved} {
		done = done || retake.IsKind(err, never)
	}
	if done || s.workspaces.Clock.Now().Sub(sig.Time) > maxSignalAge && s.workspaces.Lifetime.Err() == nil {
		drop()
	}
}

// NotifyRewind leaves a note about changed files for every agent that knew them before.
func (s *Agents) NotifyRewind(ws retake.WorkspaceID, w session.Rewind) {
	s.StateOf(ws).updateState(func(st *session.State) { st.AddRewind(w) })
}

// waitForAgents ends the turns of dead agents and waits until queued signals and
// transcripts are saved, for at most transcriptWait after the last signal.
func (s *Agents) waitForAgents(ctx context.Context, ws retake.Workspace) {
	h := s.StateOf(ws.ID)
	if s.workspaces.HabitsOf(ws.ID).Paused {
		return
	}
	h.endDeadTurns(ws, s.workspaces.HabitsOf(ws.ID))
	for _, j := range h.unfinishedJobs() {
		select {
		case <-j.done:
		case <-ctx.Done():
			return
		}
	}
	if h.transcripts.LockWithin(ctx, TranscriptWait) { // it is held while a transcript is saved
		h.transcripts.Unlock()
	}
}
