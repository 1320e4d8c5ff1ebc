package main

import (
	"context"
	"fmt"
	"time"

	"github.com/retake-dev/retake/bench/grow"
	"github.com/retake-dev/retake/bench/procfs"
	"github.com/retake-dev/retake/bench/record"
)

// scale is one of the two sizes that are laid side by side.
type scale struct {
	*field
	h                           *home
	shared, random, wake, first record.Key
	files                       int
}

// million measures the same work on ten times the files: with the tracker it must
// cost about the same, and the scan beside it shows what it would cost without.
func (b *bench) million(ctx context.Context) error {
	if !b.can.daemon {
		b.miss(record.Daemon, "this build has none")
		return nil
	}
	b.fact("Files are small here: a median of 300 bytes.")
	var both []*scale
	for _, s := range []*scale{
		{files: b.size.small, first: record.SmallFirst, shared: record.SmallShared, random: record.SmallRandom, wake: record.SmallWake},
		{files: b.size.big, first: record.BigFirst, shared: record.BigShared, random: record.BigRandom, wake: record.BigWake},
	} {
		if err := b.grown(ctx, s); err != nil {
			return err
		}
		both = append(both, s)
	}
	big := both[1]
	for _, step := range []func() error{
		func() error {
			return b.memory(ctx, big, record.BigMemory, "memory of the daemon after the first capture of %d files")
		},
		func() error { return b.bigSaves(ctx, both, record.Retake, 0) },
		func() error { return b.tell(ctx, both) },
		func() error {
			return b.memory(ctx, big, record.BigLater, "memory of the daemon after the saves, %d files")
		},
		func() error { return b.idle(ctx, big) },
		func() error { return b.wakes(ctx, both) },
		func() error { return b.bigSaves(ctx, both, record.Solo, otherWay) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	for _, s := range both {
		if err := s.end(); err != nil {
			return err
		}
	}
	return nil
}

// grown writes a workspace and captures it for the first time.
func (b *bench) grown(ctx context.Context, s *scale) error {
	var err error
	if s.field, err = b.tracked(ctx, "small", fmt.Sprintf("of-%d", s.files), grow.Small(s.files, b.size.seed)); err != nil {
		return err
	}
	s.h = b.newHome(s.home, s.ws)
	b.closers = append(b.closers, s.h.stop)
	if err := pause(ctx, settle); err != nil {
		return err
	}
	u, err := s.capture(ctx)
	if err != nil {
		return err
	}
	say("first capture of %d files: %.0f ms", s.files, u.millis)
	b.row("c", s.first, record.Millis, "first capture of %d files, the whole process", s.files).Add(record.Process, u.millis)
	return nil
}

// bigSaves lets both sizes take turns. Without the tracker the daemon is away, and
// a whole process looks at every file.
func (b *bench) bigSaves(ctx context.Context, both []*scale, name string, from uint64) error {
	ways := map[*scale]way{}
	for _, s := range both {
		if name == record.Solo {
			if err := s.h.stop(); err != nil {
				return err
			}
			ways[s] = way{run: s.h.process(b.alone("save", "--no-input", "round")...)}
		} else {
			ways[s] = way{ready: s.h.dialed(ctx), run: s.h.call}
		}
	}
	for i := -2; i < b.size.rounds; i++ { // two rounds outside the clock
		for _, s := range turns(both, i+2) {
			for _, kind := range []struct {
				key    record.Key
				title  string
				choose func(int, uint64) []int
			}{{s.shared, "shared directories", s.plan.Shared}, {s.random, "random places", s.plan.Random}} {
				at := from + uint64(roundsBig+i)
				r, err := s.after(ctx, ways[s], kind.choose(b.size.edits, at), at)
				if err != nil {
					return err
				}
				if i >= 0 {
					b.row("c", kind.key, record.Millis, "save of %d files of %d, %s", b.size.edits, s.files, kind.title).Add(name, r.millis)
				}
			}
		}
		if i < 0 {
			if err := pause(ctx, settle); err != nil {
				return err
			}
		}
	}
	return nil
}

// tell notes how the daemons know of changes.
func (b *bench) tell(ctx context.Context, both []*scale) error {
	for _, s := range both {
		if _, _, err := s.h.tracks(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) memory(ctx context.Context, s *scale, key record.Key, title string) error {
	st, err := s.h.daemon(ctx)
	if err != nil {
		return err
	}
	m, err := procfs.MemoryOf(st.About.PID)
	if err != nil {
		return err
	}
	b.row("c", key, record.Bytes, title, s.files).Add(record.Retake, float64(m.Now))
	b.row("c", record.BigPeak, record.Bytes, "- at most until then").Add(record.Retake, float64(m.Peak))
	return nil
}

// idle looks at a daemon to which nothing happens.
func (b *bench) idle(ctx context.Context, s *scale) error {
	st, err := s.h.daemon(ctx)
	if err != nil {
		return err
	}
	before, err := procfs.CPUOf(st.About.PID)
	if err != nil {
		return err
	}
	say("watching the daemon for %s", b.size.idle)
	start := time.Now()
	if err := pause(ctx, b.size.idle); err != nil {
		return err
	}
	after, err := procfs.CPUOf(st.About.PID)
	if err != nil {
		b.miss("idle time", "the daemon went away by itself before the time was over")
		return nil
	}
	share := 100 * float64(after-before) / float64(time.Since(start))
	b.row("c", record.BigIdle, record.Percent, "share of one core that the daemon takes while nothing happens for %s, %d files", b.size.idle, s.files).Add(record.Retake, share)
	return nil
}

// wakes measures the first save after the daemon was away: it trusts nothing then.
func (b *bench) wakes(ctx context.Context, both []*scale) error {
	for i := range min(b.size.rounds, 3) {
		for _, s := range turns(both, i) {
			if err := s.h.stop(); err != nil {
				return err
			}
			at := uint64(roundsWake + i)
			r, err := s.after(ctx, way{run: s.h.process("save", "--no-input", "round")}, s.plan.Random(b.size.edits, at), at)
			if err != nil {
				return err
			}
			b.row("c", s.wake, record.Millis, "first save after the daemon was stopped, %d files, the whole process with the start of the daemon", s.files).Add(record.Process, r.millis)
		}
	}
	return nil
}
