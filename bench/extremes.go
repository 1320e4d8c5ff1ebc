package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/retake-dev/retake/bench/grow"
	"github.com/retake-dev/retake/bench/record"
)

// extremes are shapes that cost more than their number of files says. No bar is
// held against them.
func (b *bench) extremes(ctx context.Context) error {
	if err := b.flat(ctx); err != nil {
		return err
	}
	return b.large(ctx)
}

// flat is one directory with very many entries, of which one changes.
func (b *bench) flat(ctx context.Context) error {
	plan := grow.Flat(b.size.flat, b.size.seed)
	all, err := b.alike(ctx, "flat", plan)
	if err != nil {
		return err
	}
	if err := pause(ctx, settle); err != nil {
		return err
	}
	for _, f := range all {
		if _, err := f.capture(ctx); err != nil {
			return err
		}
	}
	if err := b.warm(ctx, all); err != nil {
		return err
	}
	row := b.row("h", record.Flat, record.Millis, "one directory of %d entries, one file edited", b.size.flat)
	for i := range b.size.rounds {
		for _, f := range turns(all, i) {
			err := b.round(ctx, f, i, func(k int, w way) error {
				at := uint64(roundsRandom+i) + uint64(k)*otherWay
				s, err := f.after(ctx, w, plan.Random(1, at), at)
				row.Add(w.name, s.millis)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	for _, f := range all {
		if err := f.end(); err != nil {
			return err
		}
	}
	return nil
}

const largeName = "large.bin"

// large is one large file of which a page changes. Tools come one after the other,
// so that one copy at a time fills the cache.
func (b *bench) large(ctx context.Context) error {
	all, err := b.alike(ctx, "large", grow.Flat(1, b.size.seed))
	if err != nil {
		return err
	}
	for _, f := range all {
		if err := b.largeOf(ctx, f); err != nil {
			return err
		}
		if err := f.end(); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) largeOf(ctx context.Context, f *field) error {
	say("large: %s", f.name)
	file := filepath.Join(f.ws, largeName)
	if err := grow.Large(file, b.size.large, b.size.seed); err != nil {
		return err
	}
	u, err := f.capture(ctx)
	if err != nil {
		return err
	}
	w := f.ways[len(f.ways)-1]
	b.row("h", record.LargeFirst, record.Millis, "first capture of one file of %d MiB", b.size.large>>20).Add(w.name, u.millis)
	page := b.row("h", record.Large, record.Millis, "- one page of it changed")
	store := b.row("h", record.LargeStore, record.Bytes, "- the store grows by")
	for i := range min(b.size.rounds, 3) {
		way := w
		way.ready = func([]string) error {
			err := grow.ChangePage(file, b.size.seed, uint64(i))
			if err == nil && w.ready != nil {
				err = w.ready([]string{largeName})
			}
			return err
		}
		s, err := f.after(ctx, way, nil, 0)
		if err != nil {
			return err
		}
		page.Add(w.name, s.millis)
		if f.store != "" {
			store.Add(w.name, float64(s.store))
		}
	}
	if err := os.Remove(file); err != nil {
		return fmt.Errorf("remove large file: %w", err)
	}
	return nil
}
