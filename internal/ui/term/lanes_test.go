package term_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

const (
	none  = -1
	lanes = 3
)

func grew(parents ...int) []term.Twig {
	var out []term.Twig
	for _, p := range parents {
		out = append(out, term.Twig{Parent: p, Into: none})
	}
	return out
}

func draw(t *testing.T, ts []term.Twig, tip int, want ...string) {
	t.Helper()
	rows, _ := term.DrawGraph(term.NewLook(80, now, false, false), ts, tip)
	for i := range rows {
		rows[i] = strings.TrimRight(rows[i], " ")
	}
	if !slices.Equal(rows, want) {
		t.Fatalf("got\n%s\nwant\n%s", strings.Join(rows, "\n"), strings.Join(want, "\n"))
	}
}

func TestGraphOfALine(t *testing.T) {
	t.Parallel()
	draw(t, grew(1, 2, none), 0, "○", "○", "○")
	draw(t, grew(1, 2, 3), 0, "○", "○", "○") // it goes on below
	draw(t, nil, 0)
}

func TestGraphOfALineLeftBehind(t *testing.T) {
	t.Parallel()
	draw(t, grew(3, 2, 3, none), 0, "○", "│ ○", "│ ○", "○─╯")
}

// What is left once more grows beside, and both join where they left.
func TestGraphOfTwoLinesLeftBehind(t *testing.T) {
	t.Parallel()
	draw(t, grew(5, 5, 3, 4, 5, none), 0, "○", "│ ○", "│ │ ○", "│ │ ○", "│ │ ○", "○─┴─╯")
	// A line that was left holds one that was left before.
	draw(t, grew(4, 3, 3, 4, none), 0, "○", "│ ○", "│ │ ○", "│ ○─╯", "○─╯")
}

// A checkpoint gone to that is not shown: its line goes on below.
func TestGraphOfAnUnseenTarget(t *testing.T) {
	t.Parallel()
	draw(t, grew(3, 2, 3), 0, "○", "│ ○", "│ ○")
}

// The third line that was left from one checkpoint finds no lane down to it, and says so.
func TestGraphRunsOutOfLanes(t *testing.T) {
	t.Parallel()
	ts := grew(7, 7, 3, 7, 5, 6, 7, none)
	draw(t, ts, 0, "○", "│ ○", "│ ○", "│ ○", "│ │ ○", "│ │ ○", "│ │ ○", "○─┴─╯")
	spots := term.Layout(ts, 0)
	for i, loose := range []bool{false, true, false, false, false, false, false, false} {
		if spots[i].Loose != loose {
			t.Errorf("row %d is loose: %v", i, spots[i].Loose)
		}
	}
}

func TestGraphOfForks(t *testing.T) {
	t.Parallel()
	forks := []term.Twig{{1, none, false}, {4, none, false}, {4, 1, true}, {4, none, true}, {none, none, false}}
	draw(t, forks, 0, "○", "○─╮", "│ ○", "│ │ ○", "○─┴─╯")
	// Of the newest checkpoint: the forks stand above it.
	draw(t, []term.Twig{{1, none, true}, {2, none, false}, {none, none, false}}, 1, "  ○", "○─╯", "○")
}

func TestGraphInASCII(t *testing.T) {
	t.Parallel()
	forks := []term.Twig{{1, none, false}, {4, none, false}, {4, 1, true}, {4, none, true}, {none, none, false}}
	rows, between := term.DrawGraph(term.NewLook(80, now, true, false), forks, 0)
	if got, want := strings.Join(rows, "\n"), "o     \no-\\   \n| o   \n| | o \no-+-/ "; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got, want := strings.Join(between, "\n"), "|     \n| |   \n| |   \n| | | \n      "; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// anyTree draws rows, of which each grew from one further down, and forks that some row
// further up may have taken in.
func anyTree(t *rapid.T) (ts []term.Twig, tip int) {
	n := rapid.IntRange(1, 24).Draw(t, "rows")
	for i := range n {
		tw := term.Twig{Parent: none, Into: none, Fork: rapid.IntRange(0, 5).Draw(t, "kind") == 0}
		if i < n-1 || rapid.Bool().Draw(t, "goes on") {
			tw.Parent = rapid.IntRange(i+1, n).Draw(t, "parent")
		}
		if rapid.IntRange(0, 2).Draw(t, "straight") > 0 && i < n-1 {
			tw.Parent = i + 1
		}
		if tw.Fork && i > 0 && rapid.Bool().Draw(t, "adopted") {
			tw.Into = rapid.IntRange(0, i-1).Draw(t, "into")
		}
		ts = append(ts, tw)
	}
	return ts, rapid.IntRange(0, n-1).Draw(t, "tip")
}

func TestLayoutHolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ts, tip := anyTree(t)
		spots := term.Layout(ts, tip)
		if len(spots) != len(ts) {
			t.Fatalf("%d rows became %d", len(ts), len(spots))
		}
		for i, s := range spots {
			if s.Lane < 0 || s.Lane >= lanes {
				t.Fatalf("row %d is on lane %d", i, s.Lane)
			}
			if s.Through[s.Lane] {
				t.Fatalf("a line crosses row %d", i)
			}
			checkLine(t, ts, spots, i)
		}
		checkWidth(t, ts, tip)
	})
}

// checkLine follows a row to the one it grew from: along its lane and through no other
// row, and into it where it has another lane.
func checkLine(t *rapid.T, ts []term.Twig, spots []term.Spot, i int) {
	s, parent := spots[i], ts[i].Parent
	if parent == none {
		if s.Below[s.Lane] {
			t.Fatalf("row %d forked from nothing, and a line goes on", i)
		}
		return
	}
	if s.Loose {
		return
	}
	for row := i; row < min(parent, len(ts)); row++ {
		if !spots[row].Below[s.Lane] {
			t.Fatalf("the line of row %d ends at row %d, and it forked from %d", i, row, parent)
		}
		if row > i && (spots[row].Lane == s.Lane || !spots[row].Through[s.Lane]) {
			t.Fatalf("the line of row %d meets row %d on its way to %d", i, row, parent)
		}
	}
	if parent < len(ts) && spots[parent].Lane != s.Lane && !slices.Contains(spots[parent].Joins, s.Lane) {
		t.Fatalf("the line of row %d does not join row %d", i, parent)
	}
}

func checkWidth(t *rapid.T, ts []term.Twig, tip int) {
	for _, ascii := range []bool{false, true} {
		rows, between := term.DrawGraph(term.NewLook(80, now, ascii, false), ts, tip)
		for _, line := range append(rows, between...) {
			if w := termtext.Width(line); w > 2*lanes || w != termtext.Width(rows[0]) || !strings.HasSuffix(line, " ") {
				t.Fatalf("%q is %d wide", line, w)
			}
		}
	}
}
