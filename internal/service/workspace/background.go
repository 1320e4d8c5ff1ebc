package workspace

import (
	"context"
	"sync"
	"time"

	"github.com/retake-dev/retake/internal/platform/diag"
)

// Names of background tasks, as people see them in the status and in the log.
const (
	TaskEvents       = "read waiting events"
	TaskSaves        = "take the checkpoints of turns"
	TaskAutoSaves    = "take auto-checkpoints"
	TaskCaches       = "drop what is kept of idle workspaces"
	TaskPresent      = "see what changed since the newest checkpoint"
	TaskQueue        = "keep events until they are done"
	TaskSession      = "store agent state"
	TaskReserve      = "keep room for signals"
	TaskSummary      = "summarize checkpoints"
	TaskConversation = "keep conversations"
	TaskChecks       = "run checks"
	TaskClaims       = "record results that agents report"
	TaskDrill        = "restore drill"
	TaskMaintenance  = "store maintenance"
	TaskCrossCheck   = "compare files with the tracker"
	TaskMachine      = "look at the machine"
	TaskReadings     = "keep what readers found"
	TaskReadAhead    = "read files ahead"
	TaskRetention    = "clean up"
	TaskBackup       = "backup"
	TaskUpload       = "upload to remotes"
	TaskFetch        = "fetch the history from its remote"
	TaskTurns        = "end turns of agents that are gone"
)

// Background runs the work that nobody waits for.
type Background struct {
	Work     *sync.WaitGroup // work that Close waits for
	Lifetime context.Context // ends the work when the service closes
	Serving  context.Context // ends when the service begins to close

	endLifetime, endServing context.CancelFunc
	diag                    *diag.Recorder
}

func newBackground(d *diag.Recorder) Background {
	b := Background{Work: &sync.WaitGroup{}, diag: d}
	b.Lifetime, b.endLifetime = context.WithCancel(context.Background())
	b.Serving, b.endServing = context.WithCancel(context.Background())
	return b
}

// RunTask runs one background step. A panic or an error ends this step alone; it is logged,
// counted and shown by the status.
func (b *Background) RunTask(task string, step func() error) { b.diag.Run(task, step) }

// GoTask runs one background step in a goroutine that Close waits for.
func (b *Background) GoTask(task string, step func() error) {
	b.Work.Go(func() { b.RunTask(task, step) })
}

// EndServing tells the loops that the service begins to close.
func (b *Background) EndServing() { b.endServing() }

// WaitForTasks waits for background work, but ends it after the limit: an agent may never
// finish.
func (b *Background) WaitForTasks(limit time.Duration) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.Work.Wait()
	}()
	select {
	case <-done:
	case <-time.After(limit):
		b.endLifetime()
		<-done
	}
	b.endLifetime()
}
