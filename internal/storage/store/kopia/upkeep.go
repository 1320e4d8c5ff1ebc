package kopia

import (
	"context"
	"errors"
	"fmt"

	"github.com/retake-dev/retake"
)

// epochCheckInterval is the number of changes of a history between two checks of the index.
const epochCheckInterval = 64

// afterSeal keeps the index short. It cannot undo a seal: errors are returned by Close, and a
// later writer tries again.
func (w *writer) afterSeal(ctx context.Context) {
	w.seals++
	if w.s.opts.Exclusive {
		w.s.mu.Lock()
		defer w.s.mu.Unlock()
		w.s.sealCount++
		return
	}
	if w.seals%epochCheckInterval == 0 {
		w.upkeepErr = advanceEpochs(ctx, w.session)
	}
	if w.seals%sealsPerSession != 0 {
		return
	}
	next, err := w.s.newSession(ctx)
	if err != nil {
		w.upkeepErr = err
		return
	}
	w.upkeepErr = errors.Join(w.upkeepErr, w.session.Close(ctx))
	w.session = next
}

// advanceEpochs lets the engine compact, advance and clean its index epochs, which its own
// maintenance would do together with much else.
func advanceEpochs(ctx context.Context, v *session) error {
	em, ok, err := v.contents.EpochManager(ctx)
	if err != nil || !ok {
		return errors.Join(err, ctx.Err())
	}
	_, e1 := em.MaybeCompactSingleEpoch(ctx)
	_, e2 := em.MaybeAdvanceWriteEpoch(ctx)
	_, e3 := em.MaybeGenerateRangeCheckpoint(ctx)
	_, e4 := em.CleanupMarkers(ctx)
	_, e5 := em.CleanupSupersededIndexes(ctx)
	if err := errors.Join(e1, e2, e3, e4, e5, v.Refresh(ctx)); err != nil {
		return fmt.Errorf("step index epoch: %w", err)
	}
	return nil
}

// maxViewAge is the number of Maintain calls after which a view of the index is replaced.
const maxViewAge = 3

// Maintain removes old heads, advances the epochs of the index, and from time to time gives
// the next writers a new, short view. A shared store does this while it writes. New metadata gets
// its second copy.
func (s *Store) Maintain(ctx context.Context) error {
	s.mu.Lock()
	due := s.opts.Exclusive && s.sealCount >= epochCheckInterval
	if due {
		s.sealCount = 0
		s.maintainCount++
	}
	old := due && s.maintainCount%maxViewAge == 0
	var stale []retake.Workspace
	for _, k := range s.cachedHistories {
		if due && len(k.history.stale) >= staleHeadBatch/2 {
			stale = append(stale, k.history.info.Workspace)
		}
	}
	s.mu.Unlock()
	if !s.opts.Exclusive {
		return errors.Join(s.damage.drop(ctx), s.damage.forgetHealed(ctx))
	}
	if !due {
		return s.maintainAlways(ctx)
	}
	var errs []error
	for _, ws := range stale {
		errs = append(errs, s.deleteStaleHeads(ctx, ws))
	}
	errs = append(errs, s.maintainIndex(ctx))
	if old {
		errs = append(errs, s.retireView(ctx))
	}
	errs = append(errs, s.maintainAlways(ctx))
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("maintain: %w", err)
	}
	return nil
}

// maintainAlways looks into damage that was met, and copies new metadata.
func (s *Store) maintainAlways(ctx context.Context) error {
	return errors.Join(s.damage.drop(ctx), s.damage.forgetHealed(ctx), s.metadata.copyNew(ctx))
}

// deleteStaleHeads deletes the superseded heads of a history.
func (s *Store) deleteStaleHeads(ctx context.Context, ws retake.Workspace) error {
	sw, err := s.Begin(ctx, ws)
	if err != nil {
		return err
	}
	w := sw.(*writer)
	err = w.deleteStaleHeads(ctx)
	if err == nil {
		err = w.session.Flush(context.WithoutCancel(ctx))
	}
	return errors.Join(w.markBroken("drop old heads", err), w.Close())
}

func (s *Store) maintainIndex(ctx context.Context) error {
	release, err := s.lockShared(ctx)
	if err != nil {
		return err
	}
	defer release()
	v, err := s.newSession(ctx)
	if err != nil {
		return err
	}
	return errors.Join(advanceEpochs(ctx, v), v.Close(ctx))
}

// Close closes the store. Writers must be closed before.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	ctx := context.Background()
	var errs []error
	if s.view != nil {
		errs = append(errs, s.view.close(ctx))
	}
	if s.rep != nil {
		errs = append(errs, s.rep.Close(ctx))
	}
	errs = append(errs, s.blobs.Close(ctx), s.blobs.releaseHandles(), s.homeDir.Close())
	return errors.Join(errs...)
}

// Size returns the bytes of all blobs and of the second copies.
func (s *Store) Size(ctx context.Context) (int64, error) {
	all, err := s.blobs.findBlobs(ctx, "")
	if err != nil {
		return 0, fmt.Errorf("measure store: %w", err)
	}
	if s.metadata.mirror == nil {
		return totalSize(all), nil
	}
	copies, err := s.metadata.mirror.Size()
	if err != nil {
		return 0, fmt.Errorf("measure store: %w", err)
	}
	return totalSize(all) + copies, nil
}
