package term_test

import (
	"context"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/term"
	"github.com/retake-dev/retake/internal/ui/term/termtest"
)

func timelineOf(p term.PresentState) string {
	v := termtest.SampleTimeline()
	v.Now = nil
	v.SetPresent(22, p)
	return term.RenderTimeline(term.NewLook(80, termtest.Now, false, false), v)
}

// nowLine is the first row of a timeline.
func nowLine(p term.PresentState) string {
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
		p    term.PresentState
		want string
	}{
		{"late", term.PresentState{TimedOut: true}, "still checking: retake status"},
		{"saving", term.PresentState{Status: saving}, "still checking: retake status"},
		{"deleted", term.PresentState{Status: status(retake.Counts{Deleted: 25})}, "25 files deleted since 22"},
		{"both", term.PresentState{Status: status(retake.Counts{Deleted: 25, Edited: 2, Added: 1})}, "25 deleted, 3 changed since 22"},
		{"changed", term.PresentState{Status: status(retake.Counts{Edited: 1})}, "1 file changed since 22"},
	} {
		if got := nowLine(c.p); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if got := nowLine(term.PresentState{Status: status(retake.Counts{})}); got != "" {
		t.Errorf("nothing changed: %q", got)
	}
	gist := &retake.Gist{Lead: "photos/", Points: []retake.Point{{Theme: retake.ThemeDeleted, Text: "deleted 25 in photos/"}}, Counts: retake.StoryCounts{Deleted: 25}}
	if got := timelineOf(term.PresentState{Status: status(retake.Counts{Deleted: 25}), Gist: gist}); !strings.Contains(got, "deleted 25 in photos/") {
		t.Errorf("with a gist:\n%s", got)
	}
}

// A service that does not answer must not hold the timeline, and must not hide the row.
func TestU12_AServiceThatHangsIsLate(t *testing.T) {
	t.Parallel()
	let := make(chan struct{})
	defer close(let)
	if p := term.StartReadPresent(t.Context(), hanging{let: let}, "ws_1")(); !p.TimedOut || p.Status != nil {
		t.Errorf("got %+v", p)
	}
}

type hanging struct {
	retake.Service
	let chan struct{}
}

func (h hanging) Status(context.Context, retake.WorkspaceID) (retake.Status, error) {
	<-h.let
	return retake.Status{}, nil
}

// Files that were just deleted come back from the last checkpoint, and nothing else changes.
func TestHintsAfterADeletion(t *testing.T) {
	t.Parallel()
	gist := func(texts ...string) *retake.Gist {
		g := &retake.Gist{}
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
		v := term.TimelineView{Newest: 17, Timeline: retake.Timeline{Checkpoints: []retake.Checkpoint{{Number: 17}}}, Now: &retake.Counts{Deleted: 11}, NowGist: g}
		if got := v.Hints(); got[0] != "bring back" || got[1] != want {
			t.Errorf("%v, want %q", got, want)
		}
	}
	for _, g := range []*retake.Gist{nil, gist("deleted a;rm x"), gist("deleted -rf")} {
		v := term.TimelineView{Newest: 17, Timeline: retake.Timeline{Checkpoints: []retake.Checkpoint{{Number: 17}}}, Now: &retake.Counts{Deleted: 1}, NowGist: g}
		if got := v.Hints()[1]; got != "retake restore 17 --plan" {
			t.Errorf("%v: %q", g, got)
		}
	}
}
