package service_test

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
)

// What is too old goes, tombstones stay, what is left is whole, and the catalog made
// from the store is the same.
func TestThinByAge(t *testing.T) {
	t.Parallel()
	r := newRetentionFixture(t, false)
	r.saveMany(60, day/2)
	plan, err := r.s.SpacePlan(t.Context())
	r.must(err)
	if w := plan.Workspaces[0]; w.Brought[29] == 0 || w.Days[29] == 0 || w.Brought[27] == 0 {
		t.Errorf("by day: %v checkpoints brought %v", w.Days, w.Brought)
	}
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
	r := newRetentionFixture(t, false)
	r.saveMany(30, day)
	_, err := r.s.Pin(t.Context(), r.ws, "5", "five")
	r.must(err)
	fork, err := r.s.Fork(t.Context(), retake.ForkRequest{Workspace: r.ws, Ref: "9", Dir: filepath.Join(t.TempDir(), "fork")})
	r.must(err)
	r.fillDisk()
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
	r.freeDisk()
	r.must(r.s.Unpin(t.Context(), r.ws, "five"))
	_, err = r.s.Deinit(t.Context(), fork.Workspace.ID)
	r.must(err)
	r.fillDisk()
	r.thin()
	if d := cmp.Diff([]int64{1, 31}, r.numbers()); d != "" {
		t.Errorf("left without pin and fork (-want +got):\n%s", d)
	}
}

// What is younger than an hour goes last, and of the newest of it nothing goes for the limit.
func TestYoungGoesLast(t *testing.T) {
	t.Parallel()
	r := newRetentionFixture(t, false)
	r.saveMany(20, day)
	r.saveMany(10, time.Minute)
	r.budget.Store(1) // whatever there is, it is too much
	if rep := r.thin(); rep.Over == 0 {
		t.Errorf("nothing is over: %+v", rep)
	}
	if d := cmp.Diff([]int64{1, 27, 28, 29, 30, 31}, r.numbers()); d != "" {
		t.Errorf("above the limit (-want +got):\n%s", d)
	}
	r.fillDisk()
	r.thin()
	if d := cmp.Diff([]int64{1, 31}, r.numbers()); d != "" {
		t.Errorf("below the floor (-want +got):\n%s", d)
	}
}

// The service that lives for long holds the bounds without a word from anybody.
func TestBoundsHoldThemselves(t *testing.T) {
	t.Parallel()
	r := newRetentionFixture(t, true)
	r.saveMany(70, day/2)
	r.waitUntil("old checkpoints go", func() bool { return len(r.numbers()) < 60 })
	size, err := r.st.Size(t.Context())
	r.must(err)
	r.budget.Store(size / 2)
	r.saveMany(1, time.Minute)
	r.waitUntil("the store is within its budget", func() bool {
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
	r := newRetentionFixture(t, false)
	r.saveMany(30, day)
	r.must(r.s.Close())
	r.open(true, r.disk) // nothing was saved yet
	r.fillDisk()
	r.write("one more")
	_, err := r.s.Save(t.Context(), retake.SaveRequest{Workspace: r.ws})
	if !retake.IsKind(err, retake.Limit) {
		t.Fatalf("a save below the floor: %v", err)
	}
	r.waitUntil("what may go went", func() bool { return len(r.numbers()) == 2 })
}

// A store that is small beside its budget is not what fills the disk, and keeps all.
func TestASmallStoreKeepsItsCheckpoints(t *testing.T) {
	t.Parallel()
	r := newRetentionFixture(t, false)
	r.budget.Store(1e9)
	r.saveMany(10, hour)
	r.fillDisk()
	if rep := r.thin(); rep.Forgotten != 0 || len(r.numbers()) != 11 {
		t.Errorf("%+v, %v", rep, r.numbers())
	}
}

// Kept for ever is for ever, until room is short.
func TestForEver(t *testing.T) {
	t.Parallel()
	r := newRetentionFixture(t, false)
	r.within.Store(0)
	r.saveMany(60, day)
	if rep := r.thin(); rep.Forgotten != 0 {
		t.Errorf("%+v", rep)
	}
}
