package backup

import (
	"context"
	"errors"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/store"
)

// Run sends every checkpoint that the remote does not have. It waits for another run of the
// same workspace. An error is also stored in the state; what was sent before it counts.
func (w *Worker) Run(ctx context.Context, ws retake.WorkspaceID, src Source) (retake.Backup, error) {
	release, err := w.lockWorkspace(ctx, ws)
	if err != nil {
		return retake.Backup{}, err
	}
	defer release()
	s, err := w.loadState(ws)
	if err != nil {
		return retake.Backup{}, err
	}
	err = w.sendAll(ctx, s, src)
	if ctx.Err() != nil { // the caller gave up; that says nothing about the remote
		return s.Backup, errors.Join(err, ctx.Err())
	}
	s.recordResult(w.opts.Clock.Now().UTC(), err)
	return s.Backup, errors.Join(err, w.saveState(s))
}

// sendAll asks the remote where it is, then commits and pushes batch by batch.
func (w *Worker) sendAll(ctx context.Context, s *state, src Source) error {
	r, err := w.openRepo(ctx, s)
	if err != nil {
		return err
	}
	defer func() { r.cleanup() }()
	there, err := r.remoteTip(ctx)
	if err != nil {
		return err
	}
	tip, err := r.localTip(ctx)
	if err != nil {
		return err
	}
	if tip, err = r.reconcileRemote(ctx, there, tip, s, src); err != nil {
		return err
	}
	for more := true; more; {
		if tip, more, err = r.exportBatch(ctx, s, src, tip); err != nil {
			return err
		}
		if tip == nil {
			return nil // there is no checkpoint yet
		}
		if tip.commit != there {
			if err := r.pushBranch(ctx, tip.commit); err != nil {
				return err
			}
			there = tip.commit
		}
		s.Backup.Pushed = &retake.BackupPoint{Number: tip.number, Checkpoint: tip.checkpoint, Commit: tip.commit, At: w.opts.Clock.Now().UTC()}
		if err := w.saveState(s); err != nil {
			return err
		}
	}
	r.packRepo(ctx)
	return nil
}

// exportBatch exports checkpoints after the tip. If the tree of the tip is forgotten by now,
// or what was left out of it is unknown, everything is written anew.
func (r *repo) exportBatch(ctx context.Context, s *state, src Source, tip *commitInfo) (*commitInfo, bool, error) {
	base := tip != nil && s.Counted == tip.checkpoint
	x, err := r.export(ctx, src, s.Backup.Workspace, tip, base, s.Backup.Left)
	if base && errors.Is(err, store.ErrNotFound) {
		x, err = r.export(ctx, src, s.Backup.Workspace, tip, false, nil)
	}
	if err != nil || x.checkpoints == 0 {
		return tip, false, err
	}
	now, err := r.localTip(ctx)
	if err != nil {
		return tip, false, err
	}
	if now == nil || now.checkpoint != x.last.checkpoint {
		return tip, false, errors.New("export: the branch does not end with the last checkpoint")
	}
	s.Backup.Left, s.Counted = x.excluded, x.last.checkpoint
	return now, x.more, nil
}

// packRepo lets git pack its objects if there are many.
func (r *repo) packRepo(ctx context.Context) {
	_, _ = r.runGit(ctx, "-c", "gc.auto=6700", "-c", "gc.autoPackLimit=20", "gc", "--auto", "--quiet") // the next run does it
}
