package view_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/view"
)

func id(n int) retake.CheckpointID { return retake.CheckpointID(fmt.Sprintf("cp_%05d", n)) }

// longTimeline has restores, quiet runs and turns, the newest first.
func longTimeline(n int, restores int) view.Input {
	r := rand.New(rand.NewPCG(1, 2))
	in := view.Input{Tree: true, Newest: int64(n)}
	in.Findings = map[retake.CheckpointID]retake.Finding{}
	start := time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC)
	for i := n; i > 0; i-- {
		c := retake.Checkpoint{ID: id(i), Number: int64(i), Time: start.Add(time.Duration(i) * time.Second), Trigger: retake.TriggerQuiet, Changed: retake.Counts{Edited: 1}, Coverage: retake.Coverage{Grade: retake.Complete}}
		if i > 1 {
			c.Parent = id(i - 1)
		}
		switch k := r.IntN(restores); {
		case k == 0 && i > 60:
			c.Trigger, c.Parent = retake.TriggerReturn, id(i-2-r.IntN(50))
			c.Return = &retake.Return{Course: retake.CourseRestore, Target: c.Parent}
		case k%2 == 1:
			c.Trigger, c.Intent, c.Turn = retake.TriggerTurn, "do it", &retake.Turn{Agent: "codex", Session: "s", ID: fmt.Sprint(i)}
		}
		in.Checkpoints = append(in.Checkpoints, c)
	}
	in.Total = int64(n)
	return in
}

// Every checkpoint is in one row or inside of one, in order, whatever is folded or open.
func TestL1_EveryCheckpointHasOneRow(t *testing.T) {
	t.Parallel()
	for _, folded := range []bool{false, true} {
		in := longTimeline(400, 6)
		in.FoldReplaced = folded
		v := view.Timeline(in)
		for range 3 { // open what is folded, until nothing is
			next := int64(400)
			for r := range v.Checkpoints {
				if r.Number != next {
					t.Fatalf("folded %v: %d comes where %d should", folded, r.Number, next)
				}
				next--
			}
			if next != 0 || v.Shown != 400 {
				t.Fatalf("folded %v: it ends at %d, of %d", folded, next, v.Shown)
			}
			for _, r := range v.Rows {
				if r.Inside != nil {
					in.Open = append(in.Open, r.Key)
				}
			}
			v = view.Timeline(in)
		}
		for _, r := range v.Rows {
			if r.Inside != nil {
				t.Errorf("folded %v: %s was opened and is folded", folded, r.Key)
			}
		}
	}
}

// A fold keeps its key when checkpoints come above it, and opens alone.
func TestOneFoldOpens(t *testing.T) {
	t.Parallel()
	in := longTimeline(400, 12)
	var keys []string
	for _, r := range view.Timeline(in).Rows {
		if r.Kind == retake.RowQuiet {
			keys = append(keys, r.Key)
		}
	}
	if len(keys) < 2 {
		t.Fatalf("%d folds", len(keys))
	}
	in.Open = keys[:1]
	var left []string
	for _, r := range view.Timeline(in).Rows {
		if r.Kind == retake.RowQuiet {
			left = append(left, r.Key)
		}
	}
	if fmt.Sprint(left) != fmt.Sprint(keys[1:]) {
		t.Errorf("left %v of %v", left, keys)
	}
}

// L2: the work grows with the number of checkpoints. A square would take minutes.
func TestL2_ManyCheckpointsTakeLittleTime(t *testing.T) {
	t.Parallel()
	for _, restores := range []int{4, 1000} {
		in := longTimeline(20_000, restores)
		in.FoldReplaced = true
		if v := view.Timeline(in); v.Shown != 20_000 {
			t.Errorf("%d shown", v.Shown)
		}
	}
}

func BenchmarkTimeline(b *testing.B) {
	for _, restores := range []int{4, 20, 1000} {
		for _, folded := range []bool{false, true} {
			in := longTimeline(20_000, restores)
			in.FoldReplaced = folded
			b.Run(fmt.Sprintf("restores=1in%d/folded=%v", restores, folded), func(b *testing.B) {
				for b.Loop() {
					view.Timeline(in)
				}
			})
		}
	}
}
