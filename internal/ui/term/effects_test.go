package term_test

import (
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/term"
	"github.com/retake-dev/retake/internal/ui/term/termtest"
)

// The card of a turn tells the effects of all its checkpoints, each with its outcome.
func TestV8_CardOfATurnTellsAllItsEffects(t *testing.T) {
	t.Parallel()
	v := turned()
	v.Checkpoints[1].Effects = []retake.Effect{{ID: "e1", Text: "git push origin main", Outcome: retake.OutcomeFailed}}
	v.Checkpoints[0].Effects = []retake.Effect{{ID: "e2", Text: "npm publish", Outcome: retake.OutcomeUnknown}}
	c := term.Card{Checkpoint: v.Checkpoints[0]}
	c.ReadEffects(lookupIn(v.Checkpoints))
	got := term.RenderCard(term.NewLook(80, termtest.Now, false, false), c)
	for _, want := range []string{"git push origin main  failed", "npm publish  may be done"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// An answer to a bisect is shown as such.
func TestV8_BisectIsShownAsSuch(t *testing.T) {
	t.Parallel()
	l := term.NewLook(80, termtest.Now, false, false)
	if ms := l.Badges([]retake.Answer{{Name: "test", Verdict: retake.Passed, Bisect: true}}); len(ms) != 1 || ms[0].Text != "bisect test" {
		t.Errorf("the badges are %+v", ms)
	}
}
