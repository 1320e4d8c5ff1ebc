package service

import (
	"context"
	"path/filepath"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/queue"
	"github.com/retake-dev/retake/internal/agents/session"
	"github.com/retake-dev/retake/internal/agents/transcript"
	"github.com/retake-dev/retake/internal/platform/proc"
)

// An agent can exit without reporting the end of its turn: it crashed, it was killed, or
// it did not wait for its hooks. Then the end of its process ends the turn, at once, so
// that what a person edits next is not taken for the agent's work.

// watchProcess waits for the end of the process of a session that is in a turn. The
// caller holds mu.
func (h *agentState) watchProcess(key string) {
	x := h.state.Find(key)
	if h.svc.maintenance == nil || !h.svc.parts.LocalAgents || x == nil || x.Phase != session.Working || !x.Steady || h.awaitedPIDs[x.PID] {
		return
	}
	if h.awaitedPIDs == nil {
		h.awaitedPIDs = map[int]bool{}
	}
	pid, life := x.PID, h.svc.maintenance.ctx
	h.awaitedPIDs[pid] = true
	h.svc.backgroundWG.Go(func() {
		ended := proc.WaitForExit(life, pid) == nil
		h.mu.Lock()
		delete(h.awaitedPIDs, pid)
		h.mu.Unlock()
		if ended {
			h.svc.endDeadTurnsIn(life, h)
		}
	})
}

// endAllDeadTurns ends the turns of agents that are gone, now and then: after a restart of the
// daemon nobody waits for their processes.
func (s *Service) endAllDeadTurns(ctx context.Context) {
	for _, h := range s.allAgentStates() {
		s.endDeadTurnsIn(ctx, h)
	}
}

func (s *Service) endDeadTurnsIn(ctx context.Context, h *agentState) {
	if ws, err := s.loadWorkspace(ctx, h.workspace); err == nil && ws.Ended == nil && !s.habitsOf(h.workspace).Paused {
		h.endDeadTurns(ws, s.habitsOf(h.workspace))
	}
}

// endDeadTurns ends the turns of agents that are gone: each becomes a checkpoint before anything
// that comes after.
func (h *agentState) endDeadTurns(ws retake.Workspace, habits retake.Habits) {
	if !h.svc.parts.LocalAgents {
		return // they run on another machine
	}
	h.mu.Lock()
	gone := h.state.DeadSessions(proc.IsAlive)
	h.mu.Unlock()
	for _, x := range gone {
		sig := retake.Signal{
			ID: queue.NewID(), Kind: retake.SignalSessionEnd, Time: h.svc.parts.Clock.Now(), Agent: x.Agent, Session: x.ID,
			Dir: filepath.Join(ws.Root, filepath.FromSlash(x.Dir)), Failed: "the agent is gone",
		}
		if last, ok := h.svc.readFinalMessage(x); ok {
			sig.Kind, sig.Message, sig.Failed = retake.SignalTurnEnd, last, ""
		}
		h.handleTurnEnd(ws, sig, habits, x)
	}
}

// endTurnOfSession ends a turn whose session ends, when its conversation says that the agent had
// given its answer: the end of the turn was not heard, or comes late. It waits for the
// files to be read, as the end of the turn would have.
func (h *agentState) endTurnOfSession(ctx context.Context, ws retake.Workspace, sig retake.Signal, habits retake.Habits) {
	h.mu.Lock()
	var x session.Session
	if p := h.state.Find(sig.Agent + " " + sig.Session); p != nil {
		x = *p
	}
	h.mu.Unlock()
	if x.Phase != session.Working {
		return
	}
	if last, ok := h.svc.readFinalMessage(x); ok {
		sig.ID, sig.Kind, sig.Message, sig.Reason = queue.NewID(), retake.SignalTurnEnd, last, ""
		if j := h.handleTurnEnd(ws, sig, habits, x); j != nil && j.act.Save != nil {
			select {
			case <-j.done:
			case <-ctx.Done():
			}
		}
	}
}

// handleTurnEnd hears the end of a turn that nobody told, unless something was heard meanwhile.
func (h *agentState) handleTurnEnd(ws retake.Workspace, sig retake.Signal, habits retake.Habits, x session.Session) *signalJob {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.state.Find(x.Key())
	if now == nil || now.Phase != session.Working || now.Turn.ID != x.Turn.ID || !now.Turn.Since.Equal(x.Turn.Since) {
		return nil
	}
	j := h.handleSignalLocked(ws, sig, habits, false)
	h.state.MarkLeft(x.Key())
	return j
}

// readFinalMessage is what the agent said at the end of its turn, when its conversation shows
// that the turn came to its end.
func (s *Service) readFinalMessage(x session.Session) (string, bool) {
	if x.Transcript == "" {
		return "", false
	}
	tail, err := s.readTranscriptTail(x.Transcript)
	if err != nil {
		return "", false
	}
	return transcript.TurnEnded(x.Agent, tail, x.Turn.Since.Add(-clockSlack))
}

// clockSlack is how much earlier than its prompt a line of the same turn may be dated: an
// agent notes the time before it runs its hooks.
const clockSlack = 10 * time.Second
