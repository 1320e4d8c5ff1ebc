package term_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/term"
)

func deleted(paths ...string) []retake.Change {
	var out []retake.Change
	for _, p := range paths {
		e := retake.Entry{Kind: retake.KindFile, Size: 10}
		if d, ok := strings.CutSuffix(p, "/"); ok {
			p, e = d, retake.Entry{Kind: retake.KindDir}
		}
		out = append(out, retake.Change{Path: p, What: retake.Deleted, Before: &e})
	}
	return out
}

func many(n int, form string) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf(form, i))
	}
	return out
}

func TestFoldListsFewByThemselves(t *testing.T) {
	t.Parallel()
	got := term.Fold(deleted("a", "d/", "d/x", "d/y", "e/"))
	want := []term.Line{{"a", 1, 0, true}, {"d/x", 1, 0, true}, {"d/y", 1, 0, true}, {"e/", 0, 1, true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
}

func TestFoldShutsTheLargeAndOpensTheSmall(t *testing.T) {
	t.Parallel()
	paths := append(many(400, "node_modules/p%03d/index.js"), "src/a.ts", "src/deep/er/b.ts", "README")
	got := term.Fold(deleted(paths...))
	want := []term.Line{
		{"README", 1, 0, true}, {"node_modules/", 400, 0, false}, {"src/a.ts", 1, 0, true}, {"src/deep/er/b.ts", 1, 0, true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
}

func TestFoldBunchesTheFilesOfTheRoot(t *testing.T) {
	t.Parallel()
	got := term.Fold(deleted(append(many(30, "f%02d"), "d/x")...))
	want := []term.Line{{"d/", 1, 0, false}, {"./", 30, 0, false}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
}

// Whatever is folded, no file is lost.
func TestFoldAddsUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		seen := map[string]bool{}
		for range rapid.IntRange(1, 120).Draw(t, "n") {
			parts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 0, 3).Draw(t, "dirs")
			seen[strings.Join(append(parts, "f"+rapid.StringMatching(`[0-9]{1,2}`).Draw(t, "name")), "/")] = true
		}
		var paths []string
		for p := range seen {
			paths = append(paths, p)
		}
		var files int64
		for _, l := range term.Fold(deleted(paths...)) {
			files += l.Files
		}
		if files != int64(len(paths)) {
			t.Fatalf("%d files in the lines, %d changed", files, len(paths))
		}
	})
}

// What programs fill is one line, however little of it changed; what people write in a
// directory with such a name is not.
func TestFoldKeepsPackagesAndBuildOutputShut(t *testing.T) {
	t.Parallel()
	got := term.Fold(deleted("dist/a.js", "dist/lib/b.js", "node_modules/a/index.js", "node_modules/b/index.js", "src/a.ts"))
	want := []term.Line{{"dist/", 2, 0, false}, {"node_modules/", 2, 0, false}, {"src/a.ts", 1, 0, true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
}
