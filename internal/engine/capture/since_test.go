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

// sinceHolds is the law of what a capture hands over: it is what the two trees tell, in
// their words and their order. Every capture of these tests is held to it.
func (w *world) sinceHolds(t interface{ Fatalf(string, ...any) }, base retake.CheckpointID, res *capture.Result) {
	from, known := w.roots[base]
	if !known {
		if res.Since != nil {
			t.Fatalf("there is nothing before it, and yet it tells: %v", res.Since)
		}
		return
	}
	var want []retake.Change
	w.must(tree.Compare(context.Background(), w.store, &from, w.store, &res.Files, func(c retake.Change) error {
		if c.Path != tree.Root {
			want = append(want, c)
		}
		return nil
	}))
	if len(want) > 2000 {
		if res.Since != nil {
			t.Fatalf("%d changes are handed over", len(res.Since.Changes))
		}
		return
	}
	if res.Since == nil || res.Since.Checkpoint != base {
		t.Fatalf("what changed is not told: %v", res.Since)
	}
	if d := cmp.Diff(want, res.Since.Changes, cmpopts.EquateEmpty()); d != "" {
		t.Fatalf("what changed (-trees +capture):\n%s", d)
	}
}

// TestWhatChangedIsTold takes names through all kinds that they can be, with much and
// nothing below them. The order of paths is not that of their bytes.
func TestWhatChangedIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	told := func(want ...string) {
		t.Helper()
		w.later()
		got := []string{}
		for _, c := range w.take().Since.Changes {
			got = append(got, string(c.What)+" "+c.Path)
		}
		if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("(-want +told)\n%s", d)
		}
	}
	w.write("a/b/c", "1")
	w.write("a/b/d/e", "2")
	w.write("a-b", "3")
	w.later()
	w.take()
	told()
	w.write("a/b/c", "one")
	w.write("a-b", "three")
	told("edited a/b/c", "edited a-b")
	w.must(w.fs.Chmod("/ws/a/b", 0o700))
	w.must(w.fs.Chmod("/ws/a/b/c", 0o600))
	told("moded a/b", "moded a/b/c")
	w.remove("/ws", "a")
	w.write("a", "now a file")
	told("retyped a", "deleted a/b", "deleted a/b/c", "deleted a/b/d", "deleted a/b/d/e")
	w.remove("/ws", "a")
	w.write("a/x", "4")
	told("retyped a", "added a/x")
	w.remove("/ws", "a-b")
	w.write("new/deep/er", "5")
	told("deleted a-b", "added new", "added new/deep", "added new/deep/er")
	w.remove("/ws", "new")
	told("deleted new", "deleted new/deep", "deleted new/deep/er")
}

// TestWhatIsNotTakenIsToldAsGone: a name with a gap is in no tree.
func TestWhatIsNotTakenIsToldAsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("a/one", "1")
	w.write("two", "2")
	w.later()
	w.take()
	w.opts.Policy.Exclude = []string{"a"}
	w.later()
	res := w.take()
	if len(res.Since.Changes) != 2 || res.Since.Changes[0].What != retake.Deleted || res.Changed.Total() != 0 {
		t.Errorf("%+v, counts %+v", res.Since.Changes, res.Changed)
	}
}

// TestTooMuchIsNotHandedOver holds the bound, from both sides.
func TestTooMuchIsNotHandedOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("first", "1")
	w.later()
	w.take()
	for i := range 1999 {
		w.write(fmt.Sprintf("dir/%d", i), "x")
	}
	w.later()
	if res := w.take(); res.Since == nil || len(res.Since.Changes) != 2000 {
		t.Fatalf("2,000 changes: %v", res.Since == nil)
	}
	w.write("dir/more", "x")
	w.later()
	if res := w.take(); len(res.Since.Changes) != 1 {
		t.Errorf("after many: %d changes", len(res.Since.Changes))
	}
	w.remove("/ws", "dir")
	w.later()
	if res := w.take(); res.Since != nil {
		t.Errorf("2,001 changes are handed over: %d", len(res.Since.Changes))
	}
}

// TestWhatIsToldStays: what was handed over is not changed by the captures that follow.
func TestWhatIsToldStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("a", "1")
	w.later()
	w.take()
	w.write("a", "22")
	w.must(w.fs.Link("/ws/a", "/ws/b"))
	w.later()
	res := w.take()
	text := show(res.Since.Changes)
	w.write("a", "333")
	w.remove("/ws", "b")
	w.later()
	w.take()
	if now := show(res.Since.Changes); now != text {
		t.Errorf("%s became %s", text, now)
	}
}

func show(changes []retake.Change) (out string) {
	for _, c := range changes {
		out += fmt.Sprintf("%s %s %+v %+v %v;", c.What, c.Path, c.Before, c.After, c.After.Extra)
	}
	return out
}
