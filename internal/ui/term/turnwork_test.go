package term_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
	"github.com/retake-dev/retake/internal/ui/term/termtest"
	"github.com/retake-dev/retake/internal/view"
)

// turned is a turn with two checkpoints on its way and nothing more at its end, after one that
// only talked.
func turned() view.Input {
	v := view.Input{Tree: true, Newest: 5}
	v.Findings = map[retake.CheckpointID]retake.Finding{}
	s := &termtest.TimelineBuilder{View: &v}
	part := func(trigger retake.Trigger, intent string, files int64) func(*retake.Checkpoint) {
		return func(c *retake.Checkpoint) {
			c.Trigger, c.Intent, c.Changed.Edited = trigger, intent, files
			c.Turn = &retake.Turn{Agent: "codex", Session: "0f3a", ID: "t9", Prompt: "do all"}
		}
	}
	s.Checkpoint(5, termtest.At(9, 5), 4, part(retake.TriggerTurn, "do all", 0))
	s.Checkpoint(4, termtest.At(9, 4), 3, part(retake.TriggerTask, "task 2 of 2 completed: the style", 1))
	s.Checkpoint(3, termtest.At(9, 3), 2, part(retake.TriggerTask, "task 1 of 2 completed: the page", 2))
	s.Checkpoint(2, termtest.At(9, 2), 1, termtest.Claude("“", "what is here?"))
	s.Checkpoint(1, termtest.At(9, 1), 0, termtest.Manual("one"))
	return v
}

// rowOf is the row of a checkpoint in a timeline.
func rowOf(t *testing.T, width int, v view.Input, title string) string {
	t.Helper()
	for line := range strings.SplitSeq(term.RenderTimeline(term.NewLook(width, termtest.Now, false, false), view.Timeline(v)), "\n") {
		if strings.Contains(line, title) {
			return line
		}
	}
	t.Fatalf("no row %q", title)
	return ""
}

func TestATurnSaysWhereItsWorkIs(t *testing.T) {
	t.Parallel()
	v := turned()
	if got := rowOf(t, 80, v, "“do all”"); !strings.HasSuffix(got, "–  in 3–4") {
		t.Errorf("got %q", got)
	}
	if got := rowOf(t, 200, v, "“do all”"); !strings.HasSuffix(got, "–  its work is in 3–4") {
		t.Errorf("got %q", got)
	}
	if got := rowOf(t, 200, v, "“what is here?”"); !strings.HasSuffix(got, "talk only") {
		t.Errorf("got %q", got)
	}
	l := term.NewLook(80, termtest.Now, false, false)
	if got := strings.Join(drawnLine(l, v, false), "\n"); !strings.Contains(got, "–  in 3–4") {
		t.Errorf("got\n%s", got)
	}
	if got := strings.Join(l.SubjectBrief(term.RowSubject{Row: &view.Timeline(v).Rows[0]}, 6), "\n"); !strings.Contains(got, "its work is in 3–4") {
		t.Errorf("got\n%s", got)
	}
}

// lookupIn finds checkpoints in a list.
func lookupIn(cs []retake.Checkpoint) view.Lookup {
	return func(id retake.CheckpointID) (*retake.Checkpoint, bool) {
		i := slices.IndexFunc(cs, func(c retake.Checkpoint) bool { return c.ID == id })
		return &cs[max(i, 0)], i >= 0
	}
}

// Where the checkpoints of a turn are not shown, they are asked for. Where nobody knows them,
// nothing is said.
func TestWorkIsFoundWhereItIsNotShown(t *testing.T) {
	t.Parallel()
	whole := turned()
	part := whole
	part.Tree, part.Checkpoints = false, []retake.Checkpoint{whole.Checkpoints[0], whole.Checkpoints[4]}
	if got := rowOf(t, 200, part, "“do all”"); !strings.HasSuffix(got, "–") {
		t.Errorf("got %q", got)
	}
	part.ReadEarlier(lookupIn(whole.Checkpoints))
	if got := rowOf(t, 200, part, "“do all”"); !strings.HasSuffix(got, "its work is in 3–4") {
		t.Errorf("got %q", got)
	}
}

// What an effect says is told whole, in lines that fit; what is very long is counted.
func TestEffectsFitTheCard(t *testing.T) {
	t.Parallel()
	long := "curl -X POST https://hooks.shopfront.test/" + strings.Repeat("x", 90) + " -d 'the end of it'"
	for _, width := range []int{80, 120, 200} {
		for _, text := range []string{"git push origin main", long, strings.Repeat("word ", 200)} {
			c := term.Card{Checkpoint: retake.Checkpoint{Effects: []retake.Effect{{ID: "e1", Time: termtest.At(9, 1), Text: text}}}}
			got := term.RenderCard(term.NewLook(width, termtest.Now, false, false), c)
			for line := range strings.SplitSeq(got, "\n") {
				if termtext.Width(line) > width {
					t.Errorf("%d columns of %d: %s", termtext.Width(line), width, line)
				}
			}
			bare := strings.NewReplacer(" ", "", "\n", "")
			if !strings.Contains(bare.Replace(got), bare.Replace(text)+"can'tbeundone") && !strings.Contains(got, "letters more, --json  can't be undone") {
				t.Errorf("something of %q is lost in\n%s", text, got)
			}
		}
	}
}

func TestTheCardOfATurnLeadsToItsWork(t *testing.T) {
	t.Parallel()
	v := turned()
	c := term.Card{Checkpoint: v.Checkpoints[0], Work: []int64{3, 4}}
	if got := term.RenderCard(term.NewLook(80, termtest.Now, false, false), c); !strings.Contains(got, "\n  the work of this turn is in 3–4: retake show 4\n") {
		t.Errorf("got\n%s", got)
	}
}
