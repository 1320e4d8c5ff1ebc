package serverdbtest

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// waiting lists the ids of messages, oldest first.
func waiting(t *testing.T, l serverdb.Ledger, ns retake.NamespaceID) []string {
	t.Helper()
	var ids []string
	for _, d := range must[[]retake.Delivery](t)(l.Book(ns).Deliveries(t.Context(), retake.DeliveryQuery{})) {
		ids = append(ids, d.ID)
	}
	slices.Reverse(ids)
	return ids
}

// claiming lets one test at a time claim messages: the queue has one name for all.
var claiming sync.Mutex

// dueOf claims messages, and answers which of a namespace are there and how often. All
// come back at once.
func dueOf(t *testing.T, l serverdb.Ledger, ns retake.NamespaceID, f ...func(serverdb.Due)) map[string]int {
	t.Helper()
	claiming.Lock()
	defer claiming.Unlock()
	got := map[string]int{}
	for _, d := range must[[]serverdb.Due](t)(l.Claim(t.Context(), serverdb.QueueDelivery, late, 0, 100000)) {
		if d.Namespace != ns {
			continue
		}
		got[d.ID]++
		for _, f := range f {
			f(d)
		}
	}
	return got
}

func publish(t *testing.T, open Opener) {
	l := open(t)
	ns := retake.NamespaceID(unique("ns"))
	b, ctx := l.Book(ns), t.Context()
	off := after(0)
	disabled := newHook("off")
	disabled.Disabled = &off
	for _, h := range []serverdb.Hook{
		newHook("all"), newHook("both", retake.EventCreated, retake.EventSnapshotCreated), newHook("none", retake.EventBackup), disabled,
	} {
		ok(t, b.PutHook(ctx, h))
	}
	acts := len(verbs(t, b))
	one, two := newEvent("e1", retake.EventCreated), newEvent("e2", retake.EventForked)
	two.Data = nil
	ok(t, b.Publish(ctx, nil, messageOf))
	ok(t, b.Publish(ctx, []retake.Event{one, two}, messageOf))
	one.Seq, two.Seq = 1, 2
	same(t, "events", must[[]retake.Event](t)(b.Events(ctx, 0, 0)), []retake.Event{one, two})
	same(t, "events after", must[[]retake.Event](t)(b.Events(ctx, 1, 5)), []retake.Event{two})
	same(t, "the newest", must[retake.Event](t)(b.NewestEvent(ctx)), two)
	same(t, "events, one", must[[]retake.Event](t)(b.Events(ctx, 0, 1)), []retake.Event{one})

	want := []string{"msg/e1/all/checkpoint.created", "msg/e1/both/checkpoint.created", "msg/e1/both/snapshot.created", "msg/e2/all/workspace.forked"}
	same(t, "messages", waiting(t, l, ns), want)
	due := map[string]int{}
	for _, id := range want {
		due[id] = 1
	}
	same(t, "due", dueOf(t, l, ns), due)
	d := must[retake.Delivery](t)(b.Delivery(ctx, want[2]))
	if d.Created.IsZero() || d.Next == nil {
		t.Errorf("message without times: %v", d)
	}
	d.Created, d.Next = time.Time{}, nil
	same(t, "message", d, retake.Delivery{
		ID: want[2], Webhook: "both", Event: 1, Type: retake.EventSnapshotCreated, State: retake.DeliveryWaiting, Body: []byte("1 e1 snapshot.created"),
	})
	same(t, "acts", len(verbs(t, b)), acts)
}

// publishAgain: a known event changes nothing, also when others wait for it now.
func publishAgain(t *testing.T, open Opener) {
	l := open(t)
	ns := retake.NamespaceID(unique("ns"))
	b, ctx := l.Book(ns), t.Context()
	ok(t, b.PutHook(ctx, newHook("first")))
	one, two := newEvent("e1", retake.EventCreated), newEvent("e2", retake.EventCreated)
	ok(t, b.Publish(ctx, []retake.Event{one}, messageOf))
	dueOf(t, l, ns, func(d serverdb.Due) { ok(t, l.Finish(t.Context(), d)) })
	same(t, "due after all is finished", dueOf(t, l, ns), map[string]int{})
	ok(t, b.PutHook(ctx, newHook("second")))
	changed := one
	changed.Type, changed.Data = retake.EventForked, []byte(`{}`)
	ok(t, b.Publish(ctx, []retake.Event{changed, two, two}, messageOf))
	one.Seq, two.Seq = 1, 2
	same(t, "events", must[[]retake.Event](t)(b.Events(ctx, 0, 0)), []retake.Event{one, two})
	same(t, "messages", waiting(t, l, ns), []string{
		"msg/e1/first/checkpoint.created", "msg/e2/first/checkpoint.created", "msg/e2/second/checkpoint.created",
	})
	same(t, "due", dueOf(t, l, ns), map[string]int{"msg/e2/first/checkpoint.created": 1, "msg/e2/second/checkpoint.created": 1})
}

func publishAllOrNone(t *testing.T, open Opener) {
	l := open(t)
	ns := retake.NamespaceID(unique("ns"))
	b := l.Book(ns)
	ok(t, b.PutHook(t.Context(), newHook("wh_1")))
	ctx, cancel := withCancel(t)
	err := b.Publish(ctx, []retake.Event{newEvent("e1", retake.EventCreated), newEvent("e2", retake.EventCreated)},
		func(e retake.Event, h serverdb.Hook, name retake.EventType) (string, []byte) {
			if e.ID == "e2" {
				cancel() // the first event and its message are written by now
			}
			return messageOf(e, h, name)
		})
	if err == nil {
		t.Fatal("a canceled publication went well")
	}
	same(t, "events", must[[]retake.Event](t)(b.Events(t.Context(), 0, 0)), nil)
	same(t, "messages", waiting(t, l, ns), nil)
	same(t, "due", dueOf(t, l, ns), map[string]int{})
}

// raceOfPublishers: numbers have no equals, and who reads on from the last number it saw
// misses nothing.
func raceOfPublishers(t *testing.T, open Opener) {
	ns := retake.NamespaceID(unique("ns"))
	one, two := open(t), open(t)
	ok(t, one.Book(ns).PutHook(t.Context(), newHook("wh_1")))
	const publishers, each = 4, 8
	var g errgroup.Group
	for p := range publishers {
		b := []serverdb.Ledger{one, two}[p%2].Book(ns)
		g.Go(func() error {
			for n := range each {
				// Every second event is another's too.
				id := fmt.Sprintf("e%d-%d", p/(1+n%2), n)
				if err := b.Publish(t.Context(), []retake.Event{newEvent(id, retake.EventCreated)}, messageOf); err != nil {
					return err
				}
			}
			return nil
		})
	}
	seen := map[string]int64{}
	last := int64(0)
	read := func() {
		for _, e := range must[[]retake.Event](t)(one.Book(ns).Events(t.Context(), last, 3)) {
			if e.Seq <= last || seen[e.ID] != 0 {
				t.Fatalf("event %s is number %d after %d", e.ID, e.Seq, last)
			}
			last, seen[e.ID] = e.Seq, e.Seq
		}
	}
	done := make(chan error, 1)
	go func() { done <- g.Wait() }()
	for over := false; !over; read() {
		select {
		case err := <-done:
			ok(t, err)
			over = true
		default:
		}
	}
	all := must[[]retake.Event](t)(one.Book(ns).Events(t.Context(), 0, 0))
	for n := len(all); n > 0; n-- {
		read()
	}
	same(t, "seen", len(seen), len(all))
	same(t, "messages", len(waiting(t, two, ns)), len(all))
	same(t, "due", len(dueOf(t, two, ns)), len(all))
}

func delivery(t *testing.T, open Opener) {
	l := open(t)
	ns := retake.NamespaceID(unique("ns"))
	b, ctx := l.Book(ns), t.Context()
	_, err := b.Delivery(ctx, "nobody")
	isErr(t, err, serverdb.ErrNotFound)
	isErr(t, b.PutDelivery(ctx, retake.Delivery{ID: "nobody"}), serverdb.ErrNotFound)
	ok(t, b.PutHook(ctx, newHook("wh_1")))
	ok(t, b.Publish(ctx, []retake.Event{newEvent("e1", retake.EventCreated)}, messageOf))
	acts := verbs(t, b)

	id := waiting(t, l, ns)[0]
	was := must[retake.Delivery](t)(b.Delivery(ctx, id))
	next := after(time.Hour)
	put := retake.Delivery{
		ID: id, State: retake.DeliveryDead, Next: &next, Tries: []retake.Try{{At: after(0), Status: 500, Why: "no", Took: time.Second}},
		Webhook: "other", Event: 9, Type: "other", Created: after(0), Body: []byte("other"),
	}
	ok(t, b.PutDelivery(ctx, put))
	want := was
	want.State, want.Tries, want.Next = put.State, put.Tries, put.Next
	same(t, "delivery", must[retake.Delivery](t)(b.Delivery(ctx, id)), want)
	same(t, "no act", verbs(t, b), acts)
}

func listDeliveries(t *testing.T, open Opener) {
	l := open(t)
	ns := retake.NamespaceID(unique("ns"))
	b, ctx := l.Book(ns), t.Context()
	ok(t, b.PutHook(ctx, newHook("a")))
	ok(t, b.PutHook(ctx, newHook("b")))
	for _, id := range []string{"e3", "e1", "e2"} {
		ok(t, b.Publish(ctx, []retake.Event{newEvent(id, retake.EventForked)}, messageOf))
	}
	name := func(e, h string) string { return "msg/" + e + "/" + h + "/workspace.forked" }
	ok(t, b.PutDelivery(ctx, retake.Delivery{ID: name("e1", "a"), State: retake.DeliveryDelivered}))
	for what, q := range map[string]struct {
		retake.DeliveryQuery
		want []string
	}{
		"all": {retake.DeliveryQuery{}, []string{name("e2", "b"), name("e2", "a"), name("e1", "b"), name("e1", "a"), name("e3", "b"), name("e3", "a")}},
		"two": {retake.DeliveryQuery{Limit: 2}, []string{name("e2", "b"), name("e2", "a")}},
		"on":  {retake.DeliveryQuery{Limit: 2, Before: name("e2", "a")}, []string{name("e1", "b"), name("e1", "a")}},
		"a":   {retake.DeliveryQuery{Webhook: "a"}, []string{name("e2", "a"), name("e1", "a"), name("e3", "a")}},
		"waiting of a": {retake.DeliveryQuery{Webhook: "a", State: retake.DeliveryWaiting, Before: name("e2", "a"), Limit: 5},
			[]string{name("e3", "a")}},
		"delivered": {retake.DeliveryQuery{State: retake.DeliveryDelivered}, []string{name("e1", "a")}},
		"dead":      {retake.DeliveryQuery{State: retake.DeliveryDead}, nil},
	} {
		var got []string
		for _, d := range must[[]retake.Delivery](t)(b.Deliveries(ctx, q.DeliveryQuery)) {
			got = append(got, d.ID)
			if d.Body != nil {
				t.Errorf("%s has its body in a list", d.ID)
			}
		}
		same(t, what, got, q.want)
	}
}
