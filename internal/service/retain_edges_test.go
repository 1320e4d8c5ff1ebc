package service_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
)

// A day of work, two days later: what was saved by hand, a task's end, a turn's end and
// the first checkpoint that passed are there; of what came automatically one an hour is.
func TestR1_NamedCheckpointsStayForTheWindow(t *testing.T) {
	t.Parallel()
	r := newRetentionFixture(t, false)
	var kept []int64
	for range 6 {
		for _, trigger := range []retake.Trigger{retake.TriggerManual, retake.TriggerTask, retake.TriggerTurn} {
			r.saveMany(3, time.Minute)
			kept = append(kept, r.saveManyWith(1, time.Minute, retake.SaveRequest{Trigger: trigger, Intent: "named"}).Number)
		}
	}
	first := r.saveMany(1, time.Minute)
	_, err := r.s.Attest(t.Context(), retake.Attestation{Workspace: r.ws, Command: "make test", Exit: 0, Started: r.clock.Now()})
	r.must(err)
	kept = append(kept, first.Number)
	r.saveMany(3, time.Minute)
	r.saveMany(25, 2*hour) // two days on, so that the last twenty are others
	if rep := r.thin(); rep.Forgotten < 40 {
		t.Errorf("only %d of the automatic ones went: %v", rep.Forgotten, r.numbers())
	}
	left := r.numbers()
	for _, n := range kept {
		if !slices.Contains(left, n) {
			t.Errorf("%d is gone; left: %v", n, left)
		}
	}
	r.saveMany(35, day)
	r.thin()
	for _, n := range kept[:len(kept)-1] {
		if slices.Contains(r.numbers(), n) {
			t.Errorf("%d is there after the window: %v", n, r.numbers())
		}
	}
}

// When room is short, automatic checkpoints go before named ones, and the plan says
// which are named.
func TestR1_NamedCheckpointsGoLastWhenRoomIsShort(t *testing.T) {
	t.Parallel()
	r := newRetentionFixture(t, false)
	named := r.saveManyWith(2, hour, retake.SaveRequest{Intent: "before the migration"})
	r.saveMany(10, 2*hour)
	r.fillDisk()
	plan, err := r.s.SpacePlan(t.Context())
	r.must(err)
	if n := len(plan.Drops); n < 5 || !plan.Drops[n-1].Named || plan.Drops[n-1].Number != named.Number || plan.Drops[0].Named {
		t.Errorf("the last to go is not the named one: %+v", plan.Drops)
	}
}

// With a last day set, everything older goes with the next clean-up, by the calendar:
// what was named too. Pins, what a fork was made from and the newest stay.
func TestR2_GoneAfterIsByTheCalendar(t *testing.T) {
	t.Parallel()
	r := newRetentionFixture(t, false)
	r.saveManyWith(4, hour, retake.SaveRequest{Intent: "named"})
	_, err := r.s.Pin(t.Context(), r.ws, "3", "three")
	r.must(err)
	r.thin()
	r.clock.Advance(60 * day) // nobody works: no day of work passes but one
	r.thin()
	if d := cmp.Diff([]int64{1, 2, 3, 4, 5}, r.numbers()); d != "" {
		t.Fatalf("without a last day (-want +got):\n%s", d)
	}
	r.gone.Store(int64(40 * day))
	r.clock.Advance(2 * hour)
	r.thin()
	if d := cmp.Diff([]int64{1, 2, 3, 4, 5}, r.numbers()); d != "" {
		t.Fatalf("a date that was not confirmed deletes (-want +got):\n%s", d)
	}
	r.clock.Advance(day)
	if rep := r.thin(); rep.Forgotten != 3 {
		t.Errorf("%+v", rep)
	}
	if d := cmp.Diff([]int64{3, 5}, r.numbers()); d != "" {
		t.Errorf("after the last day (-want +got):\n%s", d)
	}
}

// A clock that jumps ahead for a while, and one that flaps, delete nothing.
func TestR2_AClockThatJumpsDeletesNothing(t *testing.T) {
	t.Parallel()
	r := newRetentionFixture(t, false)
	r.gone.Store(int64(40 * day))
	r.saveManyWith(4, hour, retake.SaveRequest{Intent: "named"})
	r.thin()
	for range 10 {
		r.clock.Advance(3650 * day)
		r.thin()
		r.clock.Advance(time.Hour)
		r.thin()
		r.clock.Advance(-3650 * day)
		r.thin()
	}
	r.clock.Advance(-400 * day)
	r.thin()
	if d := cmp.Diff([]int64{1, 2, 3, 4, 5}, r.numbers()); d != "" {
		t.Errorf("left (-want +got):\n%s", d)
	}
}
