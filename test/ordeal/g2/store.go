// Package g2 makes every operation of a save fail: it must be an error, a gap, or whole.
package g2

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
	"github.com/retake-dev/retake/test/ordeal/crashbed"
	"github.com/retake-dev/retake/test/ordeal/harness"
)

func init() { harness.Register("G2-a-store", storeFaults) }

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
func faultScenes(r *harness.Run) []*crashbed.MemScene {
	short := &crashbed.MemScene{Name: "saves", Past: 3, Do: func(ctx context.Context, l *crashbed.MemLine, s store.Store, c *clock.Manual) error {
		return errors.Join(l.Saves(ctx, s, c, 1), l.Saves(ctx, s, c, 1))
	}}
	all := crashbed.MemScenes()
	if r.Tier != "c" {
		return []*crashbed.MemScene{short}
	}
	return append([]*crashbed.MemScene{short}, all...)
}

// storeFaults is G2 at the store: every operation of a scene fails once.
func storeFaults(r *harness.Run) []harness.Verdict {
	start := time.Now()
	v := harness.Verdict{Guarantee: "G2", What: "a failing operation below the store: whole or absent", Control: "a write that answers success and keeps half", Detail: map[string]any{}}
	var doubt atomic.Int64
	for _, m := range faultScenes(r) {
		if err := m.Prepare(r.Seed); err != nil {
			v.Fail("%s: %v", m.Name, err)
			continue
		}
		for _, way := range faultWays {
			tried, last := faultScene(m, way.name, way.plan, &v, &doubt)
			v.Detail[m.Name+", "+way.name] = map[string]any{"faults": tried, "operations": fmt.Sprintf("1 to %d", last)}
		}
		if v.Caught == 0 {
			v.Caught = lostWrites(m)
		}
	}
	v.Detail["not acknowledged and there all the same, after a directory did not sync"] = doubt.Load()
	v.Seconds = time.Since(start).Seconds()
	return []harness.Verdict{v}
}

// faultScene fails operation n for every n until a run is clean. In a rough scene
// only the operations that change something fail.
func faultScene(m *crashbed.MemScene, way string, plan fsxtest.FaultPlan, v *harness.Verdict, doubt *atomic.Int64) (tried, last int64) {
	var mu sync.Mutex
	var next atomic.Int64
	var done atomic.Bool
	harness.Share(2, func(int) {
		for !done.Load() {
			p := plan
			p.At = next.Add(1)
			if m.Rough {
				if p.At > int64(len(m.Points)) {
					break
				}
				p.At = m.Points[p.At-1]
			}
			hit, err := faulted(m, p, doubt)
			mu.Lock()
			if hit {
				tried, last = tried+1, max(last, p.At)
				v.Tried++
			} else {
				done.Store(true)
			}
			if err != nil {
				v.Fail("%s, %s at %d: %v", m.Name, way, p.At, err)
			}
			mu.Unlock()
		}
	})
	return tried, last
}

// faulted runs the scene with the fault, then looks without it.
func faulted(m *crashbed.MemScene, plan fsxtest.FaultPlan, doubt *atomic.Int64) (hit bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), faultPatience)
	defer cancel()
	mem, line, c := m.Mem.Clone(), m.Line.Copy(), m.Clock()
	faulty := fsxtest.NewFaultyFS(mem, plan)
	ferr := crashbed.OnMemory(ctx, faulty, c, func(s store.Store) error { return m.Do(ctx, line, s, c) })
	if ctx.Err() != nil {
		return true, fmt.Errorf("it hangs: %w", ferr)
	}
	hit = faulty.FailedCount() > 0
	if !hit {
		return false, ferr
	}
	c.Advance(24 * time.Hour)
	return true, crashbed.OnMemory(ctx, mem, c, func(s store.Store) error {
		if err := onlyAcknowledged(line, ctx, s, ferr, doubt); err != nil {
			return err
		}
		if err := line.Check(ctx, s); err != nil {
			return err
		}
		if err := line.Saves(ctx, s, c, 1); err != nil {
			return fmt.Errorf("save after the fault: %w", err)
		}
		return line.Check(ctx, s)
	})
}

// onlyAcknowledged: what was not acknowledged is not listed. One case is in doubt
// by nature and only counted: the name of the index is there, and the sync that
// was to keep it answered an error.
func onlyAcknowledged(l *crashbed.MemLine, ctx context.Context, s store.Store, cause error, doubt *atomic.Int64) error {
	var extra []int64
	err := s.Records(ctx, l.Ws.ID, 0, func(leaf *store.Record, _ *retake.Tombstone) error {
		if leaf == nil {
			return nil
		}
		n := leaf.Card.Checkpoint.Number
		if _, ok := l.Must[n]; !ok && !l.May[n] {
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
	return fmt.Errorf("not acknowledged and listed: %v beside %v; the error was %w", extra, slices.Sorted(maps.Keys(l.Must)), cause)
}

// lostWrites keeps half of the n-th write and answers success, for every n.
func lostWrites(m *crashbed.MemScene) (caught int64) {
	ctx := context.Background()
	for n := int64(1); ; n++ {
		mem, line, c := m.Mem.Clone(), m.Line.Copy(), m.Clock()
		var seen atomic.Int64
		lie := &crashbed.LyingFS{FS: mem, Write: func(f fsx.File, p []byte) (int, error) {
			if seen.Add(1) != n {
				return f.Write(p)
			}
			_, _ = f.Write(p[:len(p)/2])
			return len(p), nil
		}}
		_ = crashbed.OnMemory(ctx, lie, c, func(s store.Store) error { return m.Do(ctx, line, s, c) })
		if seen.Load() < n {
			return caught
		}
		if err := crashbed.OnMemory(ctx, mem, c, func(s store.Store) error { return line.Check(ctx, s) }); err != nil {
			caught++
		}
	}
}

// syncInDoubt reports whether the sync of the directory itself was refused.
func syncInDoubt(err error) bool {
	return err != nil && strings.Contains(err.Error(), "sync directory: ")
}
