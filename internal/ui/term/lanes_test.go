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

const none = -1

// grew is a timeline of which each row grew from another one further down; a row below all
// of them is a checkpoint that is not shown.
func grew(parents ...int) view.Input {
	in := view.Input{Tree: true, Newest: int64(len(parents)), Titles: view.Titles{}}
	s := &termtest.TimelineBuilder{View: &in}
	in.Findings = map[retake.CheckpointID]retake.Finding{}
	for i, p := range parents {
		n := int64(len(parents) - i)
		parent := int64(0)
		if p != none {
			parent = int64(len(parents) - p)
		}
		s.Checkpoint(n, termtest.At(9, int(n)), parent, termtest.Manual(fmt.Sprint("m", n)), func(c *retake.Checkpoint) {
			if p == len(parents) {
				c.Parent, c.Return = "cp_old", &retake.Return{Target: "cp_old"}
				in.Titles["cp_old"] = "1"
			}
		})
	}
	return in
}

func drawGraph(in view.Input, ascii bool) (rows, between []string) {
	v := view.Timeline(in)
	var places []retake.RowPlace
	for _, r := range v.Rows {
		places = append(places, r.Place)
	}
	return term.DrawGraph(term.NewLook(80, termtest.Now, ascii, false), places, v.Lanes)
}

func draw(t *testing.T, in view.Input, want ...string) {
	t.Helper()
	rows, _ := drawGraph(in, false)
	for i := range rows {
		rows[i] = strings.TrimRight(rows[i], " ")
	}
	if !slices.Equal(rows, want) {
		t.Fatalf("got\n%s\nwant\n%s", strings.Join(rows, "\n"), strings.Join(want, "\n"))
	}
}

func TestGraphOfALine(t *testing.T) {
	t.Parallel()
	draw(t, grew(1, 2, none), "○", "○", "○")
	draw(t, grew(1, 2, 3), "○", "○", "○") // it goes on below
	draw(t, view.Input{})
}

func TestGraphOfALineLeftBehind(t *testing.T) {
	t.Parallel()
	draw(t, grew(3, 2, 3, none), "○", "│ ○", "│ ○", "○─╯")
}

// What is left once more grows beside, and both join where they left.
func TestGraphOfTwoLinesLeftBehind(t *testing.T) {
	t.Parallel()
	draw(t, grew(5, 5, 3, 4, 5, none), "○", "│ ○", "│ │ ○", "│ │ ○", "│ │ ○", "○─┴─╯")
	// A line that was left holds one that was left before.
	draw(t, grew(4, 3, 3, 4, none), "○", "│ ○", "│ │ ○", "│ ○─╯", "○─╯")
}

// A checkpoint gone to that is not shown: its line goes on below.
func TestGraphOfAnUnseenTarget(t *testing.T) {
	t.Parallel()
	draw(t, grew(3, 2, 3), "○", "│ ○", "│ ○")
}

// The third line that was left from one checkpoint finds no lane down to it, and says so.
func TestGraphRunsOutOfLanes(t *testing.T) {
	t.Parallel()
	in := grew(7, 7, 3, 7, 5, 6, 7, none)
	draw(t, in, "○", "│ ○", "│ ○", "│ ○", "│ │ ○", "│ │ ○", "│ │ ○", "○─┴─╯")
	for i, r := range view.Timeline(in).Rows {
		if r.Place.Detached != (i == 1) {
			t.Errorf("row %d is detached: %v", i, r.Place.Detached)
		}
	}
}

// forked is a timeline with two forks of its oldest checkpoint, of which one was adopted.
func forked() view.Input {
	in := grew(1, 2, none)
	in.Forks = []view.Fork{
		termtest.Fork("a", 1, termtest.At(9, 9), "codex", retake.Passed, 1, "a", "cp_2"),
		termtest.Fork("b", 1, termtest.At(9, 8), "codex", retake.Passed, 1, "a"),
	}
	for i := range in.Forks {
		in.Forks[i].Origin.Checkpoint = "cp_1"
	}
	return in
}

func TestGraphOfForks(t *testing.T) {
	t.Parallel()
	draw(t, forked(), "○", "○─╮", "│ ○", "│ │ ○", "○─┴─╯")
	// Of the newest checkpoint: the forks stand above it.
	in := grew(1, none)
	in.Forks = []view.Fork{termtest.Fork("a", 1, termtest.At(9, 9), "codex", retake.Passed, 1, "a")}
	in.Forks[0].Origin.Checkpoint = "cp_2"
	draw(t, in, "  ○", "○─╯", "○")
}

func TestGraphInASCII(t *testing.T) {
	t.Parallel()
	rows, between := drawGraph(forked(), true)
	if got, want := strings.Join(rows, "\n"), "o     \no-\\   \n| o   \n| | o \no-+-/ "; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got, want := strings.Join(between, "\n"), "|     \n| |   \n| |   \n| | | \n      "; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestGraphHasOneWidth(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		parents := make([]int, rapid.IntRange(1, 24).Draw(t, "rows"))
		for i := range parents {
			parents[i] = rapid.IntRange(i+1, len(parents)).Draw(t, "parent")
		}
		rows, between := drawGraph(grew(parents...), rapid.Bool().Draw(t, "ascii"))
		for _, line := range append(rows, between...) {
			if w := termtext.Width(line); w > 2*view.MaxLanes || w != termtext.Width(rows[0]) || !strings.HasSuffix(line, " ") {
				t.Fatalf("%q is %d wide", line, w)
			}
		}
	})
}
