package g18

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"time"

	"github.com/kopia/kopia/repo"
	"github.com/kopia/kopia/repo/blob/filesystem"
	"github.com/kopia/kopia/repo/content/indexblob"
	"github.com/kopia/kopia/repo/maintenance"
	"github.com/kopia/kopia/repo/object"
	"github.com/kopia/kopia/snapshot/snapshotgc"

	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
	"github.com/retake-dev/retake/test/ordeal/harness"
)

// clockSteps: seals, forgets, sweeps and reopenings, and before each the clock may
// step by up to an hour, back or forth. Bytes that were swept come back, which is
// where a clock that went back loses them.
func clockSteps(r *harness.Run) []harness.Verdict {
	v := harness.Verdict{Guarantee: "G18", What: "the clock steps by up to an hour before any step", Control: "the engine's own clock, stepped back after its garbage collection"}
	rounds := r.Figure(6, 60)
	for i := range rounds {
		stepHistory(r, r.Seed*1000+int64(i), &v)
	}
	v.Caught = stockClock(r)
	return []harness.Verdict{v}
}

type stepper struct {
	r    *harness.Run
	rnd  *rand.Rand
	c    *clock.Manual
	dir  string
	s    *kopia.Store
	l    *line
	seen []int64 // seeds of edits that may come back after a sweep
}

func stepHistory(r *harness.Run, seed int64, v *harness.Verdict) {
	ctx := context.Background()
	t := &stepper{r: r, rnd: rand.New(rand.NewSource(seed)), c: clock.NewManual(time.Now()), dir: r.Scratch("clock"), l: newLine(seed)}
	var err error
	if t.s, err = openStore(r, t.dir, t.c, true); err != nil {
		v.Fail("create: %v", err)
		return
	}
	defer func() { _ = t.s.Close() }()
	for step := range 14 {
		t.c.Advance(time.Duration(t.rnd.Intn(7200)-3600) * time.Second)
		if err := t.step(ctx, step); err != nil {
			v.Fail("seed %d step %d: %v", seed, step, err)
			return
		}
		t.l.check(ctx, t.s, v)
	}
}

func (t *stepper) step(ctx context.Context, step int) error {
	switch k := t.rnd.Intn(6); {
	case k == 0 && step > 2:
		return t.l.forget(ctx, t.s, 3, t.c.Now())
	case k == 1 && step > 2:
		_, err := t.s.Sweep(ctx, store.SweepOptions{})
		return err
	case k == 2 && step > 0:
		if err := t.s.Close(); err != nil {
			return err
		}
		var err error
		t.s, err = openStore(t.r, t.dir, t.c, false)
		return err
	}
	// The same edits again now and then: bytes that a sweep dropped return.
	seed := t.rnd.Int63()
	if len(t.seen) > 0 && t.rnd.Intn(2) == 0 {
		seed = t.seen[t.rnd.Intn(len(t.seen))]
	}
	t.seen = append(t.seen, seed)
	t.l.rnd = rand.New(rand.NewSource(seed))
	w, err := t.s.Begin(ctx, t.l.ws)
	if err != nil {
		return err
	}
	t.c.Advance(time.Duration(t.rnd.Intn(3)-1) * time.Hour) // in the middle of a save, too
	return errors.Join(t.l.seal(ctx, w, t.c.Now()), w.Close())
}

// stockClock shows what happens without our clock: bytes written again after a
// garbage collection, by a clock that stepped back, are lost although the flush
// returned nil.
func stockClock(r *harness.Run) int64 {
	ctx := context.Background()
	now := time.Now()
	dir := r.Scratch("stock")
	conf := filepath.Join(dir, "config")
	st, err := filesystem.New(ctx, &filesystem.Options{Path: filepath.Join(dir, "repo")}, true)
	if err != nil {
		return 0
	}
	if err := repo.Initialize(ctx, st, &repo.NewRepositoryOptions{}, "x"); err != nil {
		return 0
	}
	if err := repo.Connect(ctx, conf, st, "x", &repo.ConnectOptions{}); err != nil {
		return 0
	}
	rep, err := repo.Open(ctx, conf, "x", &repo.Options{TimeNowFunc: func() time.Time { return now }, DisableRepositoryLog: true, OnFatalError: func(error) {}})
	if err != nil {
		return 0
	}
	defer rep.Close(ctx) //nolint:errcheck // scratch
	_, w, err := rep.(repo.DirectRepository).NewDirectWriter(ctx, repo.WriteSessionOptions{})
	if err != nil {
		return 0
	}
	put := func() object.ID {
		o := w.NewObjectWriter(ctx, object.WriterOptions{})
		_, _ = fmt.Fprint(o, "bytes that come back, bytes that come back")
		id, err := o.Result()
		if err != nil || w.Flush(ctx) != nil {
			fmt.Fprintln(os.Stderr, "control: write:", err)
		}
		return id
	}
	put()
	now = now.Add(10 * time.Second)
	if err := snapshotgc.Run(ctx, w, true, maintenance.SafetyNone, now); err != nil {
		return 0
	}
	now = now.Add(2 * time.Second)
	if _, err := w.ContentManager().CompactIndexes(ctx, indexblob.CompactOptions{AllIndexes: true, DropDeletedBefore: now, DisableEventualConsistencySafety: true}); err != nil {
		return 0
	}
	if err := w.Refresh(ctx); err != nil {
		return 0
	}
	now = now.Add(-time.Hour)
	id := put()
	if _, err := w.OpenObject(ctx, id); err != nil {
		return 1
	}
	return 0
}
