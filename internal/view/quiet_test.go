package view

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
)

// Own edits between turns are folded, and told as what they are; a deletion, a setting or a
// word of somebody has a row of its own.
func TestQuietCheckpointsAreFolded(t *testing.T) {
	day := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	checkpoint := func(n int, edit func(*retake.Checkpoint)) retake.Checkpoint {
		c := retake.Checkpoint{ID: retake.CheckpointID(string(rune('a' + n))), Number: int64(n), Time: day.Add(time.Duration(n) * time.Minute), Trigger: retake.TriggerQuiet, Changed: retake.Counts{Edited: 1}}
		if n > 1 {
			c.Parent = retake.CheckpointID(string(rune('a' + n - 1)))
		}
		edit(&c)
		return c
	}
	plain := func(*retake.Checkpoint) {}
	newest := []retake.Checkpoint{
		checkpoint(9, plain),
		checkpoint(8, func(c *retake.Checkpoint) { c.Changed.Deleted = 1 }),
		checkpoint(7, func(c *retake.Checkpoint) { c.Intent = "fix the header" }),
		checkpoint(6, plain), checkpoint(5, func(c *retake.Checkpoint) { c.Intent = retake.StillMoving }), checkpoint(4, plain), checkpoint(3, plain),
		checkpoint(2, func(c *retake.Checkpoint) { c.Trigger = retake.TriggerManual }),
		checkpoint(1, func(c *retake.Checkpoint) { c.Trigger = retake.TriggerInit }),
	}
	found := map[retake.CheckpointID]retake.Finding{"e": {Gist: &retake.Gist{Lead: "a.go", Points: []retake.Point{{Theme: retake.ThemeSource, Text: "a.go"}}, Counts: retake.StoryCounts{Edited: 2}}}}
	rows := func() ([]entry, string) {
		us := (&Input{Timeline: retake.Timeline{Checkpoints: newest, Findings: found}}).foldQuiet(nil)
		var out []string
		for _, u := range us {
			out = append(out, fmt.Sprint(u.checkpoints[0].Number)+"+"+fmt.Sprint(u.checkpoints[len(u.checkpoints)-1].Number))
		}
		return us, strings.Join(out, " ")
	}
	us, got := rows()
	if want := "9+9 8+8 7+7 6+3 2+2 1+1"; got != want {
		t.Fatalf("rows %s, want %s", got, want)
	}
	r := newRowBuilder(Input{Timeline: retake.Timeline{Findings: found}}).quietRow(us[3].checkpoints, retake.RowPlace{})
	if r.Files != 4 || len(r.Points) != 1 || r.Points[0].Text != "a.go" {
		t.Errorf("%d files, %+v: a file that somebody edited is not one that always moves", r.Files, r.Points)
	}
	found["f"] = retake.Finding{Gist: &retake.Gist{Points: []retake.Point{{Theme: retake.ThemeSettings, Text: "a.json port 80 → 81"}}}}
	if _, got := rows(); got != "9+9 8+8 7+7 6+6 5+5 4+4 3+3 2+2 1+1" {
		t.Errorf("with a setting in 5: %s", got)
	}
}
