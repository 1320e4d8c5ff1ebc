package main

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

func init() { register("G1-d-memory", crashStates) }

// memScene is a past and what is done when the power goes.
type memScene struct {
	name  string
	past  int  // checkpoints before
	share int  // part of all states, in percent
	rough bool // too long to fail every operation: those that change something only
	do    func(ctx context.Context, l *memLine, s store.Store, c *clock.Manual) error

	mem    *fsxtest.Memory // the past, synced
	line   *memLine
	ops    int64
	points []int64 // operations that change or sync something, and the end
}

func memScenes() []*memScene {
	return []*memScene{
		{name: "new store", share: 40, do: func(ctx context.Context, l *memLine, s store.Store, c *clock.Manual) error {
			return errors.Join(l.saves(ctx, s, c, 1), l.saves(ctx, s, c, 2))
		}},
		{name: "saves", past: 8, share: 40, do: func(ctx context.Context, l *memLine, s store.Store, c *clock.Manual) error {
			return errors.Join(l.saves(ctx, s, c, 1), l.saves(ctx, s, c, 1), l.saves(ctx, s, c, 2))
		}},
		{name: "forget and sweep", past: 12, share: 15, do: func(ctx context.Context, l *memLine, s store.Store, c *clock.Manual) error {
			if err := l.forget(ctx, s, 3, 9); err != nil {
				return err
			}
			if _, err := s.Sweep(ctx, store.SweepOptions{}); err != nil {
				return err
			}
			return l.saves(ctx, s, c, 2)
		}},
		{name: "index epochs", past: 126, share: 5, rough: true, do: func(ctx context.Context, l *memLine, s store.Store, c *clock.Manual) error {
			return errors.Join(l.saves(ctx, s, c, 1), l.saves(ctx, s, c, 1), l.saves(ctx, s, c, 1))
		}},
	}
}

// prepare makes the past and counts the operations that may be the last.
func (m *memScene) prepare(seed int64) error {
	ctx := context.Background()
	m.mem, m.line = fsxtest.NewMemory(), newMemLine(seed)
	if err := m.mem.MkdirAll("/store", 0o700, fsxtest.Synced); err != nil {
		return err
	}
	c := clock.NewManual(memoryNoon)
	for n := 0; n < m.past; n += 3 {
		err := onMemory(ctx, m.mem, c, func(s store.Store) error { return m.line.saves(ctx, s, c, min(3, m.past-n)) })
		if err != nil {
			return err
		}
	}
	root, err := m.mem.OpenRoot("/")
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
func (m *memScene) count(ctx context.Context) error {
	var mu sync.Mutex
	watch := &lyingFS{FS: m.mem.Clone()}
	seen := fsxtest.NewFaultyFS(watch, fsxtest.FaultPlan{})
	watch.change = func() {
		mu.Lock()
		defer mu.Unlock()
		m.points = append(m.points, seen.OpCount())
	}
	c := m.clock()
	err := onMemory(ctx, seen, c, func(s store.Store) error { return m.do(ctx, m.line.copy(), s, c) })
	m.ops = seen.OpCount()
	m.points = append(m.points, m.ops+1)
	return err
}

func (m *memScene) clock() *clock.Manual {
	return clock.NewManual(memoryNoon.Add(time.Duration(m.past+1) * 20 * time.Minute))
}

// model is what a file system promises, or does not.
type model struct{ journal, noSync bool }

// crash runs the scene up to operation k and answers states that the power cut
// may leave: nothing of what was not synced, all of it, and random parts.
func (m *memScene) crash(k int64, states int, seed uint64, how model) ([]*fsxtest.Memory, *memLine) {
	ctx := context.Background()
	mem, line, c := m.mem.Clone(), m.line.copy(), m.clock()
	mem.FileSyncKeepsName(how.journal)
	var left []*fsxtest.Memory
	rnd := rand.New(rand.NewPCG(seed, uint64(k)))
	var inner fsx.FS = mem
	if how.noSync {
		inner = &lyingFS{FS: mem, noSync: true}
	}
	cut := func() {
		for i := range states {
			odds := []float64{0, 1, 0.5, 0.9, 0.1}[i%5]
			left = append(left, mem.Crash(func(int) bool { return rnd.Float64() < odds }))
		}
	}
	err := onMemory(ctx, fsxtest.CrashAt(inner, k, cut), c, func(s store.Store) error { return m.do(ctx, line, s, c) })
	if err == nil && left == nil { // it ended before k: the cut comes after the end
		cut()
	}
	return left, line
}

// survive opens what is left, checks it, saves again, cuts the power at that
// acknowledgement, and checks once more.
func (m *memScene) survive(left *fsxtest.Memory, past *memLine, how model) error {
	ctx, c, line := context.Background(), m.clock(), past.copy()
	c.Advance(24 * time.Hour)
	var inner fsx.FS = left
	if how.noSync {
		inner = &lyingFS{FS: left, noSync: true}
	}
	err := onMemory(ctx, inner, c, func(s store.Store) error {
		if err := line.check(ctx, s); err != nil {
			return err
		}
		w, err := s.Begin(ctx, line.ws)
		if err != nil {
			return err
		}
		files := line.contents(int64(len(past.must)+len(past.may)) + 1) // those of the lost capture
		files["after"] = []byte(fmt.Sprint("new bytes ", len(past.must)))
		return errors.Join(line.seal(ctx, w, files), w.Close())
	})
	if err != nil {
		return err
	}
	return onMemory(ctx, left.Crash(nil), c, func(s store.Store) error { return line.check(ctx, s) })
}

// crashStates is G1 (d).
func crashStates(r *run) []verdict {
	start := time.Now()
	v := verdict{Guarantee: "G1", What: "crash states in memory: acknowledged is whole", Control: "syncs do nothing", Detail: map[string]any{}}
	harsh := verdict{}
	n := r.figure(600, 8000)
	for _, m := range memScenes() {
		if err := m.prepare(r.seed); err != nil {
			v.fail("%s: %v", m.name, err)
			continue
		}
		before := v.Tried
		crashScene(m, n*m.share/100, uint64(r.seed), model{journal: true}, &v)
		v.Detail[m.name] = map[string]int64{"operations": m.ops, "changes": int64(len(m.points)) - 1, "states": v.Tried - before}
		crashScene(m, max(20, n*m.share/800), uint64(r.seed), model{}, &harsh)
		var lies verdict
		crashScene(m, 20, uint64(r.seed), model{journal: true, noSync: true}, &lies)
		v.Caught += lies.Failed
	}
	v.Detail["where only a directory's sync keeps names"] = map[string]any{"states": harsh.Tried, "failed": harsh.Failed, "first": harsh.Failures}
	v.Seconds = time.Since(start).Seconds()
	return []verdict{v}
}

// crashScene spreads n states over the operations of a scene.
func crashScene(m *memScene, n int, seed uint64, how model, v *verdict) {
	const states = 5
	points := (n + states - 1) / states
	var mu sync.Mutex
	share(points, func(i int) {
		k := m.points[spreadOver(i, points, int64(len(m.points)))-1]
		round := seed + uint64(i/len(m.points))
		left, line := m.crash(k, states, round, how)
		for j, mem := range left {
			err := m.survive(mem, line, how)
			mu.Lock()
			v.Tried++
			if err != nil {
				v.fail("%s, operation %d, state %d: %v", m.name, k, j, err)
			}
			mu.Unlock()
		}
	})
}
