package view

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// anyTree draws rows, of which each grew from one further down, and forks that some row
// further up may have taken in.
func anyTree(t *rapid.T) (ts []graphRow, tip int) {
	n := rapid.IntRange(1, 24).Draw(t, "rows")
	for i := range n {
		tw := graphRow{parent: -1, adoptedAt: -1, fork: rapid.IntRange(0, 5).Draw(t, "kind") == 0}
		if i < n-1 || rapid.Bool().Draw(t, "goes on") {
			tw.parent = rapid.IntRange(i+1, n).Draw(t, "parent")
		}
		if rapid.IntRange(0, 2).Draw(t, "straight") > 0 && i < n-1 {
			tw.parent = i + 1
		}
		if tw.fork && i > 0 && rapid.Bool().Draw(t, "adopted") {
			tw.adoptedAt = rapid.IntRange(0, i-1).Draw(t, "into")
		}
		ts = append(ts, tw)
	}
	return ts, rapid.IntRange(0, n-1).Draw(t, "tip")
}

func TestLayoutHolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ts, tip := anyTree(t)
		spots := layoutGraph(ts, tip)
		if len(spots) != len(ts) {
			t.Fatalf("%d rows became %d", len(ts), len(spots))
		}
		for i, s := range spots {
			if s.lane < 0 || s.lane >= MaxLanes {
				t.Fatalf("row %d is on lane %d", i, s.lane)
			}
			if s.through[s.lane] != 0 {
				t.Fatalf("a line crosses row %d", i)
			}
			checkLine(t, ts, spots, i)
		}
	})
}

// checkLine follows a row to the one it grew from: along its lane and through no other
// row, and into it where it has another lane.
func checkLine(t *rapid.T, ts []graphRow, spots []graphCell, i int) {
	s, parent := spots[i], ts[i].parent
	if parent == -1 {
		if s.below[s.lane] != 0 {
			t.Fatalf("row %d forked from nothing, and a line goes on", i)
		}
		return
	}
	if s.detached {
		return
	}
	for row := i; row < min(parent, len(ts)); row++ {
		if spots[row].below[s.lane] == 0 {
			t.Fatalf("the line of row %d ends at row %d, and it forked from %d", i, row, parent)
		}
		if row > i && (spots[row].lane == s.lane || spots[row].through[s.lane] == 0) {
			t.Fatalf("the line of row %d meets row %d on its way to %d", i, row, parent)
		}
	}
	if parent < len(ts) && spots[parent].lane != s.lane && !slices.Contains(spots[parent].joins, s.lane) {
		t.Fatalf("the line of row %d does not join row %d", i, parent)
	}
}
