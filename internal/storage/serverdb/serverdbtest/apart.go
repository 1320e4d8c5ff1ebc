package serverdbtest

import (
	"reflect"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

const fullMessage = "msg/e1/wh_1/workspace.forked"

// fillBook puts a row of every kind into a book.
func fillBook(t *testing.T, b serverdb.Book) {
	t.Helper()
	ctx := t.Context()
	wantNoError(t, b.AddKey(ctx, newKey("key_1"), digestOf(uniqueName("secret"))))
	wantNoError(t, b.EndSession(ctx, "session_1", clock.Wall.Now().Add(240*time.Hour)))
	wantNoError(t, b.PutHook(ctx, newHook("wh_1")))
	wantNoError(t, b.Publish(ctx, []retake.Event{newEvent("e1", retake.EventForked)}, messageOf))
	wantNoError(t, b.PutSchedule(ctx, newSchedule("sc_1")))
	wantNoError(t, b.PutDeletion(ctx, newDeletion("del_1")))
	last := mustValue[[]retake.AuditEntry](t)(b.Audit(ctx, retake.AuditQuery{Limit: 1}))[0]
	wantNoError(t, b.PutAnchor(ctx, serverdb.Anchor{Seq: last.Seq, Hash: last.Hash}))
	wantBegin(t, b, "held", "one", 0, serverdb.ReplyFresh)
	wantBegin(t, b, "kept", "one", 0, serverdb.ReplyFresh)
	wantNoError(t, b.EndReply(ctx, "kept", serverdb.Reply{Status: 200, Body: []byte("b")}, afterStart(time.Hour)))
}

// readEverything is all that a book answers.
func readEverything(t *testing.T, b serverdb.Book) map[string]any {
	t.Helper()
	ctx := t.Context()
	all := map[string]any{
		"keys":       mustValue[[]retake.Key](t)(b.Keys(ctx)),
		"hooks":      mustValue[[]serverdb.Hook](t)(b.Hooks(ctx)),
		"hook":       mustValue[serverdb.Hook](t)(b.Hook(ctx, "wh_1")),
		"events":     mustValue[[]retake.Event](t)(b.Events(ctx, 0, 0)),
		"deliveries": mustValue[[]retake.Delivery](t)(b.Deliveries(ctx, retake.DeliveryQuery{})),
		"delivery":   mustValue[retake.Delivery](t)(b.Delivery(ctx, fullMessage)),
		"schedules":  mustValue[[]retake.Schedule](t)(b.Schedules(ctx)),
		"schedule":   mustValue[retake.Schedule](t)(b.Schedule(ctx, "sc_1")),
		"deletions":  mustValue[[]retake.Deletion](t)(b.Deletions(ctx)),
		"deletion":   mustValue[retake.Deletion](t)(b.Deletion(ctx, "del_1")),
		"audit":      mustValue[[]retake.AuditEntry](t)(b.Audit(ctx, retake.AuditQuery{})),
		"walk":       walkAudit(t, b),
		"anchors":    mustValue[[]serverdb.Anchor](t)(b.Anchors(ctx)),
		"session":    mustValue[bool](t)(b.HasSessionEnded(ctx, "session_1")),
		"session 2":  mustValue[bool](t)(b.HasSessionEnded(ctx, "session_2")),
	}
	wantBegin(t, b, "held", "one", time.Second, serverdb.ReplyHeld)
	all["kept"] = wantBegin(t, b, "kept", "one", time.Second, serverdb.ReplyKnown)
	return all
}

// wantEmpty wants a list without rows.
func wantEmpty[T any](t *testing.T, what string) func(all []T, err error) {
	return func(all []T, err error) {
		t.Helper()
		wantNoError(t, err)
		wantEqual(t, what, all, nil)
	}
}

// foreignCalls are calls on a book that has no rows, while another has one of every kind. None
// may find anything. First those that read, then those that write.
var foreignCalls = []struct {
	method string
	call   func(t *testing.T, b serverdb.Book)
}{
	{"Keys", func(t *testing.T, b serverdb.Book) { wantEmpty[retake.Key](t, "keys")(b.Keys(t.Context())) }},
	{"Hooks", func(t *testing.T, b serverdb.Book) { wantEmpty[serverdb.Hook](t, "webhooks")(b.Hooks(t.Context())) }},
	{"Hook", func(t *testing.T, b serverdb.Book) {
		_, err := b.Hook(t.Context(), "wh_1")
		wantError(t, err, serverdb.ErrNotFound)
	}},
	{"Events", func(t *testing.T, b serverdb.Book) { wantEmpty[retake.Event](t, "events")(b.Events(t.Context(), 0, 0)) }},
	{"NewestEvent", func(t *testing.T, b serverdb.Book) {
		_, err := b.NewestEvent(t.Context())
		wantError(t, err, serverdb.ErrNotFound)
	}},
	{"Delivery", func(t *testing.T, b serverdb.Book) {
		_, err := b.Delivery(t.Context(), fullMessage)
		wantError(t, err, serverdb.ErrNotFound)
	}},
	{"Deliveries", func(t *testing.T, b serverdb.Book) {
		wantEmpty[retake.Delivery](t, "deliveries")(b.Deliveries(t.Context(), retake.DeliveryQuery{}))
		wantEmpty[retake.Delivery](t, "deliveries")(b.Deliveries(t.Context(), retake.DeliveryQuery{Webhook: "wh_1", State: retake.DeliveryWaiting}))
		_, err := b.Deliveries(t.Context(), retake.DeliveryQuery{Before: fullMessage})
		wantError(t, err, serverdb.ErrNotFound)
	}},
	{"Schedule", func(t *testing.T, b serverdb.Book) {
		_, err := b.Schedule(t.Context(), "sc_1")
		wantError(t, err, serverdb.ErrNotFound)
	}},
	{"Schedules", func(t *testing.T, b serverdb.Book) {
		wantEmpty[retake.Schedule](t, "schedules")(b.Schedules(t.Context()))
	}},
	{"Deletion", func(t *testing.T, b serverdb.Book) {
		_, err := b.Deletion(t.Context(), "del_1")
		wantError(t, err, serverdb.ErrNotFound)
	}},
	{"Deletions", func(t *testing.T, b serverdb.Book) {
		wantEmpty[retake.Deletion](t, "deletions")(b.Deletions(t.Context()))
	}},
	{"Audit", func(t *testing.T, b serverdb.Book) {
		wantEmpty[retake.AuditEntry](t, "audit")(b.Audit(t.Context(), retake.AuditQuery{}))
	}},
	{"Walk", func(t *testing.T, b serverdb.Book) { wantEqual(t, "walk", walkAudit(t, b), []retake.AuditEntry{}) }},
	{"Anchors", func(t *testing.T, b serverdb.Book) { wantEmpty[serverdb.Anchor](t, "anchors")(b.Anchors(t.Context())) }},

	{"HasSessionEnded", func(t *testing.T, b serverdb.Book) {
		ended, err := b.HasSessionEnded(t.Context(), "session_1")
		wantNoError(t, err)
		wantEqual(t, "ended", ended, false)
	}},
	{"EndSession", func(t *testing.T, b serverdb.Book) {
		wantNoError(t, b.EndSession(t.Context(), "session_2", clock.Wall.Now().Add(240*time.Hour)))
	}},
	{"UsedKey", func(t *testing.T, b serverdb.Book) {
		wantError(t, b.UsedKey(t.Context(), "key_1", late), serverdb.ErrNotFound)
	}},
	{"RevokeKey", func(t *testing.T, b serverdb.Book) {
		_, err := b.RevokeKey(t.Context(), "key_1", start)
		wantError(t, err, serverdb.ErrNotFound)
	}},
	{"DropHook", func(t *testing.T, b serverdb.Book) {
		wantError(t, b.DropHook(t.Context(), "wh_1"), serverdb.ErrNotFound)
	}},
	{"DropSchedule", func(t *testing.T, b serverdb.Book) {
		wantError(t, b.DropSchedule(t.Context(), "sc_1"), serverdb.ErrNotFound)
	}},
	{"PutDelivery", func(t *testing.T, b serverdb.Book) {
		wantError(t, b.PutDelivery(t.Context(), retake.Delivery{ID: fullMessage, State: retake.DeliveryDead}), serverdb.ErrNotFound)
	}},
	{"PutAnchor", func(t *testing.T, b serverdb.Book) {
		wantError(t, b.PutAnchor(t.Context(), serverdb.Anchor{Seq: 1}), serverdb.ErrNotFound)
	}},
	{"EndReply", func(t *testing.T, b serverdb.Book) {
		wantError(t, b.EndReply(t.Context(), "held", serverdb.Reply{Status: 500}, late), serverdb.ErrNotFound)
	}},
	{"DropReply", func(t *testing.T, b serverdb.Book) {
		wantNoError(t, b.DropReply(t.Context(), "held"))
		wantNoError(t, b.DropReply(t.Context(), "kept"))
	}},
	{"OtherReplies", func(t *testing.T, b serverdb.Book) {
		wantEmpty[serverdb.SealedReply](t, "replies")(b.OtherReplies(t.Context(), []byte("head"), "", start, 0))
	}},
	{"PutReplyBody", func(t *testing.T, b serverdb.Book) {
		wantError(t, b.PutReplyBody(t.Context(), "kept", []byte("b"), []byte("other")), serverdb.ErrChanged)
	}},
	{"ChangeHook", func(t *testing.T, b serverdb.Book) {
		_, err := b.ChangeHook(t.Context(), "wh_1", func(*serverdb.Hook) error { return nil })
		wantError(t, err, serverdb.ErrNotFound)
	}},
	{"BeginReply", func(t *testing.T, b serverdb.Book) {
		wantBegin(t, b, "kept", "two", 0, serverdb.ReplyFresh)
		wantBegin(t, b, "later", "two", 2*time.Hour, serverdb.ReplyFresh) // what is old by now is ours alone
	}},
	{"AddKey", func(t *testing.T, b serverdb.Book) {
		wantNoError(t, b.AddKey(t.Context(), newKey("key_1"), digestOf(uniqueName("secret"))))
	}},
	{"Publish", func(t *testing.T, b serverdb.Book) {
		wantNoError(t, b.Publish(t.Context(), []retake.Event{newEvent("e1", retake.EventBackup)}, messageOf)) // the webhook is another's
		wantEmpty[retake.Delivery](t, "deliveries")(b.Deliveries(t.Context(), retake.DeliveryQuery{}))
		wantEqual(t, "number", mustValue[[]retake.Event](t)(b.Events(t.Context(), 0, 0))[0].Seq, int64(1))
	}},
	{"PutHook", func(t *testing.T, b serverdb.Book) {
		wantNoError(t, b.PutHook(t.Context(), newHook("wh_1", retake.EventBackup)))
	}},
	{"PutSchedule", func(t *testing.T, b serverdb.Book) {
		wantNoError(t, b.PutSchedule(t.Context(), retake.Schedule{ID: "sc_1"}))
	}},
	{"PutDeletion", func(t *testing.T, b serverdb.Book) {
		wantNoError(t, b.PutDeletion(t.Context(), retake.Deletion{ID: "del_1"}))
	}},
	{"Note", func(t *testing.T, b serverdb.Book) { wantNoError(t, b.Note(t.Context(), "do", "x")) }},
}

// twinCalls are calls that change rows of a book, while another has rows of the same names.
var twinCalls = map[string]func(t *testing.T, b serverdb.Book) error{
	"UsedKey": func(t *testing.T, b serverdb.Book) error { return b.UsedKey(t.Context(), "key_1", late) },
	"EndSession": func(t *testing.T, b serverdb.Book) error {
		return b.EndSession(t.Context(), "session_2", clock.Wall.Now().Add(240*time.Hour))
	},
	"RevokeKey": func(t *testing.T, b serverdb.Book) error {
		_, err := b.RevokeKey(t.Context(), "key_1", start)
		return err
	},
	"PutHook": func(t *testing.T, b serverdb.Book) error {
		return b.PutHook(t.Context(), newHook("wh_1", retake.EventBackup))
	},
	"ChangeHook": func(t *testing.T, b serverdb.Book) error {
		_, err := b.ChangeHook(t.Context(), "wh_1", func(h *serverdb.Hook) error {
			h.Secret = []byte("sealed again")
			return nil
		})
		return err
	},
	"PutReplyBody": func(t *testing.T, b serverdb.Book) error {
		return b.PutReplyBody(t.Context(), "kept", []byte("b"), []byte("sealed again"))
	},
	"DropHook": func(t *testing.T, b serverdb.Book) error { return b.DropHook(t.Context(), "wh_1") },
	"PutDelivery": func(t *testing.T, b serverdb.Book) error {
		return b.PutDelivery(t.Context(), retake.Delivery{ID: fullMessage, State: retake.DeliveryDead})
	},
	"PutSchedule": func(t *testing.T, b serverdb.Book) error {
		return b.PutSchedule(t.Context(), retake.Schedule{ID: "sc_1"})
	},
	"DropSchedule": func(t *testing.T, b serverdb.Book) error { return b.DropSchedule(t.Context(), "sc_1") },
	"PutDeletion": func(t *testing.T, b serverdb.Book) error {
		return b.PutDeletion(t.Context(), retake.Deletion{ID: "del_1"})
	},
	"EndReply": func(t *testing.T, b serverdb.Book) error {
		return b.EndReply(t.Context(), "held", serverdb.Reply{Status: 500}, late)
	},
	"DropReply": func(t *testing.T, b serverdb.Book) error { return b.DropReply(t.Context(), "held") },
	"BeginReply": func(t *testing.T, b serverdb.Book) error {
		_, _, err := b.BeginReply(t.Context(), "kept", digestOf("two"), late, time.Hour)
		return err
	},
	"Publish": func(t *testing.T, b serverdb.Book) error {
		return b.Publish(t.Context(), []retake.Event{newEvent("e2", retake.EventForked)}, messageOf)
	},
	"Note": func(t *testing.T, b serverdb.Book) error { return b.Note(t.Context(), "do", "x") },
}

// testTwinsApart: a change reaches the rows of its own book only.
func testTwinsApart(t *testing.T, open Opener) {
	l := open(t)
	full := l.Book(retake.NamespaceID(uniqueName("full")))
	fillBook(t, full)
	before := readEverything(t, full)
	for method, call := range twinCalls {
		twin := l.Book(retake.NamespaceID(uniqueName("twin")))
		fillBook(t, twin)
		wantNoError(t, call(t, twin))
		wantEqual(t, "the other book after "+method, readEverything(t, full), before)
	}
}

// testBooksApart: no method of a book finds or changes rows of another, whatever their names.
func testBooksApart(t *testing.T, open Opener) {
	l := open(t)
	full, other := l.Book(retake.NamespaceID(uniqueName("full"))), l.Book(retake.NamespaceID(uniqueName("other")))
	fillBook(t, full)
	before := readEverything(t, full)
	tried := map[string]bool{}
	for _, s := range foreignCalls {
		tried[s.method] = true
		s.call(t, other)
		wantEqual(t, "the other book after "+s.method, readEverything(t, full), before)
	}
	book := reflect.TypeFor[serverdb.Book]()
	for i := range book.NumMethod() {
		if name := book.Method(i).Name; !tried[name] {
			t.Errorf("nobody tried %s on a book that is not its own", name)
		}
	}
	for what, rows := range before {
		if v := reflect.ValueOf(rows); v.Kind() == reflect.Slice && v.Len() == 0 {
			t.Errorf("the full book has no %s", what)
		}
	}
}
