package tui_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/ui/term/termtest"
	"github.com/retake-dev/retake/internal/ui/tui"
	"github.com/retake-dev/retake/internal/view"
)

// Checkpoints that come do not move the choice: not away from its checkpoint, and not on the
// screen unless the list begins at its top.
func TestCheckpointsThatCome(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	d := s.desk(80, 24)
	d.Press("j", "j", "j", "j")
	s.add(2)
	d.Look()
	has(t, d, "checkpoint 24", "checkpoint 23", "24 checkpoints")
	if d.Chosen() != 20 {
		t.Fatalf("chosen is %d", d.Chosen())
	}
	d.Press("G")
	line := func() int {
		for i, l := range strings.Split(d.Screen(), "\n") {
			if strings.HasSuffix(l, " <") {
				return i
			}
		}
		return -1
	}
	at, top := line(), d.Top()
	s.add(3)
	d.Look()
	if d.Chosen() != 1 || line() != at || d.Top() != top+3 {
		t.Fatalf("chosen is %d on line %d, was on %d", d.Chosen(), line(), at)
	}
	has(t, d, "3 new")
	d.Press("g")
	if strings.Contains(d.Screen(), "3 new") {
		t.Fatalf("still new:\n%s", d.Screen())
	}
	has(t, d, "checkpoint 27")
}

// While nothing is new, rows are not made again, and the answer is still of now.
func TestNothingNew(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	d := s.desk(80, 24)
	d.Look()
	before := d.Screen()
	d.Look()
	if d.Screen() != before {
		t.Fatalf("got\n%s\nwant\n%s", d.Screen(), before)
	}
}

// Older checkpoints are read when the end of the list comes near.
func TestOlderCheckpointsAreReadAsNeeded(t *testing.T) {
	t.Parallel()
	s := long(t, 10_000)
	d := s.desk(80, 24)
	if n := d.Loaded(); n > 200 {
		t.Fatalf("%d checkpoints were read for the first screen", n)
	}
	has(t, d, "10,000 checkpoints", "step 10000 of the way")
	for range 10 {
		d.Press("pgdown")
	}
	if n := d.Loaded(); n <= 100 || n >= 1000 {
		t.Fatalf("%d checkpoints were read for ten pages", n)
	}
	d.Press("n")
	if d.Chosen()%100 != 0 || d.Chosen() == 0 {
		t.Fatalf("the next good checkpoint is %d", d.Chosen())
	}
	d.Press("G")
	if d.Chosen() != 1 || d.Loaded() != 10_000 {
		t.Fatalf("start is %d, with %d read", d.Chosen(), d.Loaded())
	}
	d.Press("n")
	has(t, d, "no good checkpoint further on")
}

// What a key costs does not grow with the timeline.
func TestAKeyCostsWhatIsOnTheScreen(t *testing.T) {
	cost := func(n int) float64 {
		d := long(t, n).desk(80, 24)
		d.Press("G")
		down := true
		return testing.AllocsPerRun(50, func() {
			k := "k"
			if down = !down; down {
				k = "j"
			}
			d.Touch(k)
			d.Raw()
		})
	}
	few, many := cost(200), cost(10_000)
	if many > few*3/2 {
		t.Fatalf("a key costs %.0f allocations with 200 checkpoints, %.0f with 10,000", few, many)
	}
}

// Keys are heard while the service does not answer.
func TestASlowServiceHoldsNothingUp(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.hold["ViewTimeline"] = make(chan struct{})
	held := clock.NewManual(termtest.Now)
	o := s.options()
	o.Clock = held
	d := tui.NewDesk(t.Context(), o, 80, 24)
	s.wait("ViewTimeline", 1)
	has(t, d, "reading the timeline…")
	d.Touch("?")
	has(t, d, "No key applies anything")
	d.Touch("esc")
	held.Advance(7 * time.Second)
	has(t, d, "the service has not answered for 7 s")
	close(s.hold["ViewTimeline"])
	d.Settle()
	has(t, d, "remember me for 30 days")
	s.mu.Lock()
	s.hold["PlanRestore"] = make(chan struct{})
	s.mu.Unlock()
	d.Touch("r")
	s.wait("PlanRestore", 1)
	has(t, d, "reading…")
	d.Touch("esc")
	d.Settle() // who left is not waited for
	if d.Page() != "timeline" {
		t.Fatalf("esc leads to %s", d.Page())
	}
}

// A service that is away is told, what is known stays, and it comes back by itself.
func TestAServiceThatIsAway(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	away := &retake.Error{Kind: retake.Away, What: "the daemon does not answer", Hint: "look: retake daemon status", Err: fmt.Errorf("dial: refused\x1b[2J")}
	s.fail["ViewTimeline"] = away
	d := s.desk(80, 24)
	has(t, d, "The daemon does not answer.", `because: dial: refused\x1b[2J`, "Nothing was changed.", "Look:  retake daemon status")
	s.mu.Lock()
	delete(s.fail, "ViewTimeline")
	s.mu.Unlock()
	d.Look()
	has(t, d, "● live", "remember me for 30 days")
	s.mu.Lock()
	s.fail["ViewTimeline"] = away
	s.mu.Unlock()
	d.Look()
	has(t, d, "away, as of 11:42", "remember me for 30 days", "The daemon does not answer.")
	for _, keys := range [][]string{{"enter"}, {"d"}, {"r"}} {
		s.mu.Lock()
		for _, call := range []string{"Story", "Diff  cp_22", "PlanRestore"} {
			s.fail[call] = &retake.Error{Kind: retake.Damaged, What: "the store has a hole", Safe: "Nothing was changed.", Hint: "see: retake doctor"}
		}
		s.mu.Unlock()
		d.Press(keys...)
		has(t, d, "The store has a hole.", "Nothing was changed.", "See:  retake doctor")
		d.Press("enter", "esc", "esc")
		if d.Page() != "timeline" {
			t.Fatalf("%v leads to %s", keys, d.Page())
		}
	}
}

// A restore that was cut off is told before anything else.
func TestARestoreThatWasCutOff(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.view.Workspace.Interrupted = &retake.Interruption{Course: retake.CourseRestore, Target: 14, Safety: 18, Done: 612, Total: 1181, Since: termtest.At(11, 39)}
	has(t, s.desk(80, 24), "a restore of 14 was interrupted: retake restore --finish")
}

func BenchmarkKey(b *testing.B) {
	for _, n := range []int{200, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := long(nil, n)
			d := tui.NewDesk(b.Context(), s.options(), 80, 24)
			d.Settle()
			d.Press("G")
			for i := 0; b.Loop(); i++ {
				k := "k"
				if i%2 == 0 {
					k = "j"
				}
				d.Touch(k)
				d.Raw()
			}
		})
	}
}

func BenchmarkArrange(b *testing.B) {
	v := view.Timeline(long(nil, 10_000).view)
	l := tui.NewLook(80)
	for b.Loop() {
		l.ArrangeTimeline(&v)
	}
}
