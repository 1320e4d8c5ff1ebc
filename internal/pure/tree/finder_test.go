package tree_test

import (
	"context"
	"errors"
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/retake-dev/retake/internal/pure/tree"
)

// A Finder answers what Find does, in whatever order it is asked.
func TestFinderIsFind(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var s memoryLister
		n := anyTree(3).Draw(t, "tree")
		root := *s.storeNode("", n)
		paths := []string{"", ".", "a/a/a", "none"}
		for path := range flatten(n) {
			paths = append(paths, path, path+"/a", path+"/none")
		}
		f := tree.NewFinder(&s, root)
		for range rapid.IntRange(1, 30).Draw(t, "questions") {
			path := rapid.SampledFrom(paths).Draw(t, "path")
			want, werr := tree.Find(context.Background(), &s, root, path)
			got, err := f.Find(context.Background(), path)
			if !cmp.Equal(got, want) || errors.Is(err, fs.ErrNotExist) != errors.Is(werr, fs.ErrNotExist) || (err == nil) != (werr == nil) {
				t.Fatalf("%q: %+v, %v; want %+v, %v", path, got, err, want, werr)
			}
		}
	})
}
