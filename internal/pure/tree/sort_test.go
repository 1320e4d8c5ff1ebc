package tree_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/tree"
)

// drawForest makes directories of names that sort before and after the slash: by their bytes,
// paths of them come in another order than the directories that they lie in.
func drawForest(t *rapid.T, depth int) *node {
	below := map[string]*node{}
	for _, name := range []string{"a", "a-", "a.b", "a\x01", "a0", "\xff"} {
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 1:
			below[name] = file(name)
		case 2:
			if depth > 0 {
				below[name] = drawForest(t, depth-1)
			}
		}
	}
	return dir(below)
}

// TestSortIsTheOrderOfCompare shuffles what Compare told.
func TestSortIsTheOrderOfCompare(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var s memoryLister
		var want []retake.Change
		err := tree.Compare(t.Context(), &s, nil, &s, s.storeNode("", drawForest(rt, 2)), func(c retake.Change) error {
			want = append(want, c)
			return nil
		})
		if err != nil {
			rt.Fatal(err)
		}
		got := slices.Clone(want)
		for i := range got {
			k := rapid.IntRange(0, i).Draw(rt, "with")
			got[i], got[k] = got[k], got[i]
		}
		tree.Sort(got)
		if d := cmp.Diff(want, got); d != "" {
			rt.Fatalf("(-compare +sort)\n%s", d)
		}
	})
}

// TestPartsMakeTheWhole cuts a comparison behind every path that it tells, the root among
// them, and behind paths that are not there.
func TestPartsMakeTheWhole(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var s memoryLister
		from, to := s.storeNode("", drawForest(rt, 2)), s.storeNode("", drawForest(rt, 2))
		from.Mode ^= 0o1 // the root differs too
		after := func(path string) (out []retake.Change) {
			err := tree.CompareAfter(t.Context(), &s, from, &s, to, path, func(c retake.Change) error {
				out = append(out, c)
				return nil
			})
			if err != nil {
				rt.Fatal(err)
			}
			return out
		}
		whole := after("")
		for i, c := range whole {
			if d := cmp.Diff(whole[i+1:], after(c.Path), cmpopts.EquateEmpty()); d != "" {
				rt.Fatalf("behind %q (-want +got)\n%s", c.Path, d)
			}
		}
		for _, absent := range []string{"a-/zz", "a!", "\xff\xff"} {
			want := slices.DeleteFunc(slices.Clone(whole), func(c retake.Change) bool { return !tree.IsAfter(c.Path, absent) })
			if d := cmp.Diff(want, after(absent), cmpopts.EquateEmpty()); d != "" {
				rt.Fatalf("behind %q (-want +got)\n%s", absent, d)
			}
		}
	})
}
