package view_test

import (
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/view"
)

func TestCadence(t *testing.T) {
	t.Parallel()
	after := time.Date(2026, time.May, 1, 23, 10, 0, 0, time.UTC)
	for line, want := range map[string]string{
		"* * * * *": "every minute", "*/5 * * * *": "every 5 minutes", "*/7 * * * *": "", "0 * * * *": "every hour", "5 * * * *": "every hour at :05",
		"0 3 * * *": "every day at 03:00 UTC", "30 4 * * 0": "every Sunday at 04:30 UTC", "0 9 * * 1-5": "Monday to Friday at 09:00 UTC",
		"0 9 * * MON-FRI": "Monday to Friday at 09:00 UTC", "0 */6 * * *": "every 6 hours", "0 */5 * * *": "", "0 3 1 * *": "", "*/5 * * * 1": "", "1-5 * * * *": "",
	} {
		got, err := view.OfCadence(" "+line, after)
		if err != nil || got.Words != want || got.Cron != line {
			t.Errorf("%s: %q, want %q (%v)", line, got.Words, want, err)
		}
	}
	got, err := view.OfCadence("*/30 23 * * *", after)
	if err != nil || len(got.Next) != 3 || got.Next[0].Format(time.DateTime) != "2026-05-01 23:30:00" || got.Next[2].Format(time.DateTime) != "2026-05-02 23:30:00" {
		t.Errorf("next are %v (%v)", got.Next, err)
	}
	for _, line := range []string{"", "* * * *", "60 * * * *", "@daily", "0 0 30 2 *"} {
		if _, err := view.OfCadence(line, after); !retake.IsKind(err, retake.Invalid) {
			t.Errorf("%q: %v", line, err)
		}
	}
}
