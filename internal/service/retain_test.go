package service_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/catalog"
	"github.com/retake-dev/retake/internal/catalog/sqlite"
	"github.com/retake-dev/retake/internal/clock"
	"github.com/retake-dev/retake/internal/fsx"
	"github.com/retake-dev/retake/internal/service"
	"github.com/retake-dev/retake/internal/store"
	"github.com/retake-dev/retake/internal/store/memstore"
)

// disk is a file system that says how much is free.
type disk struct {
	fsx.FS
	free atomic.Int64
}

const diskSize = 1e12

func (d *disk) Free(string) (int64, int64, error) { return d.free.Load(), diskSize, nil }

// room is a service on a store in memory, with a clock and a disk that tests hold.
type room struct {
	*testing.T
	s      *service.Service
	disk   *disk
	clock  *clock.Held
	home   string
	root   string
	ws     retake.WorkspaceID
	st     *memstore.Store
	budget atomic.Int64
	floor  atomic.Int64
	within atomic.Int64
	blind  atomic.Bool // the catalog does not know of forks
}

// rows is a catalog that may be half made.
type rows struct {
	catalog.Catalog
	blind *atomic.Bool
}

func (c *rows) Workspaces(ctx context.Context) ([]retake.WorkspaceState, error) {
	all, err := c.Catalog.Workspaces(ctx)
	if c.blind.Load() {
		all = slices.DeleteFunc(all, func(w retake.WorkspaceState) bool { return w.Origin != nil })
	}
	return all, err
}

const (
	hour = time.Hour
	day  = 24 * time.Hour
)

func newRoom(t *testing.T, sole bool) *room {
	t.Helper()
	r := &room{T: t, disk: &disk{FS: fsx.OS()}, clock: clock.NewHeld(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)), home: t.TempDir(), root: filepath.Join(t.TempDir(), "shop"), st: memstore.New()}
	r.disk.free.Store(diskSize / 2)
	r.within.Store(int64(30 * day))
	r.open(sole, r.disk)
	r.must(os.Mkdir(r.root, 0o755))
	r.write("start")
	res, err := r.s.Init(t.Context(), retake.InitRequest{Dir: r.root})
	r.must(err)
	r.ws = res.Workspace.ID
	return r
}

func (r *room) open(sole bool, seam fsx.FS) {
	r.Helper()
	for _, dir := range []string{"index", "returns"} {
		r.must(os.MkdirAll(filepath.Join(r.home, dir), 0o700))
	}
	cat, err := sqlite.Open(r.Context(), filepath.Join(r.home, "catalog.db"), "local", sqlite.Options{})
	r.must(err)
	r.s = service.New(service.Parts{
		Catalog:   &rows{cat, &r.blind},
		OpenStore: func(context.Context, bool) (store.Store, error) { return r.st, nil },
		FS:        seam, Indexes: filepath.Join(r.home, "index"), Data: r.home,
		Returns: filepath.Join(r.home, "returns"), Locks: fsx.NewMemoryLocks(),
		Clock: r.clock, Boot: "this run", Home: "/nobody", Wait: time.Minute, Sole: sole,
		Policy: func(retake.WorkspaceID) retake.Policy { return retake.Policy{} },
		Floor:  func(int64) int64 { return r.floor.Load() },
		Budget: func(int64) int64 { return r.budget.Load() },
		Within: func(retake.WorkspaceID) time.Duration { return time.Duration(r.within.Load()) },
	})
	s := r.s
	r.Cleanup(func() { _ = s.Close() })
}

func (r *room) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

func (r *room) write(text string) {
	r.Helper()
	r.must(os.WriteFile(filepath.Join(r.root, "a"), []byte(text), 0o644))
}

// saves takes n moments, each that long after the one before.
func (r *room) saves(n int, step time.Duration) retake.Checkpoint {
	r.Helper()
	var last retake.Checkpoint
	for i := range n {
		r.clock.Move(step)
		r.write(fmt.Sprintf("%d at %v", i, r.clock.Now()))
		res, err := r.s.Save(r.Context(), retake.SaveRequest{Workspace: r.ws})
		r.must(err)
		last = res.Checkpoint
	}
	return last
}

func (r *room) numbers() []int64 {
	r.Helper()
	tl, err := r.s.Log(r.Context(), retake.LogQuery{Workspace: r.ws})
	r.must(err)
	var out []int64
	for _, cp := range tl.Checkpoints {
		out = append(out, cp.Number)
	}
	slices.Sort(out)
	return out
}

func (r *room) thin() retake.ThinReport {
	r.Helper()
	rep, err := r.s.Thin(r.Context(), retake.ThinRequest{})
	r.must(err)
	return rep
}

// danger puts the disk below its floor, for good: all goes that may ever go.
func (r *room) danger() {
	r.floor.Store(1e9)
	r.disk.free.Store(1)
}

func (r *room) calm() { r.disk.free.Store(diskSize / 2) }

// until waits for something, looking often.
func (r *room) until(what string, f func() bool) {
	r.Helper()
	end := time.NewTimer(30 * time.Second)
	defer end.Stop()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for !f() {
		select {
		case <-end.C:
			r.Fatalf("it never came: %s", what)
		case <-again.C:
		}
	}
}

// What is too old goes, tombstones stay, what is left is whole, and the catalog made
// from the store is the same.
func TestThinByAge(t *testing.T) {
	t.Parallel()
	r := newRoom(t, false)
	r.saves(60, day/2)
	plan, err := r.s.SpacePlan(t.Context())
	r.must(err)
	before := r.numbers()
	rep := r.thin()
	left := r.numbers()
	var gone []int64
	for _, d := range plan.Drops {
		gone = append(gone, d.Number)
		if d.Why != "age" || d.Bytes <= 0 {
			t.Errorf("%+v", d)
		}
	}
	slices.Sort(gone)
	want := slices.DeleteFunc(before, func(n int64) bool { return slices.Contains(gone, n) })
	if d := cmp.Diff(want, left); d != "" || len(gone) < 10 || rep.Forgotten != int64(len(gone)) {
		t.Fatalf("%d planned, %d went, left (-plan +thin):\n%s", len(gone), rep.Forgotten, d)
	}
	if again, err := r.s.SpacePlan(t.Context()); err != nil || len(again.Drops) != 0 || again.Last == nil || again.Last.Forgotten != rep.Forgotten {
		t.Errorf("after it: %+v %v", again, err)
	}
	if twice := r.thin(); twice.Forgotten != 0 {
		t.Errorf("the second time %d went", twice.Forgotten)
	}
	built, err := r.s.Rebuild(t.Context())
	if err != nil || built.Tombstones != int64(len(gone)) || !slices.Equal(r.numbers(), left) {
		t.Errorf("rebuilt: %+v %v, %v", built, err, r.numbers())
	}
	scrub, err := r.s.Scrub(t.Context(), retake.ScrubQuery{Share: 1})
	if err != nil || len(scrub.Failed) > 0 || scrub.Checkpoints != int64(len(left)) {
		t.Errorf("%+v %v", scrub, err)
	}
}

// In the worst need only what is kept on purpose stays, each for its reason, and goes
// when the reason is gone.
func TestWhatStaysInTheWorstNeed(t *testing.T) {
	t.Parallel()
	r := newRoom(t, false)
	r.saves(30, day)
	_, err := r.s.Pin(t.Context(), r.ws, "5", "five")
	r.must(err)
	fork, err := r.s.Fork(t.Context(), retake.ForkRequest{Workspace: r.ws, Ref: "9", Dir: filepath.Join(t.TempDir(), "fork")})
	r.must(err)
	r.danger()
	r.blind.Store(true) // a catalog that is being made again must not cost a fork its base
	r.thin()
	r.blind.Store(false)
	r.thin()
	if d := cmp.Diff([]int64{1, 5, 9, 31}, r.numbers()); d != "" {
		t.Fatalf("left (-want +got):\n%s", d)
	}
	plan, err := r.s.SpacePlan(t.Context())
	r.must(err)
	why := map[string]int64{}
	for _, w := range plan.Workspaces {
		if w.Workspace == r.ws {
			for _, k := range w.Kept {
				why[k.Why] += k.Count
			}
		}
	}
	if d := cmp.Diff(map[string]int64{"start": 1, "pinned": 1, "fork base": 1, "newest": 1}, why); d != "" || plan.Need != retake.NeedFloor {
		t.Errorf("need %q, kept (-want +got):\n%s", plan.Need, d)
	}
	r.calm()
	r.must(r.s.Unpin(t.Context(), r.ws, "five"))
	_, err = r.s.Deinit(t.Context(), fork.Workspace.ID)
	r.must(err)
	r.danger()
	r.thin()
	if d := cmp.Diff([]int64{1, 31}, r.numbers()); d != "" {
		t.Errorf("left without pin and fork (-want +got):\n%s", d)
	}
}

// What is younger than an hour goes only below the floor.
func TestYoungGoesLast(t *testing.T) {
	t.Parallel()
	r := newRoom(t, false)
	r.saves(20, day)
	r.saves(10, time.Minute)
	r.budget.Store(1) // whatever there is, it is too much
	if rep := r.thin(); rep.Over == 0 {
		t.Errorf("nothing is over: %+v", rep)
	}
	if d := cmp.Diff([]int64{1, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31}, r.numbers()); d != "" {
		t.Errorf("over budget (-want +got):\n%s", d)
	}
	r.danger()
	r.thin()
	if d := cmp.Diff([]int64{1, 31}, r.numbers()); d != "" {
		t.Errorf("below the floor (-want +got):\n%s", d)
	}
}

// A restore that was cut off, a plan that was shown and the last restores keep what
// they need.
func TestWhatGoingBackNeedsStays(t *testing.T) {
	t.Parallel()
	r := newRoom(t, false)
	r.saves(10, day)
	plan, err := r.s.PlanRestore(t.Context(), retake.PlanRequest{Workspace: r.ws, Course: retake.CourseRestore, Ref: "4"})
	r.must(err)
	r.danger()
	r.thin()
	if d := cmp.Diff([]int64{1, 4, 11}, r.numbers()); d != "" {
		t.Fatalf("a plan to 4 was shown (-want +got):\n%s", d)
	}
	r.calm()
	res, err := r.s.ApplyRestore(t.Context(), retake.ApplyRequest{PlanRequest: retake.PlanRequest{Workspace: r.ws, Course: retake.CourseRestore, Ref: "4"}, Digest: plan.Digest})
	r.must(err)
	r.saves(10, 2*day)
	r.danger()
	r.thin()
	for _, cp := range []retake.Checkpoint{res.Checkpoint, res.Safety, res.Target} {
		if !slices.Contains(r.numbers(), cp.Number) {
			t.Errorf("%d is gone, which taking back the restore needs: %v", cp.Number, r.numbers())
		}
	}
	if n := len(r.numbers()); n > 6 {
		t.Errorf("%d stay: %v", n, r.numbers())
	}
}

func TestACutRestoreKeepsWhatItNeeds(t *testing.T) {
	t.Parallel()
	cut := false
	for at := int64(20); at < 200 && !cut; at += 7 {
		r := newRoom(t, false)
		r.saves(12, day)
		req := retake.PlanRequest{Workspace: r.ws, Course: retake.CourseRestore, Ref: "6"}
		plan, err := r.s.PlanRestore(t.Context(), req)
		r.must(err)
		r.must(r.s.Close())
		r.open(false, fsx.CrashAt(r.disk, at, nil))
		_, _ = r.s.ApplyRestore(t.Context(), retake.ApplyRequest{PlanRequest: req, Digest: plan.Digest}) // it crashes
		_ = r.s.Close()
		r.open(false, r.disk)
		ws, err := r.s.Locate(t.Context(), r.root)
		r.must(err)
		if ws.Interrupted == nil {
			continue
		}
		cut = true
		last := r.saves(3, 4*day) // the plan is not fresh any more, and no safety point young
		r.danger()
		r.thin()
		if d := cmp.Diff([]int64{1, 6, ws.Interrupted.Safety, last.Number}, r.numbers()); d != "" {
			t.Errorf("left (-want +got):\n%s", d)
		}
		r.calm()
		unwind := retake.PlanRequest{Workspace: r.ws, Course: retake.CourseUnwind}
		plan, err = r.s.PlanRestore(t.Context(), unwind)
		r.must(err)
		_, err = r.s.ApplyRestore(t.Context(), retake.ApplyRequest{PlanRequest: unwind, Digest: plan.Digest})
		r.must(err)
	}
	if !cut {
		t.Error("no restore was cut off")
	}
}

// A moment from which a fork is growing stays until it has grown.
func TestAGrowingForkKeepsItsOrigin(t *testing.T) {
	t.Parallel()
	r := newRoom(t, false)
	r.saves(10, day)
	r.danger()
	asked := false
	_, err := r.s.Fork(t.Context(), retake.ForkRequest{
		Workspace: r.ws, Ref: "5", Dir: filepath.Join(t.TempDir(), "fork"), Throwaway: true,
		Progress: func(retake.Progress) {
			if asked {
				return
			}
			asked = true
			r.thin()
			if d := cmp.Diff([]int64{1, 5, 11}, r.numbers()); d != "" {
				t.Errorf("while it grows (-want +got):\n%s", d)
			}
		},
	})
	if err != nil || !asked {
		t.Fatalf("grown: %v, asked %v", err, asked)
	}
	r.thin()
	if d := cmp.Diff([]int64{1, 11}, r.numbers()); d != "" {
		t.Errorf("when it has grown (-want +got):\n%s", d)
	}
}

// Nothing goes from a workspace in which a restore is under way.
func TestNothingGoesBesideARestore(t *testing.T) {
	t.Parallel()
	r := newRoom(t, false)
	r.saves(9, day)
	for i := range 40 { // progress is told now and then
		r.must(os.WriteFile(filepath.Join(r.root, fmt.Sprint(i)), nil, 0o644))
	}
	r.saves(1, day)
	req := retake.PlanRequest{Workspace: r.ws, Course: retake.CourseRestore, Ref: "5"}
	plan, err := r.s.PlanRestore(t.Context(), req)
	r.must(err)
	asked := false
	_, err = r.s.ApplyRestore(t.Context(), retake.ApplyRequest{PlanRequest: req, Digest: plan.Digest, Accept: []string{"mass-delete"}, Progress: func(retake.Progress) {
		if asked {
			return
		}
		asked = true
		r.danger()
		defer r.calm()
		before := r.numbers()
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		_, _ = r.s.Thin(ctx, retake.ThinRequest{}) // it gives up
		if d := cmp.Diff(before, r.numbers()); d != "" {
			t.Errorf("while files change (-before +after):\n%s", d)
		}
	}})
	if err != nil || !asked {
		t.Fatalf("restored: %v, asked %v", err, asked)
	}
}

// The service that lives for long holds the bounds without a word from anybody.
func TestBoundsHoldThemselves(t *testing.T) {
	t.Parallel()
	r := newRoom(t, true)
	r.saves(70, day/2)
	r.until("old moments go", func() bool { return len(r.numbers()) < 60 })
	size, err := r.st.Size(t.Context())
	r.must(err)
	r.budget.Store(size / 2)
	r.saves(1, time.Minute)
	r.until("the store is within its budget", func() bool {
		size, err := r.st.Size(t.Context())
		r.must(err)
		return size <= r.budget.Load()
	})
	if n := r.numbers(); !slices.Contains(n, 1) || !slices.Contains(n, 72) {
		t.Errorf("the first or the last is gone: %v", n)
	}
}

// A save that is refused at the floor lets room be made.
func TestRoomIsMadeAtTheFloor(t *testing.T) {
	t.Parallel()
	r := newRoom(t, false)
	r.saves(30, day)
	r.must(r.s.Close())
	r.open(true, r.disk) // nothing was saved yet
	r.danger()
	r.write("one more")
	_, err := r.s.Save(t.Context(), retake.SaveRequest{Workspace: r.ws})
	if !retake.IsKind(err, retake.Limit) {
		t.Fatalf("a save below the floor: %v", err)
	}
	r.until("what may go went", func() bool { return len(r.numbers()) == 2 })
}

// A store that is small beside its budget is not what fills the disk, and keeps all.
func TestASmallStoreKeepsItsMoments(t *testing.T) {
	t.Parallel()
	r := newRoom(t, false)
	r.budget.Store(1e9)
	r.saves(10, hour)
	r.danger()
	if rep := r.thin(); rep.Forgotten != 0 || len(r.numbers()) != 11 {
		t.Errorf("%+v, %v", rep, r.numbers())
	}
}

// Kept for ever is for ever, until room is short.
func TestForEver(t *testing.T) {
	t.Parallel()
	r := newRoom(t, false)
	r.within.Store(0)
	r.saves(60, day)
	if rep := r.thin(); rep.Forgotten != 0 {
		t.Errorf("%+v", rep)
	}
}
