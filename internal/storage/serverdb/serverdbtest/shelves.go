package serverdbtest

import (
	"context"
	"errors"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

func withCancel(t *testing.T) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	return ctx, cancel
}

func testWebhooks(t *testing.T, open Opener) {
	b := newBook(t, open)
	ctx := t.Context()
	_, err := b.Hook(ctx, "wh_1")
	wantError(t, err, serverdb.ErrNotFound)
	wantError(t, b.DropHook(ctx, "wh_1"), serverdb.ErrNotFound)

	one, two := newHook("wh_1", retake.EventCreated), newHook("wh_2")
	two.Created = afterStart(-time.Hour)
	wantNoError(t, b.PutHook(ctx, one))
	wantNoError(t, b.PutHook(ctx, two))
	wantEqual(t, "webhook", mustValue[serverdb.Hook](t)(b.Hook(ctx, "wh_1")), one)
	end := afterStart(time.Minute)
	one.Disabled, one.Why, one.Secret, one.Old = &end, "gone", []byte("new"), nil
	wantNoError(t, b.PutHook(ctx, one))
	wantNoError(t, b.PutHook(ctx, one)) // it is so already
	wantEqual(t, "webhooks", mustValue[[]serverdb.Hook](t)(b.Hooks(ctx)), []serverdb.Hook{two, one})
	refuse := errors.New("refused")
	_, err = b.ChangeHook(ctx, "wh_1", func(h *serverdb.Hook) error { h.URL = "https://no"; return refuse })
	wantError(t, err, refuse)
	_, err = b.ChangeHook(ctx, "wh_0", func(*serverdb.Hook) error { return nil })
	wantError(t, err, serverdb.ErrNotFound)
	one.Why = "asked for"
	wantEqual(t, "changed webhook", mustValue[serverdb.Hook](t)(b.ChangeHook(ctx, "wh_1", func(h *serverdb.Hook) error { h.Why = one.Why; return nil })), one)
	wantNoError(t, b.DropHook(ctx, "wh_2"))
	wantEqual(t, "what is left", mustValue[[]serverdb.Hook](t)(b.Hooks(ctx)), []serverdb.Hook{one})
	wantEqual(t, "entries", auditVerbs(t, b), []string{"add webhook wh_1", "add webhook wh_2", "change webhook wh_1", "change webhook wh_1", "drop webhook wh_2"})
}

func testChangeHook(t *testing.T, open Opener) {
	b := newBook(t, open)
	ctx := t.Context()
	_, err := b.ChangeHook(ctx, "wh_1", func(*serverdb.Hook) error { return nil })
	wantError(t, err, serverdb.ErrNotFound)
	h := newHook("wh_1")
	wantNoError(t, b.PutHook(ctx, h))
	refused := errors.New("refused")
	_, err = b.ChangeHook(ctx, "wh_1", func(h *serverdb.Hook) error {
		h.URL = "https://example.com/other"
		return refused
	})
	wantError(t, err, refused)
	same := mustValue[serverdb.Hook](t)(b.ChangeHook(ctx, "wh_1", func(*serverdb.Hook) error { return nil }))
	wantEqual(t, "unchanged", same, h)
	h.Secret, h.Old = []byte("sealed again"), nil
	changed := mustValue[serverdb.Hook](t)(b.ChangeHook(ctx, "wh_1", func(now *serverdb.Hook) error {
		now.Secret, now.Old, now.ID = h.Secret, nil, "wh_2"
		return nil
	}))
	wantEqual(t, "changed", changed, h)
	wantEqual(t, "webhooks", mustValue[[]serverdb.Hook](t)(b.Hooks(ctx)), []serverdb.Hook{h})
	wantEqual(t, "entries", auditVerbs(t, b), []string{"add webhook wh_1", "change webhook wh_1"})
}

// testRaceOfHookChanges: a change sees the one before it.
func testRaceOfHookChanges(t *testing.T, open Opener) {
	ns := retake.NamespaceID(uniqueName("ns"))
	books := []serverdb.Book{open(t).Book(ns), open(t).Book(ns)}
	h := newHook("wh_1")
	h.Secret = nil
	wantNoError(t, books[0].PutHook(t.Context(), h))
	const workers, each = 4, 10
	var g errgroup.Group
	for w := range workers {
		g.Go(func() error {
			for range each {
				if _, err := books[w%2].ChangeHook(t.Context(), "wh_1", func(h *serverdb.Hook) error {
					h.Secret = append(h.Secret, 'x')
					return nil
				}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	wantNoError(t, g.Wait())
	wantEqual(t, "changes", len(mustValue[serverdb.Hook](t)(books[0].Hook(t.Context(), "wh_1")).Secret), workers*each)
}

func testSchedules(t *testing.T, open Opener) {
	b := newBook(t, open)
	ctx := t.Context()
	_, err := b.Schedule(ctx, "sc_1")
	wantError(t, err, serverdb.ErrNotFound)
	wantError(t, b.DropSchedule(ctx, "sc_1"), serverdb.ErrNotFound)

	s, other := newSchedule("sc_1"), newSchedule("sc_2")
	other.Created = afterStart(-time.Hour)
	wantNoError(t, b.PutSchedule(ctx, s))
	wantNoError(t, b.PutSchedule(ctx, other))
	// That it ran is not an act.
	s.Next, s.Missed, s.Last = afterStart(2*time.Hour), 3, &retake.Run{At: afterStart(time.Hour), Took: time.Second, What: "saved", Err: "no"}
	wantNoError(t, b.PutSchedule(ctx, s))
	wantEqual(t, "after a run", mustValue[retake.Schedule](t)(b.Schedule(ctx, "sc_1")), s)
	s.Cron = "5 4 * * *"
	wantNoError(t, b.PutSchedule(ctx, s))
	wantEqual(t, "schedules", mustValue[[]retake.Schedule](t)(b.Schedules(ctx)), []retake.Schedule{other, s})
	wantNoError(t, b.DropSchedule(ctx, "sc_2"))
	wantEqual(t, "what is left", mustValue[[]retake.Schedule](t)(b.Schedules(ctx)), []retake.Schedule{s})
	wantEqual(t, "entries", auditVerbs(t, b), []string{"add schedule sc_1", "add schedule sc_2", "change schedule sc_1", "drop schedule sc_2"})
}

func testDeletions(t *testing.T, open Opener) {
	b := newBook(t, open)
	ctx := t.Context()
	_, err := b.Deletion(ctx, "del_1")
	wantError(t, err, serverdb.ErrNotFound)
	one, two := newDeletion("del_1"), newDeletion("del_2")
	two.Asked = afterStart(-time.Hour)
	wantNoError(t, b.PutDeletion(ctx, one))
	wantNoError(t, b.PutDeletion(ctx, two))
	end := afterStart(time.Hour)
	one.State, one.Done, one.Note = retake.DeletionDone, &end, "2 of 2"
	wantNoError(t, b.PutDeletion(ctx, one))
	two.State = retake.DeletionCanceled
	wantNoError(t, b.PutDeletion(ctx, two))
	three := newDeletion("del_3")
	three.State = retake.DeletionRefused
	wantNoError(t, b.PutDeletion(ctx, three))
	wantEqual(t, "deletion", mustValue[retake.Deletion](t)(b.Deletion(ctx, "del_1")), one)
	wantEqual(t, "deletions", mustValue[[]retake.Deletion](t)(b.Deletions(ctx)), []retake.Deletion{two, one, three})
	wantEqual(t, "entries", auditVerbs(t, b), []string{
		"ask for deletion del_1", "ask for deletion del_2", "finish deletion del_1", "cancel deletion del_2", "refuse deletion del_3",
	})
}

// testOddIDs: what people may write into an address is not there, and no trouble.
func testOddIDs(t *testing.T, open Opener) {
	b := newBook(t, open)
	ctx := t.Context()
	for _, id := range []string{"", "a\x00b", "\xff\xfe", "' OR 1=1 --", "%"} {
		_, err := b.Hook(ctx, retake.WebhookID(id))
		wantError(t, err, serverdb.ErrNotFound)
		_, err = b.Schedule(ctx, id)
		wantError(t, err, serverdb.ErrNotFound)
		_, err = b.Deletion(ctx, id)
		wantError(t, err, serverdb.ErrNotFound)
		_, err = b.Delivery(ctx, id)
		wantError(t, err, serverdb.ErrNotFound)
		_, err = b.RevokeKey(ctx, retake.KeyID(id), start)
		wantError(t, err, serverdb.ErrNotFound)
		wantError(t, b.DropHook(ctx, retake.WebhookID(id)), serverdb.ErrNotFound)
		wantError(t, b.DropSchedule(ctx, id), serverdb.ErrNotFound)
		_, err = b.Deliveries(ctx, retake.DeliveryQuery{Webhook: retake.WebhookID(id), State: retake.DeliveryState(id)})
		wantNoError(t, err)
		if id != "" {
			_, err = b.Deliveries(ctx, retake.DeliveryQuery{Before: id})
			wantError(t, err, serverdb.ErrNotFound)
		}
	}
	wantEqual(t, "entries", auditVerbs(t, b), nil)
}
