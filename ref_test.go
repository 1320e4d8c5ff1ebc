package retake_test

import (
	"testing"
	"time"

	"github.com/retake-dev/retake"
)

func TestParseRef(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 3, 11, 42, 0, 0, time.UTC)
	at := func(day, h, m int) time.Time {
		return time.Date(2026, 11, day, h, m, 59, 999999999, time.UTC)
	}
	for text, want := range map[string]retake.Ref{
		"14":               {Form: retake.RefNumber, Number: 14},
		"#14":              {Form: retake.RefNumber, Number: 14},
		"latest":           {Form: retake.RefLatest},
		"latest~2":         {Form: retake.RefLatest, Number: 2},
		"start":            {Form: retake.RefStart},
		"cp_01a1":          {Form: retake.RefID, Text: "cp_01a1"},
		"2h":               {Form: retake.RefTime, Time: now.Add(-2 * time.Hour)},
		"3d":               {Form: retake.RefTime, Time: now.Add(-72 * time.Hour)},
		"10:27":            {Form: retake.RefTime, Time: at(3, 10, 27)},
		"23:10":            {Form: retake.RefTime, Time: at(2, 23, 10)}, // still ahead today
		"yesterday 17:00":  {Form: retake.RefTime, Time: at(2, 17, 0)},
		"2026-11-01 09:05": {Form: retake.RefTime, Time: at(1, 9, 5)},
		"2026-11-01":       {Form: retake.RefTime, Time: time.Date(2026, 11, 1, 23, 59, 59, 999999999, time.UTC)},
		"before-migration": {Form: retake.RefName, Text: "before-migration"},
		"latest~x":         {Form: retake.RefName, Text: "latest~x"},
		"0":                {Form: retake.RefName, Text: "0"},
		"-3":               {Form: retake.RefName, Text: "-3"},
		"tomorrow 10:00":   {Form: retake.RefName, Text: "tomorrow 10:00"},
	} {
		got, err := retake.ParseRef(text, now)
		if err != nil || got.Form != want.Form || got.Number != want.Number || got.Text != want.Text || !got.Time.Equal(want.Time) {
			t.Errorf("%q is %+v (%v), want %+v", text, got, err, want)
		}
	}
	if _, err := retake.ParseRef("  ", now); !retake.IsKind(err, retake.Invalid) {
		t.Errorf("an empty ref: %v", err)
	}
}

func FuzzParseRef(f *testing.F) {
	for _, s := range []string{"14", "latest~2", "yesterday 17:00", "cp_x", "10:27:01", "99999999999999999999d"} {
		f.Add(s)
	}
	now := time.Date(2026, 11, 3, 11, 42, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, s string) {
		r, err := retake.ParseRef(s, now)
		if err == nil && r.Form == retake.RefNumber && r.Number <= 0 {
			t.Fatalf("%q is number %d", s, r.Number)
		}
	})
}

func TestIDs(t *testing.T) {
	t.Parallel()
	good := "ws_01a1dd17-0813-7494-ba9f-b5002a6f32a6"
	if id, err := retake.ParseWorkspaceID(good); err != nil || string(id) != good {
		t.Errorf("%v %v", id, err)
	}
	for _, bad := range []string{"", "ws_", "cp_01a1dd17-0813-7494-ba9f-b5002a6f32a6", good + "/..", "ws_01A1dd17-0813-7494-ba9f-b5002a6f32a6", "ws_../../../../../../../../../../etc/pas"} {
		if _, err := retake.ParseWorkspaceID(bad); err == nil {
			t.Errorf("%q is taken for an id", bad)
		}
	}
}
