//go:build unix

package restore_test

import (
	"context"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/fsx/fsxtest"
)

// rehearse goes to the first checkpoint and back to the second, and returns how many
// operations the way there took.
func (b *restoreTest) rehearse(t fataler, seam fsx.FS, before string) int64 {
	counted, counter := fsxtest.NewCountingFS(seam)
	s := b.openService(t, counted)
	defer s.Close()
	_, err := b.applyPlan(s, retake.PlanRequest{Course: retake.CourseRestore, Ref: "1", Git: true})
	must(t, err)
	var all int64
	for _, n := range counter.OpCounts() {
		all += n
	}
	_, err = b.applyPlan(s, retake.PlanRequest{Course: retake.CourseRestore, Ref: "2", Git: true})
	must(t, err)
	if got := treeShape(t, b.root); got != before {
		t.Fatalf("back again\n--- want\n%s\n--- got\n%s", before, got)
	}
	return all
}

// A restore that is cut off at any operation can be finished, and can be unwound.
func TestCutAnywhere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var cut, whole atomic.Int64
	rapid.Check(t, func(t *rapid.T) {
		b := newRestoreTest(t, dir)
		defer b.removeFiles()
		changeRandomly(t, b.root)
		s := b.beginService(t)
		want := treeShape(t, b.root)
		changeRandomly(t, b.root)
		save(t, s, b.ws)
		before := treeShape(t, b.root)
		must(t, s.Close())
		seam := fsx.OS()
		if rapid.Bool().Draw(t, "without swaps") {
			seam = noSwap{seam}
		}
		all := b.rehearse(t, seam, before)
		s = b.openService(t, fsxtest.CrashAt(seam, all*(98-rapid.Int64Range(0, 45).Draw(t, "before the end"))/100, nil))
		_, err := b.applyPlan(s, retake.PlanRequest{Course: retake.CourseRestore, Ref: "1", Git: true})
		_ = s.Close() // it crashed
		s = b.openService(t, fsx.OS())
		defer s.Close()
		ws, lerr := s.Locate(context.Background(), b.root)
		must(t, lerr)
		if err == nil || ws.Interrupted == nil {
			whole.Add(1)
			if got := treeShape(t, b.root); got != want && got != before {
				t.Fatalf("not told, and neither here nor there: %v\n%s", err, got)
			}
			return
		}
		cut.Add(1)
		course, goal := retake.CourseFinish, want
		if rapid.Bool().Draw(t, "unwind") {
			course, goal = retake.CourseUnwind, before
		}
		res, err := b.applyPlan(s, retake.PlanRequest{Course: course})
		if err != nil || len(res.Failed) > 0 {
			t.Fatalf("%s: %v %v", course, res.Failed, err)
		}
		if got := treeShape(t, b.root); got != goal {
			t.Fatalf("%s\n--- want\n%s\n--- got\n%s", course, goal, got)
		}
		if ws, err := s.Locate(context.Background(), b.root); err != nil || ws.Interrupted != nil {
			t.Fatalf("after %s it is still open: %+v %v", course, ws.Interrupted, err)
		}
	})
	t.Cleanup(func() {
		t.Logf("%d cut, %d not", cut.Load(), whole.Load())
		if cut.Load() == 0 {
			t.Error("no restore was cut")
		}
	})
}
