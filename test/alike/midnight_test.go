package alike

import (
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/term/termtest"
	"github.com/retake-dev/retake/internal/view"
)

// The rows of a timeline that was made around midnight are found like any others.
func TestRowsAroundMidnight(t *testing.T) {
	t.Parallel()
	usual := sampleWithoutEffects()
	want := len(terminalRows(&usual))
	for _, clock := range []string{"23:59:58", "00:00:03"} {
		v := sampleWithoutEffects()
		end, err := time.Parse(time.DateTime, "2026-11-17 "+clock)
		if err != nil {
			t.Fatal(err)
		}
		moved := end.Sub(newest(&v))
		for i := range v.Rows {
			if r := &v.Rows[i]; !r.Time.IsZero() {
				r.Time = r.Time.Add(moved)
			}
		}
		if rows := terminalRows(&v); len(rows) != want {
			t.Errorf("at %s there are %d rows, want %d: %q", clock, len(rows), want, rows)
		}
	}
}

func sampleWithoutEffects() retake.TimelineView {
	v := view.Timeline(termtest.SampleTimeline())
	for i := range v.Rows {
		if cp := v.Rows[i].Checkpoint; cp != nil {
			cp.Effects = nil
		}
	}
	return v
}
