package webhooks_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/webhook"
	"github.com/retake-dev/retake/internal/server/webhooks"
	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

var errKilled = errors.New("the process is no more")

// process is a process that is killed at one call: before it takes effect, after it took effect
// but before the caller learns of it, or by a panic. From then on every call fails.
type process struct {
	mu            sync.Mutex
	callsLeft     int // guarded by mu
	failAfterCall bool
	panics        bool
}

func (l *process) call(f func() error) error {
	l.mu.Lock()
	l.callsLeft--
	left := l.callsLeft
	l.mu.Unlock()
	switch {
	case left > 0 || left == 0 && l.failAfterCall:
		err := f()
		if left > 0 {
			return err
		}
	case left < 0:
		return errKilled
	}
	if l.panics {
		panic("killed here")
	}
	return errKilled
}

func (l *process) hasEnded() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.callsLeft <= 0
}

// The dependencies of a dispatcher that fail once its process is killed.
type (
	killableLedger struct {
		serverdb.Ledger
		*process
		forgetful bool // for the control: a claim removes the item at once
	}
	killableBook struct {
		serverdb.Book
		*process
	}
	killableCatalog struct {
		webhooks.CatalogReader
		*process
		forgetful bool // for the control: reading notices deletes them
	}
	killableSender struct {
		webhooks.Sender
		*process
	}
)

func (m killableLedger) Claim(ctx context.Context, queue string, now time.Time, lease time.Duration, limit int) (items []serverdb.Due, err error) {
	err = m.call(func() (err error) {
		items, err = m.Ledger.Claim(ctx, queue, now, lease, limit)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, d := range items {
		if m.forgetful {
			err = errors.Join(err, m.Finish(ctx, d))
		}
	}
	return items, err
}

func (m killableLedger) Finish(ctx context.Context, d serverdb.Due) error {
	return m.call(func() error { return m.Ledger.Finish(ctx, d) })
}

func (m killableLedger) Postpone(ctx context.Context, d serverdb.Due, at time.Time) error {
	return m.call(func() error { return m.Ledger.Postpone(ctx, d, at) })
}

func (m killableLedger) Book(ns retake.NamespaceID) serverdb.Book {
	return killableBook{m.Ledger.Book(ns), m.process}
}

func (m killableBook) Publish(ctx context.Context, events []retake.Event, message func(retake.Event, serverdb.Hook, retake.EventType) (string, []byte)) error {
	return m.call(func() error { return m.Book.Publish(ctx, events, message) })
}

func (m killableBook) PutDelivery(ctx context.Context, d retake.Delivery) error {
	return m.call(func() error { return m.Book.PutDelivery(ctx, d) })
}

func (m killableBook) Hook(ctx context.Context, id retake.WebhookID) (h serverdb.Hook, err error) {
	err = m.call(func() (err error) {
		h, err = m.Book.Hook(ctx, id)
		return err
	})
	return h, err
}

func (m killableCatalog) Pending(ctx context.Context, limit int) (all []catalog.Notice, err error) {
	err = m.call(func() (err error) {
		all, err = m.CatalogReader.Pending(ctx, limit)
		return err
	})
	if err != nil || !m.forgetful {
		return all, err
	}
	var ids []int64
	for _, n := range all {
		ids = append(ids, n.ID)
	}
	return all, m.Take(ctx, ids)
}

func (m killableCatalog) Take(ctx context.Context, ids []int64) error {
	return m.call(func() error { return m.CatalogReader.Take(ctx, ids) })
}

func (m killableSender) Post(ctx context.Context, url string, header map[string]string, body []byte) (out webhook.Outcome) {
	err := m.call(func() error {
		out = m.Sender.Post(ctx, url, header, body)
		return nil
	})
	if err != nil {
		return webhook.Outcome{Err: err}
	}
	return out
}

// killResult counts what became of the checkpoints while dispatchers were killed.
type killResult struct {
	saved, published, arrived, duplicates, kills int
	outOfOrder, changedBodies                    int // events out of order, messages with another body
}

// runWithKills kills dispatchers at random calls until all checkpoints are published.
func runWithKills(t *testing.T, seed uint64, noOutbox, noLeases bool) killResult {
	t.Helper()
	d := newFixture(t)
	rnd := rand.New(rand.NewPCG(seed, 1))
	in := newReceiver(t, func(n int, w http.ResponseWriter) {
		if n%7 == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	d.addWebhook("wh_1", in.url, retake.SchemeShared)
	var o killResult
	for o.saved < 80 {
		for range 1 + rnd.IntN(3) {
			d.saveCheckpoint(nil)
			o.saved++
		}
		long := []int{6, 30}[rnd.IntN(2)] // many are killed while they read notices
		l := &process{callsLeft: 1 + rnd.IntN(long), failAfterCall: rnd.IntN(2) == 0, panics: rnd.IntN(3) == 0}
		d.runProcess(l, noOutbox, noLeases)
		if l.hasEnded() {
			o.kills++
		}
		if rnd.IntN(2) == 0 {
			d.heldClock.Advance(time.Duration(rnd.IntN(90)) * time.Second)
		}
	}
	d.runUntilDone(&process{callsLeft: 1 << 30}, noOutbox, noLeases)
	o.countDeliveries(d, in)
	return o
}

// runProcess lets one process work until it is killed or has nothing to do.
func (d *fixture) runProcess(l *process, noOutbox, noLeases bool) {
	d.Helper()
	opts := d.options()
	opts.Ledger = killableLedger{d.ledger, l, noLeases}
	opts.Sender = killableSender{opts.Sender, l}
	opts.OpenOutbox = func(context.Context, retake.NamespaceID) (webhooks.CatalogReader, func(), error) {
		return killableCatalog{d.catalog, l, noOutbox}, func() {}, nil
	}
	c := webhooks.New(opts)
	for !l.hasEnded() {
		n, err := c.RunOnce(d.Context())
		if err != nil && !l.hasEnded() {
			d.Fatal(err)
		}
		if n == 0 {
			return
		}
	}
}

// runUntilDone advances the clock until nothing is due any more.
func (d *fixture) runUntilDone(l *process, noOutbox, noLeases bool) {
	d.Helper()
	for range 5000 {
		d.runProcess(l, noOutbox, noLeases)
		var left int64
		for _, q := range []string{serverdb.QueueOutbox, serverdb.QueueDelivery} {
			n, _, err := d.ledger.Depth(d.Context(), q)
			d.must(err)
			left += n
		}
		if left == 0 {
			return
		}
		d.heldClock.Advance(30 * time.Second)
	}
	d.Fatal("it never ends")
}

func (o *killResult) countDeliveries(d *fixture, in *receiver) {
	d.Helper()
	last := int64(0)
	for _, e := range d.events() {
		o.published++
		n := d.decodeData(e).Number
		if n <= last {
			o.outOfOrder++
		}
		last = n
	}
	bodies := map[string][]byte{}
	good := map[string]int{}
	for _, m := range in.messages() {
		if was, ok := bodies[m.id]; ok && !bytes.Equal(was, m.body) {
			o.changedBodies++
		}
		bodies[m.id] = m.body
		good[m.id]++
	}
	all, err := d.book.Deliveries(d.Context(), retake.DeliveryQuery{})
	d.must(err)
	for _, v := range all {
		if v.State == retake.DeliveryDelivered && good[v.ID] > 0 {
			o.arrived++
		}
		if good[v.ID] > 1 {
			o.duplicates++
		}
	}
}

// Whichever call a process is killed at, each checkpoint gets one event and arrives. The controls
// lose some, because they drop notices or claims too early.
func TestKilledAnywhere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name               string
		noOutbox, noLeases bool
	}{{name: "whole"}, {name: "control: no outbox", noOutbox: true}, {name: "control: no leases", noLeases: true}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var sum killResult
			for seed := range uint64(3) {
				o := runWithKills(t, seed, c.noOutbox, c.noLeases)
				sum.saved, sum.published, sum.arrived = sum.saved+o.saved, sum.published+o.published, sum.arrived+o.arrived
				sum.duplicates, sum.kills = sum.duplicates+o.duplicates, sum.kills+o.kills
				sum.outOfOrder, sum.changedBodies = sum.outOfOrder+o.outOfOrder, sum.changedBodies+o.changedBodies
			}
			t.Logf("%d saved, %d told, %d arrived (%d more than once), %d kills", sum.saved, sum.published, sum.arrived, sum.duplicates, sum.kills)
			lost := sum.saved - sum.arrived
			if control := c.noOutbox || c.noLeases; control != (lost > 0) {
				t.Errorf("%d lost", lost)
			}
			if sum.published > sum.saved || sum.changedBodies > 0 || sum.outOfOrder > 0 {
				t.Errorf("%d events for %d checkpoints, %d out of order, %d bodies changed", sum.published, sum.saved, sum.outOfOrder, sum.changedBodies)
			}
			if !c.noLeases && sum.duplicates == 0 {
				t.Error("nobody died between a message and its record: the ordeal is too mild")
			}
		})
	}
}
