package tui_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/tui"
)

func has(t *testing.T, d *tui.Desk, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(d.Screen(), text) {
			t.Fatalf("%q is not on the screen:\n%s", text, d.Screen())
		}
	}
}

// From every screen esc leads back to the timeline, and nothing was changed.
func TestEscChangesNothing(t *testing.T) {
	t.Parallel()
	for name, keys := range screens {
		if name == "result" || name == "forked" { // what was agreed to is done
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			d := s.desk(80, 24)
			d.Press(keys...)
			for range 8 {
				d.Press("esc")
			}
			if d.Page() != "timeline" || d.Left {
				t.Fatalf("esc leads to %s", d.Page())
			}
			if done := s.changed(); done != nil {
				t.Fatalf("it did %v", done)
			}
		})
	}
}

// A restore by keys applies the plan that was on the screen, with the consents that were
// given, in their order.
func TestRestoreByKeys(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	d := s.desk(80, 24)
	d.Press("j", "j", "j", "j", "j", "j", "j", "r")
	has(t, d, "plan 3f9a-c21e", "DELETE      1,132", "Nothing has been changed yet.")
	d.Press("enter")
	for _, q := range []string{"1 of 3  mass-delete: delete 1,132 files?", "2 of 3  database:", "3 of 3  changed:"} {
		has(t, d, q)
		if done := s.changed(); done != nil {
			t.Fatalf("before all was asked it did %v", done)
		}
		d.Press("y", "enter")
	}
	has(t, d, "Restore 14 now: delete 1,132, bring back 30, change 19?")
	if done := s.changed(); done != nil {
		t.Fatalf("before the last answer it did %v", done)
	}
	d.Press("y", "enter")
	has(t, d, "Restored 14", "deleted 1,132", "checkpoint 23, everything you had", "claude --resume 9d4c7a10", "e1 git push origin auth-sessions")
	if len(s.apply) != 1 {
		t.Fatalf("applied %d times", len(s.apply))
	}
	got := s.apply[0]
	if got.Digest != s.plan.Digest || got.Ref != "cp_14" || got.Course != retake.CourseRestore || !slices.Equal(got.Accept, []string{"mass-delete", "database", "changed"}) {
		t.Fatalf("applied %+v", got)
	}
	d.Press("u")
	if last := s.plans[len(s.plans)-1]; last.Course != retake.CourseUndo || last.Ref != "" || d.Page() != "plan" || len(s.apply) != 1 {
		t.Fatalf("u after it asked for %+v", last)
	}
}

// Any answer but yes leaves, at every question, and nothing can be pasted into one.
func TestOnlyYesGoesOn(t *testing.T) {
	t.Parallel()
	for yes := range 4 {
		for _, answer := range []string{"", "n", "Y e s", "yy", "d", "l", "q", "restore"} {
			s := newStage(t)
			d := s.desk(80, 24)
			d.Press("r", "enter")
			for range yes {
				d.Type("YES") // in whatever case
				d.Press("enter")
			}
			d.Paste("y\n")
			d.Paste("yes")
			d.Type(answer)
			d.Press("enter")
			has(t, d, "Canceled. Nothing was changed.")
			if done := s.changed(); done != nil || d.Page() != "timeline" {
				t.Fatalf("%q after %d times yes did %v", answer, yes, done)
			}
		}
	}
}

// Whatever keys are pressed, nothing is applied but the plan whose last question was on the
// screen when yes was said.
func TestNoKeysApplyWithoutAQuestion(t *testing.T) {
	t.Parallel()
	keys := []string{"j", "k", "g", "G", "d", "D", "c", "r", "r", "u", "f", "v", "n", "N", "h", "1", "2", "3", "4", "?", "/", "l", "enter", "enter", "enter", "y", "y", "esc", "tab", "space", "pgdown", "up", "backspace"}
	rapid.Check(t, func(rt *rapid.T) {
		s := newStage(t)
		d := s.desk(80, 24)
		for range rapid.IntRange(1, 40).Draw(rt, "presses") {
			before, applied := d.Screen(), len(s.apply)
			k := rapid.SampledFrom(keys).Draw(rt, "key")
			d.Press(k)
			if len(s.apply) == applied {
				continue
			}
			asked := strings.Contains(before, " now: delete 1,132, bring back 30, change") && strings.Contains(before, "[y/N")
			typed := strings.HasSuffix(strings.TrimSpace(before), "] y")
			if k != "enter" || !asked || !typed || s.apply[applied].Digest != s.plan.Digest {
				rt.Fatalf("%q applied %+v from\n%s", k, s.apply[applied], before)
			}
		}
	})
}

// When the files moved on, nothing was changed, the plan of now is shown, and everything is
// asked again.
func TestAPlanThatMoved(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.fail["ApplyRestore"] = &retake.Error{Kind: retake.Moved, What: "files changed since this plan was made", Safe: "Nothing was changed."}
	d := s.desk(80, 40)
	d.Press("r", "enter", "y", "enter", "y", "enter", "y", "enter")
	s.plan.Digest, s.plan.Obstacles = "aaaabbbbcc", s.plan.Obstacles[:1]
	d.Press("y", "enter")
	has(t, d, "Files changed since this plan was made.", "Nothing was changed.", "This is the plan as it is now.", "plan aaaa-bbbb")
	delete(s.fail, "ApplyRestore")
	d.Press("enter")
	has(t, d, "1 of 1  mass-delete")
	d.Press("y", "enter", "y", "enter")
	if got := s.apply[1]; got.Digest != "aaaabbbbcc" || !slices.Equal(got.Accept, []string{"mass-delete"}) {
		t.Fatalf("applied %+v", got)
	}
}

// What is under way is ended by nothing but ctrl-c, and then between two files.
func TestKeysWhileApplying(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.hold["ApplyRestore"] = make(chan struct{})
	d := s.desk(80, 24)
	d.Press("r", "enter", "y", "enter", "y", "enter", "y", "enter", "y")
	d.Touch("enter")
	d.Hear() // what is to be done
	s.wait("ApplyRestore", 1)
	for _, k := range []string{"esc", "q", "?", "enter", "u", "j"} {
		d.Touch(k)
	}
	has(t, d, "applying", "31 of 49", "ctrl-c stop between two files")
	if d.Left {
		t.Fatal("a key left while files were changed")
	}
	d.Touch("ctrl+c")
	d.Settle()
	has(t, d, "What was done until then stays; no byte is lost.", "See its state:  retake status")
	if len(s.apply) != 1 {
		t.Fatalf("applied %d times", len(s.apply))
	}
}

func TestForkByKeys(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	d := s.desk(80, 24)
	d.Press("f", "ctrl+u", "enter")
	has(t, d, "no fork was created")
	if s.forks != nil {
		t.Fatal("an empty answer grew a fork")
	}
	d.Press("j", "f")
	has(t, d, "fork 21 into the directory: /home/ann/code/shopfront-fork")
	d.Press("ctrl+w")
	d.Paste("spike\nand more")
	d.Press("enter")
	has(t, d, "Forked", "retake adopt shopfront-fork")
	if len(s.forks) != 1 || s.forks[0].Dir != "/home/ann/code/spike" || s.forks[0].Ref != "cp_21" {
		t.Fatalf("forked %+v", s.forks)
	}
}

// On a server there are no directories of ours: a fork has a name.
func TestForkOnAServer(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	o := s.options()
	o.ResolveDir, o.ProposeForkDir = nil, func() string { return "shopfront-fork" }
	d := tui.NewDesk(t.Context(), o, 80, 24)
	d.Settle()
	d.Press("f")
	has(t, d, "fork 22 under the name: shopfront-fork")
	d.Press("enter")
	if len(s.forks) != 1 || s.forks[0].Dir != "" || s.forks[0].Name != "shopfront-fork" {
		t.Fatalf("forked %+v", s.forks)
	}
}

func TestCompareByKeys(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	d := s.desk(80, 24)
	asked := func(want string) {
		t.Helper()
		if last := s.asked[slices.IndexFunc(s.asked, func(a string) bool { return strings.HasPrefix(a, "Diff ") }):]; !slices.Contains(last, want) {
			t.Fatalf("asked %q, want %q", last, want)
		}
	}
	d.Press("d")
	asked("Diff  cp_22")
	d.Press("esc", "D")
	asked("Diff cp_22 ")
	has(t, d, "to    now")
	d.Press("esc", "c")
	has(t, d, "marked 22: choose another checkpoint and press c")
	d.Press("G", "c")
	asked("Diff cp_1 cp_22") // the older one is from
	d.Press("esc", "c", "esc", "c")
	has(t, d, "marked 1:")
	d.Press("c")
	has(t, d, "mark removed")
}

// Lines of a diff are covered where they look like secrets, and found by words.
func TestDiffIsSearchedAndCovered(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.texts["a1"] = "API_KEY=sk_live_" + strings.Repeat("a1B2", 6) + "\nplain\n"
	s.texts["a2"] = "API_KEY=sk_live_" + strings.Repeat("c3D4", 6) + "\n" + strings.Repeat("filler\n", 60) + "needle\n"
	d := s.desk(80, 24)
	d.Press("d", "G")
	d.Press("g")
	has(t, d, "-API_KEY=[masked", "+API_KEY=[masked")
	if strings.Contains(d.Screen(), "a1B2") {
		t.Fatalf("a secret is on the screen:\n%s", d.Screen())
	}
	d.Press("/")
	d.Type("NEEDLE")
	d.Press("enter")
	has(t, d, "+needle")
	d.Press("/")
	d.Type("nowhere")
	d.Press("enter")
	has(t, d, "nothing here has “nowhere”")
}

func TestMovingInTheTimeline(t *testing.T) {
	t.Parallel()
	d := newStage(t).desk(80, 24)
	for _, x := range []struct {
		key  string
		want int64
	}{
		{"j", 21}, {"k", 22}, {"G", 1}, {"N", 10}, {"N", 11}, {"N", 14}, {"n", 11}, {"g", 0}, {"n", 22}, {"n", 21}, {"down", 0}, {"down", 0}, {"down", 20},
		{"pgdown", 1}, {"pgup", 22}, {"up", 0}, {"up", 0},
	} {
		if d.Press(x.key); d.Chosen() != x.want {
			t.Fatalf("%s chose %d, want %d\n%s", x.key, d.Chosen(), x.want, d.Screen())
		}
	}
	d.Press("v")
	if d.Chosen() != 22 || strings.Contains(d.Screen(), "after “install") {
		t.Fatalf("good only:\n%s", d.Screen())
	}
	d.Press("esc")
	has(t, d, "after “install")
	d.Press("q")
	if !d.Left {
		t.Fatal("q does not leave")
	}
}

// Enter on a fold opens it, and h folds it again.
func TestLeftBehindIsShown(t *testing.T) {
	t.Parallel()
	d := newStage(t).desk(80, 24)
	has(t, d, "15–18  replaced by a restore, with e1 and e2; h shows them")
	d.Press("j", "j", "j", "j", "j", "j", "enter")
	has(t, d, "“move sessions to redis”", "git push origin auth-sessions", "can't be undone")
	d.Press("h")
	has(t, d, "15–18  replaced")
}

// In a diff, u opens the plan of the chosen hunk alone.
func TestU11_UndoAHunkByKeys(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	d := s.desk(80, 24)
	d.Press("d", "u")
	has(t, d, "choose a hunk first")
	d.Press("]")
	has(t, d, "hunk 1, src/auth.ts")
	d.Press("u")
	want := retake.PlanRequest{
		Course: retake.CourseUndo, Ref: "cp_13", From: "cp_12", Paths: []string{"src/auth.ts"}, Hunks: []retake.Hunk{{OldStart: 1, OldLines: 3, NewStart: 1, NewLines: 5}},
	}
	want.Workspace = s.view.Workspace.ID
	if n := len(s.plans); n != 1 || !reflect.DeepEqual(s.plans[0], want) {
		t.Errorf("it asked for %+v", s.plans)
	}
	if done := s.changed(); done != nil {
		t.Errorf("it did %v", done)
	}
}
