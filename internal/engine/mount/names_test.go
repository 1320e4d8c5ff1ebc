package mount_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/mount"
)

func TestLabel(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("two hours east", 2*60*60)
	now := time.Date(2026, 11, 3, 18, 0, 0, 0, zone)
	for _, c := range []struct {
		number int64
		at     time.Time
		intent string
		want   string
	}{
		{14, now.Add(-7*time.Hour - 33*time.Minute), "working version", "0014 10.27 working version"},
		{14, now, "", "0014 18.00"},
		{14, now.AddDate(0, 0, -1), "before", "0014 2026-11-02 18.00 before"},
		{14, now.AddDate(0, 0, 1), "ahead", "0014 2026-11-04 18.00 ahead"},
		{14, time.Date(2026, 11, 2, 22, 30, 0, 0, time.UTC), "by the zone of now", "0014 00.30 by the zone of now"},
		{123456, now, "many", "123456 18.00 many"},
		{1, now, "a/b\x00c\x1b[31md\x7f", "0001 18.00 a_b_c_[31md_"},
		{1, now, "two\nlines\tand more", "0001 18.00 two lines and more"},
		{1, now, "bad \xff\xfe bytes", "0001 18.00 bad __ bytes"},
		{1, now, "turned \u202e around", "0001 18.00 turned _ around"},
		{1, now, "  ends. . ", "0001 18.00 ends"},
		{1, now, "..", "0001 18.00"},
		{1, now, "Überprüfung 完成", "0001 18.00 Überprüfung 完成"},
		{1, now, strings.Repeat("x", 61), "0001 18.00 " + strings.Repeat("x", 60)},
		{1, now, strings.Repeat("x", 59) + "é", "0001 18.00 " + strings.Repeat("x", 59)},
		{1, now, strings.Repeat("x", 58) + " . y", "0001 18.00 " + strings.Repeat("x", 58)},
	} {
		if got := mount.Label(retake.Checkpoint{Number: c.number, Time: c.at, Intent: c.intent}, now); got != c.want {
			t.Errorf("%q: got %q, want %q", c.intent, got, c.want)
		}
	}
}

// Whatever an intent holds, its folder can be made, typed and printed.
func TestLawLabelIsAName(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		intent := string(rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		name := mount.Label(retake.Checkpoint{Number: 7, Intent: intent}, time.Unix(0, 0))
		switch {
		case !strings.HasPrefix(name, "0007 "):
			t.Fatalf("%q lacks its number", name)
		case len(name) > len("0007 0001-01-01 00.00 ")+60:
			t.Fatalf("%q is long", name)
		case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == '/' || r == 0x7f }):
			t.Fatalf("%q is no name", name)
		case strings.HasSuffix(name, " ") || strings.HasSuffix(name, "."):
			t.Fatalf("%q ends badly", name)
		}
	})
}
