package backup

import (
	"context"
	"errors"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/store"
)

// Run sends every checkpoint that the remote does not have; it waits for another run of the
// same workspace. What went wrong is written down
// beside the error; what was sent until then counts.
func (w *Worker) Run(ctx context.Context, ws retake.WorkspaceID, src Source) (retake.Backup, error) {
	release, err := w.lock(ctx, ws)
	if err != nil {
		return retake.Backup{}, err
	}
	defer release()
	s, err := w.load(ws)
	if err != nil {
		return retake.Backup{}, err
	}
	err = w.send(ctx, s, src)
	if ctx.Err() != nil { // whoever asked went away; that says nothing of the remote
		return s.Backup, errors.Join(err, ctx.Err())
	}
	s.note(w.o.Clock.Now().UTC(), err)
	return s.Backup, errors.Join(err, w.save(s))
}

// send asks the remote, then makes commits and pushes them, batch by batch.
func (w *Worker) send(ctx context.Context, s *state, src Source) error {
	r, err := w.open(ctx, s)
	if err != nil {
		return err
	}
	defer func() { r.done() }()
	there, err := r.readBack(ctx)
	if err != nil {
		return err
	}
	tip, err := r.tip(ctx)
	if err != nil {
		return err
	}
	if tip, err = r.agree(ctx, there, tip, s, src); err != nil {
		return err
	}
	for more := true; more; {
		if tip, more, err = r.batch(ctx, s, src, tip); err != nil {
			return err
		}
		if tip == nil {
			return nil // there is no checkpoint yet
		}
		if tip.commit != there {
			if err := r.push(ctx, tip.commit); err != nil {
				return err
			}
			there = tip.commit
		}
		s.Backup.Pushed = &retake.BackupPoint{Number: tip.number, Checkpoint: tip.checkpoint, Commit: tip.commit, At: w.o.Clock.Now().UTC()}
		if err := w.save(s); err != nil {
			return err
		}
	}
	r.tidy(ctx)
	return nil
}

// batch exports behind the tip. The tree of the tip may be forgotten by now; then, or when
// it is not known what was left out of it, all is written anew.
func (r *repo) batch(ctx context.Context, s *state, src Source, tip *place) (*place, bool, error) {
	base := tip != nil && s.Counted == tip.checkpoint
	x, err := r.export(ctx, src, s.Backup.Workspace, tip, base, s.Backup.Left)
	if base && errors.Is(err, store.ErrNotFound) {
		x, err = r.export(ctx, src, s.Backup.Workspace, tip, false, nil)
	}
	if err != nil || x.checkpoints == 0 {
		return tip, false, err
	}
	now, err := r.tip(ctx)
	if err != nil {
		return tip, false, err
	}
	if now == nil || now.checkpoint != x.last.checkpoint {
		return tip, false, errors.New("export: the branch does not end with the last checkpoint")
	}
	s.Backup.Left, s.Counted = x.left, x.last.checkpoint
	return now, x.more, nil
}

// tidy lets git put its files together when there are many.
func (r *repo) tidy(ctx context.Context) {
	_, _ = r.git(ctx, "-c", "gc.auto=6700", "-c", "gc.autoPackLimit=20", "gc", "--auto", "--quiet") // the next run does it
}
