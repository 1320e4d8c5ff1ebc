package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/kopia/kopia/repo/compression"

	"github.com/retake-dev/retake/bench/grow"
	"github.com/retake-dev/retake/bench/record"
)

// Rounds are counted through, so that no edit is made twice. A second way of the
// same tool edits otherWay further on.
const (
	roundsRandom = 1_000
	roundsShared = 2_000
	roundsTraced = 3_000
	roundsBig    = 4_000
	roundsWake   = 5_000
	roundsScan   = 6_000
	roundsBack   = 7_000 // and the thousand after it
	roundsHeld   = 9_000
	roundsFork   = 10_000
	roundsHook   = 11_000 // and the thousand after it
	roundsStory  = 13_000 // and the four thousands after it
	sinceThen    = 50_000 // beside the round of the edits that it follows
	otherWay     = 100_000
)

// project is the everyday, on one workspace for every tool: first captures (d),
// saves of a few files (a), and what a process costs (b).
func (b *bench) project(ctx context.Context) error {
	plan := grow.Project(b.size.files, b.size.seed)
	all, err := b.alike(ctx, "project", plan)
	if err != nil {
		return err
	}
	if err := b.describe(all[0].ws); err != nil {
		return err
	}
	if err := b.firsts(ctx, all); err != nil {
		return err
	}
	if err := b.small(ctx, all, plan); err != nil {
		return err
	}
	if err := b.processes(ctx, all); err != nil {
		return err
	}
	for _, f := range all {
		if err := f.end(); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) describe(ws string) error {
	bytes, files, err := weighDir(ws)
	b.fact("The workspace has %d files and %.3g MB.", files, float64(bytes)/1e6)
	return err
}

// firsts lets nobody else be up while a tool captures: a daemon that sees the whole
// file system would look at what a peer writes.
func (b *bench) firsts(ctx context.Context, all []*field) error {
	if err := pause(ctx, settle); err != nil {
		return err
	}
	row := b.row("d", record.First, record.Millis, "first capture")
	memory := b.row("d", record.FirstMemory, record.Bytes, "- its memory, at most")
	store := b.row("d", record.FirstStore, record.Bytes, "- the store")
	times := b.size.firsts
	if b.now["d"] == nil {
		times = 1
	}
	for round := range times {
		for _, f := range turns(all, round) {
			u, err := f.capture(ctx)
			if err != nil {
				return err
			}
			say("first capture: %s %.0f ms", f.first.name, u.millis)
			row.Add(f.first.name, u.millis)
			addMemory(memory, f.first.name, u)
			if n, err := sizeOf(f.store); err == nil && n > 0 {
				store.Add(f.first.name, float64(n))
			}
			if round < times-1 || f.name == record.Retake || f.name == record.Scan {
				if err := f.end(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// edits is one kind of change, and the rows it fills.
type edits struct {
	key, store record.Key
	title      string
	choose     func(int, uint64) []int
	from       int
}

// small measures saves of a few files. Each way of each tool saves once outside
// the clock first: what it does only at a second capture is done then.
func (b *bench) small(ctx context.Context, all []*field, plan *grow.Plan) error {
	if err := b.warm(ctx, all); err != nil {
		return err
	}
	for _, e := range []edits{
		{record.Shared, record.SharedStore, "shared directories", plan.Shared, roundsShared},
		{record.Random, record.RandomStore, "random places", plan.Random, roundsRandom},
	} {
		for i := range b.size.rounds {
			for _, f := range turns(all, i) {
				err := b.round(ctx, f, i, func(k int, w way) error {
					return b.smallSave(ctx, f, w, e, uint64(e.from+i)+uint64(k)*otherWay, k == 0 && f == all[0])
				})
				if err != nil {
					return err
				}
			}
		}
		say("saves, %s: done", e.title)
	}
	return b.syncs(ctx, all, plan)
}

// smallSave edits and saves once. The edits of one tool also tell what had to be stored.
func (b *bench) smallSave(ctx context.Context, f *field, w way, e edits, round uint64, weighed bool) error {
	n := b.size.edits
	row := b.row("a", e.key, record.Millis, "save of %d files, %s", n, e.title)
	store := b.row("a", e.store, record.Bytes, "- the store grows by")
	store.BaseName = "the files, compressed"
	files := e.choose(n, round)
	s, err := f.after(ctx, w, files, round)
	if err != nil {
		return err
	}
	row.Add(w.name, s.millis)
	addMemory(b.row("a", record.SaveMemory, record.Bytes, "- memory of the process"), w.name, s.usage)
	if f.store != "" {
		store.Add(w.name, float64(s.store))
	}
	if !weighed {
		return nil
	}
	bytes, err := packed(f.ws, f.plan, files)
	store.Base = append(store.Base, float64(bytes))
	return err
}

func (b *bench) warm(ctx context.Context, all []*field) error {
	for round := range 2 {
		for _, f := range all {
			for _, w := range f.ways {
				at := uint64(roundsScan + 10*round)
				if _, err := f.after(ctx, w, f.plan.Random(1, at), at); err != nil {
					return err
				}
			}
		}
		if err := pause(ctx, settle); err != nil {
			return err
		}
	}
	if !b.can.daemon {
		return nil
	}
	_, _, err := b.newHome(all[0].home, all[0].ws).tracks(ctx)
	return err
}

// round lets each way of a tool save, and another one begin in each round. The
// first way of every tool gets the same edits.
func (b *bench) round(ctx context.Context, f *field, i int, save func(k int, w way) error) error {
	order := make([]int, len(f.ways))
	for k := range order {
		order[k] = k
	}
	for _, k := range turns(order, i) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := save(k, f.ways[k]); err != nil {
			return err
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
		if err := errors.Join(compression.ByName["zstd-fastest"].Compress(&sum, f), f.Close()); err != nil {
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

// processes measures what a process costs when there is nothing to do.
func (b *bench) processes(ctx context.Context, all []*field) error {
	if b.now["b"] == nil {
		return nil
	}
	for i := range b.size.rounds {
		for _, f := range turns(all, i) {
			w := f.ways[len(f.ways)-1]
			var err error
			switch w.name {
			case record.Engine, record.Btrfs, record.Scan: // no process, or one that looks at nothing
			case record.Process, record.Solo:
				err = b.ownProcess(ctx, f, w)
			default:
				_, err = b.same(ctx, f, w)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// same is a save with nothing changed.
func (b *bench) same(ctx context.Context, f *field, w way) (saved, error) {
	s, err := f.after(ctx, w, nil, 0)
	if err == nil {
		b.row("b", record.Same, record.Millis, "nothing changed, the whole process").Add(w.name, s.millis)
	}
	return s, err
}

func (b *bench) ownProcess(ctx context.Context, f *field, w way) error {
	h := b.newHome(f.home, f.ws)
	if b.can.ifChanged {
		w.run = h.process(b.quietly(w.name, "save", "--no-input", "--if-changed")...)
	}
	if _, err := b.same(ctx, f, w); err != nil {
		return err
	}
	if w.name == record.Process && b.can.ifChanged {
		n, err := h.unchanged(ctx)
		if err != nil {
			return err
		}
		b.row("b", record.SameKept, record.Count, "- checkpoints recorded by it").Add(w.name, n)
	}
	for _, c := range []struct {
		row  *record.Row
		args []string
	}{
		{b.row("b", record.StatusLine, record.Millis, "retake status, one line, the whole process"), []string{"status", "--line"}},
		{b.row("b", record.StartOnly, record.Millis, "retake version, the whole process"), []string{"version"}},
	} {
		u, err := h.process(b.quietly(w.name, c.args...)...)(ctx)
		if err != nil {
			return err
		}
		c.row.Add(w.name, u.millis)
	}
	return nil
}

// quietly adds what keeps a process without a daemon from starting one.
func (b *bench) quietly(name string, args ...string) []string {
	if name == record.Solo {
		return b.alone(args...)
	}
	return args
}
