package serverdbtest

import (
	"context"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

func withCancel(t *testing.T) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	return ctx, cancel
}

func webhooks(t *testing.T, open Opener) {
	b := newBook(t, open)
	ctx := t.Context()
	_, err := b.Hook(ctx, "wh_1")
	isErr(t, err, serverdb.ErrNotFound)
	isErr(t, b.DropHook(ctx, "wh_1"), serverdb.ErrNotFound)

	one, two := newHook("wh_1", retake.EventCreated), newHook("wh_2")
	two.Created = after(-time.Hour)
	ok(t, b.PutHook(ctx, one))
	ok(t, b.PutHook(ctx, two))
	same(t, "webhook", must[serverdb.Hook](t)(b.Hook(ctx, "wh_1")), one)
	end := after(time.Minute)
	one.Disabled, one.Why, one.Secret, one.Old = &end, "gone", []byte("new"), nil
	ok(t, b.PutHook(ctx, one))
	ok(t, b.PutHook(ctx, one)) // it is so already
	same(t, "webhooks", must[[]serverdb.Hook](t)(b.Hooks(ctx)), []serverdb.Hook{two, one})
	ok(t, b.DropHook(ctx, "wh_2"))
	same(t, "what is left", must[[]serverdb.Hook](t)(b.Hooks(ctx)), []serverdb.Hook{one})
	same(t, "entries", verbs(t, b), []string{"add webhook wh_1", "add webhook wh_2", "change webhook wh_1", "drop webhook wh_2"})
}

func schedules(t *testing.T, open Opener) {
	b := newBook(t, open)
	ctx := t.Context()
	_, err := b.Schedule(ctx, "sc_1")
	isErr(t, err, serverdb.ErrNotFound)
	isErr(t, b.DropSchedule(ctx, "sc_1"), serverdb.ErrNotFound)

	s, other := newSchedule("sc_1"), newSchedule("sc_2")
	other.Created = after(-time.Hour)
	ok(t, b.PutSchedule(ctx, s))
	ok(t, b.PutSchedule(ctx, other))
	// That it ran is no act.
	s.Next, s.Missed, s.Last = after(2*time.Hour), 3, &retake.Run{At: after(time.Hour), Took: time.Second, What: "saved", Err: "no"}
	ok(t, b.PutSchedule(ctx, s))
	same(t, "after a run", must[retake.Schedule](t)(b.Schedule(ctx, "sc_1")), s)
	s.Cron = "5 4 * * *"
	ok(t, b.PutSchedule(ctx, s))
	same(t, "schedules", must[[]retake.Schedule](t)(b.Schedules(ctx)), []retake.Schedule{other, s})
	ok(t, b.DropSchedule(ctx, "sc_2"))
	same(t, "what is left", must[[]retake.Schedule](t)(b.Schedules(ctx)), []retake.Schedule{s})
	same(t, "entries", verbs(t, b), []string{"add schedule sc_1", "add schedule sc_2", "change schedule sc_1", "drop schedule sc_2"})
}

func deletions(t *testing.T, open Opener) {
	b := newBook(t, open)
	ctx := t.Context()
	_, err := b.Deletion(ctx, "del_1")
	isErr(t, err, serverdb.ErrNotFound)
	one, two := newDeletion("del_1"), newDeletion("del_2")
	two.Asked = after(-time.Hour)
	ok(t, b.PutDeletion(ctx, one))
	ok(t, b.PutDeletion(ctx, two))
	end := after(time.Hour)
	one.State, one.Done, one.Note = retake.DeletionDone, &end, "2 of 2"
	ok(t, b.PutDeletion(ctx, one))
	two.State = retake.DeletionCanceled
	ok(t, b.PutDeletion(ctx, two))
	three := newDeletion("del_3")
	three.State = retake.DeletionRefused
	ok(t, b.PutDeletion(ctx, three))
	same(t, "deletion", must[retake.Deletion](t)(b.Deletion(ctx, "del_1")), one)
	same(t, "deletions", must[[]retake.Deletion](t)(b.Deletions(ctx)), []retake.Deletion{two, one, three})
	same(t, "entries", verbs(t, b), []string{
		"ask for deletion del_1", "ask for deletion del_2", "finish deletion del_1", "cancel deletion del_2", "refuse deletion del_3",
	})
}

// oddIDs: what people may write into an address is not there, and no trouble.
func oddIDs(t *testing.T, open Opener) {
	b := newBook(t, open)
	ctx := t.Context()
	for _, id := range []string{"", "a\x00b", "\xff\xfe", "' OR 1=1 --", "%"} {
		_, err := b.Hook(ctx, retake.WebhookID(id))
		isErr(t, err, serverdb.ErrNotFound)
		_, err = b.Schedule(ctx, id)
		isErr(t, err, serverdb.ErrNotFound)
		_, err = b.Deletion(ctx, id)
		isErr(t, err, serverdb.ErrNotFound)
		_, err = b.Delivery(ctx, id)
		isErr(t, err, serverdb.ErrNotFound)
		_, err = b.RevokeKey(ctx, retake.KeyID(id), start)
		isErr(t, err, serverdb.ErrNotFound)
		isErr(t, b.DropHook(ctx, retake.WebhookID(id)), serverdb.ErrNotFound)
		isErr(t, b.DropSchedule(ctx, id), serverdb.ErrNotFound)
		_, err = b.Deliveries(ctx, retake.DeliveryQuery{Webhook: retake.WebhookID(id), State: retake.DeliveryState(id)})
		ok(t, err)
		if id != "" {
			_, err = b.Deliveries(ctx, retake.DeliveryQuery{Before: id})
			isErr(t, err, serverdb.ErrNotFound)
		}
	}
	same(t, "entries", verbs(t, b), nil)
}
