package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/fsx/fsxtest"
	"github.com/retake-dev/retake/internal/storage/store"
)

func init() { register("G2-a-store", storeFaults) }

// faultWays are the kinds of trouble, once and for good.
var faultWays = []struct {
	name string
	plan fsxtest.FaultPlan
}{
	{"EIO", fsxtest.FaultPlan{Kind: fsxtest.IOError}},
	{"ENOSPC", fsxtest.FaultPlan{Kind: fsxtest.NoSpace}},
	{"short write", fsxtest.FaultPlan{Kind: fsxtest.ShortWrite}},
	{"short read", fsxtest.FaultPlan{Kind: fsxtest.ShortRead}},
	{"EIO from there on", fsxtest.FaultPlan{Kind: fsxtest.IOError, Repeat: -1}},
	{"ENOSPC from there on", fsxtest.FaultPlan{Kind: fsxtest.NoSpace, Repeat: -1}},
}

// faultPatience is how long a save may take that meets trouble.
const faultPatience = 60 * time.Second

// faultScenes are those of G1 (d), each short enough to try every operation.
func faultScenes(r *run) []*memScene {
	short := &memScene{name: "saves", past: 3, do: func(ctx context.Context, l *memLine, s store.Store, c *clock.Manual) error {
		return errors.Join(l.saves(ctx, s, c, 1), l.saves(ctx, s, c, 1))
	}}
	all := memScenes()
	if r.tier != "c" {
		return []*memScene{short}
	}
	return append([]*memScene{short}, all...)
}

// storeFaults is G2 at the store: every operation of a scene fails once.
func storeFaults(r *run) []verdict {
	start := time.Now()
	v := verdict{Guarantee: "G2", What: "a failing operation below the store: whole or absent", Control: "a write that answers success and keeps half", Detail: map[string]any{}}
	var doubt atomic.Int64
	for _, m := range faultScenes(r) {
		if err := m.prepare(r.seed); err != nil {
			v.fail("%s: %v", m.name, err)
			continue
		}
		for _, way := range faultWays {
			tried, last := faultScene(m, way.name, way.plan, &v, &doubt)
			v.Detail[m.name+", "+way.name] = map[string]any{"faults": tried, "operations": fmt.Sprintf("1 to %d", last)}
		}
		if v.Caught == 0 {
			v.Caught = lostWrites(m)
		}
	}
	v.Detail["not acknowledged and there all the same, after a directory did not sync"] = doubt.Load()
	v.Seconds = time.Since(start).Seconds()
	return []verdict{v}
}

// faultScene fails operation n for every n until a run is clean. In a rough scene
// only the operations that change something fail.
func faultScene(m *memScene, way string, plan fsxtest.FaultPlan, v *verdict, doubt *atomic.Int64) (tried, last int64) {
	var mu sync.Mutex
	var next atomic.Int64
	var done atomic.Bool
	share(2, func(int) {
		for !done.Load() {
			p := plan
			p.At = next.Add(1)
			if m.rough {
				if p.At > int64(len(m.points)) {
					break
				}
				p.At = m.points[p.At-1]
			}
			hit, err := m.faulted(p, doubt)
			mu.Lock()
			if hit {
				tried, last = tried+1, max(last, p.At)
				v.Tried++
			} else {
				done.Store(true)
			}
			if err != nil {
				v.fail("%s, %s at %d: %v", m.name, way, p.At, err)
			}
			mu.Unlock()
		}
	})
	return tried, last
}

// faulted runs the scene with the fault, then looks without it.
func (m *memScene) faulted(plan fsxtest.FaultPlan, doubt *atomic.Int64) (hit bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), faultPatience)
	defer cancel()
	mem, line, c := m.mem.Clone(), m.line.copy(), m.clock()
	faulty := fsxtest.NewFaultyFS(mem, plan)
	ferr := onMemory(ctx, faulty, c, func(s store.Store) error { return m.do(ctx, line, s, c) })
	if ctx.Err() != nil {
		return true, fmt.Errorf("it hangs: %w", ferr)
	}
	hit = faulty.FailedCount() > 0
	if !hit {
		return false, ferr
	}
	c.Advance(24 * time.Hour)
	return true, onMemory(ctx, mem, c, func(s store.Store) error {
		if err := line.onlyAcknowledged(ctx, s, ferr, doubt); err != nil {
			return err
		}
		if err := line.check(ctx, s); err != nil {
			return err
		}
		if err := line.saves(ctx, s, c, 1); err != nil {
			return fmt.Errorf("save after the fault: %w", err)
		}
		return line.check(ctx, s)
	})
}

// onlyAcknowledged: what was not acknowledged is not listed. One case is in doubt
// by nature and only counted: the name of the index is there, and the sync that
// was to keep it answered an error.
func (l *memLine) onlyAcknowledged(ctx context.Context, s store.Store, cause error, doubt *atomic.Int64) error {
	var extra []int64
	err := s.Records(ctx, l.ws.ID, 0, func(leaf *store.Record, _ *retake.Tombstone) error {
		if leaf == nil {
			return nil
		}
		n := leaf.Card.Checkpoint.Number
		if _, ok := l.must[n]; !ok && !l.may[n] {
			extra = append(extra, n)
		}
		return nil
	})
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil || len(extra) == 0 {
		return err
	}
	if len(extra) == 1 && syncInDoubt(cause) {
		doubt.Add(1)
		return nil
	}
	return fmt.Errorf("not acknowledged and listed: %v beside %v; the error was %w", extra, slices.Sorted(maps.Keys(l.must)), cause)
}

// lostWrites keeps half of the n-th write and answers success, for every n.
func lostWrites(m *memScene) (caught int64) {
	ctx := context.Background()
	for n := int64(1); ; n++ {
		mem, line, c := m.mem.Clone(), m.line.copy(), m.clock()
		var seen atomic.Int64
		lie := &lyingFS{FS: mem, write: func(f fsx.File, p []byte) (int, error) {
			if seen.Add(1) != n {
				return f.Write(p)
			}
			_, _ = f.Write(p[:len(p)/2])
			return len(p), nil
		}}
		_ = onMemory(ctx, lie, c, func(s store.Store) error { return m.do(ctx, line, s, c) })
		if seen.Load() < n {
			return caught
		}
		if err := onMemory(ctx, mem, c, func(s store.Store) error { return line.check(ctx, s) }); err != nil {
			caught++
		}
	}
}

// syncInDoubt reports whether the sync of the directory itself was refused.
func syncInDoubt(err error) bool {
	return err != nil && strings.Contains(err.Error(), "sync directory: ")
}
