package termtext_test

import (
	"math"
	"testing"
	"time"

	"github.com/retake-dev/retake/internal/pure/termtext"
)

func TestCount(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0", 7: "7", 999: "999", 1000: "1,000", 1204: "1,204", 123456: "123,456", 1234567: "1,234,567",
		-1: "-1", -100: "-100", -1204: "-1,204", math.MinInt64: "-9,223,372,036,854,775,808",
	} {
		if got := termtext.Count(n); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestBytes(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0 B", 5: "5 B", 999: "999 B", 1000: "1.0 kB", 9_949: "9.9 kB", 9_950: "10 kB", 12_345: "12 kB", 999_499: "999 kB",
		999_500: "1.0 MB", 9_400_000: "9.4 MB", 12_600_000: "13 MB", 999_500_000: "1.0 GB", 2_500_000_000_000: "2.5 TB",
		math.MaxInt64: "9.2 EB", -1500: "-1.5 kB",
	} {
		if got := termtext.Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestClock(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("here", 2*60*60)
	now := time.Date(2026, 11, 3, 10, 30, 0, 0, zone) // a Tuesday
	tests := map[string]string{
		"2026-11-03T10:27:59+02:00": "10:27",
		"2026-11-03T00:00:00+02:00": "00:00",
		"2026-11-03T23:59:00+02:00": "23:59",
		"2026-11-02T22:30:00Z":      "00:30", // already today here
		"2026-11-02T23:59:00+02:00": "Mon 23:59",
		"2026-10-31T17:05:00+02:00": "Sat 17:05",
		"2026-10-28T00:00:00+02:00": "Wed 00:00",
		"2026-10-27T23:59:00+02:00": "27 Oct", // the same day of the week
		"2026-10-09T12:00:00+02:00": "9 Oct",
		"2025-10-09T12:00:00+02:00": "9 Oct 2025",
		"2026-11-04T09:00:00+02:00": "4 Nov", // ahead of the clock
		"2027-01-01T09:00:00+02:00": "1 Jan 2027",
	}
	for in, want := range tests {
		at, err := time.Parse(time.RFC3339, in)
		if err != nil {
			t.Fatal(err)
		}
		if got := termtext.ShortTime(at, now); got != want {
			t.Errorf("Clock(%s) = %q, want %q", in, got, want)
		}
	}
	newYear := time.Date(2027, 1, 2, 8, 0, 0, 0, zone)
	if got := termtext.ShortTime(newYear.AddDate(0, 0, -3), newYear); got != "Wed 08:00" {
		t.Errorf("three days before, in the other year: %q", got)
	}
}

func TestAgoAndTook(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for d, want := range map[time.Duration]string{
		-time.Hour: "just now", 0: "just now", 59 * time.Second: "just now", time.Minute: "1 min ago", 11*time.Minute + 59*time.Second: "11 min ago",
		time.Hour: "1 h ago", 3*time.Hour + 40*time.Minute: "3 h ago", day - 1: "23 h ago", day: "1 d ago", 2*day + time.Hour: "2 d ago", 1500 * day: "1,500 d ago",
	} {
		if got := termtext.Ago(d); got != want {
			t.Errorf("Ago(%v) = %q, want %q", d, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		-time.Second: "0 ms", 0: "0 ms", 7 * time.Millisecond: "7 ms", 99 * time.Millisecond: "99 ms", 99_600 * time.Microsecond: "0.1 s",
		200 * time.Millisecond: "0.2 s", 9_940 * time.Millisecond: "9.9 s", 9_960 * time.Millisecond: "10 s", 38 * time.Second: "38 s",
		59_600 * time.Millisecond: "1 min 0 s", 161 * time.Second: "2 min 41 s", time.Hour + 5*time.Minute + 9*time.Second: "1 h 5 min",
	} {
		if got := termtext.Duration(d); got != want {
			t.Errorf("Took(%v) = %q, want %q", d, got, want)
		}
	}
}
