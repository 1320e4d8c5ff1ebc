package capture_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/capture"
	"github.com/retake-dev/retake/internal/pure/tree"
)

// checkDelta is the law of what a capture hands over: it is what the two trees tell, in
// their words and their order. Every capture of these tests is held to it.
func (w *captureTest) checkDelta(t interface{ Fatalf(string, ...any) }, base retake.CheckpointID, res *capture.Result) {
	from, known := w.roots[base]
	if !known {
		if res.Delta != nil {
			t.Fatalf("there is nothing before it, and yet it tells: %v", res.Delta)
		}
		return
	}
	var want []retake.Change
	w.check(tree.Compare(context.Background(), w.store, &from, w.store, &res.Files, func(c retake.Change) error {
		if c.Path != tree.Root {
			want = append(want, c)
		}
		return nil
	}))
	if len(want) > 2000 {
		if res.Delta != nil {
			t.Fatalf("%d changes are handed over", len(res.Delta.Changes))
		}
		return
	}
	if res.Delta == nil || res.Delta.Checkpoint != base {
		t.Fatalf("what changed is not told: %v", res.Delta)
	}
	if d := cmp.Diff(want, res.Delta.Changes, cmpopts.EquateEmpty()); d != "" {
		t.Fatalf("what changed (-trees +capture):\n%s", d)
	}
}

// TestWhatChangedIsTold takes names through all kinds that they can be, with much and
// nothing below them. The order of paths is not that of their bytes.
func TestWhatChangedIsTold(t *testing.T) {
	t.Parallel()
	w := newCaptureTest(t)
	told := func(want ...string) {
		t.Helper()
		w.advanceClock()
		got := []string{}
		for _, c := range w.captureAndAccept().Delta.Changes {
			got = append(got, string(c.What)+" "+c.Path)
		}
		if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("(-want +told)\n%s", d)
		}
	}
	w.writeFile("a/b/c", "1")
	w.writeFile("a/b/d/e", "2")
	w.writeFile("a-b", "3")
	w.advanceClock()
	w.captureAndAccept()
	told()
	w.writeFile("a/b/c", "one")
	w.writeFile("a-b", "three")
	told("edited a/b/c", "edited a-b")
	w.check(w.fs.Chmod("/ws/a/b", 0o700))
	w.check(w.fs.Chmod("/ws/a/b/c", 0o600))
	told("moded a/b", "moded a/b/c")
	w.remove("/ws", "a")
	w.writeFile("a", "now a file")
	told("retyped a", "deleted a/b", "deleted a/b/c", "deleted a/b/d", "deleted a/b/d/e")
	w.remove("/ws", "a")
	w.writeFile("a/x", "4")
	told("retyped a", "added a/x")
	w.remove("/ws", "a-b")
	w.writeFile("new/deep/er", "5")
	told("deleted a-b", "added new", "added new/deep", "added new/deep/er")
	w.remove("/ws", "new")
	told("deleted new", "deleted new/deep", "deleted new/deep/er")
}

// TestWhatIsNotTakenIsToldAsGone: a name with a gap is in no tree.
func TestWhatIsNotTakenIsToldAsGone(t *testing.T) {
	t.Parallel()
	w := newCaptureTest(t)
	w.writeFile("a/one", "1")
	w.writeFile("two", "2")
	w.advanceClock()
	w.captureAndAccept()
	w.opts.Policy.Exclude = []string{"a"}
	w.advanceClock()
	res := w.captureAndAccept()
	if len(res.Delta.Changes) != 2 || res.Delta.Changes[0].What != retake.Deleted || res.Changed.Total() != 0 {
		t.Errorf("%+v, counts %+v", res.Delta.Changes, res.Changed)
	}
}

// TestTooMuchIsNotHandedOver holds the bound, from both sides.
func TestTooMuchIsNotHandedOver(t *testing.T) {
	t.Parallel()
	w := newCaptureTest(t)
	w.writeFile("first", "1")
	w.advanceClock()
	w.captureAndAccept()
	for i := range 1999 {
		w.writeFile(fmt.Sprintf("dir/%d", i), "x")
	}
	w.advanceClock()
	if res := w.captureAndAccept(); res.Delta == nil || len(res.Delta.Changes) != 2000 {
		t.Fatalf("2,000 changes: %v", res.Delta == nil)
	}
	w.writeFile("dir/more", "x")
	w.advanceClock()
	if res := w.captureAndAccept(); len(res.Delta.Changes) != 1 {
		t.Errorf("after many: %d changes", len(res.Delta.Changes))
	}
	w.remove("/ws", "dir")
	w.advanceClock()
	if res := w.captureAndAccept(); res.Delta != nil {
		t.Errorf("2,001 changes are handed over: %d", len(res.Delta.Changes))
	}
}

// TestWhatIsToldStays: what was handed over is not changed by the captures that follow.
func TestWhatIsToldStays(t *testing.T) {
	t.Parallel()
	w := newCaptureTest(t)
	w.writeFile("a", "1")
	w.advanceClock()
	w.captureAndAccept()
	w.writeFile("a", "22")
	w.check(w.fs.Link("/ws/a", "/ws/b"))
	w.advanceClock()
	res := w.captureAndAccept()
	text := formatChanges(res.Delta.Changes)
	w.writeFile("a", "333")
	w.remove("/ws", "b")
	w.advanceClock()
	w.captureAndAccept()
	if now := formatChanges(res.Delta.Changes); now != text {
		t.Errorf("%s became %s", text, now)
	}
}

func formatChanges(changes []retake.Change) (out string) {
	for _, c := range changes {
		out += fmt.Sprintf("%s %s %+v %+v %v;", c.What, c.Path, c.Before, c.After, c.After.Extra)
	}
	return out
}
