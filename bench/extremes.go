package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/retake-dev/retake/bench/grow"
	"github.com/retake-dev/retake/bench/record"
)

// flat is one directory with very many entries, of which one changes.
func (b *bench) flat(ctx context.Context) error {
	s := b.rec.Setup
	plan := grow.Flat(s.Flat, s.Seed)
	say("flat: writing %d files for each of %d tools", s.Flat, len(b.kits))
	all, err := b.fields("flat", b.kits, func(ws string) error { return plan.Write(ctx, ws) })
	if err != nil {
		return err
	}
	if err := pause(ctx, settle); err != nil {
		return err
	}
	for _, f := range all {
		if err := f.renew(ctx); err != nil {
			return err
		}
		if _, err := f.capture(ctx); err != nil {
			return err
		}
	}
	if err := again(ctx, all); err != nil {
		return err
	}
	row := b.rec.Row(record.Flat, record.Millis, fmt.Sprintf("one directory of %d entries, one file edited", s.Flat))
	for i := range s.Rounds {
		at := uint64(i)
		err := b.round(ctx, all, plan, plan.Random(1, at), at, nil, func(f *field, s saved) { row.Add(f.name, s.millis) })
		if err != nil {
			return err
		}
	}
	return b.clear("flat")
}

// large is one large file of which a page changes. Tools come one after the other,
// so that one copy at a time fills the cache.
func (b *bench) large(ctx context.Context) error {
	for _, k := range b.kits {
		say("large: %s", k.name)
		if err := b.largeOf(ctx, k); err != nil {
			return err
		}
		if err := b.clear("large"); err != nil {
			return err
		}
	}
	return nil
}

const largeName = "large.bin"

func (b *bench) largeOf(ctx context.Context, k *kit) error {
	s := b.rec.Setup
	all, err := b.fields("large", []*kit{k}, func(ws string) error { return grow.Large(filepath.Join(ws, largeName), s.Large, s.Seed) })
	if err != nil {
		return err
	}
	f := all[0]
	if err := f.renew(ctx); err != nil {
		return err
	}
	u, err := f.capture(ctx)
	if err != nil {
		return err
	}
	b.rec.Row(record.LargeFirst, record.Millis, fmt.Sprintf("first capture of one file of %d MiB", s.Large>>20)).Add(k.name, u.millis)
	page := b.rec.Row(record.Large, record.Millis, "- one page of it changed")
	grown := b.rec.Row(record.LargeStore, record.Bytes, "- the store grows by")
	for i := range min(s.Rounds, 3) {
		r, err := f.after(ctx, func(ws string) error { return grow.ChangePage(filepath.Join(ws, largeName), s.Seed, uint64(i)) })
		if err != nil {
			return err
		}
		page.Add(k.name, r.millis)
		grown.Add(k.name, float64(r.store))
	}
	return nil
}

// million is ours alone: the peers would take the rest of the day.
func (b *bench) million(ctx context.Context) error {
	s := b.rec.Setup
	plan := grow.Project(s.Million, s.Seed)
	say("million: writing %d files", s.Million)
	all, err := b.fields("million", b.kits[:1], func(ws string) error { return plan.Write(ctx, ws) })
	if err != nil {
		return err
	}
	f := all[0]
	if err := pause(ctx, settle); err != nil {
		return err
	}
	if err := f.renew(ctx); err != nil {
		return err
	}
	u, err := f.capture(ctx)
	if err != nil {
		return err
	}
	b.rec.Row(record.Million, record.Millis, fmt.Sprintf("first capture of %d files", s.Million)).Add(f.name, u.millis)
	addMemory(b.rec.Row(record.MillionMemory, record.Bytes, "- its memory"), f, u)
	if err := again(ctx, all); err != nil {
		return err
	}
	row := b.rec.Row(record.MillionSave, record.Millis, fmt.Sprintf("save of %d edited files of %d, random places", s.Edits, s.Million))
	memory := b.rec.Row(record.MillionSaveMemory, record.Bytes, "- its memory")
	for i := range s.Rounds {
		at := uint64(roundsRandom + i)
		err := b.round(ctx, all, plan, plan.Random(s.Edits, at), at, nil, func(f *field, s saved) {
			row.Add(f.name, s.millis)
			addMemory(memory, f, s.usage)
		})
		if err != nil {
			return err
		}
	}
	return b.clear("million")
}
