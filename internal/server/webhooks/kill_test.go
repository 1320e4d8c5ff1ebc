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

// life is one process. It ends at one call: before that is done, after it was done and
// before anybody could hear of it, or in a panic. From then on nothing works.
type life struct {
	mu    sync.Mutex
	left  int // guarded by mu
	after bool
	panic bool
}

func (l *life) call(f func() error) error {
	l.mu.Lock()
	l.left--
	left := l.left
	l.mu.Unlock()
	switch {
	case left > 0 || left == 0 && l.after:
		err := f()
		if left > 0 {
			return err
		}
	case left < 0:
		return errKilled
	}
	if l.panic {
		panic("killed here")
	}
	return errKilled
}

func (l *life) over() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.left <= 0
}

// The parts of a courier that die with its process.
type (
	mortalLedger struct {
		serverdb.Ledger
		*life
		forgetful bool // the control: a claim is no claim, the item is gone at once
	}
	mortalBook struct {
		serverdb.Book
		*life
	}
	mortalRows struct {
		webhooks.Rows
		*life
		forgetful bool // the control: notices are taken when they are read
	}
	mortalSender struct {
		webhooks.Sender
		*life
	}
)

func (m mortalLedger) Claim(ctx context.Context, queue string, now time.Time, lease time.Duration, limit int) (items []serverdb.Due, err error) {
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

func (m mortalLedger) Finish(ctx context.Context, d serverdb.Due) error {
	return m.call(func() error { return m.Ledger.Finish(ctx, d) })
}

func (m mortalLedger) Postpone(ctx context.Context, d serverdb.Due, at time.Time) error {
	return m.call(func() error { return m.Ledger.Postpone(ctx, d, at) })
}

func (m mortalLedger) Book(ns retake.NamespaceID) serverdb.Book {
	return mortalBook{m.Ledger.Book(ns), m.life}
}

func (m mortalBook) Publish(ctx context.Context, events []retake.Event, message func(retake.Event, serverdb.Hook, retake.EventType) (string, []byte)) error {
	return m.call(func() error { return m.Book.Publish(ctx, events, message) })
}

func (m mortalBook) PutDelivery(ctx context.Context, d retake.Delivery) error {
	return m.call(func() error { return m.Book.PutDelivery(ctx, d) })
}

func (m mortalBook) Hook(ctx context.Context, id retake.WebhookID) (h serverdb.Hook, err error) {
	err = m.call(func() (err error) {
		h, err = m.Book.Hook(ctx, id)
		return err
	})
	return h, err
}

func (m mortalRows) Pending(ctx context.Context, limit int) (all []catalog.Notice, err error) {
	err = m.call(func() (err error) {
		all, err = m.Rows.Pending(ctx, limit)
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

func (m mortalRows) Take(ctx context.Context, ids []int64) error {
	return m.call(func() error { return m.Rows.Take(ctx, ids) })
}

func (m mortalSender) Post(ctx context.Context, url string, header map[string]string, body []byte) (out webhook.Outcome) {
	err := m.call(func() error {
		out = m.Sender.Post(ctx, url, header, body)
		return nil
	})
	if err != nil {
		return webhook.Outcome{Err: err}
	}
	return out
}

// ordeal kills couriers until all is told, and answers what became of the checkpoints.
type ordeal struct {
	saved, told, arrived, twice, kills int
	disordered, other                  int // events out of order, messages with another body
}

func kill(t *testing.T, seed uint64, noOutbox, noLeases bool) ordeal {
	t.Helper()
	d := newDesk(t)
	rnd := rand.New(rand.NewPCG(seed, 1))
	in := newInbox(t, func(n int, w http.ResponseWriter) {
		if n%7 == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	d.hook("wh_1", in.url, retake.SchemeShared)
	var o ordeal
	for o.saved < 80 {
		for range 1 + rnd.IntN(3) {
			d.save(nil)
			o.saved++
		}
		long := []int{6, 30}[rnd.IntN(2)] // many die while they read notices
		l := &life{left: 1 + rnd.IntN(long), after: rnd.IntN(2) == 0, panic: rnd.IntN(3) == 0}
		d.live(l, noOutbox, noLeases)
		if l.over() {
			o.kills++
		}
		if rnd.IntN(2) == 0 {
			d.held.Move(time.Duration(rnd.IntN(90)) * time.Second)
		}
	}
	d.finish(&life{left: 1 << 30}, noOutbox, noLeases)
	o.judge(d, in)
	return o
}

// live lets one process work until it ends or has nothing to do.
func (d *desk) live(l *life, noOutbox, noLeases bool) {
	d.Helper()
	opts := d.options()
	opts.Ledger = mortalLedger{d.ledger, l, noLeases}
	opts.Sender = mortalSender{opts.Sender, l}
	opts.Outbox = func(context.Context, retake.NamespaceID) (webhooks.Rows, func(), error) {
		return mortalRows{d.cat, l, noOutbox}, func() {}, nil
	}
	c := webhooks.New(opts)
	for !l.over() {
		n, err := c.Once(d.Context())
		if err != nil && !l.over() {
			d.Fatal(err)
		}
		if n == 0 {
			return
		}
	}
}

// finish lets time pass until nothing is due any more.
func (d *desk) finish(l *life, noOutbox, noLeases bool) {
	d.Helper()
	for range 5000 {
		d.live(l, noOutbox, noLeases)
		var left int64
		for _, q := range []string{serverdb.QueueOutbox, serverdb.QueueDelivery} {
			n, _, err := d.ledger.Depth(d.Context(), q)
			d.must(err)
			left += n
		}
		if left == 0 {
			return
		}
		d.held.Move(30 * time.Second)
	}
	d.Fatal("it never ends")
}

func (o *ordeal) judge(d *desk, in *inbox) {
	d.Helper()
	last := int64(0)
	for _, e := range d.events() {
		o.told++
		n := d.data(e).Number
		if n <= last {
			o.disordered++
		}
		last = n
	}
	bodies := map[string][]byte{}
	good := map[string]int{}
	for _, m := range in.messages() {
		if was, ok := bodies[m.id]; ok && !bytes.Equal(was, m.body) {
			o.other++
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
			o.twice++
		}
	}
}

// Whatever call a process dies at, each checkpoint is told by one event and arrives. The
// same couriers lose some as soon as notices or claims are not kept until the end.
func TestKilledAnywhere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name               string
		noOutbox, noLeases bool
	}{{name: "whole"}, {name: "control: no outbox", noOutbox: true}, {name: "control: no leases", noLeases: true}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var sum ordeal
			for seed := range uint64(3) {
				o := kill(t, seed, c.noOutbox, c.noLeases)
				sum.saved, sum.told, sum.arrived = sum.saved+o.saved, sum.told+o.told, sum.arrived+o.arrived
				sum.twice, sum.kills = sum.twice+o.twice, sum.kills+o.kills
				sum.disordered, sum.other = sum.disordered+o.disordered, sum.other+o.other
			}
			t.Logf("%d saved, %d told, %d arrived (%d more than once), %d kills", sum.saved, sum.told, sum.arrived, sum.twice, sum.kills)
			lost := sum.saved - sum.arrived
			if control := c.noOutbox || c.noLeases; control != (lost > 0) {
				t.Errorf("%d lost", lost)
			}
			if sum.told > sum.saved || sum.other > 0 || sum.disordered > 0 {
				t.Errorf("%d events for %d checkpoints, %d out of order, %d bodies changed", sum.told, sum.saved, sum.disordered, sum.other)
			}
			if !c.noLeases && sum.twice == 0 {
				t.Error("nobody died between a message and its record: the ordeal is too mild")
			}
		})
	}
}
