package clock_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/retake-dev/retake/internal/platform/clock"
)

func TestMonotoneNeverGoesBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		held := clock.NewManual(time.Unix(1e9, 0))
		m := clock.NewMonotonic(held, time.Unix(1e9+50, 0))
		last := time.Unix(1e9+50, 0)
		for range rapid.IntRange(1, 50).Draw(t, "steps") {
			held.Advance(time.Duration(rapid.Int64Range(-1e12, 1e12).Draw(t, "move")))
			if rapid.Bool().Draw(t, "raise") {
				m.RaiseTo(last.Add(time.Duration(rapid.Int64Range(-1e9, 1e9).Draw(t, "by"))))
			}
			if now := m.Now(); !now.After(last) || now.Before(held.Now()) || m.HighWaterMark() != now {
				t.Fatalf("%v after %v, wall %v, high %v", now, last, held.Now(), m.HighWaterMark())
			} else {
				last = now
			}
		}
	})
}
