// Package rewind takes a workspace back: it plans a restore, an undo or an adoption, applies
// exactly the plan that was shown, and forks.
//
// It is the only part of the service that writes files of a workspace, and it saves what it
// replaces first.
package rewind

import (
	"github.com/retake-dev/retake/internal/service/agentstate"
	"github.com/retake-dev/retake/internal/service/checkpoint"
	"github.com/retake-dev/retake/internal/service/history"
	"github.com/retake-dev/retake/internal/service/insight"
	"github.com/retake-dev/retake/internal/service/rescue"
	"github.com/retake-dev/retake/internal/service/workspace"
)

// Rewinder plans and applies restores.
type Rewinder struct {
	workspaces  *workspace.Registry
	history     *history.History
	checkpoints *checkpoint.Checkpoints
	rescuer     *rescue.Rescuer
	insight     *insight.Insight
	agents      *agentstate.Agents
	kernelFence bool // the kernel also confines restores to the workspace
}

// New returns a Rewinder.
func New(w *workspace.Registry, h *history.History, c *checkpoint.Checkpoints, r *rescue.Rescuer, i *insight.Insight, a *agentstate.Agents, kernelFence bool) *Rewinder {
	return &Rewinder{workspaces: w, history: h, checkpoints: c, rescuer: r, insight: i, agents: a, kernelFence: kernelFence}
}
