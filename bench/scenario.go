package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/kopia/kopia/repo/compression"

	"github.com/retake-dev/retake/bench/grow"
	"github.com/retake-dev/retake/bench/record"
)

// Rounds are counted through, so that no edit is made twice.
const (
	roundsRandom   = 1000
	roundsTogether = 2000
	roundsSyncs    = 3000
)

func (b *bench) all(ctx context.Context) error {
	for _, s := range []struct {
		run  func(context.Context) error
		when bool
	}{
		{b.project, true},
		{b.flat, b.rec.Setup.Flat > 0},
		{b.large, b.rec.Setup.Large > 0},
		{b.million, b.rec.Setup.Million > 0},
	} {
		if !s.when {
			continue
		}
		if err := s.run(ctx); err != nil {
			return err
		}
	}
	return nil
}

// project is the everyday: first capture, small saves, no change, and what a save
// of ours does to the disk.
func (b *bench) project(ctx context.Context) error {
	s := &b.rec.Setup
	plan := grow.Project(s.Files, s.Seed)
	say("project: writing %d files for each of %d tools", s.Files, len(b.kits))
	all, err := b.fields("project", b.kits, func(ws string) error { return plan.Write(ctx, ws) })
	if err != nil {
		return err
	}
	if err := b.describe(all[0].ws); err != nil {
		return err
	}
	if err := b.firsts(ctx, all); err != nil {
		return err
	}
	if err := b.smallSaves(ctx, all, plan); err != nil {
		return err
	}
	if err := b.noChange(ctx, all); err != nil {
		return err
	}
	if err := b.syncs(ctx, all[0], plan); err != nil {
		return err
	}
	if err := b.starts(ctx, all[0]); err != nil {
		return err
	}
	return b.clear("project")
}

func (b *bench) describe(ws string) error {
	s := &b.rec.Setup
	var err error
	if s.Bytes, err = sizeOf(ws); err != nil {
		return err
	}
	s.Dirs, err = countDirs(ws)
	return err
}

func countDirs(root string) (int, error) {
	n := 0
	err := filepath.WalkDir(root, func(_ string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			n++
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("count directories: %w", err)
	}
	return n, nil
}

func (b *bench) firsts(ctx context.Context, all []*field) error {
	if err := pause(ctx, settle); err != nil {
		return err
	}
	n := b.rec.Setup.Files
	row := b.rec.Row(record.First, record.Millis, fmt.Sprintf("first capture of %d files", n))
	memory := b.rec.Row(record.FirstMemory, record.Bytes, "- its memory")
	for round := range b.rec.Setup.Firsts {
		for _, f := range turns(all, round) {
			if err := f.renew(ctx); err != nil {
				return err
			}
			u, err := f.capture(ctx)
			if err != nil {
				return err
			}
			say("first capture: %s %.0f ms", f.name, u.millis)
			row.Add(f.name, u.millis)
			addMemory(memory, f, u)
		}
	}
	return again(ctx, all)
}

// again lets every tool save once outside the clock: what it does only at a second
// capture is done then.
func again(ctx context.Context, all []*field) error {
	for _, f := range all {
		if _, err := f.after(ctx, nil); err != nil {
			return err
		}
	}
	return nil
}

// addMemory leaves out what this system does not tell.
func addMemory(row *record.Row, f *field, u usage) {
	if u.memory > 0 {
		row.Add(f.name, u.memory)
	}
}

func (b *bench) smallSaves(ctx context.Context, all []*field, plan *grow.Plan) error {
	n := b.rec.Setup.Edits
	random := b.rec.Row(record.Random, record.Millis, fmt.Sprintf("save of %d edited files, random places", n))
	memory := b.rec.Row(record.RandomMemory, record.Bytes, "- its memory")
	store := b.rec.Row(record.RandomStore, record.Bytes, "- the store grows by")
	whole := b.rec.Row(record.RandomAll, record.Bytes, "- with caches and indexes")
	store.BaseName = "the files, compressed"
	together := b.rec.Row(record.Together, record.Millis, fmt.Sprintf("save of %d edited files, one directory", n))
	togetherStore := b.rec.Row(record.TogetherStore, record.Bytes, "- the store grows by")
	togetherStore.BaseName = store.BaseName
	for i := range b.rec.Setup.Rounds {
		at := uint64(roundsRandom + i)
		err := b.round(ctx, all, plan, plan.Random(n, at), at, store, func(f *field, s saved) {
			random.Add(f.name, s.millis)
			store.Add(f.name, float64(s.store))
			whole.Add(f.name, float64(s.all))
			addMemory(memory, f, s.usage)
		})
		if err != nil {
			return err
		}
		at = uint64(roundsTogether + i)
		err = b.round(ctx, all, plan, plan.Together(n, at), at, togetherStore, func(f *field, s saved) {
			together.Add(f.name, s.millis)
			togetherStore.Add(f.name, float64(s.store))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// round lets every tool save the same edit of its own workspace.
func (b *bench) round(ctx context.Context, all []*field, plan *grow.Plan, files []int, at uint64, base *record.Row, note func(*field, saved)) error {
	for i, f := range turns(all, int(at)) {
		s, err := f.after(ctx, editing(plan, files, at))
		if err != nil {
			return err
		}
		note(f, s)
		if i == 0 && base != nil {
			n, err := packed(f.ws, plan, files)
			if err != nil {
				return err
			}
			base.Base = append(base.Base, float64(n))
		}
	}
	return nil
}

// packed is the size of files, each compressed as the store does it.
func packed(ws string, plan *grow.Plan, files []int) (int64, error) {
	var sum counting
	for _, i := range files {
		f, err := os.Open(filepath.Join(ws, filepath.FromSlash(plan.Path(i))))
		if err != nil {
			return 0, fmt.Errorf("compress file: %w", err)
		}
		err = compression.ByName["zstd-fastest"].Compress(&sum, f)
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return 0, fmt.Errorf("compress file: %w", err)
		}
	}
	return int64(sum), nil
}

type counting int64

func (c *counting) Write(p []byte) (int, error) {
	*c += counting(len(p))
	return len(p), nil
}

func (b *bench) noChange(ctx context.Context, all []*field) error {
	if err := pause(ctx, settle); err != nil {
		return err
	}
	if err := again(ctx, all); err != nil { // looks at the last edits a second time
		return err
	}
	row := b.rec.Row(record.Same, record.Millis, "save with nothing changed")
	for i := range b.rec.Setup.Rounds {
		for _, f := range turns(all, i) {
			s, err := f.after(ctx, nil)
			if err != nil {
				return err
			}
			row.Add(f.name, s.millis)
		}
	}
	return nil
}

// starts measures what a process of ours costs before it does anything.
func (b *bench) starts(ctx context.Context, f *field) error {
	const times = 20
	version := b.rec.Row(record.StartVersion, record.Millis, "retake version, the whole process")
	log := b.rec.Row(record.StartLog, record.Millis, "retake log, the whole process")
	for range times {
		for row, argv := range map[*record.Row][]string{
			version: {b.retake, "version"},
			log:     {b.retake, "log", "--no-input", "-C", f.ws},
		} {
			u, err := b.steps(ctx, b.commands(f.kit, f.home, f.ws, [][]string{argv}))
			if err != nil {
				return err
			}
			row.Add(f.name, u.millis)
		}
	}
	return nil
}
