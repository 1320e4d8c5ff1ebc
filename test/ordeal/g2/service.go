package g2

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/fsx/fsxtest"
	"github.com/retake-dev/retake/test/ordeal/crashbed"
	"github.com/retake-dev/retake/test/ordeal/harness"
)

func init() { harness.Register("G2-b-service", serviceFaults) }

// desk is a workspace, a store and what was acknowledged on them. Every fault
// begins with the same past, so that the n-th operation is the same one.
type desk struct {
	dir, ws, data, past string
	seed, step          int64
	before, acks        []crashbed.Ack
	gapped              int // saves that named what they could not read
}

// newDesk makes a workspace; with a history it is protected already.
func newDesk(r *harness.Run, seed int64, history int) (*desk, error) {
	dir := harness.FastDir(r, "desk")
	d := &desk{dir: dir, ws: filepath.Join(dir, "ws"), data: filepath.Join(dir, "data"), past: filepath.Join(dir, "past"), seed: seed}
	if err := d.furnish(history); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return d, nil
}

func (d *desk) furnish(history int) error {
	if err := os.Mkdir(d.ws, 0o755); err != nil {
		return err
	}
	for range history {
		if err := d.work(); err != nil {
			return err
		}
		if err := d.cleanSave(context.Background()); err != nil {
			return err
		}
		d.step++
	}
	d.before = d.acks
	if history == 0 {
		return nil
	}
	return crashbed.Command("cp", "-a", d.data, d.past)
}

// reset brings the store back to the past. The workspace stays; the work of the
// step is done again, so that its files are new to the save.
func (d *desk) reset() error {
	d.acks = slices.Clone(d.before)
	if err := os.RemoveAll(d.data); err != nil {
		return err
	}
	if len(d.before) == 0 {
		return nil
	}
	return crashbed.Command("cp", "-a", d.past, d.data)
}

func (d *desk) work() error { return crashbed.Edit(d.ws, d.seed, d.step) }

// cleanSave saves without faults. Nothing may be missing in it.
func (d *desk) cleanSave(ctx context.Context) (err error) {
	svc, err := crashbed.SoloAt(ctx, d.data, "one", fsx.OS())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, svc.Close()) }()
	want, err := crashbed.LiveTree(d.ws)
	if err != nil {
		return err
	}
	cp, err := crashbed.SaveOrInit(ctx, svc, d.ws)
	if err != nil {
		return err
	}
	if cp.Coverage.Grade != retake.Complete {
		return fmt.Errorf("a clean save is %s: %v", cp.Coverage.Grade, cp.Coverage.Gaps)
	}
	got, err := crashbed.StoredTree(ctx, svc, cp.Workspace, string(cp.ID))
	if err != nil {
		return err
	}
	if m := want.Missing(got, nil); m != "" {
		return fmt.Errorf("a clean save: %s", m)
	}
	d.acks = append(d.acks, crashbed.Ack{ID: cp.ID, Number: cp.Number, Digest: want.Digest()})
	return nil
}

// faultySave works and saves while the plan strikes, then looks without it.
func (d *desk) faultySave(plan fsxtest.FaultPlan, doubt *atomic.Int64) (hit bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), faultPatience)
	defer cancel()
	if err := errors.Join(d.reset(), d.work()); err != nil {
		return false, err
	}
	want, err := crashbed.LiveTree(d.ws)
	if err != nil {
		return false, err
	}
	faulty := fsxtest.NewFaultyFS(fsx.OS(), plan)
	cp, serr := saveThrough(ctx, d, faulty)
	if ctx.Err() != nil {
		return true, fmt.Errorf("it hangs: %w", serr)
	}
	hit = faulty.FailedCount() > 0
	if !hit && serr != nil {
		return hit, serr
	}
	if err := d.judge(ctx, cp, want, serr, doubt); err != nil {
		return hit, err
	}
	if err := d.cleanSave(ctx); err != nil { // what was a gap is read now
		return hit, fmt.Errorf("save after the fault: %w", err)
	}
	return hit, nil
}

func saveThrough(ctx context.Context, d *desk, fsys fsx.FS) (cp retake.Checkpoint, err error) {
	svc, err := crashbed.SoloAt(ctx, d.data, "one", fsys)
	if err != nil {
		return cp, err
	}
	cp, err = crashbed.SaveOrInit(ctx, svc, d.ws)
	_ = svc.Close() // the fault may be here; the answer was given
	return cp, err
}

// judge looks at what the service said and at what is there.
func (d *desk) judge(ctx context.Context, cp retake.Checkpoint, want crashbed.TreeFacts, serr error, doubt *atomic.Int64) (err error) {
	svc, err := crashbed.SoloAt(ctx, d.data, "one", fsx.OS())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, svc.Close()) }()
	if serr == nil {
		if err := d.whole(ctx, svc, cp, want); err != nil {
			return err
		}
	}
	for _, from := range []string{"the catalog", "the store"} {
		if err := d.listed(ctx, svc, serr, doubt); err != nil {
			return fmt.Errorf("by %s: %w", from, err)
		}
		if _, err := svc.Rebuild(ctx); err != nil && (len(d.acks) > 0 || !retake.IsKind(err, retake.NotFound)) {
			return err
		}
	}
	if len(d.acks) == 0 {
		return nil
	}
	return d.earlier(ctx, svc)
}

// whole: an acknowledged checkpoint holds everything but what it names as a gap.
func (d *desk) whole(ctx context.Context, svc retake.Service, cp retake.Checkpoint, want crashbed.TreeFacts) error {
	got, err := crashbed.StoredTree(ctx, svc, cp.Workspace, string(cp.ID))
	if err != nil {
		return fmt.Errorf("acknowledged and cannot be read: %w", err)
	}
	if m := want.Missing(got, cp.Coverage.Gaps); m != "" {
		return fmt.Errorf("acknowledged, %s, gaps %v: %s", cp.Coverage.Grade, cp.Coverage.Gaps, m)
	}
	if len(got) < len(want) && cp.Coverage.Grade != retake.Partial {
		return fmt.Errorf("%d paths of %d, and the grade is %s", len(got), len(want), cp.Coverage.Grade)
	}
	if cp.Coverage.Grade == retake.Partial {
		d.gapped++
	}
	d.acks = append(d.acks, crashbed.Ack{ID: cp.ID, Number: cp.Number, Digest: got.Digest(), Partial: cp.Coverage.Grade == retake.Partial})
	return nil
}

// listed: the timeline is what was acknowledged, and nothing else.
func (d *desk) listed(ctx context.Context, svc retake.Service, serr error, doubt *atomic.Int64) error {
	ws, err := svc.Locate(ctx, d.ws)
	if len(d.acks) == 0 && retake.IsKind(err, retake.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	tl, err := svc.Log(ctx, retake.LogQuery{Workspace: ws.ID, Limit: 1000})
	if err != nil {
		return err
	}
	known := map[retake.CheckpointID]bool{}
	for _, a := range d.acks {
		known[a.ID] = true
	}
	for _, cp := range tl.Checkpoints {
		if known[cp.ID] {
			delete(known, cp.ID)
			continue
		}
		if !syncInDoubt(serr) {
			return fmt.Errorf("not acknowledged and listed: %d; the error was %w", cp.Number, serr)
		}
		doubt.Add(1)
		t, err := crashbed.StoredTree(ctx, svc, ws.ID, string(cp.ID)) // in doubt, then whole
		if err != nil {
			return err
		}
		d.acks = append(d.acks, crashbed.Ack{ID: cp.ID, Number: cp.Number, Digest: t.Digest(), Partial: cp.Coverage.Grade == retake.Partial})
	}
	if len(known) > 0 {
		return fmt.Errorf("%d acknowledged checkpoints are not listed", len(known))
	}
	return nil
}

// earlier reads the newest few of the acknowledged ones and scrubs all.
func (d *desk) earlier(ctx context.Context, svc retake.Service) error {
	w := crashbed.Wreckage{Data: d.data, Ws: d.ws, Acks: d.acks}
	return errors.Join(w.Find(ctx, svc, false), crashbed.Scrubbed(ctx, svc))
}

// serviceFaults is G2 at the service: a save, and an init on a new store.
func serviceFaults(r *harness.Run) []harness.Verdict {
	start := time.Now()
	v := harness.Verdict{Guarantee: "G2", What: "a failing operation of a save: an error, a gap, or whole", Control: "a write that answers success and keeps half", Detail: map[string]any{}}
	var doubt, gaps atomic.Int64
	for _, scene := range []struct {
		name                  string
		history, ways, rounds int
	}{{"save", 2, r.Figure(4, 6), r.Figure(1, 4)}, {"init", 0, r.Figure(1, 4), 1}} {
		for _, way := range faultWays[:scene.ways] {
			var tried, last int64
			for round := range scene.rounds {
				faults := &deskFaults{r: r, name: scene.name + ", " + way.name, plan: way.plan, history: scene.history, seed: r.Seed*1000 + int64(round) + 1, v: &v}
				faults.run(&doubt, &gaps)
				tried, last = tried+faults.tried, max(last, faults.last)
			}
			v.Detail[scene.name+", "+way.name] = map[string]any{"faults": tried, "operations": fmt.Sprintf("1 to %d", last)}
		}
	}
	caught, err := lostServiceWrites(r)
	if err != nil {
		v.Fail("the control: %v", err)
	}
	v.Caught = caught
	v.Detail["saves with a named gap"] = gaps.Load()
	v.Detail["not acknowledged and there all the same, after a directory did not sync"] = doubt.Load()
	v.Seconds = time.Since(start).Seconds()
	return []harness.Verdict{v}
}

// deskFaults fails operation n for every n until a run is clean.
type deskFaults struct {
	r       *harness.Run
	name    string
	plan    fsxtest.FaultPlan
	history int
	seed    int64
	v       *harness.Verdict

	mu          sync.Mutex
	tried, last int64
}

func (f *deskFaults) run(doubt, gaps *atomic.Int64) {
	var next, clean atomic.Int64
	harness.Share(2, func(int) {
		var d *desk
		for clean.Load() == 0 {
			var err error
			if d == nil {
				d, err = newDesk(f.r, f.seed, f.history)
			}
			plan, hit := f.plan, false
			plan.At = next.Add(1)
			if err == nil {
				hit, err = d.faultySave(plan, doubt)
			}
			f.note(plan.At, hit, err)
			if !hit {
				clean.Add(1)
			}
			if d != nil && (err != nil || f.history == 0 || !hit) { // an init needs a directory without a mark
				gaps.Add(int64(d.gapped))
				_ = os.RemoveAll(d.dir)
				d = nil
			}
		}
		if d != nil {
			gaps.Add(int64(d.gapped))
			_ = os.RemoveAll(d.dir)
		}
	})
}

func (f *deskFaults) note(at int64, hit bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if hit {
		f.tried, f.last = f.tried+1, max(f.last, at)
		f.v.Tried++
	}
	if err != nil {
		f.v.Fail("%s at %d: %v", f.name, at, err)
	}
}

// lostServiceWrites keeps half of the n-th write below the store's directory and of all
// later ones, and answers success. Not of the n-th alone: a save has six, in no fixed order,
// and all but the pack of files may be found again from others.
func lostServiceWrites(r *harness.Run) (caught int64, err error) {
	for n := int64(1); n <= 6; n++ {
		d, err := newDesk(r, r.Seed, 1)
		if err != nil {
			return 0, err
		}
		var seen atomic.Int64
		lie := &crashbed.LyingFS{FS: fsx.OS(), Write: func(f fsx.File, p []byte) (int, error) {
			if len(p) < 16 || seen.Add(1) < n { // the test whether the store can be written is not part of a save
				return f.Write(p)
			}
			_, _ = f.Write(p[:len(p)/2])
			return len(p), nil
		}}
		ctx := context.Background()
		if err := d.work(); err != nil {
			return 0, err
		}
		want, err := crashbed.LiveTree(d.ws)
		if err != nil {
			return 0, err
		}
		cp, serr := saveThrough(ctx, d, lie)
		var doubt atomic.Int64
		if err := d.judge(ctx, cp, want, serr, &doubt); err != nil {
			caught++
		}
		_ = os.RemoveAll(d.dir)
	}
	return caught, nil
}
