package term_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/term"
)

// sidesOf rebuilds both texts from the edits.
func sidesOf(edits []term.Edit) (a, b []string) {
	for _, e := range edits {
		if e.Op != '+' {
			a = append(a, e.Line)
		}
		if e.Op != '-' {
			b = append(b, e.Line)
		}
	}
	return a, b
}

func TestDiffLinesGivesBothSidesBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "d\n", "\n"})
		a := rapid.SliceOfN(line, 0, 60).Draw(t, "a")
		b := rapid.SliceOfN(line, 0, 60).Draw(t, "b")
		x, y := sidesOf(term.DiffLines(a, b))
		if !slices.Equal(x, a) || !slices.Equal(y, b) {
			t.Fatalf("edits of %q and %q give %q and %q", a, b, x, y)
		}
	})
}

// shortest is the number of edits by the plain table of longest common parts.
func shortest(a, b []string) int {
	best := make([][]int, len(a)+1)
	for i := range best {
		best[i] = make([]int, len(b)+1)
	}
	for i := range a {
		for j := range b {
			if a[i] == b[j] {
				best[i+1][j+1] = best[i][j] + 1
			} else {
				best[i+1][j+1] = max(best[i][j+1], best[i+1][j])
			}
		}
	}
	return len(a) + len(b) - 2*best[len(a)][len(b)]
}

func TestDiffLinesIsShortest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"a\n", "b\n", "c\n"})
		a := rapid.SliceOfN(line, 0, 30).Draw(t, "a")
		b := rapid.SliceOfN(line, 0, 30).Draw(t, "b")
		n := 0
		for _, e := range term.DiffLines(a, b) {
			if e.Op != ' ' {
				n++
			}
		}
		if want := shortest(a, b); n != want {
			t.Fatalf("%d edits from %q to %q, want %d", n, a, b, want)
		}
	})
}

func TestDiffLinesBeyondTheBoundIsStillTrue(t *testing.T) {
	t.Parallel()
	var a, b []string
	for i := range term.MaxEdits {
		a = append(a, fmt.Sprintf("old %d\n", i))
		b = append(b, fmt.Sprintf("new %d\n", i))
	}
	a, b = append(a, "end\n"), append(b, "end\n")
	edits := term.DiffLines(a, b)
	x, y := sidesOf(edits)
	if !slices.Equal(x, a) || !slices.Equal(y, b) {
		t.Fatal("the edits do not give the two sides back")
	}
	if last := edits[len(edits)-1]; last.Op != ' ' {
		t.Fatalf("the equal end is %q", last)
	}
}

// Hunks applied to a, at the places they name, give b.
func TestHunksApply(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "d\n", "e\n", "f\n"})
		a := rapid.SliceOfN(line, 0, 60).Draw(t, "a")
		b := slices.Clone(a)
		for range rapid.IntRange(0, 4).Draw(t, "edits") {
			at := rapid.IntRange(0, len(b)).Draw(t, "at")
			b = slices.Insert(b, at, line.Draw(t, "line"))
		}
		var got []string
		done := 0
		for _, h := range term.Hunks(a, b) {
			got = append(got, a[done:h.Before-1]...)
			done = h.Before - 1
			if h.After-1 != len(got) {
				t.Fatalf("hunk says line %d of b, stands at %d", h.After, len(got)+1)
			}
			before, after := sidesOf(h.Edits)
			if !slices.Equal(a[done:done+len(before)], before) {
				t.Fatalf("hunk at %d does not fit", h.Before)
			}
			done += len(before)
			got = append(got, after...)
		}
		if got = append(got, a[done:]...); !slices.Equal(got, b) {
			t.Fatalf("got %q, want %q", got, b)
		}
	})
}

func TestSplitLinesJoins(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[ab\n]{0,20}`).Draw(t, "s")
		if got := strings.Join(term.SplitLines(s), ""); got != s {
			t.Fatalf("got %q, want %q", got, s)
		}
	})
}

func TestRenderLines(t *testing.T) {
	t.Parallel()
	l := term.NewLook(80, now, false, false)
	c := retake.Change{Path: "src/a\x1b.go", What: retake.Edited}
	got := term.RenderTexts(l, c, "1\n2\n3\n4\n5\n6\n7\nend", "1\n2\n3\n4\n5\n6\n7\nEnd\x1b[2J\tx", "")
	want := strings.Join([]string{
		"", `edited  src/a\x1b.go  +1 −1`, "@@ -5,4 +5,4 @@", " 5", " 6", " 7",
		"-end", `\ no newline at the end`, `+End\x1b[2J` + "\tx", `\ no newline at the end`, "",
	}, "\n")
	if got != want {
		t.Fatalf("got\n%s\nwant\n%s", got, want)
	}
	if got := term.RenderTexts(l, c, "", "", "binary"); !strings.Contains(got, "binary") {
		t.Fatalf("got %q", got)
	}
}
