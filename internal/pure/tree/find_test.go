package tree_test

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/tree"
)

func TestFindAndWalk(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var s memoryLister
		n := anyTree(3).Draw(t, "tree")
		root := *s.storeNode("", n)
		got := map[string]retake.Entry{tree.Root: root}
		err := tree.Walk(context.Background(), &s, root, func(path string, e retake.Entry) error {
			got[path] = e
			return nil
		})
		if d := cmp.Diff(flatten(n), got); d != "" || err != nil {
			t.Fatalf("Walk: %v (-want +got):\n%s", err, d)
		}
		for path, want := range got {
			for _, form := range []string{path, "./" + path, path + "/"} {
				if e, err := tree.Find(context.Background(), &s, root, form); err != nil || !cmp.Equal(e, want) {
					t.Fatalf("Find %q: %+v, %v", form, e, err)
				}
			}
			if _, err := tree.Find(context.Background(), &s, root, path+"/none"); !errors.Is(err, fs.ErrNotExist) {
				t.Fatalf("Find below %q: %v", path, err)
			}
		}
	})
}

func TestFindErrors(t *testing.T) {
	t.Parallel()
	var s memoryLister
	root := *s.storeNode("", dir(map[string]*node{"d": dir(nil), "f": file("")}))
	for _, path := range []string{"..", "d/..", "f/x", "D", "dd", "c", "d/\xff"} {
		if _, err := tree.Find(t.Context(), &s, root, path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Find %q: %v, want ErrNotExist", path, err)
		}
	}
	if _, err := tree.Find(t.Context(), &memoryLister{}, root, "d"); !errors.Is(err, errMissing) {
		t.Errorf("Find in an empty shelf: %v", err)
	}
}

func TestWalkSkips(t *testing.T) {
	t.Parallel()
	var s memoryLister
	root := *s.storeNode("", dir(map[string]*node{"a": dir(map[string]*node{"x": file("")}), "b": dir(map[string]*node{"y": file("")})}))
	var got []string
	err := tree.Walk(t.Context(), &s, root, func(path string, _ retake.Entry) error {
		got = append(got, path)
		if path == "a" {
			return fs.SkipDir
		}
		return nil
	})
	if want := []string{"a", "b", "b/y"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("Walk: %v, %v, want %v", got, err, want)
	}
	err = tree.Walk(t.Context(), &s, root, func(string, retake.Entry) error { return errMissing })
	if !errors.Is(err, errMissing) {
		t.Errorf("the error of f: %v", err)
	}
}
