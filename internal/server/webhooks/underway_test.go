package webhooks_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/server/webhooks"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// A dispatcher that is stopped gives messages in progress back at once, and counts no attempt.
func TestEndGivesBack(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	arrived, leave := make(chan struct{}), make(chan struct{})
	in := newReceiver(t, func(n int, w http.ResponseWriter) {
		if n == 1 {
			close(arrived)
			<-leave
		}
	})
	d.addWebhook("wh_1", in.url, retake.SchemeShared)
	d.saveCheckpoint(nil)
	d.must(d.newDispatcher().DrainOutbox(t.Context(), acme))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- d.newDispatcher().Run(ctx) }()
	<-arrived
	cancel()
	<-ended
	close(leave)
	if v := d.onlyDelivery(); len(v.Tries) != 0 || v.State != retake.DeliveryWaiting {
		t.Errorf("%+v", v)
	}
	d.runDue(d.newDispatcher()) // the clock did not move: the claim has not expired
	if v := d.onlyDelivery(); len(in.messages()) != 2 || v.State != retake.DeliveryDelivered {
		t.Errorf("%d arrived, %+v", len(in.messages()), v)
	}
}

// An endpoint that never responds delays its own messages only, and at most four are sent at once.
func TestSlowEndpoint(t *testing.T) {
	t.Parallel()
	const n = 40
	d := newFixtureWithClock(t, clock.Wall)
	leave := make(chan struct{})
	slow := newReceiver(t, func(int, http.ResponseWriter) { <-leave })
	all := make(chan struct{})
	fast := newReceiver(t, func(got int, w http.ResponseWriter) {
		if got == n {
			close(all)
		}
	})
	d.addWebhook("wh_slow", slow.url, retake.SchemeShared)
	d.addWebhook("wh_fast", fast.url, retake.SchemeShared)
	for range n {
		d.saveCheckpoint(nil)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := d.options()
	o.Concurrency = 8
	c := webhooks.New(o)
	ended := make(chan error)
	go func() { ended <- c.Run(ctx) }()
	select {
	case <-all:
	case <-time.After(time.Minute):
		t.Errorf("%d of %d arrived at the fast endpoint", len(fast.messages()), n)
	}
	if got := len(slow.messages()); got == 0 || got > 4 {
		t.Errorf("%d under way to the slow endpoint", got)
	}
	close(leave)
	cancel()
	<-ended
}

// A process that was killed after it recorded the next attempt does not make it happen earlier.
func TestNextIsKept(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	in := newReceiver(t, respondWith(http.StatusBadRequest))
	d.addWebhook("wh_1", in.url, retake.SchemeShared)
	d.saveCheckpoint(nil)
	c := d.newDispatcher()
	d.runDue(c)
	d.must(d.ledger.Put(t.Context(), serverdb.Due{Queue: serverdb.QueueDelivery, Namespace: acme, ID: d.onlyDelivery().ID, At: d.clock.Now()}))
	d.runDue(c)
	if n := len(in.messages()); n != 1 {
		t.Fatalf("%d tries", n)
	}
	d.heldClock.Advance(6 * time.Second)
	d.runDue(c)
	if n := len(in.messages()); n != 2 {
		t.Errorf("%d tries after the pause", n)
	}
}
