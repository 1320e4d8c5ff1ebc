package retention_test

import (
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/retention"
)

// A clock that jumps ahead and back again and again, as of a machine without a battery, ages
// nothing by more than the time that passed.
func TestJumpsDoNotAge(t *testing.T) {
	start := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	var rows []retention.Row
	for i := range 80 {
		at := start.Add(time.Duration(i) * 3 * time.Minute)
		if i%2 == 1 {
			at = at.AddDate(10, 0, 0)
		}
		rows = append(rows, retention.Row{ID: retake.CheckpointID(string(rune('a'+i%26)) + string(rune('a'+i/26))), Number: int64(i + 1), Time: at, Trigger: retake.TriggerPrompt, Bytes: 1})
	}
	gone := 0
	for _, v := range retention.Evaluate(rows, retention.Policy{Within: retention.DefaultKeepFor}, start.Add(4*time.Hour)) {
		if v.Level == retention.Loose {
			gone++
		}
	}
	if gone > 0 {
		t.Errorf("%d of %d checkpoints of four hours go by age", gone, len(rows))
	}
}
