package kopiastore

import (
	"context"
	"errors"
	"fmt"
)

// epochStep is how many changes of a line pass between two looks at the index.
const epochStep = 64

// afterSeal keeps the index short. Nothing in here can undo a seal: what does not
// work out is told by Close and tried again later.
func (w *writer) afterSeal(ctx context.Context) {
	w.seals++
	if w.seals%epochStep == 0 {
		w.upkeep = stepEpoch(ctx, w.v)
	}
	if w.seals%sealsPerSession != 0 {
		return
	}
	next, err := w.s.newSession(ctx)
	if err != nil {
		w.upkeep = err
		return
	}
	w.upkeep = errors.Join(w.upkeep, w.v.Close(ctx))
	w.v = next
}

// stepEpoch lets the engine compact, advance and clean its index epochs: what its
// own maintenance would do, without the rest of it.
func stepEpoch(ctx context.Context, v *session) error {
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
	if s.rep != nil {
		errs = append(errs, s.rep.Close(ctx))
	}
	errs = append(errs, s.disk.Close(ctx), s.disk.dir.Close(), s.home.Close())
	return errors.Join(errs...)
}

// Size answers the bytes of all blobs.
func (s *Store) Size(context.Context) (int64, error) {
	all, err := s.disk.list.find("", s.disk.dir)
	if err != nil {
		return 0, fmt.Errorf("measure store: %w", err)
	}
	var n int64
	for _, m := range all {
		n += m.Length
	}
	return n, nil
}
