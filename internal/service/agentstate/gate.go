package agentstate

import (
	"context"
	"slices"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/session"
	"github.com/retake-dev/retake/internal/platform/proc"
	"github.com/retake-dev/retake/internal/service/workspace"
)

// repeatWarnings tells the user what a call does once more.
func repeatWarnings(texts []string) []retake.Warning {
	var out []retake.Warning
	for _, t := range texts {
		out = append(out, retake.Warning{Code: retake.WarningRepeated, Text: t})
	}
	return out
}

// stopUnsaved returns the stop of a call that may delete files which could not be saved, if the user's
// policy says so.
func (h *State) stopUnsaved(j *signalJob, why string) (stop *retake.Stop) {
	policy := h.svc.workspaces.HabitsOf(h.workspace).Gate[retake.GateNotSaved]
	if j.act.Approved || policy == "" || policy == retake.GateAllow {
		return nil
	}
	h.updateState(func(st *session.State) { stop = st.StopUnsaved(j.sig, policy, why) })
	return stop
}

// Approve lets a stopped call pass once. A process that an agent started may not: the agent would
// approve its own calls.
func (s *Agents) Approve(ctx context.Context, req retake.ApproveRequest) (retake.Effect, error) {
	if _, err := s.workspaces.LoadWorkspace(ctx, req.Workspace); err != nil {
		return retake.Effect{}, workspace.WrapError("no such workspace", workspace.Unchanged, err)
	}
	if agent := s.agentAbove(req.Asker); agent != "" {
		return retake.Effect{}, &retake.Error{Kind: retake.Denied, What: "an agent can't approve a call: this runs in a session of " + AgentTitle(agent), Safe: workspace.Unchanged, Hint: "run it in a terminal of your own: retake approve " + req.ID}
	}
	var out retake.Effect
	err := s.StateOf(req.Workspace).Rewrite(func(st *session.State) (bool, error) {
		c := st.FindStopped(req.ID)
		if c == nil {
			return false, &retake.Error{Kind: retake.NotFound, What: "no call with this ID waits for an approval", Safe: workspace.Unchanged, Hint: "list external actions: retake effects"}
		}
		c.Approved = s.workspaces.Clock.Now()
		out = retake.Effect{ID: c.ID, Time: c.At, Text: c.Text, Kind: string(c.Class), Outcome: retake.OutcomeStopped}
		return true, nil
	})
	return out, workspace.WrapError("the call can't be approved", workspace.Unchanged, err)
}

// agentAbove returns the agent that started a process, or "".
func (s *Agents) agentAbove(pid int) string {
	if pid <= 0 {
		return ""
	}
	above := proc.Ancestors(pid)
	for _, h := range s.allAgentStates() {
		if agent := h.sessionOf(above); agent != "" {
			return agent
		}
	}
	return ""
}

// sessionOf returns the agent whose process is among some, or "".
func (h *State) sessionOf(pids []int) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, x := range h.state.Sessions {
		if x.PID > 0 && x.Phase != session.Away && slices.Contains(pids, x.PID) {
			return x.Agent
		}
	}
	return ""
}
