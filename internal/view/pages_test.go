package view_test

import (
	"reflect"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/term/termtest"
	"github.com/retake-dev/retake/internal/view"
)

// A long timeline is read as flat rows, page by page, and as one graph. Both together say what
// the rows of the whole say.
func TestFlatRowsAndTheGraphAreTheTimeline(t *testing.T) {
	t.Parallel()
	checkpoints := 0
	for seed := range uint64(2000) {
		in := termtest.RandomTimeline(seed)
		in.FoldReplaced = seed%2 == 1
		whole := view.Timeline(in)
		flat, graph := in, in
		flat.Tree, flat.Flat, graph.Graph = false, true, true
		said := map[int64]retake.TimelineRow{}
		for _, r := range view.Timeline(flat).Rows {
			if r.Kind != retake.RowNow {
				said[r.Number] = r
			}
		}
		for r := range whole.Checkpoints {
			checkpoints++
			if got := said[r.Number]; !reflect.DeepEqual(withoutPlace(got), withoutPlace(*r)) {
				t.Fatalf("seed %d: %d says\n%+v\nin a flat row, and in the whole\n%+v", seed, r.Number, got, *r)
			}
		}
		for i, r := range view.Timeline(graph).Rows {
			w := whole.Rows[i]
			if r.Kind != w.Kind || r.Key != w.Key || r.Number != w.Number || r.Count != w.Count || !reflect.DeepEqual(r.Place, w.Place) {
				t.Fatalf("seed %d: row %d is %+v in the graph, and in the whole %+v", seed, i, r, w)
			}
			if r.Checkpoint != nil || r.Inside != nil {
				t.Fatalf("seed %d: row %d of the graph says what a flat row says: %+v", seed, i, r)
			}
		}
	}
	if checkpoints < 2000 {
		t.Fatalf("only %d checkpoints were compared", checkpoints)
	}
}

func withoutPlace(r retake.TimelineRow) retake.TimelineRow {
	r.Place = retake.RowPlace{}
	return r
}
