package replica

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Sweep uploads what is new, takes what no history reaches out of the indexes, and deletes what has been dead
// for the window. Nothing is read from the copy but its lists.
func (r *Replica) Sweep(ctx context.Context) (Report, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := &work{r: r}
	err := w.sync(ctx)
	if err == nil {
		err = w.sweep(ctx)
	}
	if err != nil {
		err = errors.Join(fmt.Errorf("sweep copy: %w", err), r.forget(ctx))
	}
	return w.report(), err
}

func (w *work) sweep(ctx context.Context) error {
	r := w.r
	there, err := w.list(ctx)
	if err != nil {
		return err
	}
	packs := map[string]int64{}
	for name, size := range there {
		if name[0] == 'p' || name[0] == 'q' {
			packs[name] = size
		}
	}
	var pruned Pruned
	err = w.emitting(ctx, func(emit func(Pack) error) (err error) {
		pruned, err = r.copy.Prune(ctx, PruneRequest{r.head.Lines, r.head.List, packs}, emit)
		return err
	})
	if err != nil {
		return err
	}
	if err := w.bury(ctx, there, pruned); err != nil {
		return err
	}
	return w.deleteDead(ctx, there, pruned.Dead)
}

// list returns the sizes of packs and indexes at the place.
func (w *work) list(ctx context.Context) (map[string]int64, error) {
	out := map[string]int64{}
	for _, prefix := range []string{"p", "q", "x"} {
		found, err := w.r.opts.Place.List(ctx, prefix)
		if err != nil {
			return nil, fmt.Errorf("list %s*: %w", prefix, err)
		}
		for _, o := range found {
			out[o.Name] = o.Size
		}
	}
	return out, nil
}

// bury makes a head that names what is live only, and notes since when the rest is dead.
func (w *work) bury(ctx context.Context, there map[string]int64, pruned Pruned) error {
	r := w.r
	h := r.head.next(r.opts.Writer)
	h.Time = r.opts.Clock.Now()
	if len(pruned.Indexes) > 0 {
		h.Indexes = append(h.Indexes, w.pending...)
		if err := w.replaceIndexes(ctx, h, slices.Clone(h.Indexes), pruned.Indexes); err != nil {
			return err
		}
		w.pending = nil
	}
	for _, name := range pruned.Dead {
		h.bury(name, h.Time)
	}
	named := map[string]bool{}
	for _, x := range h.Indexes {
		named[x.Name] = true
	}
	for name := range there {
		if name[0] == 'x' && !named[name] {
			h.bury(name, h.Time)
		}
	}
	h.Dead = slices.DeleteFunc(h.Dead, func(d Dead) bool { _, ok := there[d.Name]; return !ok && d.Head < h.Number })
	if slices.Equal(h.Dead, r.head.Dead) && len(pruned.Indexes) == 0 {
		return nil
	}
	if err := w.putHead(ctx, h); err != nil {
		return err
	}
	r.head = h
	r.publish(h)
	r.dropCached(h)
	return nil
}

// deleteDead deletes what has been dead for the window and what nobody stands on: indexes before the packs that
// they name. The next sweep takes it from the list.
func (w *work) deleteDead(ctx context.Context, there map[string]int64, deadPacks []string) error {
	r := w.r
	pinned, err := w.oldestPin(ctx)
	if err != nil {
		return err
	}
	now := r.opts.Date()
	isDead := map[string]bool{}
	for _, name := range deadPacks {
		isDead[name] = true
	}
	var due []string
	for _, d := range r.head.Dead {
		_, ok := there[d.Name]
		isPack := d.Name[0] != 'x'
		if ok && d.Head <= pinned && now.Sub(d.Since) >= r.opts.Window && (!isPack || isDead[d.Name]) {
			due = append(due, d.Name)
		}
	}
	slices.SortFunc(due, func(a, b string) int { return strings.Compare(b, a) }) // x before q before p
	for _, name := range due {
		if err := r.opts.Place.Delete(ctx, name); err != nil {
			return fmt.Errorf("delete %s: %w", name, err)
		}
		w.out.Deleted++
		w.out.Freed += there[name]
	}
	return w.deleteHeads(ctx)
}

// deleteHeads deletes the heads that were left over.
func (w *work) deleteHeads(ctx context.Context) error {
	found, err := w.r.opts.Place.List(ctx, headPrefix)
	if err != nil {
		return fmt.Errorf("list heads: %w", err)
	}
	for _, o := range found {
		if n, ok := parseHeadName(o.Name); ok && n <= w.r.head.Number-keptHeads {
			if err := w.r.opts.Place.Delete(ctx, o.Name); err != nil {
				return fmt.Errorf("delete %s: %w", o.Name, err)
			}
		}
	}
	return nil
}

// oldestPin returns the number of the oldest head that somebody stands on.
func (w *work) oldestPin(ctx context.Context) (int64, error) {
	found, err := w.r.opts.Place.List(ctx, pinPrefix)
	if err != nil {
		return 0, fmt.Errorf("list pins: %w", err)
	}
	oldest := int64(math.MaxInt64)
	for _, o := range found {
		n, err := parsePinName(o.Name)
		if err != nil {
			return 0, err // what is not understood is kept
		}
		oldest = min(oldest, n)
	}
	return oldest, nil
}

// Pin keeps all that a head names until Unpin. It must be made while the head is one of the newest, at most the
// window after it was read.
func Pin(ctx context.Context, p Place, head int64, who string) error {
	err := p.Put(ctx, pinName(head, who), []byte("pin\n"))
	if errors.Is(err, ErrExists) {
		return nil
	}
	return err
}

// Unpin ends a pin.
func Unpin(ctx context.Context, p Place, head int64, who string) error {
	return p.Delete(ctx, pinName(head, who))
}

func pinName(head int64, who string) string { return pinPrefix + fmt.Sprintf("%016x.%s", head, who) }

func parsePinName(name string) (int64, error) {
	text, _, _ := strings.Cut(strings.TrimPrefix(name, pinPrefix), ".")
	n, err := strconv.ParseInt(text, 16, 64)
	if err != nil {
		return 0, fmt.Errorf("pin %q: %w", name, err)
	}
	return n, nil
}
