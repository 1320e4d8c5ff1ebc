// Package maintenance looks after what is stored: it drops checkpoints that are due, sweeps
// what none of them needs, checks the store, restores for practice, compares files with the
// tracker, and takes auto-checkpoints between turns.
//
// It runs between saves and never during one. What it drops leaves a tombstone.
package maintenance

import (
	"context"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/service/agentstate"
	"github.com/retake-dev/retake/internal/service/checkpoint"
	"github.com/retake-dev/retake/internal/service/history"
	"github.com/retake-dev/retake/internal/service/insight"
	"github.com/retake-dev/retake/internal/service/rewind"
	"github.com/retake-dev/retake/internal/service/workspace"
)

// Options are the settings of a Maintenance.
type Options struct {
	Budget         func(total int64) int64                // maximum size of the store on a disk of that size; nil or 0: no limit
	Within         func(retake.WorkspaceID) time.Duration // how long checkpoints are kept; nil or 0: forever
	GoneAfter      func(retake.WorkspaceID) time.Duration // age after which only pins, the newest and checkpoints in use are kept; nil or 0: never
	RefuseWhenFull bool                                   // checkpoints are dropped by age only; when space is short, saves are refused
	DrillEnabled   func(retake.WorkspaceID) bool          // good checkpoints are test-restored now and then; nil: never
}

// Maintenance looks after the store and the trackers.
type Maintenance struct {
	workspaces  *workspace.Registry
	history     *history.History
	checkpoints *checkpoint.Checkpoints
	insight     *insight.Insight
	agents      *agentstate.Agents
	rewinder    *rewind.Rewinder
	opts        Options
	retention   retentionState // disk use and cleanup
	loops       *upkeepLoops   // nil until started
}

// New returns a Maintenance that does nothing by itself until it is started.
func New(w *workspace.Registry, h *history.History, c *checkpoint.Checkpoints, i *insight.Insight, a *agentstate.Agents, r *rewind.Rewinder, o Options) *Maintenance {
	if o.DrillEnabled == nil {
		o.DrillEnabled = func(retake.WorkspaceID) bool { return false }
	}
	return &Maintenance{workspaces: w, history: h, checkpoints: c, insight: i, agents: a, rewinder: r, opts: o}
}

// Start starts the loops, which run until the service begins to close.
func (s *Maintenance) Start() { s.loops = startLoops(s) }

// Wait waits until the loops have ended.
func (s *Maintenance) Wait() {
	if s.loops != nil {
		s.loops.loops.Wait()
	}
}

// Finish does what upkeep would do in the next pause: after a stop that may be far away, and until
// then new metadata has no second copy.
func (s *Maintenance) Finish() {
	st := s.workspaces.StoreIfOpen()
	if st == nil || s.loops == nil || !s.workspaces.Exclusive {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), finishLimit)
	defer cancel()
	s.workspaces.RunTask(workspace.TaskMaintenance, func() error { return st.Maintain(ctx) })
}

const finishLimit = 2 * time.Second

// RequestRun asks for upkeep in the next pause. It never blocks.
func (s *Maintenance) RequestRun() { s.loops.requestRun() }

// NoteFullScan records that all files were scanned, so that the memory is given back later.
func (s *Maintenance) NoteFullScan(files int64) { s.loops.noteFullScan(files) }
