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

// Once a day what is too old goes, and is told; a schedule does the same.
func TestRetention(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.saves(60, day/2)
	before := len(h.line().Checkpoints)
	tt := h.table()
	h.must(tt.Enroll(t.Context(), acme))
	h.clock.Move(day)
	h.once(tt, serverdb.QueueRetention)
	went := before - len(h.line().Checkpoints)
	told := h.told(retake.EventRetention)
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
	h.clock.Move(day - time.Second)
	h.once(tt, serverdb.QueueRetention)
	if n := len(h.told(retake.EventRetention)); n != 1 {
		t.Errorf("%d in one day", n)
	}
	h.clock.Move(time.Hour + time.Second)
	h.once(tt, serverdb.QueueRetention)
	if n := len(h.told(retake.EventRetention)); n != 2 {
		t.Errorf("%d in two days", n)
	}
	s := h.plan(retake.WorkRetain, "0 * * * *")
	h.clock.Move(time.Hour)
	h.once(tt, serverdb.QueueSchedule)
	if got := h.schedule(s.ID); got.Last == nil || got.Last.Err != "" || !strings.Contains(got.Last.What, "checkpoints went") || len(h.told(retake.EventRetention)) != 3 {
		t.Errorf("%+v", got)
	}
}

// Who ended has no more turns.
func TestRetentionOfWhoEnded(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	tt := h.table()
	h.must(tt.Enroll(t.Context(), acme))
	ended := h.clock.Now()
	h.must(h.ledger.PutNamespace(t.Context(), retake.Namespace{ID: acme, Ended: &ended}))
	h.clock.Move(day)
	h.once(tt, serverdb.QueueRetention)
	if n, _, err := h.ledger.Depth(t.Context(), serverdb.QueueRetention); n != 0 || err != nil || len(h.told(retake.EventRetention)) != 0 {
		t.Errorf("%d %v", n, err)
	}
}

// ask adds a request to delete as an office does.
func (h *house) ask(id string, refs ...string) retake.Deletion {
	h.Helper()
	d := retake.Deletion{ID: id, Workspace: h.ws, State: retake.DeletionWaiting, Asked: h.clock.Now(), Due: h.clock.Now().Add(7 * day)}
	for _, r := range refs {
		d.Checkpoints = append(d.Checkpoints, h.checkpoint(r).ID)
	}
	h.must(h.book.PutDeletion(h.Context(), d))
	h.must(h.ledger.Put(h.Context(), serverdb.Due{Queue: serverdb.QueueDeletion, Namespace: acme, ID: id, At: d.Due}))
	return d
}

func (h *house) deletion(id string) retake.Deletion {
	h.Helper()
	d, err := h.book.Deletion(h.Context(), id)
	h.must(err)
	return d
}

// deletions does what is due, also what waits for its lane.
func (h *house) deletions(tt *scheduler.Timetable) {
	h.Helper()
	for range 10 {
		h.once(tt, serverdb.QueueDeletion)
		h.clock.Move(time.Second)
	}
}

// What was asked for is deleted when its grace is over and not before, by the maintainer.
func TestDeletion(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.saves(5, time.Minute)
	h.ask("del_1", "2", "3")
	tt := h.table()
	h.clock.Move(7*day - time.Second)
	h.must(h.ledger.Put(t.Context(), serverdb.Due{Queue: serverdb.QueueDeletion, Namespace: acme, ID: "del_1", At: h.clock.Now()})) // too early
	h.once(tt, serverdb.QueueDeletion)
	if d := h.deletion("del_1"); d.State != retake.DeletionWaiting || len(h.line().Checkpoints) != 6 {
		t.Fatalf("before its grace is over: %+v", d)
	}
	_, err := h.svc.Forget(t.Context(), h.ws, []string{"3"}) // somebody was earlier
	h.must(err)
	h.clock.Move(time.Second)
	h.once(tt, serverdb.QueueDeletion)
	d := h.deletion("del_1")
	if d.State != retake.DeletionDone || d.Done == nil || len(h.line().Checkpoints) != 4 || !strings.Contains(d.Note, "1 checkpoints were forgotten, 1") {
		t.Errorf("%+v, %d left", d, len(h.line().Checkpoints))
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
	h.once(tt, serverdb.QueueDeletion)
	if again := h.deletion("del_1"); !again.Done.Equal(*d.Done) {
		t.Error("it was done again")
	}
}

// What was taken back is not done.
func TestCanceledDeletion(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.saves(3, time.Minute)
	d := h.ask("del_1", "2")
	h.clock.Move(6 * day)
	d.State = retake.DeletionCanceled
	h.must(h.book.PutDeletion(t.Context(), d))
	h.clock.Move(2 * day)
	h.once(h.table(), serverdb.QueueDeletion)
	if got := h.deletion("del_1"); got.State != retake.DeletionCanceled || len(h.line().Checkpoints) != 4 {
		t.Errorf("%+v, %d left", got, len(h.line().Checkpoints))
	}
}

// What is held, pinned or the newest stays, with all that was asked for beside it, and the
// request says why.
func TestRefusedDeletion(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.saves(5, time.Minute)
	_, err := h.svc.Pin(t.Context(), h.ws, "2", retake.HoldPrefix+"case-7")
	h.must(err)
	_, err = h.svc.Pin(t.Context(), h.ws, "3", "release")
	h.must(err)
	h.ask("del_held", "2", "4")
	h.ask("del_pinned", "3")
	h.ask("del_newest", "6")
	h.ask("del_fine", "5")
	h.clock.Move(7 * day)
	h.deletions(h.table())
	for id, words := range map[string]string{
		"del_held": "checkpoint 2 is held as case-7", "del_pinned": "checkpoint 3 is pinned as release", "del_newest": "checkpoint 6 is the newest",
	} {
		if d := h.deletion(id); d.State != retake.DeletionRefused || !strings.Contains(d.Note, words) {
			t.Errorf("%+v", d)
		}
	}
	if d := h.deletion("del_fine"); d.State != retake.DeletionDone || len(h.line().Checkpoints) != 5 {
		t.Errorf("%+v, %d left", d, len(h.line().Checkpoints))
	}
}

// Who runs looks after every queue, and gives namespaces their turns that have none.
func TestRun(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	s := h.plan(retake.WorkSave, "0 * * * *")
	h.saves(1, time.Minute)
	h.ask("del_1", "1")
	h.write()
	h.clock.Move(8 * day)
	ctx, cancel := context.WithCancel(t.Context())
	tt := h.table()
	ended := make(chan error)
	go func() { ended <- tt.Run(ctx) }()
	for h.schedule(s.ID).Last == nil || h.deletion("del_1").State == retake.DeletionWaiting {
		tt.Stir(serverdb.QueueSchedule)
		tt.Stir(serverdb.QueueDeletion)
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
