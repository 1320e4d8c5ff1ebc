// Package agentstate follows the agents: it handles their signals, knows which turn runs
// where, takes the checkpoints that a turn needs, and keeps conversations, tasks and effects
// with them.
//
// It reads transcripts of agents and writes the session directory and the state of
// checkpoints. It never writes the files of a workspace or of an agent, except for the new
// conversation that Resume makes.
package agentstate

import (
	"sync"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/service/checkpoint"
	"github.com/retake-dev/retake/internal/service/history"
	"github.com/retake-dev/retake/internal/service/insight"
	"github.com/retake-dev/retake/internal/service/rescue"
	"github.com/retake-dev/retake/internal/service/workspace"
)

// Agents is what is known of the agents that work in workspaces.
type Agents struct {
	// StallWarnings says once that uploads stall, to who works there; nil: nobody does.
	StallWarnings func(retake.WorkspaceID) []retake.Warning

	workspaces  *workspace.Registry
	history     *history.History
	checkpoints *checkpoint.Checkpoints
	insight     *insight.Insight
	rescuer     *rescue.Rescuer
	localAgents bool // agents run on this machine, so the exit of their process can be seen

	mu       sync.Mutex // guards states
	states   map[retake.WorkspaceID]*State
	queueMu  sync.Mutex    // held while queued signals are handled
	caughtUp chan struct{} // closed when the signals queued before the start are handled
}

// New returns an Agents. Start must be called before it handles signals.
func New(w *workspace.Registry, h *history.History, c *checkpoint.Checkpoints, r *rescue.Rescuer, i *insight.Insight, localAgents bool) *Agents {
	return &Agents{
		workspaces: w, history: h, checkpoints: c, insight: i, rescuer: r, localAgents: localAgents,
		states: map[retake.WorkspaceID]*State{}, caughtUp: make(chan struct{}),
	}
}

// Start handles the signals that waited, in the background if the service is exclusive.
// Others leave them to it.
func (s *Agents) Start() {
	if !s.workspaces.Exclusive {
		close(s.caughtUp)
		return
	}
	s.workspaces.Work.Go(func() {
		defer close(s.caughtUp)
		s.workspaces.RunTask(workspace.TaskEvents, s.handleQueuedSignals)
	})
}

// CaughtUp is closed when the signals that waited at the start are handled.
func (s *Agents) CaughtUp() <-chan struct{} { return s.caughtUp }

// AgentPIDs returns the processes of the agents of a workspace.
func (s *Agents) AgentPIDs(id retake.WorkspaceID) []int { return s.StateOf(id).agentPIDs() }
