package serverdbtest

import (
	"reflect"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

const fullMessage = "msg/e1/wh_1/workspace.forked"

// fill puts a row of every kind into a book.
func fill(t *testing.T, b serverdb.Book) {
	t.Helper()
	ctx := t.Context()
	ok(t, b.AddKey(ctx, newKey("key_1"), digestOf(unique("secret"))))
	ok(t, b.PutHook(ctx, newHook("wh_1")))
	ok(t, b.Publish(ctx, []retake.Event{newEvent("e1", retake.EventForked)}, messageOf))
	ok(t, b.PutSchedule(ctx, newSchedule("sc_1")))
	ok(t, b.PutDeletion(ctx, newDeletion("del_1")))
	last := must[[]retake.AuditEntry](t)(b.Audit(ctx, retake.AuditQuery{Limit: 1}))[0]
	ok(t, b.PutAnchor(ctx, serverdb.Anchor{Seq: last.Seq, Hash: last.Hash}))
	begins(t, b, "held", "one", 0, serverdb.ReplyFresh)
	begins(t, b, "kept", "one", 0, serverdb.ReplyFresh)
	ok(t, b.EndReply(ctx, "kept", serverdb.Reply{Status: 200, Body: []byte("b")}, after(time.Hour)))
}

// everything is all that a book answers.
func everything(t *testing.T, b serverdb.Book) map[string]any {
	t.Helper()
	ctx := t.Context()
	all := map[string]any{
		"keys":       must[[]retake.Key](t)(b.Keys(ctx)),
		"hooks":      must[[]serverdb.Hook](t)(b.Hooks(ctx)),
		"hook":       must[serverdb.Hook](t)(b.Hook(ctx, "wh_1")),
		"events":     must[[]retake.Event](t)(b.Events(ctx, 0, 0)),
		"deliveries": must[[]retake.Delivery](t)(b.Deliveries(ctx, retake.DeliveryQuery{})),
		"delivery":   must[retake.Delivery](t)(b.Delivery(ctx, fullMessage)),
		"schedules":  must[[]retake.Schedule](t)(b.Schedules(ctx)),
		"schedule":   must[retake.Schedule](t)(b.Schedule(ctx, "sc_1")),
		"deletions":  must[[]retake.Deletion](t)(b.Deletions(ctx)),
		"deletion":   must[retake.Deletion](t)(b.Deletion(ctx, "del_1")),
		"audit":      must[[]retake.AuditEntry](t)(b.Audit(ctx, retake.AuditQuery{})),
		"walk":       walked(t, b),
		"anchors":    must[[]serverdb.Anchor](t)(b.Anchors(ctx)),
	}
	begins(t, b, "held", "one", time.Second, serverdb.ReplyHeld)
	all["kept"] = begins(t, b, "kept", "one", time.Second, serverdb.ReplyKnown)
	return all
}

// empty wants a list without rows.
func empty[T any](t *testing.T, what string) func(all []T, err error) {
	return func(all []T, err error) {
		t.Helper()
		ok(t, err)
		same(t, what, all, nil)
	}
}

// strangers are calls on a book that has no rows, while another has one of every kind.
// None may find anything. First those that read, then those that write.
var strangers = []struct {
	method string
	call   func(t *testing.T, b serverdb.Book)
}{
	{"Keys", func(t *testing.T, b serverdb.Book) { empty[retake.Key](t, "keys")(b.Keys(t.Context())) }},
	{"Hooks", func(t *testing.T, b serverdb.Book) { empty[serverdb.Hook](t, "webhooks")(b.Hooks(t.Context())) }},
	{"Hook", func(t *testing.T, b serverdb.Book) {
		_, err := b.Hook(t.Context(), "wh_1")
		isErr(t, err, serverdb.ErrNotFound)
	}},
	{"Events", func(t *testing.T, b serverdb.Book) { empty[retake.Event](t, "events")(b.Events(t.Context(), 0, 0)) }},
	{"NewestEvent", func(t *testing.T, b serverdb.Book) {
		_, err := b.NewestEvent(t.Context())
		isErr(t, err, serverdb.ErrNotFound)
	}},
	{"Delivery", func(t *testing.T, b serverdb.Book) {
		_, err := b.Delivery(t.Context(), fullMessage)
		isErr(t, err, serverdb.ErrNotFound)
	}},
	{"Deliveries", func(t *testing.T, b serverdb.Book) {
		empty[retake.Delivery](t, "deliveries")(b.Deliveries(t.Context(), retake.DeliveryQuery{}))
		empty[retake.Delivery](t, "deliveries")(b.Deliveries(t.Context(), retake.DeliveryQuery{Webhook: "wh_1", State: retake.DeliveryWaiting}))
		_, err := b.Deliveries(t.Context(), retake.DeliveryQuery{Before: fullMessage})
		isErr(t, err, serverdb.ErrNotFound)
	}},
	{"Schedule", func(t *testing.T, b serverdb.Book) {
		_, err := b.Schedule(t.Context(), "sc_1")
		isErr(t, err, serverdb.ErrNotFound)
	}},
	{"Schedules", func(t *testing.T, b serverdb.Book) { empty[retake.Schedule](t, "schedules")(b.Schedules(t.Context())) }},
	{"Deletion", func(t *testing.T, b serverdb.Book) {
		_, err := b.Deletion(t.Context(), "del_1")
		isErr(t, err, serverdb.ErrNotFound)
	}},
	{"Deletions", func(t *testing.T, b serverdb.Book) { empty[retake.Deletion](t, "deletions")(b.Deletions(t.Context())) }},
	{"Audit", func(t *testing.T, b serverdb.Book) {
		empty[retake.AuditEntry](t, "audit")(b.Audit(t.Context(), retake.AuditQuery{}))
	}},
	{"Walk", func(t *testing.T, b serverdb.Book) { same(t, "walk", walked(t, b), []retake.AuditEntry{}) }},
	{"Anchors", func(t *testing.T, b serverdb.Book) { empty[serverdb.Anchor](t, "anchors")(b.Anchors(t.Context())) }},

	{"UsedKey", func(t *testing.T, b serverdb.Book) {
		isErr(t, b.UsedKey(t.Context(), "key_1", late), serverdb.ErrNotFound)
	}},
	{"RevokeKey", func(t *testing.T, b serverdb.Book) {
		_, err := b.RevokeKey(t.Context(), "key_1", start)
		isErr(t, err, serverdb.ErrNotFound)
	}},
	{"DropHook", func(t *testing.T, b serverdb.Book) { isErr(t, b.DropHook(t.Context(), "wh_1"), serverdb.ErrNotFound) }},
	{"DropSchedule", func(t *testing.T, b serverdb.Book) {
		isErr(t, b.DropSchedule(t.Context(), "sc_1"), serverdb.ErrNotFound)
	}},
	{"PutDelivery", func(t *testing.T, b serverdb.Book) {
		isErr(t, b.PutDelivery(t.Context(), retake.Delivery{ID: fullMessage, State: retake.DeliveryDead}), serverdb.ErrNotFound)
	}},
	{"PutAnchor", func(t *testing.T, b serverdb.Book) {
		isErr(t, b.PutAnchor(t.Context(), serverdb.Anchor{Seq: 1}), serverdb.ErrNotFound)
	}},
	{"EndReply", func(t *testing.T, b serverdb.Book) {
		isErr(t, b.EndReply(t.Context(), "held", serverdb.Reply{Status: 500}, late), serverdb.ErrNotFound)
	}},
	{"DropReply", func(t *testing.T, b serverdb.Book) {
		ok(t, b.DropReply(t.Context(), "held"))
		ok(t, b.DropReply(t.Context(), "kept"))
	}},
	{"BeginReply", func(t *testing.T, b serverdb.Book) {
		begins(t, b, "kept", "two", 0, serverdb.ReplyFresh)
		begins(t, b, "later", "two", 2*time.Hour, serverdb.ReplyFresh) // what is old by now is ours alone
	}},
	{"AddKey", func(t *testing.T, b serverdb.Book) {
		ok(t, b.AddKey(t.Context(), newKey("key_1"), digestOf(unique("secret"))))
	}},
	{"Publish", func(t *testing.T, b serverdb.Book) {
		ok(t, b.Publish(t.Context(), []retake.Event{newEvent("e1", retake.EventBackup)}, messageOf)) // the webhook is another's
		empty[retake.Delivery](t, "deliveries")(b.Deliveries(t.Context(), retake.DeliveryQuery{}))
		same(t, "number", must[[]retake.Event](t)(b.Events(t.Context(), 0, 0))[0].Seq, int64(1))
	}},
	{"PutHook", func(t *testing.T, b serverdb.Book) {
		ok(t, b.PutHook(t.Context(), newHook("wh_1", retake.EventBackup)))
	}},
	{"PutSchedule", func(t *testing.T, b serverdb.Book) { ok(t, b.PutSchedule(t.Context(), retake.Schedule{ID: "sc_1"})) }},
	{"PutDeletion", func(t *testing.T, b serverdb.Book) { ok(t, b.PutDeletion(t.Context(), retake.Deletion{ID: "del_1"})) }},
	{"Note", func(t *testing.T, b serverdb.Book) { ok(t, b.Note(t.Context(), "do", "x")) }},
}

// twins are calls that change rows of a book, while another has rows of the same names.
var twins = map[string]func(t *testing.T, b serverdb.Book) error{
	"UsedKey": func(t *testing.T, b serverdb.Book) error { return b.UsedKey(t.Context(), "key_1", late) },
	"RevokeKey": func(t *testing.T, b serverdb.Book) error {
		_, err := b.RevokeKey(t.Context(), "key_1", start)
		return err
	},
	"PutHook": func(t *testing.T, b serverdb.Book) error {
		return b.PutHook(t.Context(), newHook("wh_1", retake.EventBackup))
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

// twinsApart: a change reaches the rows of its own book only.
func twinsApart(t *testing.T, open Opener) {
	l := open(t)
	full := l.Book(retake.NamespaceID(unique("full")))
	fill(t, full)
	before := everything(t, full)
	for method, call := range twins {
		twin := l.Book(retake.NamespaceID(unique("twin")))
		fill(t, twin)
		ok(t, call(t, twin))
		same(t, "the other book after "+method, everything(t, full), before)
	}
}

// booksApart: no method of a book finds or changes rows of another, whatever their names.
func booksApart(t *testing.T, open Opener) {
	l := open(t)
	full, other := l.Book(retake.NamespaceID(unique("full"))), l.Book(retake.NamespaceID(unique("other")))
	fill(t, full)
	before := everything(t, full)
	tried := map[string]bool{}
	for _, s := range strangers {
		tried[s.method] = true
		s.call(t, other)
		same(t, "the other book after "+s.method, everything(t, full), before)
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
