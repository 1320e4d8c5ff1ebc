package replica

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
)

const (
	putsAtATime = 4
	packsAHead  = 16 // so many packs are put before a head names them
	unmerged    = 16 // so many indexes may be in packs
	mergeWidth  = 8  // so many indexes of one size become one
	keptHeads   = 4
)

// work is one Sync or Sweep.
type work struct {
	r       *Replica
	group   *errgroup.Group // of puts
	pending []Index         // of packs that are put, and that no head names

	mu  sync.Mutex
	out Report // guarded by mu
}

func (w *work) report() Report {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out
}

func (w *work) sync(ctx context.Context) error {
	r := w.r
	if err := r.open(ctx); err != nil {
		return err
	}
	var filled Filled
	err := w.emitting(ctx, func(emit func(Pack) error) (err error) {
		filled, err = r.copy.Fill(ctx, FillRequest{r.opts.Want, r.opts.Erased, r.head.Lines, r.head.List, r.head.Missing}, emit)
		return err
	})
	w.out.Missing = len(filled.Missing)
	if err != nil || !filled.Changed {
		return err
	}
	return w.commit(ctx, func(h *Head) {
		h.Lines, h.List, h.Missing = filled.Lines, filled.List, filled.Missing
	})
}

// emitting runs f and puts the packs that it emits, several at a time. When it returns nil all are there.
func (w *work) emitting(ctx context.Context, f func(emit func(Pack) error) error) error {
	puts, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	w.group = newPuts()
	err := f(func(p Pack) error { return w.emit(ctx, puts, stop, p) })
	if err != nil {
		stop(err)
	}
	_ = w.group.Wait() // its error is the cause
	if cause := context.Cause(puts); cause != nil {
		return cause
	}
	return err
}

func newPuts() *errgroup.Group {
	g := &errgroup.Group{}
	g.SetLimit(putsAtATime)
	return g
}

// emit puts a pack in the background. From time to time a head names what is there, so that a long
// upload that is cut off goes on from there.
func (w *work) emit(ctx, puts context.Context, stop context.CancelCauseFunc, p Pack) error {
	if puts.Err() != nil {
		return context.Cause(puts)
	}
	w.r.keep(p.Index, p.Data[p.Index.Offset:p.Index.Offset+p.Index.Length])
	w.pending = append(w.pending, p.Index)
	w.group.Go(func() error {
		err := w.put(puts, p.Name, p.Data)
		if err != nil {
			stop(err)
		}
		return err
	})
	if len(w.pending) < packsAHead {
		return nil
	}
	if err := w.group.Wait(); err != nil {
		return err
	}
	w.group = newPuts()
	return w.commit(ctx, func(*Head) {})
}

func (w *work) put(ctx context.Context, name string, data []byte) error {
	if err := w.r.put(ctx, name, data); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.out.Puts++
	w.out.Bytes += int64(len(data))
	return nil
}

// commit puts a head that names all pending packs, with what change does to it.
func (w *work) commit(ctx context.Context, change func(*Head)) error {
	r := w.r
	h := r.head.next(r.opts.Writer)
	h.Time = r.opts.Clock.Now()
	h.Indexes = append(h.Indexes, w.pending...)
	change(h)
	if err := r.copy.Use(ctx, h.Indexes); err != nil {
		return err
	}
	if err := w.mergeIndexes(ctx, h); err != nil {
		return err
	}
	if err := w.putHead(ctx, h); err != nil {
		return err
	}
	w.pending = nil
	r.head = h
	r.publish(h)
	r.dropCached(h)
	w.dropOldHeads(ctx, h.Number)
	return nil
}

// putHead puts a head under a number that nobody has used.
func (w *work) putHead(ctx context.Context, h *Head) error {
	if h.Clock.Before(h.Time) {
		h.Clock = h.Time
	}
	sealed, err := w.r.key.seal(h)
	if err != nil {
		return err
	}
	if err := w.put(ctx, headName(h.Number), sealed); err != nil {
		return fmt.Errorf("put head %d: %w", h.Number, err)
	}
	return nil
}

// dropOldHeads removes heads that were replaced long ago, many at a time. What fails is tried again by the
// next Sweep.
func (w *work) dropOldHeads(ctx context.Context, number int64) {
	if number%(4*keptHeads) != 0 {
		return
	}
	for n := number - 5*keptHeads; n <= number-keptHeads; n++ {
		if n > 0 {
			_ = w.r.opts.Place.Delete(ctx, headName(n))
		}
	}
}

// mergeIndexes keeps the list of indexes short: those in packs become one object from time to time, and
// several objects of one size a larger one. So an entry is written again only as often as the logarithm of
// their number says.
func (w *work) mergeIndexes(ctx context.Context, h *Head) error {
	if in := slices.DeleteFunc(slices.Clone(h.Indexes), func(x Index) bool { return x.Pack == "" }); len(in) >= unmerged {
		if err := w.merge(ctx, h, in); err != nil {
			return err
		}
	}
	for {
		some := sameSize(h.Indexes)
		if some == nil {
			return nil
		}
		if err := w.merge(ctx, h, some); err != nil {
			return err
		}
	}
}

// sameSize returns indexes that should be merged: mergeWidth objects of which none has many more entries than
// another.
func sameSize(all []Index) []Index {
	own := slices.DeleteFunc(slices.Clone(all), func(x Index) bool { return x.Pack != "" })
	slices.SortFunc(own, func(a, b Index) int { return cmp.Compare(a.Entries, b.Entries) })
	for i := 0; i+mergeWidth <= len(own); i++ {
		if some := own[i : i+mergeWidth]; some[mergeWidth-1].Entries <= mergeWidth*max(some[0].Entries, 1) {
			return some
		}
	}
	return nil
}

// merge replaces indexes of a head by one that has all their entries.
func (w *work) merge(ctx context.Context, h *Head, old []Index) error {
	blobs, err := w.r.copy.Merge(ctx, old)
	if err != nil {
		return err
	}
	return w.replaceIndexes(ctx, h, old, blobs)
}

// replaceIndexes puts new indexes and makes a head name them in place of old ones.
func (w *work) replaceIndexes(ctx context.Context, h *Head, old []Index, blobs []Blob) error {
	for _, b := range blobs {
		w.r.keep(b.Index, b.Data)
		if err := w.put(ctx, b.Index.Name, b.Data); err != nil {
			return err
		}
	}
	h.Indexes = slices.DeleteFunc(h.Indexes, func(x Index) bool { return slices.Contains(old, x) })
	for _, b := range blobs {
		h.Indexes = append(h.Indexes, b.Index)
	}
	for _, x := range old {
		if x.Pack == "" {
			h.bury(x.Name, h.Time)
		}
	}
	return w.r.copy.Use(ctx, h.Indexes)
}
