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

// waitingDeliveries lists the ids of messages, oldest first.
func waitingDeliveries(t *testing.T, l serverdb.Ledger, ns retake.NamespaceID) []string {
	t.Helper()
	var ids []string
	for _, d := range mustValue[[]retake.Delivery](t)(l.Book(ns).Deliveries(t.Context(), retake.DeliveryQuery{})) {
		ids = append(ids, d.ID)
	}
	slices.Reverse(ids)
	return ids
}

// claimMu lets one test at a time claim messages: the queue has one name for all.
var claimMu sync.Mutex

// claimDue claims messages, and returns which of a namespace are there and how often. All come
// back at once.
func claimDue(t *testing.T, l serverdb.Ledger, ns retake.NamespaceID, f ...func(serverdb.Due)) map[string]int {
	t.Helper()
	claimMu.Lock()
	defer claimMu.Unlock()
	got := map[string]int{}
	for _, d := range mustValue[[]serverdb.Due](t)(l.Claim(t.Context(), serverdb.QueueDelivery, late, 0, 100000)) {
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

func testPublish(t *testing.T, open Opener) {
	l := open(t)
	ns := retake.NamespaceID(uniqueName("ns"))
	b, ctx := l.Book(ns), t.Context()
	off := afterStart(0)
	disabled := newHook("off")
	disabled.Disabled = &off
	elsewhere := newHook("elsewhere") // is told of another workspace
	elsewhere.Workspace = "ws_other"
	for _, h := range []serverdb.Hook{
		newHook("all"), newHook("both", retake.EventCreated, retake.EventSnapshotCreated), newHook("none", retake.EventBackup), disabled, elsewhere,
	} {
		wantNoError(t, b.PutHook(ctx, h))
	}
	acts := len(auditVerbs(t, b))
	one, two := newEvent("e1", retake.EventCreated), newEvent("e2", retake.EventForked)
	two.Data = nil
	wantNoError(t, b.Publish(ctx, nil, messageOf))
	wantNoError(t, b.Publish(ctx, []retake.Event{one, two}, messageOf))
	one.Seq, two.Seq = 1, 2
	wantEqual(t, "events", mustValue[[]retake.Event](t)(b.Events(ctx, 0, 0)), []retake.Event{one, two})
	wantEqual(t, "events after", mustValue[[]retake.Event](t)(b.Events(ctx, 1, 5)), []retake.Event{two})
	wantEqual(t, "the newest", mustValue[retake.Event](t)(b.NewestEvent(ctx)), two)
	wantEqual(t, "events, one", mustValue[[]retake.Event](t)(b.Events(ctx, 0, 1)), []retake.Event{one})

	want := []string{"msg/e1/all/checkpoint.created", "msg/e1/both/checkpoint.created", "msg/e1/both/snapshot.created", "msg/e2/all/workspace.forked"}
	wantEqual(t, "messages", waitingDeliveries(t, l, ns), want)
	due := map[string]int{}
	for _, id := range want {
		due[id] = 1
	}
	wantEqual(t, "due", claimDue(t, l, ns), due)
	d := mustValue[retake.Delivery](t)(b.Delivery(ctx, want[2]))
	if d.Created.IsZero() || d.Next == nil {
		t.Errorf("message without times: %v", d)
	}
	d.Created, d.Next = time.Time{}, nil
	wantEqual(t, "message", d, retake.Delivery{
		ID: want[2], Webhook: "both", Event: 1, Type: retake.EventSnapshotCreated, State: retake.DeliveryWaiting, Body: []byte("1 e1 snapshot.created"),
	})
	wantEqual(t, "acts", len(auditVerbs(t, b)), acts)
}

// testPublishAgain: a known event changes nothing, also when others wait for it now.
func testPublishAgain(t *testing.T, open Opener) {
	l := open(t)
	ns := retake.NamespaceID(uniqueName("ns"))
	b, ctx := l.Book(ns), t.Context()
	wantNoError(t, b.PutHook(ctx, newHook("first")))
	one, two := newEvent("e1", retake.EventCreated), newEvent("e2", retake.EventCreated)
	wantNoError(t, b.Publish(ctx, []retake.Event{one}, messageOf))
	claimDue(t, l, ns, func(d serverdb.Due) { wantNoError(t, l.Finish(t.Context(), d)) })
	wantEqual(t, "due after all is finished", claimDue(t, l, ns), map[string]int{})
	wantNoError(t, b.PutHook(ctx, newHook("second")))
	changed := one
	changed.Type, changed.Data = retake.EventForked, []byte(`{}`)
	wantNoError(t, b.Publish(ctx, []retake.Event{changed, two, two}, messageOf))
	one.Seq, two.Seq = 1, 2
	wantEqual(t, "events", mustValue[[]retake.Event](t)(b.Events(ctx, 0, 0)), []retake.Event{one, two})
	wantEqual(t, "messages", waitingDeliveries(t, l, ns), []string{
		"msg/e1/first/checkpoint.created", "msg/e2/first/checkpoint.created", "msg/e2/second/checkpoint.created",
	})
	wantEqual(t, "due", claimDue(t, l, ns), map[string]int{"msg/e2/first/checkpoint.created": 1, "msg/e2/second/checkpoint.created": 1})
}

func testPublishAllOrNone(t *testing.T, open Opener) {
	l := open(t)
	ns := retake.NamespaceID(uniqueName("ns"))
	b := l.Book(ns)
	wantNoError(t, b.PutHook(t.Context(), newHook("wh_1")))
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
	wantEqual(t, "events", mustValue[[]retake.Event](t)(b.Events(t.Context(), 0, 0)), nil)
	wantEqual(t, "messages", waitingDeliveries(t, l, ns), nil)
	wantEqual(t, "due", claimDue(t, l, ns), map[string]int{})
}

// testRaceOfPublishers: numbers have no equals, and who reads on from the last number it saw
// misses nothing.
func testRaceOfPublishers(t *testing.T, open Opener) {
	ns := retake.NamespaceID(uniqueName("ns"))
	one, two := open(t), open(t)
	wantNoError(t, one.Book(ns).PutHook(t.Context(), newHook("wh_1")))
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
		for _, e := range mustValue[[]retake.Event](t)(one.Book(ns).Events(t.Context(), last, 3)) {
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
			wantNoError(t, err)
			over = true
		default:
		}
	}
	all := mustValue[[]retake.Event](t)(one.Book(ns).Events(t.Context(), 0, 0))
	for n := len(all); n > 0; n-- {
		read()
	}
	wantEqual(t, "seen", len(seen), len(all))
	wantEqual(t, "messages", len(waitingDeliveries(t, two, ns)), len(all))
	wantEqual(t, "due", len(claimDue(t, two, ns)), len(all))
}

func testDelivery(t *testing.T, open Opener) {
	l := open(t)
	ns := retake.NamespaceID(uniqueName("ns"))
	b, ctx := l.Book(ns), t.Context()
	_, err := b.Delivery(ctx, "nobody")
	wantError(t, err, serverdb.ErrNotFound)
	wantError(t, b.PutDelivery(ctx, retake.Delivery{ID: "nobody"}), serverdb.ErrNotFound)
	wantNoError(t, b.PutHook(ctx, newHook("wh_1")))
	wantNoError(t, b.Publish(ctx, []retake.Event{newEvent("e1", retake.EventCreated)}, messageOf))
	acts := auditVerbs(t, b)

	id := waitingDeliveries(t, l, ns)[0]
	was := mustValue[retake.Delivery](t)(b.Delivery(ctx, id))
	next := afterStart(time.Hour)
	put := retake.Delivery{
		ID: id, State: retake.DeliveryDead, Next: &next, Tries: []retake.Try{{At: afterStart(0), Status: 500, Why: "no", Took: time.Second}},
		Webhook: "other", Event: 9, Type: "other", Created: afterStart(0), Body: []byte("other"),
	}
	wantNoError(t, b.PutDelivery(ctx, put))
	want := was
	want.State, want.Tries, want.Next = put.State, put.Tries, put.Next
	wantEqual(t, "delivery", mustValue[retake.Delivery](t)(b.Delivery(ctx, id)), want)
	wantEqual(t, "no act", auditVerbs(t, b), acts)
}

func testListDeliveries(t *testing.T, open Opener) {
	l := open(t)
	ns := retake.NamespaceID(uniqueName("ns"))
	b, ctx := l.Book(ns), t.Context()
	wantNoError(t, b.PutHook(ctx, newHook("a")))
	wantNoError(t, b.PutHook(ctx, newHook("b")))
	for _, id := range []string{"e3", "e1", "e2"} {
		wantNoError(t, b.Publish(ctx, []retake.Event{newEvent(id, retake.EventForked)}, messageOf))
	}
	name := func(e, h string) string { return "msg/" + e + "/" + h + "/workspace.forked" }
	wantNoError(t, b.PutDelivery(ctx, retake.Delivery{ID: name("e1", "a"), State: retake.DeliveryDelivered}))
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
		for _, d := range mustValue[[]retake.Delivery](t)(b.Deliveries(ctx, q.DeliveryQuery)) {
			got = append(got, d.ID)
			if d.Body != nil {
				t.Errorf("%s has its body in a list", d.ID)
			}
		}
		wantEqual(t, what, got, q.want)
	}
}
