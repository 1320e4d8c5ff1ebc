package service_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx/fsxtest"
)

// A restore that was cut off, a plan that was shown and the last restores keep what
// they need.
func TestWhatGoingBackNeedsStays(t *testing.T) {
	t.Parallel()
	r := newRetentionFixture(t, false)
	r.saveMany(10, day)
	plan, err := r.s.PlanRestore(t.Context(), retake.PlanRequest{Workspace: r.ws, Course: retake.CourseRestore, Ref: "4"})
	r.must(err)
	r.fillDisk()
	r.thin()
	if d := cmp.Diff([]int64{1, 4, 11}, r.numbers()); d != "" {
		t.Fatalf("a plan to 4 was shown (-want +got):\n%s", d)
	}
	r.freeDisk()
	res, err := r.s.ApplyRestore(t.Context(), retake.ApplyRequest{PlanRequest: retake.PlanRequest{Workspace: r.ws, Course: retake.CourseRestore, Ref: "4"}, Digest: plan.Digest})
	r.must(err)
	r.saveMany(10, 2*day)
	r.fillDisk()
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
		r := newRetentionFixture(t, false)
		r.saveMany(12, day)
		req := retake.PlanRequest{Workspace: r.ws, Course: retake.CourseRestore, Ref: "6"}
		plan, err := r.s.PlanRestore(t.Context(), req)
		r.must(err)
		r.must(r.s.Close())
		r.open(false, fsxtest.CrashAt(r.disk, at, nil))
		_, _ = r.s.ApplyRestore(t.Context(), retake.ApplyRequest{PlanRequest: req, Digest: plan.Digest}) // it crashes
		_ = r.s.Close()
		r.open(false, r.disk)
		ws, err := r.s.Locate(t.Context(), r.root)
		r.must(err)
		if ws.Interrupted == nil {
			continue
		}
		cut = true
		st, err := r.s.Status(t.Context(), r.ws)
		r.must(err)
		if d := cmp.Diff(ws.Interrupted, st.Workspace.Interrupted); d != "" {
			t.Errorf("status tells of another restore (-want +got):\n%s", d)
		}
		last := r.saveMany(3, 4*day) // the plan is not fresh any more, and no safety point young
		r.fillDisk()
		r.thin()
		if d := cmp.Diff([]int64{1, 6, ws.Interrupted.Safety, last.Number}, r.numbers()); d != "" {
			t.Errorf("left (-want +got):\n%s", d)
		}
		r.freeDisk()
		unwind := retake.PlanRequest{Workspace: r.ws, Course: retake.CourseUnwind}
		plan, err = r.s.PlanRestore(t.Context(), unwind)
		r.must(err)
		_, err = r.s.ApplyRestore(t.Context(), retake.ApplyRequest{PlanRequest: unwind, Digest: plan.Digest})
		r.must(err)
	}
	if !cut {
		t.Error("no restore was interrupted")
	}
}

// A checkpoint from which a fork is growing stays until it has grown.
func TestAGrowingForkKeepsItsOrigin(t *testing.T) {
	t.Parallel()
	r := newRetentionFixture(t, false)
	r.saveMany(10, day)
	r.fillDisk()
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
	r := newRetentionFixture(t, false)
	r.saveMany(9, day)
	for i := range 40 { // progress is told now and then
		r.must(os.WriteFile(filepath.Join(r.root, fmt.Sprint(i)), nil, 0o644))
	}
	r.saveMany(1, day)
	req := retake.PlanRequest{Workspace: r.ws, Course: retake.CourseRestore, Ref: "5"}
	plan, err := r.s.PlanRestore(t.Context(), req)
	r.must(err)
	asked := false
	_, err = r.s.ApplyRestore(t.Context(), retake.ApplyRequest{PlanRequest: req, Digest: plan.Digest, Accept: []string{"mass-delete"}, Progress: func(retake.Progress) {
		if asked {
			return
		}
		asked = true
		r.fillDisk()
		defer r.freeDisk()
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
