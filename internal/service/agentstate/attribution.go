package agentstate

import (
	"context"
	"slices"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/session"
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
