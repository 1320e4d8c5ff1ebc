package term_test

import (
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/term"
	"github.com/retake-dev/retake/internal/ui/term/termtest"
	"github.com/retake-dev/retake/internal/view"
)

func timelineOf(p view.Present) string {
	v := termtest.SampleTimeline()
	v.Now = nil
	v.SetPresent(22, p)
	return term.RenderTimeline(term.NewLook(80, termtest.Now, false, false), view.Timeline(v))
}

// nowLine is the first row of a timeline.
func nowLine(p view.Present) string {
	for line := range strings.Lines(timelineOf(p)) {
		if strings.HasPrefix(line, "┊") && strings.Contains(line, " now ") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

func status(n retake.Counts) *retake.Status {
	return &retake.Status{Latest: &retake.Checkpoint{Number: 22}, Now: n}
}

func TestU12_NowHasARowThatSaysWhatIsKnown(t *testing.T) {
	t.Parallel()
	saving := status(retake.Counts{})
	saving.Saving = true
	for _, c := range []struct {
		name string
		p    view.Present
		want string
	}{
		{"late", view.Present{TimedOut: true}, "still checking: retake status"},
		{"saving", view.Present{Status: saving}, "still checking: retake status"},
		{"deleted", view.Present{Status: status(retake.Counts{Deleted: 25})}, "25 files deleted since 22"},
		{"both", view.Present{Status: status(retake.Counts{Deleted: 25, Edited: 2, Added: 1})}, "25 deleted, 3 changed since 22"},
		{"changed", view.Present{Status: status(retake.Counts{Edited: 1})}, "1 file changed since 22"},
	} {
		if got := nowLine(c.p); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if got := nowLine(view.Present{Status: status(retake.Counts{})}); got != "" {
		t.Errorf("nothing changed: %q", got)
	}
	gist := &retake.Gist{Lead: "photos/", Points: []retake.Point{{Theme: retake.ThemeDeleted, Text: "deleted 25 in photos/"}}, Counts: retake.StoryCounts{Deleted: 25}}
	if got := timelineOf(view.Present{Status: status(retake.Counts{Deleted: 25}), Gist: gist}); !strings.Contains(got, "deleted 25 in photos/") {
		t.Errorf("with a gist:\n%s", got)
	}
}

// Files that were just deleted come back from the last checkpoint, and nothing else changes.
func TestHintsAfterADeletion(t *testing.T) {
	t.Parallel()
	gist := func(texts ...string) *retake.Gist {
		g := &retake.Gist{Counts: retake.StoryCounts{Deleted: 11}}
		for _, text := range texts {
			g.Points = append(g.Points, retake.Point{Text: text})
		}
		return g
	}
	for want, g := range map[string]*retake.Gist{
		"retake restore 17 -- src":         gist("deleted 11 in src/", "README.md"),
		"retake restore 17 -- src/cart.ts": gist("deleted src/cart.ts"),
		"retake restore 17 --plan":         gist("deleted 11 in src/", "deleted 2 in docs/"),
	} {
		v := view.Timeline(view.Input{Newest: 17, Timeline: retake.Timeline{Checkpoints: []retake.Checkpoint{{Number: 17}}}, Now: &retake.Counts{Deleted: 11}, NowGist: g})
		if got := term.TimelineHints(&v); got[0] != "bring back" || got[1] != want {
			t.Errorf("%v, want %q", got, want)
		}
	}
	for _, g := range []*retake.Gist{nil, gist("deleted a;rm x"), gist("deleted -rf")} {
		v := view.Timeline(view.Input{Newest: 17, Timeline: retake.Timeline{Checkpoints: []retake.Checkpoint{{Number: 17}}}, Now: &retake.Counts{Deleted: 11}, NowGist: g})
		if got := term.TimelineHints(&v)[1]; got != "retake restore 17 --plan" {
			t.Errorf("%v: %q", g, got)
		}
	}
}
