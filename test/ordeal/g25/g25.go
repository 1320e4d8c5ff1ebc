//go:build linux

// Package g25 undoes what a person points at, and compares with an oracle.
package g25

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/fsx/fsxtest"
	"github.com/retake-dev/retake/internal/service"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/memorytest"
	"github.com/retake-dev/retake/test/ordeal/harness"
	"github.com/retake-dev/retake/test/ordeal/playbed"
)

func init() {
	harness.Register("G25-undo", pointedAt)
	harness.Children["g25"] = func(args []string) int { return playbed.PlayAll(args, tellTales) }
}

// What the oracle is made to believe, so that we know that each property can fail.
const (
	ruleBefore  = "the rule before: databases, output and git do not count, loose edits come first"
	editsGiveIn = "what undo takes back wins over edits made since"
	editsCount  = "edits that nobody saved are an item"
)

// pointedAt plays random histories against an oracle of its own: undo takes back the newest
// recorded change that was not taken back, keeps every edit that nobody saved, and says what
// it leaves; redo is the way back.
func pointedAt(r *harness.Run) []harness.Verdict {
	start := time.Now()
	v := harness.Verdict{Guarantee: "G25", What: "undo takes back what a person points at", Control: "the rule before, and two other wrong ones", Detail: map[string]any{}}
	for name, err := range keptTales(r) {
		v.Tried++
		if err != nil {
			v.Fail("kept, %s: %v", name, err)
		}
	}
	n := r.Figure(300, 100_000)
	parts := 2 * runtime.NumCPU() // a part also waits
	got := make([]playbed.Told, parts)
	errs := make([]error, parts)
	var wg sync.WaitGroup
	for i := range parts {
		wg.Go(func() {
			got[i], errs[i] = playbed.Tell(r, "g25", playbed.Playbill{Seed: r.Seed, From: n * i / parts, To: n * (i + 1) / parts})
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
	v.Detail["histories per second"] = float64(n) / time.Since(start).Seconds()
	for _, lie := range []string{ruleBefore, editsGiveIn, editsCount} {
		g, err := playbed.Tell(r, "g25", playbed.Playbill{Seed: r.Seed, To: 120, Lie: lie})
		if err != nil || g.Failed == 0 {
			v.Fail("nobody noticed that the oracle is wrong, %s: %v", lie, err)
		}
		v.Caught += g.Failed
		v.Detail["noticed: "+lie] = fmt.Sprintf("%d of %d", g.Failed, g.Tried)
	}
	return []harness.Verdict{v}
}

// tellTales plays a part of the histories. One that fails is told again with fewer deeds, as
// long as it fails.
func tellTales(t playbed.Playbill, ctx context.Context) (playbed.Told, error) {
	debug.SetGCPercent(400)
	var out playbed.Told
	for from := t.From; from < t.To; from += playbed.Batch {
		s, err := openStage(ctx, t.Dir+"/"+strconv.Itoa(from))
		if err != nil {
			return out, err
		}
		for i := from; i < min(t.To, from+playbed.Batch); i++ {
			deeds := drawDeeds(rand.New(rand.NewSource(t.Seed*1_000_000_007 + int64(i))))
			out.Tried++
			err := s.tale(t.Lie).tell(ctx, deeds)
			if err == nil {
				continue
			}
			out.Failed++
			if len(out.Failures) < 3 && t.Lie == "" {
				short, err := s.shorten(ctx, deeds, err)
				out.Failures = append(out.Failures, fmt.Sprintf("seed %d history %d: %v: %s", t.Seed, i, err, strings.Join(short, " ; ")))
			}
		}
		if err := s.close(); err != nil {
			return out, err
		}
	}
	return out, nil
}

// stage is a service with everything in memory, the files too, and a clock that stands
// still between deeds: nothing depends on how busy the machine is.
type stage struct {
	svc   *service.Service
	rows  catalog.Catalog
	files *fsxtest.Memory
	clock *clock.Manual
	home  string
	count int
}

func openStage(ctx context.Context, home string) (*stage, error) {
	s := &stage{files: fsxtest.NewMemory(), clock: clock.NewManual(time.Unix(1_800_000_000, 0)), home: home}
	s.files.SetClock(func() int64 {
		s.clock.Advance(time.Microsecond)
		return s.clock.Now().UnixNano()
	})
	// Names are also looked up on the machine, where the directories are empty.
	err := errors.Join(os.MkdirAll(home, 0o755), s.files.MkdirAll(home+"/index", 0o755), s.files.MkdirAll(home+"/returns", 0o755))
	if err != nil {
		return nil, err
	}
	cat, err := sqlite.Open(ctx, sqlite.Memory, "local", sqlite.Options{})
	if err != nil {
		return nil, err
	}
	s.rows = newRecalling(cat)
	stored := memorytest.New()
	s.svc = service.New(service.Parts{
		Parts: workspace.Parts{
			Catalog: s.rows, OpenStore: func(context.Context, bool) (store.Store, error) { return stored, nil },
			FS: s.files, IndexDir: home + "/index", DataDir: home + "/index", RestoreDir: home + "/returns", Locks: fsx.NewMemoryLocks(),
			Clock: striding{s.clock}, BootID: "this run", HomeDir: "/nobody", LockWait: time.Minute,
			Habits: func(retake.WorkspaceID) retake.Habits { return retake.Habits{Granularity: retake.GranularityCall} },
			Policy: func(retake.WorkspaceID) retake.Policy { return retake.Policy{} }, MinFree: func(int64) int64 { return 0 },
		},
	})
	return s, nil
}

// striding is a clock that moves on whenever it is read, further than the stamps of files are
// coarse: else each capture waits for real until a file that it just wrote is old enough.
type striding struct{ *clock.Manual }

func (c striding) Now() time.Time {
	c.Advance(15 * time.Millisecond)
	return c.Manual.Now()
}

func (s *stage) close() error { return errors.Join(s.svc.Close(), os.RemoveAll(s.home)) }

// tale begins a history in a directory of its own.
func (s *stage) tale(lie string) *tale {
	s.count++
	return &tale{stage: s, root: fmt.Sprintf("%s/ws%d", s.home, s.count), oracle: oracle{lie: lie, turns: map[string]*going{}}}
}

// shorten leaves deeds out, then edits of deeds, as long as the history fails.
func (s *stage) shorten(ctx context.Context, deeds []string, failed error) ([]string, error) {
	fails := func(d []string) bool {
		err := s.tale("").tell(ctx, d)
		if err != nil {
			failed = err
		}
		return err != nil
	}
	for again := true; again; {
		again = false
		for i := len(deeds) - 1; i >= 0; i-- {
			if less := append(append([]string{}, deeds[:i]...), deeds[i+1:]...); i > 0 && fails(less) {
				deeds, again = less, true
				continue
			}
			words := strings.Fields(deeds[i])
			for k := len(words) - 1; k > 0; k-- {
				less := append([]string{}, deeds...)
				less[i] = strings.Join(append(append([]string{}, words[:k]...), words[k+1:]...), " ")
				if strings.Contains(words[k], ":") && fails(less) {
					deeds, again, words = less, true, strings.Fields(less[i])
				}
			}
		}
	}
	return deeds, failed
}
