package merge_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/retake-dev/retake/internal/pure/merge"
)

// texts of few different lines meet the hard cases, and so do missing newlines.
func drawText(t *rapid.T, name string) []byte {
	line := rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "\n", "a\r\n", "d\n", "e\n", "\xff\n"})
	s := strings.Join(rapid.SliceOfN(line, 0, 20).Draw(t, name), "")
	if rapid.Bool().Draw(t, name+" ends") {
		s = strings.TrimSuffix(s, "\n")
	}
	return []byte(s)
}

// drawEdit changes a few lines of b.
func drawEdit(t *rapid.T, name string, b []byte) []byte {
	lines := bytes.SplitAfter(slices.Clone(b), []byte("\n"))
	for range rapid.IntRange(0, 4).Draw(t, name+" edits") {
		at := rapid.IntRange(0, len(lines)).Draw(t, name+" at")
		gone := rapid.IntRange(0, min(2, len(lines)-at)).Draw(t, name+" gone")
		fresh := rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", name + "1\n", name + "2\n"}), 0, 2).Draw(t, name+" new")
		with := make([][]byte, len(fresh))
		for i, f := range fresh {
			with[i] = []byte(f)
		}
		lines = slices.Replace(lines, at, at+gone, with...)
	}
	return bytes.Join(lines, nil)
}

func TestLawOneSide(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		base, x := drawText(t, "base"), drawText(t, "x")
		for who, c := range map[string][2][]byte{"yours": {x, base}, "theirs": {base, x}, "both": {x, x}} {
			out, rep, ok := merge.Lines(base, c[0], c[1])
			if !ok || !bytes.Equal(out, x) {
				t.Fatalf("%s: %q %v", who, out, ok)
			}
			if (rep.Yours > 0) != (who == "yours" && !bytes.Equal(base, x)) || (rep.Theirs > 0) != (who == "theirs" && !bytes.Equal(base, x)) {
				t.Fatalf("%s: %+v", who, rep)
			}
			if (rep.FirstLine > 0) != (rep.Yours > 0) {
				t.Fatalf("%s: %+v", who, rep)
			}
		}
	})
}

func TestLawSymmetric(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		base := drawText(t, "base")
		x, y := drawEdit(t, "x", base), drawEdit(t, "y", base)
		out1, rep1, ok1 := merge.Lines(base, x, y)
		out2, rep2, ok2 := merge.Lines(base, y, x)
		if ok1 != ok2 || !bytes.Equal(out1, out2) {
			t.Fatalf("%q %v, and %q %v", out1, ok1, out2, ok2)
		}
		if rep1.Yours != rep2.Theirs || rep1.Theirs != rep2.Yours || rep1.Conflicts != rep2.Conflicts {
			t.Fatalf("%+v, and %+v", rep1, rep2)
		}
		if ok1 != (rep1.Conflicts == 0) {
			t.Fatalf("%v with %+v", ok1, rep1)
		}
	})
}

// keepsNew checks that all lines of side that are not in base are in out, in
// their order.
func keepsNew(base, side, out []byte) bool {
	old := map[string]bool{}
	for l := range bytes.Lines(base) {
		old[string(l)] = true
	}
	var want, got []string
	mine := map[string]bool{}
	for l := range bytes.Lines(side) {
		if !old[string(l)] {
			want = append(want, string(l))
			mine[string(l)] = true
		}
	}
	for l := range bytes.Lines(out) {
		if mine[string(l)] {
			got = append(got, string(l))
		}
	}
	i := 0
	for _, l := range got {
		if i < len(want) && want[i] == l {
			i++
		}
	}
	return i == len(want)
}

func TestLawNothingNewIsLost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		base := drawText(t, "base")
		x, y := drawEdit(t, "x", base), drawEdit(t, "y", base)
		out, _, ok := merge.Lines(base, x, y)
		if ok && (!keepsNew(base, x, out) || !keepsNew(base, y, out)) {
			t.Fatalf("lost: %q and %q became %q", x, y, out)
		}
	})
}

// Changes of different lines with a line between are always clean, and the result
// is known.
func TestLawApartIsClean(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var base, x, y, want strings.Builder
		counts := merge.Report{}
		for i := range rapid.IntRange(1, 12).Draw(t, "places") {
			keep := "keep " + itoa(i+1) + "\n"
			old := strings.Repeat("old "+itoa(i+1)+"\n", rapid.IntRange(0, 2).Draw(t, "old"))
			fresh := strings.Repeat("new "+itoa(i+1)+"\n", rapid.IntRange(0, 2).Draw(t, "new"))
			who := rapid.IntRange(0, 3).Draw(t, "who")
			inX, inY, result := old, old, fresh
			switch who {
			case 0:
				result = old
			case 1:
				inX = fresh
			case 2:
				inY = fresh
			default:
				inX, inY = fresh, fresh
			}
			if old != fresh {
				counts.Yours += b2i(who == 1)
				counts.Theirs += b2i(who == 2)
			}
			for b, s := range map[*strings.Builder]string{&base: old, &x: inX, &y: inY, &want: result} {
				b.WriteString(s + keep)
			}
		}
		out, rep, ok := merge.Lines([]byte(base.String()), []byte(x.String()), []byte(y.String()))
		rep.FirstLine = 0
		if !ok || string(out) != want.String() || rep != counts {
			t.Fatalf("%v %+v, want %+v: %q, want %q", ok, rep, counts, out, want.String())
		}
	})
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nb\nc\n"), []byte("Y\nb\nc\n"), []byte("a\nb\nT\n"))
	f.Add([]byte("a\nb"), []byte("a\nb\n"), []byte("a\r\nb"))
	f.Add([]byte("\n\n\n\n"), []byte("\n\n"), []byte("\n\n\n\n\n"))
	f.Fuzz(func(t *testing.T, base, x, y []byte) {
		out, rep, ok := merge.Lines(base, x, y)
		if !ok {
			if out != nil || rep.Conflicts == 0 && merge.IsText(base) && merge.IsText(x) && merge.IsText(y) {
				t.Fatalf("not ok, with %q and %+v", out, rep)
			}
			return
		}
		if !keepsNew(base, x, out) || !keepsNew(base, y, out) {
			t.Fatalf("lost: %q", out)
		}
		if again, _, ok := merge.Lines(base, y, x); !ok || !bytes.Equal(again, out) {
			t.Fatalf("the other way: %q %v, not %q", again, ok, out)
		}
		if whole, _, ok := merge.Lines(base, x, base); !ok || !bytes.Equal(whole, x) {
			t.Fatalf("alone: %q %v, not %q", whole, ok, x)
		}
	})
}
