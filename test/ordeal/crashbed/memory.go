package crashbed

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/fsx/fsxtest"
	"github.com/retake-dev/retake/internal/storage/store"
)

// MemScene is a past and what is done when the power goes.
type MemScene struct {
	Name  string
	Past  int  // checkpoints before
	Share int  // part of all states, in percent
	Rough bool // too long to fail every operation: those that change something only
	Do    func(ctx context.Context, l *MemLine, s store.Store, c *clock.Manual) error

	Mem    *fsxtest.Memory // the past, synced
	Line   *MemLine
	Ops    int64
	Points []int64 // operations that change or sync something, and the end
}

func MemScenes() []*MemScene {
	return []*MemScene{
		{Name: "new store", Share: 40, Do: func(ctx context.Context, l *MemLine, s store.Store, c *clock.Manual) error {
			return errors.Join(l.Saves(ctx, s, c, 1), l.Saves(ctx, s, c, 2))
		}},
		{Name: "saves", Past: 8, Share: 40, Do: func(ctx context.Context, l *MemLine, s store.Store, c *clock.Manual) error {
			return errors.Join(l.Saves(ctx, s, c, 1), l.Saves(ctx, s, c, 1), l.Saves(ctx, s, c, 2))
		}},
		{Name: "forget and sweep", Past: 12, Share: 15, Do: func(ctx context.Context, l *MemLine, s store.Store, c *clock.Manual) error {
			if err := l.forget(ctx, s, 3, 9); err != nil {
				return err
			}
			if _, err := s.Sweep(ctx, store.SweepOptions{}); err != nil {
				return err
			}
			return l.Saves(ctx, s, c, 2)
		}},
		{Name: "index epochs", Past: 126, Share: 5, Rough: true, Do: func(ctx context.Context, l *MemLine, s store.Store, c *clock.Manual) error {
			return errors.Join(l.Saves(ctx, s, c, 1), l.Saves(ctx, s, c, 1), l.Saves(ctx, s, c, 1))
		}},
	}
}

// Prepare makes the past and counts the operations that may be the last.
func (m *MemScene) Prepare(seed int64) error {
	ctx := context.Background()
	m.Mem, m.Line = fsxtest.NewMemory(), newMemLine(seed)
	if err := m.Mem.MkdirAll("/store", 0o700, fsxtest.Synced); err != nil {
		return err
	}
	c := clock.NewManual(memoryNoon)
	for n := 0; n < m.Past; n += 3 {
		err := OnMemory(ctx, m.Mem, c, func(s store.Store) error { return m.Line.Saves(ctx, s, c, min(3, m.Past-n)) })
		if err != nil {
			return err
		}
	}
	root, err := m.Mem.OpenRoot("/")
	if err == nil {
		err = errors.Join(root.SyncFS(), root.Close())
	}
	if err != nil {
		return err
	}
	return m.count(ctx)
}

// count runs the scene once. Between two changes every crash leaves the same, so
// only the changes count.
func (m *MemScene) count(ctx context.Context) error {
	var mu sync.Mutex
	watch := &LyingFS{FS: m.Mem.Clone()}
	seen := fsxtest.NewFaultyFS(watch, fsxtest.FaultPlan{})
	watch.change = func() {
		mu.Lock()
		defer mu.Unlock()
		m.Points = append(m.Points, seen.OpCount())
	}
	c := m.Clock()
	err := OnMemory(ctx, seen, c, func(s store.Store) error { return m.Do(ctx, m.Line.Copy(), s, c) })
	m.Ops = seen.OpCount()
	m.Points = append(m.Points, m.Ops+1)
	return err
}

func (m *MemScene) Clock() *clock.Manual {
	return clock.NewManual(memoryNoon.Add(time.Duration(m.Past+1) * 20 * time.Minute))
}

// Model is what a file system promises, or does not.
type Model struct{ Journal, NoSync bool }

// Crash runs the scene up to operation k and answers states that the power cut
// may leave: nothing of what was not synced, all of it, and random parts.
func (m *MemScene) Crash(k int64, states int, seed uint64, how Model) ([]*fsxtest.Memory, *MemLine) {
	ctx := context.Background()
	mem, line, c := m.Mem.Clone(), m.Line.Copy(), m.Clock()
	mem.FileSyncKeepsName(how.Journal)
	var left []*fsxtest.Memory
	rnd := rand.New(rand.NewPCG(seed, uint64(k)))
	var inner fsx.FS = mem
	if how.NoSync {
		inner = &LyingFS{FS: mem, noSync: true}
	}
	cut := func() {
		for i := range states {
			odds := []float64{0, 1, 0.5, 0.9, 0.1}[i%5]
			left = append(left, mem.Crash(func(int) bool { return rnd.Float64() < odds }))
		}
	}
	err := OnMemory(ctx, fsxtest.CrashAt(inner, k, cut), c, func(s store.Store) error { return m.Do(ctx, line, s, c) })
	if err == nil && left == nil { // it ended before k: the cut comes after the end
		cut()
	}
	return left, line
}

// Survive opens what is left, checks it, saves again, cuts the power at that
// acknowledgement, and checks once more.
func (m *MemScene) Survive(left *fsxtest.Memory, past *MemLine, how Model) error {
	ctx, c, line := context.Background(), m.Clock(), past.Copy()
	c.Advance(24 * time.Hour)
	var inner fsx.FS = left
	if how.NoSync {
		inner = &LyingFS{FS: left, noSync: true}
	}
	err := OnMemory(ctx, inner, c, func(s store.Store) error {
		if err := line.Check(ctx, s); err != nil {
			return err
		}
		w, err := s.Begin(ctx, line.Ws)
		if err != nil {
			return err
		}
		files := line.contents(int64(len(past.Must)+len(past.May)) + 1) // those of the lost capture
		files["after"] = []byte(fmt.Sprint("new bytes ", len(past.Must)))
		return errors.Join(line.seal(ctx, w, files), w.Close())
	})
	if err != nil {
		return err
	}
	return OnMemory(ctx, left.Crash(nil), c, func(s store.Store) error { return line.Check(ctx, s) })
}
