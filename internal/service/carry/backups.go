package carry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/backup"
	"github.com/retake-dev/retake/internal/explain/verify"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/store"
)

// SetBackup sets the git remote that the checkpoints of a workspace are pushed to.
func (s *Backups) SetBackup(ctx context.Context, req retake.BackupRequest) (retake.Backup, error) {
	ws, err := s.loadBackupWorkspace(ctx, req.Workspace)
	if err != nil {
		return retake.Backup{}, err
	}
	b, err := s.opts.Worker.Set(ctx, ws, req)
	if err != nil {
		return b, workspace.WrapError("the backup is not set", workspace.Unchanged, err)
	}
	if b.Set {
		s.runner.cancelScheduled(ws.ID) // a new remote does not wait for an old failure
	}
	return s.withBehindCount(ctx, b)
}

// Backup returns the state of a backup.
func (s *Backups) Backup(ctx context.Context, id retake.WorkspaceID) (retake.Backup, error) {
	if _, err := s.loadBackupWorkspace(ctx, id); err != nil {
		return retake.Backup{}, err
	}
	b, err := s.opts.Worker.State(id)
	if err != nil {
		return b, workspace.WrapError("the state of the backup can't be read", workspace.Unchanged, err)
	}
	return s.withBehindCount(ctx, b)
}

// PushBackup pushes the missing checkpoints and waits for it.
func (s *Backups) PushBackup(ctx context.Context, id retake.WorkspaceID) (retake.Backup, error) {
	if _, err := s.loadBackupWorkspace(ctx, id); err != nil {
		return retake.Backup{}, err
	}
	b, err := s.runner.sendBackup(ctx, id)
	if err != nil {
		return b, workspace.WrapError("not backed up", workspace.Unchanged, err)
	}
	s.runner.cancelScheduled(id) // no retry is needed any more
	if b, err = s.withBehindCount(ctx, b); err == nil && b.Behind > 0 && s.workspaces.Exclusive {
		s.runner.schedule(id, backupDelay) // for checkpoints that were added meanwhile
	}
	return b, err
}

// DropBackup ends a backup.
func (s *Backups) DropBackup(ctx context.Context, id retake.WorkspaceID) (retake.Backup, error) {
	if _, err := s.loadBackupWorkspace(ctx, id); err != nil {
		return retake.Backup{}, err
	}
	s.runner.cancelScheduled(id)
	b, err := s.opts.Worker.Drop(ctx, id)
	return b, workspace.WrapError("the backup was not turned off", workspace.Unchanged, err)
}

func (s *Backups) loadBackupWorkspace(ctx context.Context, id retake.WorkspaceID) (retake.Workspace, error) {
	if s.opts.Worker == nil {
		return retake.Workspace{}, &retake.Error{Kind: retake.Invalid, What: "there are no backups here", Safe: workspace.Unchanged}
	}
	ws, err := s.workspaces.LoadWorkspace(ctx, id)
	return ws, workspace.WrapError("no such workspace", workspace.Unchanged, err)
}

// withBehindCount counts the checkpoints that the remote does not have.
func (s *Backups) withBehindCount(ctx context.Context, b retake.Backup) (retake.Backup, error) {
	var sent int64
	if b.Pushed != nil {
		sent = b.Pushed.Number
	}
	err := s.history.EachCheckpointPage(ctx, retake.LogQuery{Workspace: b.Workspace}, func(page []retake.Checkpoint) (bool, error) {
		for _, cp := range page {
			if cp.Number <= sent {
				return false, nil
			}
			b.Behind++
		}
		return true, nil
	})
	return b, workspace.WrapError("the timeline cannot be read", workspace.Unchanged, err)
}

// BackupStatus returns the backup for a status, or nil if there is none or it cannot be
// read.
func (s *Backups) BackupStatus(ctx context.Context, id retake.WorkspaceID) *retake.Backup {
	if s.opts.Worker == nil {
		return nil
	}
	b, err := s.Backup(ctx, id)
	if err != nil {
		return nil
	}
	return &b
}

// BackupWarnings returns a warning for a save while the backup fails.
func (s *Backups) BackupWarnings(id retake.WorkspaceID) []retake.Warning {
	if s.opts.Worker == nil {
		return nil
	}
	b, err := s.opts.Worker.State(id)
	if err != nil || b.Trouble == nil {
		return nil
	}
	return []retake.Warning{{Code: "backup", Text: fmt.Sprintf("the backup fails since %s: %s", b.Trouble.Since.UTC().Format(time.RFC3339), b.Trouble.What)}}
}

// backupHistory is the timeline as a backup reads it.
type backupHistory struct {
	store.Trees
	svc *Backups
	ws  retake.WorkspaceID
}

// After calls f for every checkpoint after number n, in order. Forgotten ones are skipped.
func (h backupHistory) After(ctx context.Context, n int64, f func(backup.Checkpoint) error) error {
	_, last, err := h.svc.workspaces.Catalog.Counts(ctx, h.ws)
	for n++; err == nil && n <= last; n++ {
		var m backup.Checkpoint
		m, err = h.loadCheckpoint(ctx, n)
		if errors.Is(err, catalog.ErrNotFound) {
			err = nil
			continue
		}
		if err == nil {
			err = f(m)
		}
	}
	return err
}

// loadCheckpoint returns a checkpoint with its check results and summary, as far as they
// are known.
func (h backupHistory) loadCheckpoint(ctx context.Context, n int64) (backup.Checkpoint, error) {
	cp, err := h.svc.workspaces.Catalog.ByNumber(ctx, h.ws, n)
	if err != nil {
		return backup.Checkpoint{}, err
	}
	m := backup.Checkpoint{Checkpoint: cp}
	if about, err := h.svc.history.VerificationsByContent(ctx, h.ws, []retake.Checkpoint{cp}); err == nil {
		m.Answers = verify.Answers(cp, nil, about[cp.Content])
	}
	if gists, err := h.svc.workspaces.Catalog.Gists(ctx, h.ws, []retake.CheckpointID{cp.ID}); err == nil {
		m.Gist = gists[cp.ID].Lead
	}
	return m, nil
}

// Known returns the ID of the checkpoint with that number, or "".
func (h backupHistory) Known(ctx context.Context, n int64) (retake.CheckpointID, error) {
	cp, err := h.svc.workspaces.Catalog.ByNumber(ctx, h.ws, n)
	if errors.Is(err, catalog.ErrNotFound) {
		return "", nil
	}
	return cp.ID, err
}

// backupRunner pushes checkpoints in the background, one run per workspace at a time. No
// save waits for it or fails because of it.
type backupRunner struct {
	svc    *Backups
	ctx    context.Context
	cancel context.CancelFunc
	runs   sync.WaitGroup

	mu      sync.Mutex
	timers  map[retake.WorkspaceID]*time.Timer // guarded by mu; scheduled runs
	running map[retake.WorkspaceID]bool        // guarded by mu; true: another run must follow
	stopped bool                               // guarded by mu
}

const (
	backupDelay      = 2 * time.Second // lets checkpoints of one piece of work be pushed together
	backupRetryDelay = time.Minute     // minimum after a failed run
)

// backupTriggers are the triggers after which a backup is scheduled.
var backupTriggers = []retake.Trigger{
	retake.TriggerInit, retake.TriggerManual, retake.TriggerComplete, retake.TriggerReturn, retake.TriggerFork, retake.TriggerTurn, retake.TriggerTask, retake.TriggerSession,
}

// newBackupRunner returns a runner. In an exclusive service it schedules a run for every
// workspace that has a backup.
func newBackupRunner(s *Backups) *backupRunner {
	b := &backupRunner{svc: s, timers: map[retake.WorkspaceID]*time.Timer{}, running: map[retake.WorkspaceID]bool{}}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	if s.opts.Worker == nil || !s.workspaces.Exclusive {
		return b
	}
	all, err := s.opts.Worker.All()
	if err != nil {
		return b // a request for a backup reports the same error
	}
	for _, ws := range all {
		b.schedule(ws, b.retryDelay(ws))
	}
	return b
}

// onCheckpoint schedules a run for a new checkpoint.
func (b *backupRunner) onCheckpoint(cp retake.Checkpoint) {
	if b.svc.opts.Worker != nil && b.svc.workspaces.Exclusive && slices.Contains(backupTriggers, cp.Trigger) {
		b.schedule(cp.Workspace, backupDelay)
	}
}

// schedule schedules a run. If one is running, another follows it; if one is scheduled
// already, for example after a failure, that one stays.
func (b *backupRunner) schedule(ws retake.WorkspaceID, wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, running := b.running[ws]; running {
		b.running[ws] = true
		return
	}
	if b.stopped || b.timers[ws] != nil {
		return // the scheduled run includes it
	}
	b.timers[ws] = time.AfterFunc(max(wait, backupDelay), func() { b.runScheduled(ws) })
}

// retryDelay returns how long to wait after the last failure.
func (b *backupRunner) retryDelay(ws retake.WorkspaceID) time.Duration {
	st, err := b.svc.opts.Worker.State(ws)
	if err != nil || st.Trouble == nil || st.Trouble.Next == nil {
		return backupDelay
	}
	return st.Trouble.Next.Sub(b.svc.workspaces.Clock.Now())
}

// runScheduled is one run in the background. It schedules the next one if needed.
func (b *backupRunner) runScheduled(ws retake.WorkspaceID) {
	if !b.beginRun(ws) {
		return
	}
	defer b.runs.Done()
	err := b.trySend(ws)
	if !errors.Is(err, backup.ErrNone) && b.ctx.Err() == nil {
		b.svc.workspaces.Diag.Note(workspace.TaskBackup, err)
	}
	again := b.endRun(ws)
	switch {
	case errors.Is(err, backup.ErrNone) || b.ctx.Err() != nil:
	case err != nil:
		b.schedule(ws, max(b.retryDelay(ws), backupRetryDelay))
	case again:
		b.schedule(ws, backupDelay)
	}
}

// trySend pushes once and turns a panic into an error.
func (b *backupRunner) trySend(ws retake.WorkspaceID) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("back up: %v", v)
		}
	}()
	_, err = b.sendBackup(b.ctx, ws)
	return err
}

// beginRun marks a run as running. It returns false if the runner was stopped.
func (b *backupRunner) beginRun(ws retake.WorkspaceID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.timers, ws)
	if b.stopped {
		return false
	}
	b.running[ws] = false
	b.runs.Add(1)
	return true
}

func (b *backupRunner) endRun(ws retake.WorkspaceID) (again bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	again = b.running[ws]
	delete(b.running, ws)
	return again
}

// sendBackup pushes the missing checkpoints and reports the result to OnBackupEnd.
func (b *backupRunner) sendBackup(ctx context.Context, ws retake.WorkspaceID) (retake.Backup, error) {
	if _, err := b.svc.opts.Worker.State(ws); err != nil {
		return retake.Backup{}, err
	}
	st, err := b.svc.workspaces.Store(ctx)
	if err != nil {
		return retake.Backup{}, err
	}
	kept := new(workspace.DirCache) // each checkpoint is compared with the one before
	out, err := b.svc.opts.Worker.Run(ctx, ws, backupHistory{Trees: kept.WrapTrees(st), svc: b.svc, ws: ws})
	if b.svc.opts.OnEnd != nil && ctx.Err() == nil {
		b.svc.opts.OnEnd(out, err)
	}
	return out, err
}

// cancelScheduled cancels a scheduled run.
func (b *backupRunner) cancelScheduled(ws retake.WorkspaceID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t := b.timers[ws]; t != nil {
		t.Stop()
		delete(b.timers, ws)
	}
}

// stop ends all runs; the next service continues.
func (b *backupRunner) stop() {
	b.mu.Lock()
	b.stopped = true
	for _, t := range b.timers {
		t.Stop()
	}
	b.mu.Unlock()
	b.cancel()
	b.runs.Wait()
}
