package cli_test

import (
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/view"
)

func quietCheckpoints(n int) (view.Input, *stage) {
	parents := make([]int64, n)
	for i := range parents {
		parents[i] = int64(n - i - 1)
	}
	v, s := small(parents...)
	for i := range s.View.Checkpoints {
		c := &s.View.Checkpoints[i]
		c.Trigger, c.Intent = retake.TriggerCall, ""
	}
	last := &s.View.Checkpoints[n-1]
	last.Trigger, last.Files = retake.TriggerInit, 7
	v.Timeline = s.View.Timeline
	return v, s
}

func TestQuietCheckpointsAreOneRow(t *testing.T) {
	t.Parallel()
	v, _ := quietCheckpoints(6)
	same(t, strings.Join(lines(v), "\n")+"\n",
		`●    6  09:06  no file changed                                     –`,
		`┊  2–5  09:02  4 auto-checkpoints, until 09:05`,
		`○    1  09:01  start                                               7`,
	)
	v, _ = quietCheckpoints(4) // two are too few
	if got := lines(v); len(got) != 4 {
		t.Fatalf("got\n%s", strings.Join(got, "\n"))
	}
}

// What says something has a row of its own, also among quiet ones.
func TestWhatIsNotQuiet(t *testing.T) {
	t.Parallel()
	tell := func(f func(*retake.Finding)) func(*stage) {
		return func(s *stage) { s.Of("cp_4").Change(f) }
	}
	change := func(f func(*retake.Checkpoint)) func(*stage) {
		return func(s *stage) { f(&s.View.Checkpoints[len(s.View.Checkpoints)-4]) }
	}
	for name, loud := range map[string]func(*stage){
		"an intent": change(func(c *retake.Checkpoint) { c.Intent = "x" }),
		"an effect": change(func(c *retake.Checkpoint) { c.Effects = []retake.Effect{{ID: "e1", Text: "push", Time: at(9, 4)}} }),
		"a gap": change(func(c *retake.Checkpoint) {
			c.Coverage = retake.Cover([]retake.Gap{{Path: "a", Reason: retake.ReasonTorn}})
		}),
		"a change":       change(func(c *retake.Checkpoint) { c.Changed.Edited = 1 }),
		"a risk":         change(func(c *retake.Checkpoint) { c.Turn = &retake.Turn{Risk: "deletes src"} }),
		"a safety point": change(func(c *retake.Checkpoint) { c.Trigger = retake.TriggerSafety }),
		"another answer": tell(func(f *retake.Finding) {
			f.Answers = []retake.Answer{{Name: "test", Verdict: retake.Failed, Was: retake.Passed}}
		}),
		"one that runs": tell(func(f *retake.Finding) { f.Answers = []retake.Answer{{Name: "test", Verdict: retake.Running}} }),
		"a mismatch":    tell(func(f *retake.Finding) { f.Gist = &retake.Gist{Flags: []retake.Flag{{Kind: "mismatch", Why: "x"}}} }),
		"a pin":         func(s *stage) { s.View.Pins = []retake.Pin{{Name: "v1", Checkpoint: "cp_4"}} },
		"a fork": func(s *stage) {
			s.View.Forks = []view.Fork{fork("f", 1, at(9, 9), "codex", retake.Passed, 1, "a")}
			s.View.Forks[0].Origin.Checkpoint = "cp_4"
		},
		"where one left": func(s *stage) { s.View.Checkpoints[0].Parent = "cp_4" },
	} {
		_, s := quietCheckpoints(8)
		loud(s)
		found := false
		for _, line := range lines(*s.View) {
			found = found || strings.Contains(line, "  4  09:04")
		}
		if !found {
			t.Errorf("%s is folded:\n%s", name, strings.Join(lines(*s.View), "\n"))
		}
	}
}

// Files that always move are quiet; a checkpoint before a turn is nothing beside that of the
// turn.
func TestQuietMoves(t *testing.T) {
	t.Parallel()
	_, s := quietCheckpoints(5)
	for i := range s.View.Checkpoints[1:4] {
		c := &s.View.Checkpoints[i+1]
		c.Changed.Edited = 1
		s.View.Findings[c.ID] = retake.Finding{Gist: &retake.Gist{Moving: true, Lead: "app.log", Counts: retake.StoryCounts{Edited: 1}, Points: []retake.Point{{Text: "logs/app.log"}}}}
	}
	if got := lines(*s.View)[1]; got != `┊  2–4  09:02  3 auto-checkpoints, until 09:04                     1  app.log` {
		t.Errorf("got %q", got)
	}
	_, s = quietCheckpoints(5)
	turn := &retake.Turn{Agent: "codex", Session: "s", ID: "t"}
	s.View.Checkpoints[1].Turn = turn
	s.View.Checkpoints[2].Trigger, s.View.Checkpoints[2].Intent, s.View.Checkpoints[2].Turn = retake.TriggerPrompt, "before “x”", turn
	if got := lines(*s.View)[1]; !strings.Contains(got, "3 auto-checkpoints") {
		t.Errorf("got %q", got)
	}
}
