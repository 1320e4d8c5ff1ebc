// Package carry takes checkpoints off this machine: it pushes them to a git remote, in the
// background and on request.
//
// It reads the history and writes the remote. It never changes a checkpoint.
package carry

import (
	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/backup"
	"github.com/retake-dev/retake/internal/service/history"
	"github.com/retake-dev/retake/internal/service/workspace"
)

// Options are the dependencies and settings of Backups.
type Options struct {
	Worker *backup.Worker             // pushes checkpoints to a git remote; nil: no backups
	OnEnd  func(retake.Backup, error) // called after each run; may be nil
}

// Backups sends checkpoints to where the user asked.
type Backups struct {
	workspaces *workspace.Registry
	history    *history.History
	opts       Options
	runner     *backupRunner
}

// New returns a Backups. In an exclusive service it schedules a run for every workspace that
// has a backup.
func New(w *workspace.Registry, h *history.History, o Options) *Backups {
	s := &Backups{workspaces: w, history: h, opts: o}
	s.runner = newBackupRunner(s)
	return s
}

// OnCheckpoint schedules a run for a new checkpoint.
func (s *Backups) OnCheckpoint(cp retake.Checkpoint) { s.runner.onCheckpoint(cp) }

// Stop ends the runs.
func (s *Backups) Stop() { s.runner.stop() }
