//go:build linux

// Package bounds saves without end on a small disk: the budget and the floor must hold by
// themselves.
package bounds

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/service"
	"github.com/retake-dev/retake/test/ordeal/harness"
	"github.com/retake-dev/retake/test/ordeal/treebed"
)

func init() { harness.Register("BOUNDS", holdsBounds) }

// onePack is about the largest file that a store writes: what it may be off by.
const onePack = 24 << 20

// holdsBounds: saves without end on a small disk of the store's own, with a service as
// the daemon has it and nobody who types anything. After each save the store is not
// above its budget by more than two packs, nor the disk below its floor by more than
// one. Then somebody else fills the disk, and room is made in what is left. What is
// kept on purpose is there at the end, and what is listed can be restored.
func holdsBounds(r *harness.Run) []harness.Verdict {
	v := harness.Verdict{Guarantee: "BOUNDS", What: "saves without end on a small disk: budget and floor hold by themselves", Control: "no budget and no end of keeping", Detail: map[string]any{}}
	begun := time.Now()
	if err := boundedLife(r, &v); err != nil {
		v.Fail("%v", err)
	}
	caught, err := boundless(r)
	if err != nil {
		v.Fail("control: %v", err)
	}
	v.Caught = caught
	v.Seconds = time.Since(begun).Seconds()
	return []harness.Verdict{v}
}

func boundedLife(r *harness.Run, v *harness.Verdict) (err error) {
	b, err := newBound(r, map[string]string{"floor": boundFloor(r)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	n := r.Figure(600, 10_000)
	if err := b.live(n, v, nil); err != nil {
		return err
	}
	v.Detail["saves"], v.Detail["slowest_save_ms"] = n, b.slowest.Milliseconds()
	v.Detail["budget_mb"], v.Detail["largest_mb"] = b.budget/1e6, b.largest/1e6
	v.Detail["floor_mb"], v.Detail["least_free_mb"] = b.floor/1e6, b.least/1e6
	if err := b.squeezed(v); err != nil {
		return err
	}
	return b.kept(v)
}

// boundFloor lets the tier's disk come below its floor when it is filled.
func boundFloor(r *harness.Run) string {
	if r.Tier == "c" {
		return ""
	}
	return "30MB"
}

// boundless is the control: it ends with the first save that breaks the bound.
func boundless(r *harness.Run) (caught int64, err error) {
	b, err := newBound(r, map[string]string{"budget": "1TB", "keep-within": "0"})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	b.budget = b.total / 10
	var seen harness.Verdict
	err = b.live(r.Figure(3000, 10_000), &seen, func() bool { return seen.Failed > 0 })
	return seen.Failed, err
}

// bound is a service on a small disk, its workspace beside it, and what each checkpoint
// must hold.
type bound struct {
	place *treebed.Place
	svc   *service.Service
	clock *clock.Manual
	root  string
	ws    retake.WorkspaceID
	rnd   *rand.Rand

	total, budget, floor int64
	largest, least       int64
	slowest              time.Duration

	versions [boundFiles]int64           // of each file, now
	then     map[int64][boundFiles]int64 // at each checkpoint
	pinned   map[string]int64
	base     int64 // that a fork grew from
}

const (
	boundFiles = 20
	boundBytes = 90 << 10 // of each file: noise, so that it takes what it takes
	boundPins  = 4        // each holds other bytes, and must fit into the budget
)

func newBound(r *harness.Run, settings map[string]string) (*bound, error) {
	p, err := treebed.SmallDisk(r, int64(r.Figure(300, 2000))<<20)
	if err != nil {
		return nil, err
	}
	b := &bound{place: p, root: r.Scratch("bounds"), rnd: rand.New(rand.NewSource(r.Seed)), then: map[int64][boundFiles]int64{}, pinned: map[string]int64{}}
	b.clock = clock.NewManual(time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC))
	set, err := config.Load(filepath.Join(r.Scratch("settings"), "config.json"))
	for k, value := range settings {
		if err == nil && value != "" {
			err = set.Set(k, value)
		}
	}
	if err == nil {
		c := config.Config{DataDir: filepath.Join(p.Dir, "data"), Home: "/nobody", BootID: "this run"}
		b.svc, err = assemble.OpenService(context.Background(), c, set, assemble.Options{Derivation: harness.Derivation, Exclusive: true, Clock: b.clock})
	}
	if err == nil {
		err = b.begin(set)
	}
	if err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

func (b *bound) begin(set *config.Settings) error {
	for i := range boundFiles {
		if err := b.edit(i); err != nil {
			return err
		}
	}
	res, err := b.svc.Init(context.Background(), retake.InitRequest{Dir: b.root, Name: "bounds"})
	if err != nil {
		return err
	}
	b.ws = res.Workspace.ID
	b.then[res.Checkpoint.Number] = b.versions
	b.total, b.least, err = treebed.DiskOf(b.place.Dir)
	b.budget, b.floor = set.Budget(b.total), set.Floor(b.total)
	return err
}

func (b *bound) close() error {
	var err error
	if b.svc != nil {
		err = b.svc.Close()
	}
	b.place.End()
	return err
}

// words are the bytes of one version of a file.
func words(file int, version int64) []byte {
	out := make([]byte, boundBytes)
	_, _ = rand.New(rand.NewSource(version*boundFiles + int64(file))).Read(out) // never fails
	return out
}

func (b *bound) edit(file int) error {
	b.versions[file]++
	return os.WriteFile(filepath.Join(b.root, fmt.Sprintf("file-%02d", file)), words(file, b.versions[file]), 0o644)
}

// live saves n times: a burst a minute apart, then a pause of hours, so that weeks pass.
// Until answers true when it is enough.
func (b *bound) live(n int, v *harness.Verdict, until func() bool) error {
	ctx := context.Background()
	gap := 40 * 24 * time.Hour / time.Duration(n/10)
	for i := range n {
		if err := b.edit(b.rnd.Intn(boundFiles)); err != nil {
			return err
		}
		if b.clock.Advance(time.Minute); i%10 == 9 {
			b.clock.Advance(gap)
		}
		begun := time.Now()
		res, err := b.svc.Save(ctx, retake.SaveRequest{Workspace: b.ws})
		if err != nil {
			return fmt.Errorf("save %d: %w", i, err)
		}
		b.slowest = max(b.slowest, time.Since(begun))
		b.then[res.Checkpoint.Number] = b.versions
		if err := b.mind(ctx, i, n, res.Checkpoint.Number); err != nil {
			return err
		}
		if err := b.sample(ctx, v, fmt.Sprintf("after save %d", i)); err != nil {
			return err
		}
		if until != nil && until() {
			return nil
		}
	}
	return nil
}

// mind pins a checkpoint now and then, and grows one fork.
func (b *bound) mind(ctx context.Context, i, n int, number int64) error {
	if i%(n/boundPins) == n/boundPins/2 {
		name := fmt.Sprintf("kept-%d", number)
		if _, err := b.svc.Pin(ctx, b.ws, fmt.Sprint(number), name); err != nil {
			return err
		}
		b.pinned[name] = number
	}
	if i == n/8 {
		dir := filepath.Join(filepath.Dir(b.root), filepath.Base(b.root)+"-fork")
		if _, err := b.svc.Fork(ctx, retake.ForkRequest{Workspace: b.ws, Ref: fmt.Sprint(number - 3), Dir: dir}); err != nil {
			return err
		}
		b.base = number - 3
	}
	return nil
}

// sample holds the store and the disk against their bounds.
func (b *bound) sample(ctx context.Context, v *harness.Verdict, when string) error {
	s, err := b.svc.Space(ctx)
	if err != nil {
		return err
	}
	v.Tried++
	b.largest, b.least = max(b.largest, s.Bytes), min(b.least, s.Free)
	if s.Bytes > b.budget+2*onePack { // what is swept away is one, and one comes meanwhile
		v.Fail("%s: the store takes %d MB, the budget is %d MB", when, s.Bytes/1e6, b.budget/1e6)
	}
	if s.Free < b.floor-onePack {
		v.Fail("%s: %d MB are free, the floor is %d MB", when, s.Free/1e6, b.floor/1e6)
	}
	return nil
}
