package scheduler_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/server/scheduler"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

func TestPlan(t *testing.T) {
	t.Parallel()
	s, err := scheduler.PlanSchedule(retake.ScheduleRequest{Work: retake.WorkSave, Cron: " 0  3 * * * ", Jitter: time.Hour}, startTime)
	if err != nil {
		t.Fatal(err)
	}
	three := time.Date(2026, 3, 3, 3, 0, 0, 0, time.UTC)
	if s.Cron != "0 3 * * *" || s.Next.Before(three) || !s.Next.Before(three.Add(time.Hour)) || s.ID == "" || !s.Created.Equal(startTime) {
		t.Errorf("%+v", s)
	}
	other, err := scheduler.PlanSchedule(retake.ScheduleRequest{Work: retake.WorkSave, Cron: "0 3 * * *", Jitter: time.Hour}, startTime)
	if err != nil || other.ID == s.ID || other.Next.Equal(s.Next) {
		t.Errorf("two schedules begin at the same time: %+v %v", other, err)
	}
	for _, req := range []retake.ScheduleRequest{
		{Work: "dance", Cron: "0 3 * * *"}, {Work: retake.WorkSave, Cron: "@daily"}, {Work: retake.WorkSave, Cron: "61 * * * *"},
		{Work: retake.WorkSave, Cron: "0 3 * * *", Jitter: -1}, {Work: retake.WorkSave, Cron: "* * * * *", Jitter: 2 * time.Minute},
	} {
		if _, err := scheduler.PlanSchedule(req, startTime); !retake.IsKind(err, retake.Invalid) {
			t.Errorf("%+v: %v", req, err)
		}
	}
}

// A schedule takes checkpoints when files changed, each at its time.
func TestScheduledSave(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	s := h.addSchedule(retake.WorkSave, "*/10 * * * *")
	tt := h.newScheduler()
	h.changeFile()
	h.clock.Advance(10*time.Minute - time.Second)
	h.must(h.ledger.Put(t.Context(), serverdb.Due{Queue: serverdb.QueueSchedule, Namespace: acme, ID: s.ID, At: h.clock.Now()})) // too early
	h.runDue(tt, serverdb.QueueSchedule)
	if n := len(h.timeline().Checkpoints); n != 1 {
		t.Fatalf("%d checkpoints before its time", n)
	}
	h.clock.Advance(time.Second)
	h.runDue(tt, serverdb.QueueSchedule)
	line := h.timeline().Checkpoints
	if len(line) != 2 || line[0].Intent != "on schedule: */10 * * * *" {
		t.Fatalf("%+v", line)
	}
	got := h.schedule(s.ID)
	if got.Last == nil || got.Last.What != "checkpoint 2" || got.Last.Err != "" || !got.Next.Equal(startTime.Add(20*time.Minute)) || got.Missed != 0 {
		t.Errorf("%+v %+v", got, got.Last)
	}
	h.clock.Advance(10 * time.Minute)
	h.runDue(tt, serverdb.QueueSchedule)
	if got := h.schedule(s.ID); len(h.timeline().Checkpoints) != 2 || !strings.Contains(got.Last.What, "nothing changed") || got.Missed != 0 {
		t.Errorf("%+v", got.Last)
	}
	h.must(h.book.DropSchedule(t.Context(), s.ID))
	h.clock.Advance(10 * time.Minute)
	h.runDue(tt, serverdb.QueueSchedule)
	if n, _, err := h.ledger.Depth(t.Context(), serverdb.QueueSchedule); n != 0 || err != nil {
		t.Errorf("a dropped schedule is due: %d %v", n, err)
	}
}

// After three days without a server the missed runs are counted and reported once, and one run
// makes up for them, even if the first server is killed before it could record the run.
func TestMissedRuns(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	s := h.addSchedule(retake.WorkSave, "0 3 * * *")
	h.changeFile()
	h.clock.Advance(3*day + 20*time.Hour) // the 6th, at five in the morning
	o := h.options()
	o.Ledger = failingLedger{h.ledger}
	h.runDue(scheduler.New(o), serverdb.QueueSchedule)
	if got := h.schedule(s.ID); got.Missed != 0 || got.Last != nil {
		t.Fatalf("it was written down: %+v", got)
	}
	h.clock.Advance(2 * time.Minute)
	tt := h.newScheduler()
	h.runDue(tt, serverdb.QueueSchedule)
	got := h.schedule(s.ID)
	if got.Missed != 3 || got.Last == nil || !got.Next.Equal(time.Date(2026, 3, 7, 3, 0, 0, 0, time.UTC)) {
		t.Errorf("%+v", got)
	}
	if told := h.eventsOfType(retake.EventMissed); len(told) != 1 || told[0].Count != 3 || told[0].Name != s.ID {
		t.Errorf("%+v", told)
	}
	if n := len(h.timeline().Checkpoints); n != 2 {
		t.Errorf("%d checkpoints", n)
	}
	h.clock.Advance(day)
	h.runDue(tt, serverdb.QueueSchedule)
	if got := h.schedule(s.ID); got.Missed != 3 {
		t.Errorf("%d missed after a run at its time", got.Missed)
	}
}

// failingLedger is the ledger of a process that dies before a run is recorded.
type failingLedger struct{ serverdb.Ledger }

type failingBook struct{ serverdb.Book }

var errKilled = errors.New("the process is no more")

func (k failingLedger) Book(ns retake.NamespaceID) serverdb.Book {
	return failingBook{k.Ledger.Book(ns)}
}

func (k failingLedger) Postpone(context.Context, serverdb.Due, time.Time) error { return errKilled }

func (k failingBook) PutSchedule(context.Context, retake.Schedule) error { return errKilled }

// A failure is recorded in the schedule, and the next run takes place. A panic or an error in one
// namespace does not affect another.
func TestRunsThatFail(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	s := h.addSchedule(retake.WorkSave, "0 * * * *")
	ours := h.addSchedule(retake.WorkDrill, "0 * * * *")
	h.must(h.ledger.AddNamespace(t.Context(), retake.Namespace{ID: "other"}, nil))
	bad := s
	bad.ID = "sch_bad"
	h.must(h.ledger.Book("other").PutSchedule(t.Context(), bad))
	h.must(h.ledger.Put(t.Context(), serverdb.Due{Queue: serverdb.QueueSchedule, Namespace: "other", ID: bad.ID, At: bad.Next}))
	h.onOpen = func(ns retake.NamespaceID) error {
		if ns == "other" {
			panic("as planned")
		}
		return nil
	}
	h.changeNamespace(func(ns *retake.Namespace) { ns.Default = "ws_00000000-0000-4000-8000-000000000009" })
	tt := h.newScheduler()
	h.clock.Advance(time.Hour)
	h.runDue(tt, serverdb.QueueSchedule)
	h.clock.Advance(10 * time.Second) // items that waited for their lane
	h.runDue(tt, serverdb.QueueSchedule)
	if got := h.schedule(s.ID); got.Last == nil || got.Last.Err == "" || got.Last.What != "" || !got.Next.Equal(startTime.Add(2*time.Hour)) {
		t.Errorf("%+v", got)
	}
	if got := h.schedule(ours.ID); got.Last == nil || got.Last.Err != "" || !strings.Contains(got.Last.What, "1 checkpoints") {
		t.Errorf("%+v", got)
	}
	other, err := h.ledger.Book("other").Schedule(t.Context(), bad.ID)
	h.must(err)
	if other.Last == nil || !strings.Contains(other.Last.Err, "as planned") {
		t.Errorf("%+v", other)
	}
	h.changeNamespace(func(ns *retake.Namespace) { ns.Default = h.ws })
	h.changeFile()
	h.clock.Advance(time.Hour)
	h.runDue(tt, serverdb.QueueSchedule)
	if got := h.schedule(s.ID); got.Last.Err != "" || got.Last.What != "checkpoint 2" {
		t.Errorf("%+v", got.Last)
	}
}

// A run that ended with its server is not recorded, and a namespace that another server has open
// is left to it.
func TestRunsOfOthers(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	s := h.addSchedule(retake.WorkSave, "0 * * * *")
	h.changeFile()
	errElsewhere, away := errors.New("another server has it"), true
	o := h.options()
	o.IsElsewhere = func(err error) bool { return errors.Is(err, errElsewhere) }
	h.onOpen = func(retake.NamespaceID) error {
		if away {
			return errElsewhere
		}
		return nil
	}
	tt := scheduler.New(o)
	h.clock.Advance(time.Hour)
	h.runDue(tt, serverdb.QueueSchedule)
	if got := h.schedule(s.ID); got.Last != nil {
		t.Errorf("%+v", got.Last)
	}
	away = false
	h.clock.Advance(5 * time.Second)
	h.runDue(tt, serverdb.QueueSchedule)
	if got := h.schedule(s.ID); got.Last == nil || got.Last.What != "checkpoint 2" {
		t.Errorf("%+v", got)
	}
	h.clock.Advance(time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	h.onOpen = func(retake.NamespaceID) error {
		cancel()
		return nil
	}
	_, _ = tt.RunOnce(ctx, serverdb.QueueSchedule)
	if got := h.schedule(s.ID); got.Last.What != "checkpoint 2" {
		t.Errorf("%+v", got.Last)
	}
	h.onOpen = nil
	h.changeFile()
	h.runDue(tt, serverdb.QueueSchedule)
	if got := h.schedule(s.ID); got.Last.What != "checkpoint 3" {
		t.Errorf("it was not given back: %+v", got.Last)
	}
}

// A schedule that is deleted while it runs stays deleted.
func TestDroppedWhileItRuns(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	s := h.addSchedule(retake.WorkSave, "0 * * * *")
	h.onOpen = func(retake.NamespaceID) error { return h.book.DropSchedule(t.Context(), s.ID) }
	h.clock.Advance(time.Hour)
	h.runDue(h.newScheduler(), serverdb.QueueSchedule)
	if all, err := h.book.Schedules(t.Context()); len(all) != 0 || err != nil {
		t.Errorf("%+v %v", all, err)
	}
}

// A drill reports damage.
func TestDrillFindsDamage(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	s := h.addSchedule(retake.WorkDrill, "0 * * * *")
	h.store.FlipByte(h.checkpoint("1").Tree)
	h.clock.Advance(time.Hour)
	h.runDue(h.newScheduler(), serverdb.QueueSchedule)
	if got := h.schedule(s.ID); got.Last == nil || !strings.Contains(got.Last.Err, "cannot be read") {
		t.Errorf("%+v", got.Last)
	}
}
