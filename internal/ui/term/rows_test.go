package term_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
	"github.com/retake-dev/retake/internal/ui/term/termtest"
	"github.com/retake-dev/retake/internal/view"
)

// drawnLine are all lines, one below the other.
func drawnLine(l term.Style, v view.Input, folded bool) []string {
	v.FoldReplaced = folded
	arranged := view.Timeline(v)
	rows := l.ArrangeTimeline(&arranged)
	var out []string
	for i := range rows.Len() {
		out = append(out, rows.Draw(l, i))
	}
	return out
}

// The rows are those of the whole picture without what stands below them.
func TestRowsAreTheRowsOfThePicture(t *testing.T) {
	t.Parallel()
	v := termtest.SampleTimeline()
	l := term.NewLook(80, termtest.Now, false, false)
	whole := strings.Split(term.RenderTimeline(l, view.Timeline(v)), "\n")
	for _, line := range drawnLine(l, v, false) {
		short := []rune(line)[:min(len([]rune(line)), 50)] // a flag may stand behind it
		if !slices.ContainsFunc(whole, func(w string) bool { return strings.HasPrefix(w, string(short)) }) {
			t.Errorf("%q is no row of\n%s", line, strings.Join(whole, "\n"))
		}
	}
}

// What was left behind is one row, with what stays done; the line goes on through it.
func TestWhatWasLeftIsFolded(t *testing.T) {
	t.Parallel()
	got := drawnLine(term.NewLook(80, termtest.Now, true, false), termtest.SampleTimeline(), true)
	want := []string{
		`o      19  10:52  restored 14`,
		`:          15-18  replaced by a restore, with e1 and e2; h shows them`,
		`o      14  10:27  working version, app healthy`,
	}
	at := slices.IndexFunc(got, func(s string) bool { return strings.HasPrefix(s, want[0]) })
	for i, w := range want {
		if at < 0 || !strings.HasPrefix(got[at+i], w) {
			t.Fatalf("want %q in\n%s", w, strings.Join(got, "\n"))
		}
	}
}

// One row that was left is not folded into another one.
func TestOneRowIsNotFolded(t *testing.T) {
	t.Parallel()
	v := view.Input{Tree: true}
	v.Findings = map[retake.CheckpointID]retake.Finding{}
	s := &termtest.TimelineBuilder{View: &v}
	s.Checkpoint(3, termtest.At(9, 3), 1, termtest.Manual("three"))
	s.Checkpoint(2, termtest.At(9, 2), 1, termtest.Manual("two"))
	s.Checkpoint(1, termtest.At(9, 1), 0, termtest.Manual("one"))
	l := term.NewLook(80, termtest.Now, false, false)
	if a, b := drawnLine(l, v, true), drawnLine(l, v, false); !slices.Equal(a, b) {
		t.Fatalf("got\n%s\nwant\n%s", strings.Join(a, "\n"), strings.Join(b, "\n"))
	}
}

// Whatever grew from whatever: every checkpoint is in one row, folded or not, in its order, and
// every row fits.
func TestRowsHoldEveryCheckpoint(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "checkpoints")
		v := view.Input{Tree: rapid.Bool().Draw(t, "tree"), Newest: int64(n)}
		v.Findings = map[retake.CheckpointID]retake.Finding{}
		s := &termtest.TimelineBuilder{View: &v}
		for i := n; i > 0; i-- {
			parent := rapid.IntRange(max(i-6, 0), i-1).Draw(t, "parent")
			m := s.Checkpoint(int64(i), termtest.At(9, i), int64(parent), termtest.Manual(fmt.Sprint("m", i)))
			if rapid.IntRange(0, 4).Draw(t, "effect") == 0 {
				v.Checkpoints[len(v.Checkpoints)-1].Effects = []retake.Effect{{ID: fmt.Sprint("e", i), Text: "push"}}
			}
			if rapid.IntRange(0, 5).Draw(t, "fork") == 0 {
				f := termtest.Fork(fmt.Sprint("f", i), 2, termtest.At(10, i), "codex", retake.Passed, 1, "a")
				f.Origin.Checkpoint = m.ID()
				v.Forks = append(v.Forks, f)
			}
		}
		width := rapid.SampledFrom([]int{60, 80, 121, 200}).Draw(t, "width")
		l := term.NewLook(width, termtest.Now, false, false)
		v.FoldReplaced = rapid.Bool().Draw(t, "folded")
		arranged := view.Timeline(v)
		rows := l.ArrangeTimeline(&arranged)
		var got []int64
		keys := map[string]bool{}
		for i := range rows.Len() {
			x := rows.At(i)
			if x.Effect == nil {
				for _, in := range x.Row.Inside {
					got = append(got, in.Number)
				}
			}
			if c := x.Checkpoint(); c != nil {
				got = append(got, c.Number)
			}
			if k := x.Key(); keys[k] {
				t.Fatalf("two rows have the key %s", k)
			}
			keys[x.Key()] = true
			if w := termtext.Width(rows.Draw(l, i)); w > width {
				t.Fatalf("%d columns at %d: %q", w, width, rows.Draw(l, i))
			}
			if len(l.SubjectBrief(x, 4)) > 4 {
				t.Fatal("a card is too long")
			}
		}
		slices.SortFunc(got, func(a, b int64) int { return int(b - a) })
		if len(got) != n || got[0] != int64(n) || got[n-1] != 1 {
			t.Fatalf("rows hold %v of %d", got, n)
		}
	})
}

func TestClip(t *testing.T) {
	t.Parallel()
	l := term.NewLook(80, termtest.Now, false, true)
	for _, x := range []struct {
		in          string
		from, width int
		want        string
	}{
		{"plain", 0, 5, "plain"}, {"plain", 0, 4, "pla…"}, {"plain", 2, 9, "ain"}, {"plain", 2, 2, "a…"}, {"plain", 9, 4, ""},
		{"日本語", 0, 4, "日…"}, {"日本語", 1, 4, "本…"}, {l.Green("gr") + "ey", 0, 3, "gr…"}, {l.Green("gr") + "ey", 1, 9, "rey"},
	} {
		if got := term.StripANSI(l.ClipColumns(x.in, x.from, x.width)); got != x.want {
			t.Errorf("Clip(%q, %d, %d) = %q, want %q", x.in, x.from, x.width, got, x.want)
		}
	}
	if got := l.ClipColumns(l.Green("grey")+"x", 0, 3); got != "\x1b[32mgr\x1b[0m\x1b[2m…\x1b[0m" {
		t.Errorf("a color does not end: %q", got)
	}
}
