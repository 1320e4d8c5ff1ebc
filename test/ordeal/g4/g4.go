//go:build linux

// Package g4 plays random histories: they must end where a model in plain maps does.
package g4

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/service"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/memorytest"
	"github.com/retake-dev/retake/test/ordeal/harness"
	"github.com/retake-dev/retake/test/ordeal/playbed"
)

func init() {
	harness.Register("G4-histories", histories)
	harness.Children["g4"] = historiesChild
}

// lies are what the model is made to forget, so that we know it looks.
var lies = []string{"undo forgets", "conflicts forgotten"}

// histories plays random histories against a model in plain maps: after every step
// the files are what the model says, and at the end every past checkpoint can be reached.
func histories(r *harness.Run) []harness.Verdict {
	start := time.Now()
	v := harness.Verdict{Guarantee: "G4", What: "random histories end where a model in plain maps does", Control: "a model that forgets a rule", Detail: map[string]any{}}
	n := r.Figure(600, 200_000)
	parts := runtime.NumCPU()
	got := make([]playbed.Told, parts)
	errs := make([]error, parts)
	var wg sync.WaitGroup
	for i := range parts {
		wg.Go(func() {
			got[i], errs[i] = playbed.Tell(r, "g4", playbed.Playbill{Seed: r.Seed, From: n * i / parts, To: n * (i + 1) / parts})
		})
	}
	wg.Wait()
	for i, g := range got {
		v.Tried += g.Tried
		v.Failed += g.Failed
		v.Failures = append(v.Failures, g.Failures...)
		if errs[i] != nil {
			v.Fail("%v", errs[i])
		}
	}
	v.Failures = v.Failures[:min(10, len(v.Failures))]
	v.Detail["histories per second"] = float64(v.Tried) / time.Since(start).Seconds()
	for _, lie := range lies {
		g, err := playbed.Tell(r, "g4", playbed.Playbill{Seed: r.Seed, To: 300, Lie: lie})
		if err != nil || g.Failed == 0 {
			v.Fail("nobody noticed that the model lies, %s: %v", lie, err)
		}
		v.Caught += g.Failed
		v.Detail["noticed: "+lie] = fmt.Sprintf("%d of %d", g.Failed, g.Tried)
	}
	return []harness.Verdict{v}
}

func historiesChild(args []string) int { return playbed.PlayAll(args, playHistories) }

func playHistories(t playbed.Playbill, ctx context.Context) (playbed.Told, error) {
	syscall.Umask(0o022)
	debug.SetGCPercent(400) // there is little to keep, and much to forget
	var out playbed.Told
	open := descriptors()
	for from := t.From; from < t.To; from += playbed.Batch {
		home := t.Dir + "/" + strconv.Itoa(from)
		svc, err := openPlay(ctx, home, from/playbed.Batch%8 == 0)
		if err != nil {
			return out, err
		}
		for i := from; i < min(t.To, from+playbed.Batch); i++ {
			seed := t.Seed*1_000_000_007 + int64(i)
			p := &play{svc: svc, rnd: rand.New(rand.NewSource(seed)), root: fmt.Sprintf("%s/ws%d", home, i), line: playbed.Chronicle{Lie: t.Lie}}
			out.Tried++
			if err := p.run(ctx); err != nil {
				out.Failed++
				if len(out.Failures) < 5 {
					out.Failures = append(out.Failures, fmt.Sprintf("seed %d history %d: %v", t.Seed, i, err))
				}
			}
		}
		if err := errors.Join(svc.Close(), os.RemoveAll(home)); err != nil {
			return out, err
		}
	}
	if more := descriptors() - open; more > playbed.Batch {
		out.Failed++
		out.Failures = append(out.Failures, fmt.Sprintf("%d descriptors stay open", more))
	}
	return out, nil
}

// descriptors counts what this process has open.
func descriptors() int {
	list, _ := os.ReadDir("/proc/self/fd") // none: not told here
	return len(list)
}

// openPlay is a service on a store in memory and a catalog in memory.
func openPlay(ctx context.Context, home string, fence bool) (*service.Service, error) {
	if err := errors.Join(os.MkdirAll(home+"/index", 0o755), os.Mkdir(home+"/returns", 0o755)); err != nil {
		return nil, err
	}
	cat, err := sqlite.Open(ctx, sqlite.Memory, "local", sqlite.Options{})
	if err != nil {
		return nil, err
	}
	stored := memorytest.New()
	return service.New(service.Parts{
		Parts: workspace.Parts{
			Catalog: cat, OpenStore: func(context.Context, bool) (store.Store, error) { return stored, nil },
			FS: fsx.OS(), IndexDir: home + "/index", DataDir: home + "/index", RestoreDir: home + "/returns", Locks: fsx.NewMemoryLocks(),
			Clock: clock.Wall, BootID: "this run", HomeDir: "/nobody", LockWait: time.Minute,
			Policy: func(retake.WorkspaceID) retake.Policy { return retake.Policy{} }, MinFree: func(int64) int64 { return 0 },
		},
		KernelFence: fence,
	}), nil
}
