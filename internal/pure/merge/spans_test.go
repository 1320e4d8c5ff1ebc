package merge_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/retake-dev/retake/internal/pure/merge"
)

// apply makes after of before, with the lines that came taken from after. It answers
// nil for spans that do not follow each other, or leave no equal line between them.
func apply(before, after []byte, spans []merge.Span) []byte {
	b, a := bytes.SplitAfter(before, []byte("\n")), bytes.SplitAfter(after, []byte("\n"))
	out, at := [][]byte{{}}, 0
	for i, s := range spans {
		if s.Before < at || i > 0 && s.Before == at || s.Removed < 0 || s.Added < 0 || s.Removed+s.Added == 0 {
			return nil
		}
		out = append(out, b[at:s.Before]...)
		out = append(out, a[s.After:s.After+s.Added]...)
		at = s.Before + s.Removed
	}
	return bytes.Join(append(out, b[at:]...), nil)
}

func TestSpans(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, before, after string
		want                []merge.Span
	}{
		{"nothing", "", "", nil},
		{"the same", "a\nb\n", "a\nb\n", nil},
		{"all came", "", "a\nb\n", []merge.Span{{0, 0, 0, 2}}},
		{"all went", "a\nb", "", []merge.Span{{0, 2, 0, 0}}},
		{"one line", "a\nb\nc\n", "a\nX\nc\n", []merge.Span{{1, 1, 1, 1}}},
		{"two places", "a\nb\nc\nd\n", "X\na\nb\nc\n", []merge.Span{{0, 0, 0, 1}, {3, 1, 4, 0}}},
		{"the newline at the end", "a\nb", "a\nb\n", []merge.Span{{1, 1, 1, 1}}},
		{"equal ends of other lines", "xa\n", "ya\n", []merge.Span{{0, 1, 0, 1}}},
		{"a line before equal ends", "a\n", "b\na\n", []merge.Span{{0, 0, 0, 1}}},
		{"zeros", "a\x00\nb\n", "a\x00\nc\n", []merge.Span{{1, 1, 1, 1}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(c.want, merge.Spans([]byte(c.before), []byte(c.after))); d != "" {
				t.Errorf("spans (-want +got):\n%s", d)
			}
		})
	}
}

func TestLawSpansLeadThere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		before := drawText(t, "before")
		after := drawText(t, "after")
		if rapid.Bool().Draw(t, "alike") {
			after = drawEdit(t, "after", before)
		}
		spans := merge.Spans(before, after)
		if got := apply(before, after, spans); !bytes.Equal(got, after) {
			t.Fatalf("%q to %q by %v is %q", before, after, spans, got)
		}
	})
}

// hostile texts are those that make a careful comparison slow. The test would run for
// minutes if the work were not bounded.
func TestSpansOfHostileTexts(t *testing.T) {
	t.Parallel()
	noise := func(seed uint64, lines int) string {
		r := rand.New(rand.NewPCG(seed, 1))
		var b strings.Builder
		for range lines {
			b.WriteString(string(rune('a'+r.IntN(3))) + "\n")
		}
		return b.String()
	}
	for name, c := range map[string][2]string{
		"millions of equal lines": {strings.Repeat("\n", 3<<20), strings.Repeat("\n", 3<<20+1)},
		"equal lines around one":  {strings.Repeat("\n", 1<<17) + "x" + strings.Repeat("\n", 1<<17), strings.Repeat("\n", 1<<18)},
		"few different lines":     {noise(1, 200_000), noise(2, 200_000)},
		"one line of megabytes":   {strings.Repeat("a", 8<<20), strings.Repeat("a", 8<<20) + "b"},
		"too long for both":       {"x\n" + noise(3, 300_000) + "y\n", "z\n" + noise(4, 300_000) + "w\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, after := []byte(c[0]), []byte(c[1])
			if got := apply(before, after, merge.Spans(before, after)); !bytes.Equal(got, after) {
				t.Error("the spans do not lead there")
			}
		})
	}
}

func FuzzSpans(f *testing.F) {
	f.Add([]byte("a\nb\nc\n"), []byte("a\nX\nc"))
	f.Add([]byte("\n\n\n"), []byte("\n\n"))
	f.Fuzz(func(t *testing.T, before, after []byte) {
		if got := apply(before, after, merge.Spans(before, after)); !bytes.Equal(got, after) {
			t.Fatalf("%q to %q is %q", before, after, got)
		}
	})
}

func BenchmarkSpans(b *testing.B) {
	line := func(i int) string { return strings.Repeat("word ", i%11) + string(rune('a'+i%26)) + itoa(i) + "\n" }
	var before, after strings.Builder
	for i := range 2000 {
		before.WriteString(line(i))
		if i%50 != 0 {
			after.WriteString(line(i))
		}
	}
	for b.Loop() {
		merge.Spans([]byte(before.String()), []byte(after.String()))
	}
}

// Taking all spans back gives the text before; taking none back changes nothing; and what
// does not fit is refused.
func TestRevert(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "\n", "d"})
		text := func(name string) []byte {
			return []byte(strings.Join(rapid.SliceOfN(line, 0, 12).Draw(t, name), ""))
		}
		before, after := text("before"), text("after")
		spans := merge.Spans(before, after)
		if got, ok := merge.Revert(before, after, spans); !ok || !bytes.Equal(got, before) {
			t.Fatalf("all back: %q, want %q", got, before)
		}
		if got, ok := merge.Revert(before, after, nil); !ok || !bytes.Equal(got, after) {
			t.Fatalf("none back: %q, want %q", got, after)
		}
		wild := rapid.Custom(func(t *rapid.T) merge.Span {
			n := rapid.OneOf(rapid.IntRange(-2, 15), rapid.SampledFrom([]int{math.MaxInt, math.MinInt}))
			return merge.Span{Before: n.Draw(t, "a"), Removed: n.Draw(t, "b"), After: n.Draw(t, "c"), Added: n.Draw(t, "d")}
		})
		merge.Revert(before, after, rapid.SliceOfN(wild, 0, 3).Draw(t, "wild")) // must not panic
	})
	if got, ok := merge.Revert([]byte("a\nb"), []byte("a\nB\nc\n"), []merge.Span{{Before: 1, Removed: 1, After: 1, Added: 1}}); !ok || string(got) != "a\nb\nc\n" {
		t.Errorf("a last line without a newline gives %q", got)
	}
	if _, ok := merge.Revert([]byte("a\n"), []byte("b\n"), []merge.Span{{Removed: 2, Added: 1}}); ok {
		t.Error("lines that are not there were taken")
	}
}
