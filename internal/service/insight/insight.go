// Package insight says what checkpoints mean: summaries, stories, checks and their results,
// search and blame.
//
// It reads checkpoints, the files of a workspace and, if asked, places outside of it. It
// writes notes beside checkpoints, never the checkpoints themselves: whatever fails here, a
// save is not affected.
package insight

import (
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/capture"
	"github.com/retake-dev/retake/internal/explain/hostprobe"
	"github.com/retake-dev/retake/internal/explain/xray"
	"github.com/retake-dev/retake/internal/service/history"
	"github.com/retake-dev/retake/internal/service/workspace"
)

// Options are the dependencies and settings of an Insight.
type Options struct {
	Readers     *xray.Pool                             // child processes that read changed files for their meaning; nil: nothing is read
	HostProbe   *hostprobe.Options                     // places outside the roots; nil: not probed
	VerifyLimit func(retake.WorkspaceID) time.Duration // time limit of one check; nil: that of verify
}

// Insight summarizes and explains checkpoints.
type Insight struct {
	AgentPIDs func(retake.WorkspaceID) []int // processes of the agents of a workspace

	workspaces  *workspace.Registry
	history     *history.History
	opts        Options
	summarizer  *summarizer
	checkRunner *checkRunner
	host        hostCache // what was found outside the roots
}

// New returns an Insight.
func New(w *workspace.Registry, h *history.History, o Options) *Insight {
	if o.VerifyLimit == nil {
		o.VerifyLimit = func(retake.WorkspaceID) time.Duration { return 0 }
	}
	s := &Insight{workspaces: w, history: h, opts: o, AgentPIDs: func(retake.WorkspaceID) []int { return nil }}
	s.summarizer = &summarizer{svc: s}
	s.checkRunner = &checkRunner{svc: s, runs: map[retake.WorkspaceID]*checkRun{}}
	return s
}

// OnCheckpoint summarizes a new checkpoint and runs its checks, in the background.
func (s *Insight) OnCheckpoint(cp retake.Checkpoint, res *capture.Result) {
	s.summarizer.enqueueSealed(cp, res)
	s.checkRunner.onCheckpoint(cp)
}

// RequestSummary asks for a missing summary.
func (s *Insight) RequestSummary(cp retake.Checkpoint) { s.summarizer.requestMissing(cp) }

// RunningChecks returns the names of the checks that are running, by content.
func (s *Insight) RunningChecks(ws retake.WorkspaceID) map[retake.ContentID][]string {
	return s.checkRunner.runningChecks(ws)
}

// StopChecks cancels the checks of a workspace because its files are about to change.
func (s *Insight) StopChecks(ws retake.WorkspaceID) { s.checkRunner.stop(ws) }

// ForgetCaptures drops what is kept of captures in memory, after a purge changed them.
func (s *Insight) ForgetCaptures() { s.summarizer.dropMemory() }

// Stop ends the background work.
func (s *Insight) Stop() {
	s.summarizer.runOnClose()
	s.checkRunner.stopAll()
}

// CloseReaders ends the child processes. Nothing may read any more.
func (s *Insight) CloseReaders() {
	if s.opts.Readers != nil {
		s.workspaces.Diag.Log().Debug("readers ended", "err", s.opts.Readers.Close())
	}
}
