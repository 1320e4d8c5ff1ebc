// Package purge removes content from all of history: paths or secrets from every checkpoint,
// and everything of a workspace, with all copies that the service made.
//
// It is the only part that rewrites checkpoints. It shows a plan first and checks afterwards
// that nothing is left.
package purge

import (
	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/backup"
	"github.com/retake-dev/retake/internal/service/agentstate"
	"github.com/retake-dev/retake/internal/service/insight"
	"github.com/retake-dev/retake/internal/service/maintenance"
	"github.com/retake-dev/retake/internal/service/workspace"
)

// Uploads are the remotes, which have what is purged for a while longer.
type Uploads interface {
	Holding(ws retake.WorkspaceID) []string // says where it is
	OnPurge(ws retake.WorkspaceID)
	OnErase(ws retake.WorkspaceID)
}

// Options are the dependencies and settings of a Purger.
type Options struct {
	Backup  *backup.Worker // knows what was pushed; nil: nothing was
	Uploads Uploads        // knows what was uploaded; nil: nothing was
	Denied  bool           // on a server, checkpoints are removed by deletion requests
}

// Purger removes content from history.
type Purger struct {
	workspaces  *workspace.Registry
	insight     *insight.Insight
	agents      *agentstate.Agents
	maintenance *maintenance.Maintenance
	opts        Options
}

// New returns a Purger.
func New(w *workspace.Registry, i *insight.Insight, a *agentstate.Agents, m *maintenance.Maintenance, o Options) *Purger {
	return &Purger{workspaces: w, insight: i, agents: a, maintenance: m, opts: o}
}
