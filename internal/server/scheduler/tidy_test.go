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

// Once a day old checkpoints are deleted and an event reports it; a schedule does the same.
func TestRetention(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.saveCheckpoints(60, day/2)
	before := len(h.timeline().Checkpoints)
	tt := h.newScheduler()
	h.must(tt.EnrollNamespace(t.Context(), acme))
	h.clock.Advance(day)
	h.runDue(tt, serverdb.QueueRetention)
	went := before - len(h.timeline().Checkpoints)
	told := h.eventsOfType(retake.EventRetention)
	if went < 5 || len(told) != 1 || told[0].Count != int64(went) {
		t.Fatalf("%d went, told %+v", went, told)
	}
	entries, err := h.book.Audit(t.Context(), retake.AuditQuery{})
	h.must(err)
	var by int
	for _, e := range entries {
		if e.Actor.Kind == retake.KeyMaintainer && e.Actor.Name == "retention" {
			by++
		}
	}
	if by != went {
		t.Errorf("%d entries about %d checkpoints", by, went)
	}
	h.clock.Advance(day - time.Second)
	h.runDue(tt, serverdb.QueueRetention)
	if n := len(h.eventsOfType(retake.EventRetention)); n != 1 {
		t.Errorf("%d in one day", n)
	}
	h.clock.Advance(time.Hour + time.Second)
	h.runDue(tt, serverdb.QueueRetention)
	if n := len(h.eventsOfType(retake.EventRetention)); n != 2 {
		t.Errorf("%d in two days", n)
	}
	s := h.addSchedule(retake.WorkRetain, "0 * * * *")
	h.clock.Advance(time.Hour)
	h.runDue(tt, serverdb.QueueSchedule)
	if got := h.schedule(s.ID); got.Last == nil || got.Last.Err != "" || !strings.Contains(got.Last.What, "checkpoints went") || len(h.eventsOfType(retake.EventRetention)) != 3 {
		t.Errorf("%+v", got)
	}
}

// A namespace that was deleted has no more runs.
func TestRetentionOfWhoEnded(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	tt := h.newScheduler()
	h.must(tt.EnrollNamespace(t.Context(), acme))
	ended := h.clock.Now()
	h.changeNamespace(func(ns *retake.Namespace) { ns.Ended = &ended })
	h.clock.Advance(day)
	h.runDue(tt, serverdb.QueueRetention)
	if n, _, err := h.ledger.Depth(t.Context(), serverdb.QueueRetention); n != 0 || err != nil || len(h.eventsOfType(retake.EventRetention)) != 0 {
		t.Errorf("%d %v", n, err)
	}
}

// addDeletion adds a deletion request, as an office does.
func (h *fixture) addDeletion(id string, refs ...string) retake.Deletion {
	h.Helper()
	d := retake.Deletion{ID: id, Workspace: h.ws, State: retake.DeletionWaiting, Asked: h.clock.Now(), Due: h.clock.Now().Add(7 * day)}
	for _, r := range refs {
		d.Checkpoints = append(d.Checkpoints, h.checkpoint(r).ID)
	}
	h.must(h.book.PutDeletion(h.Context(), d))
	h.must(h.ledger.Put(h.Context(), serverdb.Due{Queue: serverdb.QueueDeletion, Namespace: acme, ID: id, At: d.Due}))
	return d
}

func (h *fixture) deletion(id string) retake.Deletion {
	h.Helper()
	d, err := h.book.Deletion(h.Context(), id)
	h.must(err)
	return d
}

// runDeletions executes what is due, including items that wait for their lane.
func (h *fixture) runDeletions(tt *scheduler.Scheduler) {
	h.Helper()
	for range 10 {
		h.runDue(tt, serverdb.QueueDeletion)
		h.clock.Advance(time.Second)
	}
}

// Checkpoints are deleted when the grace period ends and not before, by the maintainer.
func TestDeletion(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.saveCheckpoints(5, time.Minute)
	h.addDeletion("del_1", "2", "3")
	tt := h.newScheduler()
	h.clock.Advance(7*day - time.Second)
	h.must(h.ledger.Put(t.Context(), serverdb.Due{Queue: serverdb.QueueDeletion, Namespace: acme, ID: "del_1", At: h.clock.Now()})) // too early
	h.runDue(tt, serverdb.QueueDeletion)
	if d := h.deletion("del_1"); d.State != retake.DeletionWaiting || len(h.timeline().Checkpoints) != 6 {
		t.Fatalf("before its grace is over: %+v", d)
	}
	_, err := h.svc.Forget(t.Context(), h.ws, []string{"3"}) // deleted by somebody else
	h.must(err)
	h.clock.Advance(time.Second)
	h.runDue(tt, serverdb.QueueDeletion)
	d := h.deletion("del_1")
	if d.State != retake.DeletionDone || d.Done == nil || len(h.timeline().Checkpoints) != 4 || !strings.Contains(d.Note, "1 checkpoints were forgotten, 1") {
		t.Errorf("%+v, %d left", d, len(h.timeline().Checkpoints))
	}
	entries, err := h.book.Audit(t.Context(), retake.AuditQuery{})
	h.must(err)
	var by bool
	for _, e := range entries {
		by = by || e.Actor.Kind == retake.KeyMaintainer && e.Actor.Name == "deletion del_1"
	}
	if !by {
		t.Error("no entry says who deleted")
	}
	h.must(h.ledger.Put(t.Context(), serverdb.Due{Queue: serverdb.QueueDeletion, Namespace: acme, ID: "del_1", At: h.clock.Now()}))
	h.runDue(tt, serverdb.QueueDeletion)
	if again := h.deletion("del_1"); !again.Done.Equal(*d.Done) {
		t.Error("it was done again")
	}
}

// A canceled request is not executed.
func TestCanceledDeletion(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.saveCheckpoints(3, time.Minute)
	d := h.addDeletion("del_1", "2")
	h.clock.Advance(6 * day)
	d.State = retake.DeletionCanceled
	h.must(h.book.PutDeletion(t.Context(), d))
	h.clock.Advance(2 * day)
	h.runDue(h.newScheduler(), serverdb.QueueDeletion)
	if got := h.deletion("del_1"); got.State != retake.DeletionCanceled || len(h.timeline().Checkpoints) != 4 {
		t.Errorf("%+v, %d left", got, len(h.timeline().Checkpoints))
	}
}

// Held and pinned checkpoints and the newest one are kept, and so are all others of the request,
// which says why.
func TestRefusedDeletion(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.saveCheckpoints(5, time.Minute)
	_, err := h.svc.Pin(t.Context(), h.ws, "2", retake.HoldPrefix+"case-7")
	h.must(err)
	_, err = h.svc.Pin(t.Context(), h.ws, "3", "release")
	h.must(err)
	h.addDeletion("del_held", "2", "4")
	h.addDeletion("del_pinned", "3")
	h.addDeletion("del_newest", "6")
	h.addDeletion("del_fine", "5")
	h.clock.Advance(7 * day)
	h.runDeletions(h.newScheduler())
	for id, words := range map[string]string{
		"del_held": "checkpoint 2 is held as case-7", "del_pinned": "checkpoint 3 is pinned as release", "del_newest": "checkpoint 6 is the newest",
	} {
		if d := h.deletion(id); d.State != retake.DeletionRefused || !strings.Contains(d.Note, words) {
			t.Errorf("%+v", d)
		}
	}
	if d := h.deletion("del_fine"); d.State != retake.DeletionDone || len(h.timeline().Checkpoints) != 5 {
		t.Errorf("%+v, %d left", d, len(h.timeline().Checkpoints))
	}
}

// What failed so often that it is parked stays so when a server starts again.
func TestParkedWorkStaysParked(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	tt := h.newScheduler()
	h.must(tt.EnrollNamespace(t.Context(), acme))
	h.clock.Advance(day)
	tomorrow := h.clock.Now().Add(day)
	for _, queue := range []string{serverdb.QueueRetention, serverdb.QueueAnchor} {
		got, err := h.ledger.Claim(t.Context(), queue, h.clock.Now(), time.Minute, 9)
		h.must(err)
		if len(got) != 1 {
			t.Fatalf("%s: %v", queue, got)
		}
		got[0].Tries, got[0].Reason = serverdb.MaxTries, "internal"
		h.must(h.ledger.Postpone(t.Context(), got[0], tomorrow))
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	again := retake.NamespaceID("zz") // its items come last, so that the others are done by then
	h.must(h.ledger.AddNamespace(ctx, retake.Namespace{ID: again, Created: startTime}, []byte("sealed")))
	go func() { ended <- h.newScheduler().Run(ctx) }()
	for n := int64(0); n < 2; {
		var err error
		n, _, err = h.ledger.Depth(t.Context(), serverdb.QueueAnchor)
		h.must(err)
	}
	cancel()
	<-ended
	failing, err := h.ledger.Failing(t.Context())
	h.must(err)
	if len(failing) != 2 {
		t.Fatalf("%+v", failing)
	}
	for _, d := range failing {
		if !d.IsParked() || !d.At.Equal(tomorrow) {
			t.Errorf("%+v is due before %s", d, tomorrow)
		}
	}
}

// Run handles every queue, and enrolls namespaces that are not enrolled.
func TestRun(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	s := h.addSchedule(retake.WorkSave, "0 * * * *")
	h.saveCheckpoints(1, time.Minute)
	h.addDeletion("del_1", "1")
	h.changeFile()
	h.clock.Advance(8 * day)
	ctx, cancel := context.WithCancel(t.Context())
	tt := h.newScheduler()
	ended := make(chan error)
	go func() { ended <- tt.Run(ctx) }()
	for h.schedule(s.ID).Last == nil || h.deletion("del_1").State == retake.DeletionWaiting {
		tt.Wake(serverdb.QueueSchedule)
		tt.Wake(serverdb.QueueDeletion)
		<-time.After(5 * time.Millisecond)
	}
	for _, q := range []string{serverdb.QueueRetention, serverdb.QueueAnchor} {
		for n := int64(0); n == 0; {
			var err error
			n, _, err = h.ledger.Depth(t.Context(), q)
			h.must(err)
		}
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if d := h.deletion("del_1"); d.State != retake.DeletionDone {
		t.Errorf("%+v", d)
	}
}
