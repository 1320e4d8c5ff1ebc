package agentstate

import (
	"context"
	"path/filepath"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/queue"
	"github.com/retake-dev/retake/internal/agents/session"
	"github.com/retake-dev/retake/internal/agents/transcript"
	"github.com/retake-dev/retake/internal/platform/proc"
	"github.com/retake-dev/retake/internal/service/workspace"
)

// watchProcess waits in the background for the exit of an agent process that is in a turn.
// The caller holds mu.
func (h *State) watchProcess(key string) {
	x := h.state.Find(key)
	if !h.svc.workspaces.Exclusive || !h.svc.localAgents || x == nil || x.Phase != session.Working || !x.Steady || h.awaitedPIDs[x.PID] {
		return
	}
	if h.awaitedPIDs == nil {
		h.awaitedPIDs = map[int]bool{}
	}
	pid, life := x.PID, h.svc.workspaces.Serving
	h.awaitedPIDs[pid] = true
	h.svc.workspaces.Work.Go(func() {
		ended := proc.WaitForExit(life, pid) == nil
		h.mu.Lock()
		delete(h.awaitedPIDs, pid)
		h.mu.Unlock()
		if ended {
			h.svc.workspaces.RunTask(workspace.TaskTurns, func() error { h.svc.endDeadTurnsIn(life, h); return nil })
		}
	})
}

// EndAllDeadTurns ends the turns of dead agents in all workspaces. After a restart of the
// daemon nothing waits for their processes.
func (s *Agents) EndAllDeadTurns(ctx context.Context) {
	for _, h := range s.allAgentStates() {
		s.endDeadTurnsIn(ctx, h)
	}
}

func (s *Agents) endDeadTurnsIn(ctx context.Context, h *State) {
	if ws, err := s.workspaces.LoadWorkspace(ctx, h.workspace); err == nil && ws.Ended == nil && !s.workspaces.HabitsOf(h.workspace).Paused {
		h.endDeadTurns(ws, s.workspaces.HabitsOf(h.workspace))
	}
}

// endDeadTurns ends the turns of agents whose process is gone. Each becomes a checkpoint
// before anything later is handled.
func (h *State) endDeadTurns(ws retake.Workspace, habits retake.Habits) {
	if !h.svc.localAgents {
		return // agents run on another machine
	}
	h.mu.Lock()
	gone := h.state.DeadSessions(proc.IsAlive)
	h.mu.Unlock()
	for _, x := range gone {
		sig := retake.Signal{
			ID: queue.NewID(), Kind: retake.SignalSessionEnd, Time: h.svc.workspaces.Clock.Now(), Agent: x.Agent, Session: x.ID,
			Dir: filepath.Join(ws.Root, filepath.FromSlash(x.Dir)), Failed: "the agent is gone",
		}
		if last, ok := h.svc.readFinalMessage(x); ok {
			sig.Kind, sig.Message, sig.Failed = retake.SignalTurnEnd, last, ""
		}
		h.handleTurnEnd(ws, sig, habits, x)
	}
}

// endTurnOfSession ends the turn of a session that ends, if its transcript shows that the
// agent had answered: the end of the turn was lost or comes late. It waits for the
// checkpoint, as the end of the turn would have.
func (h *State) endTurnOfSession(ctx context.Context, ws retake.Workspace, sig retake.Signal, habits retake.Habits) {
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

// handleTurnEnd handles the end of a turn that was never reported, unless another signal
// changed the turn meanwhile.
func (h *State) handleTurnEnd(ws retake.Workspace, sig retake.Signal, habits retake.Habits, x session.Session) *signalJob {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.state.Find(x.Key())
	if now == nil || now.Phase != session.Working || now.Turn.ID != x.Turn.ID || !now.Turn.Since.Equal(x.Turn.Since) {
		return nil
	}
	j, store := h.handleSignalLocked(ws, sig, habits, arrival{})
	store()
	h.state.MarkLeft(x.Key())
	return j
}

// readFinalMessage returns the agent's last message if the transcript shows that the turn
// ended.
func (s *Agents) readFinalMessage(x session.Session) (string, bool) {
	if x.Transcript == "" {
		return "", false
	}
	tail, err := s.readTranscriptTail(x.Transcript)
	if err != nil {
		return "", false
	}
	return transcript.TurnEnded(x.Agent, tail, x.Turn.Since.Add(-clockSlack))
}

// clockSlack is how much earlier than its prompt a line of the same turn may be dated:
// agents note the time before they run their hooks.
const clockSlack = 10 * time.Second
