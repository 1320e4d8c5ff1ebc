// Package service implements retake.Service: it puts the parts below it together and starts
// and ends them. What they do is in their own packages; arrows point down:
//
//	purge        removes content from all of history
//	maintenance  drops, sweeps, checks, restores for practice
//	carry        uploads the history to remotes, and pushes checkpoints with git
//	rewind       plans and applies restores; forks
//	agentstate   follows agents, turns and conversations
//	rescue       saves files outside of a workspace before a call destroys them
//	insight      summaries, stories, checks, search
//	checkpoint   takes checkpoints
//	history      reads the timeline
//	workspace    finds and opens workspaces and their store
//
// All of them make decisions only: they parse no flags, print nothing, and leave reading and
// writing the user's files to the engine.
//
//	U1  Bytes first, then the row: once a seal returned nil the checkpoint exists,
//	    and no later failure may undo it.
//	U2  The store is the truth. The catalog follows it, and catches up when it is behind.
//	U3  Every error that is returned has a kind, and says whether anything was changed.
package service

import (
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/capture"
	"github.com/retake-dev/retake/internal/service/agentstate"
	"github.com/retake-dev/retake/internal/service/carry"
	"github.com/retake-dev/retake/internal/service/checkpoint"
	"github.com/retake-dev/retake/internal/service/history"
	"github.com/retake-dev/retake/internal/service/insight"
	"github.com/retake-dev/retake/internal/service/maintenance"
	"github.com/retake-dev/retake/internal/service/purge"
	"github.com/retake-dev/retake/internal/service/rescue"
	"github.com/retake-dev/retake/internal/service/rewind"
	"github.com/retake-dev/retake/internal/service/workspace"
)

// Parts are the dependencies and settings of a Service.
type Parts struct {
	workspace.Parts
	Insight     insight.Options
	Maintenance maintenance.Options
	Backup      carry.Options
	Uploads     carry.UploadOptions

	StandingChecks func(retake.WorkspaceID) []retake.Standing // checks to run for every checkpoint; nil: none
	KernelFence    bool                                       // the kernel also confines restores to the workspace
	LocalAgents    bool                                       // agents run on this machine: the exit of their process can be seen, and files outside of workspaces can be saved
	Protection     string                                     // who the history is protected from; "": an agent of the same user could remove it
}

// Service implements retake.Service on top of a store, a catalog and the file system.
type Service struct {
	*workspace.Registry
	*history.History
	*checkpoint.Checkpoints
	*insight.Insight
	*agentstate.Agents
	*rewind.Rewinder
	*carry.Backups
	*carry.Uploads
	*carry.Attaching
	*maintenance.Maintenance
	*purge.Purger

	protection string
}

var _ retake.Service = (*Service)(nil)

// New returns a service with the given parts. An exclusive service starts its background
// work here.
func New(p Parts) *Service {
	w := workspace.New(p.Parts)
	h := history.New(w, p.StandingChecks)
	c := checkpoint.New(w, h)
	i := insight.New(w, h, p.Insight)
	out := rescue.New(w, c, p.LocalAgents)
	a := agentstate.New(w, h, c, out, i, p.LocalAgents)
	r := rewind.New(w, h, c, out, i, a, p.KernelFence)
	b := carry.New(w, h, p.Backup)
	up := carry.NewUploads(w, h, p.Uploads)
	m := maintenance.New(w, h, c, i, a, r, p.Maintenance)
	u := purge.New(w, i, a, m, purge.Options{Backup: p.Backup.Worker, Uploads: up, Denied: p.Maintenance.RefuseWhenFull})
	s := &Service{w, h, c, i, a, r, b, up, carry.NewAttaching(w, h, a, r, up), m, u, p.Protection}
	s.connect()
	if p.Exclusive {
		m.Start()
		up.Start()
	}
	a.Start()
	return s
}

// connect tells the lower parts whom to tell of what happens. None of these calls may fail
// or delay what it is told of.
func (s *Service) connect() {
	s.History.RunningChecks = s.Insight.RunningChecks
	s.History.RequestSummary = s.Insight.RequestSummary
	s.History.UploadOf = s.Uploads.UploadOf
	s.Agents.StallWarnings = s.Uploads.StallWarnings
	s.Uploads.Date = s.Maintenance.TrustedDate
	s.Insight.AgentPIDs = s.Agents.AgentPIDs
	s.Registry.RequestUpkeep = s.Maintenance.RequestRun
	s.Checkpoints.Hooks = checkpoint.Hooks{
		Describe: s.AttributeToAgents,
		Warnings: func(ws retake.WorkspaceID) []retake.Warning {
			return append(s.BackupWarnings(ws), s.UploadWarnings(ws)...)
		},
		Sealed: func(cp retake.Checkpoint, res *capture.Result) {
			if res.Complete {
				s.NoteFullScan(cp.Files)
			}
			s.DropSealedEffects(cp)
		},
		Recorded: func(cp retake.Checkpoint, res *capture.Result) {
			s.Insight.OnCheckpoint(cp, res)
			s.Backups.OnCheckpoint(cp)
			s.Uploads.OnCheckpoint(cp)
		},
	}
}

// Close ends background work, then closes the store and the catalog.
func (s *Service) Close() error {
	s.EndServing()
	s.Maintenance.Wait()
	s.Insight.Stop()
	s.Backups.Stop()
	s.Uploads.Stop()
	s.WaitForTasks(shutdownWait)
	s.Maintenance.Finish()
	s.CloseReaders()
	return s.Registry.Close()
}

// shutdownWait is a little longer than the wait for the last message of an agent.
const shutdownWait = agentstate.TranscriptWait + time.Second
