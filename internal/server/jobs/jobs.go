// Package jobs does what is due: it claims items of a queue, does each in bounded time,
// and says when it is due again.
//
// It touches the queue alone and knows no work. It never lets a panic or an error of one
// item reach another.
//
//	D1  An item leaves the queue only after its work came to an end; who is killed leaves
//	    a claim that ends by itself.
//	D2  Long work holds a lease of its own, which is renewed: a claim may end before it,
//	    and who claims the item then leaves it alone.
//	D3  One lane (a namespace, an endpoint) takes some of the hands, never all.
package jobs

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// Options say how one queue is looked after.
type Options struct {
	Queue           string
	Ledger          serverdb.Queue
	Clock           clock.Clock
	Log             *slog.Logger
	Lease           time.Duration // of a claim
	Timeout         time.Duration // of the work on one item
	Concurrency     int           // items at once
	LaneConcurrency int           // items of one lane at once
	// Lane says which items may hold each other up; nil: those of a namespace.
	LaneOf func(ctx context.Context, d serverdb.Due) (string, error)
	// Do does the work. Nil and no time: it is done. A time: it is due again then. An
	// error: it is due again soon.
	Handle func(ctx context.Context, d serverdb.Due) (again time.Time, err error)
	// Rand answers numbers from 0 up to 1; nil: any.
	Rand func() float64
	// Elsewhere says of an error that another server has what is needed; nil: none does.
	IsElsewhere func(error) bool
	// Leases hold work that may take longer than a claim. Such work can be begun again
	// after it was done, and must see that. nil: Limit is shorter than Lease.
	Leases serverdb.Leases
	Holder string // who works, unlike any other process
}

const (
	pollInterval   = time.Second      // how often we ask when nobody stirs us
	finishTimeout  = 10 * time.Second // how long the end of work may take
	retryDelay     = 30 * time.Second // when work that came to an error is tried again
	elsewhereDelay = time.Second      // when another server should have found it
)

// Worker looks after one queue.
type Worker struct {
	opts    Options
	wake    chan struct{}
	slots   chan struct{} // holds one for each item at work
	running sync.WaitGroup
	lanes   laneLimiter
}

// New makes a round.
func New(o Options) *Worker {
	if o.Rand == nil {
		o.Rand = rand.Float64
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.LaneOf == nil {
		o.LaneOf = func(_ context.Context, d serverdb.Due) (string, error) { return string(d.Namespace), nil }
	}
	o.Concurrency, o.LaneConcurrency = max(o.Concurrency, 1), max(o.LaneConcurrency, 1)
	return &Worker{
		opts: o, wake: make(chan struct{}, 1), slots: make(chan struct{}, o.Concurrency),
		lanes: laneLimiter{perLane: o.LaneConcurrency, byName: map[string]*laneState{}},
	}
}

// Wake lets the round look at once.
func (r *Worker) Wake() {
	select {
	case r.wake <- struct{}{}:
	default: // it is stirred already
	}
}

// Run looks after the queue until ctx ends, and waits for what is at work.
func (r *Worker) Run(ctx context.Context) {
	defer r.running.Wait()
	for ctx.Err() == nil {
		n, err := r.claimItems(ctx)
		if err != nil && ctx.Err() == nil {
			r.opts.Log.ErrorContext(ctx, "claim work", "queue", r.opts.Queue, "err", err)
		}
		if n == 0 {
			r.waitForWork(ctx)
		}
	}
}

// RunOnce does what is due now, and answers how many items were claimed.
func (r *Worker) RunOnce(ctx context.Context) (int, error) {
	n, err := r.claimItems(ctx)
	r.running.Wait()
	return n, err
}

// waitForWork waits until somebody stirs us or it is time to look.
func (r *Worker) waitForWork(ctx context.Context) {
	look := time.NewTimer(pollInterval/2 + time.Duration(r.opts.Rand()*float64(pollInterval)))
	defer look.Stop()
	select {
	case <-ctx.Done():
	case <-r.wake:
	case <-look.C:
	}
}

// claimItems takes as many items as there are free hands, and begins each.
func (r *Worker) claimItems(ctx context.Context) (int, error) {
	free := r.acquireSlots(ctx)
	if free == 0 {
		return 0, ctx.Err()
	}
	var items []serverdb.Due
	err := recoverPanic(func() (err error) {
		items, err = r.opts.Ledger.Claim(ctx, r.opts.Queue, r.opts.Clock.Now(), r.opts.Lease, free)
		return err
	})
	for range free - len(items) {
		<-r.slots
	}
	for _, d := range items {
		r.running.Go(func() {
			defer func() { <-r.slots }()
			if err := recoverPanic(func() error { return r.processItem(ctx, d) }); err != nil { // the claim ends by itself
				r.opts.Log.WarnContext(ctx, "end claim", "queue", d.Queue, "namespace", d.Namespace, "id", d.ID, "err", err)
			}
		})
	}
	return len(items), err
}

// acquireSlots waits for a free hand, and takes all that are free.
func (r *Worker) acquireSlots(ctx context.Context) int {
	select {
	case r.slots <- struct{}{}:
	case <-ctx.Done():
		return 0
	}
	for n := 1; ; n++ {
		select {
		case r.slots <- struct{}{}:
		default:
			return n
		}
	}
}

// processItem does one item, unless its lane is full: then it waits its turn in the queue.
func (r *Worker) processItem(ctx context.Context, d serverdb.Due) error {
	name, err := r.opts.LaneOf(ctx, d)
	if err != nil {
		return r.finishItem(ctx, d, time.Time{}, err)
	}
	wait, in := r.lanes.tryEnter(name)
	if !in {
		return r.finishItem(ctx, d, r.opts.Clock.Now().Add(wait), nil)
	}
	defer r.Wake()            // who waited for this lane may come
	began := clock.Wall.Now() // how slow a lane is has nothing to do with the time of day
	var again time.Time
	err = recoverPanic(func() (err error) {
		again, err = r.handleItem(ctx, d)
		return err
	})
	r.lanes.leave(name, clock.Wall.Now().Sub(began))
	return r.finishItem(ctx, d, again, err)
}

// recoverPanic makes an error of a panic.
func recoverPanic(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}

// handleItem does the work in bounded time.
func (r *Worker) handleItem(ctx context.Context, d serverdb.Due) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, r.opts.Timeout)
	defer cancel()
	if r.opts.Leases == nil {
		return r.opts.Handle(ctx, d)
	}
	h := &workLease{worker: r, name: "work/" + d.Queue + "/" + string(d.Namespace) + "/" + d.ID, holder: r.opts.Holder + "/" + strconv.FormatInt(d.Stamp, 10)}
	ours, err := h.renew(ctx, r.opts.Lease)
	if err != nil {
		return time.Time{}, err
	}
	if !ours {
		return r.opts.Clock.Now().Add(r.opts.Lease / 2), nil
	}
	defer h.keepAlive(ctx, cancel)()
	return r.opts.Handle(ctx, d)
}

// finishItem says what becomes of an item. Who is told to end gives it back at once.
func (r *Worker) finishItem(ctx context.Context, d serverdb.Due, again time.Time, err error) error {
	ended := ctx.Err() != nil
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
	defer cancel()
	now := r.opts.Clock.Now()
	switch {
	case err != nil && ended:
		again = now
	case err != nil && r.opts.IsElsewhere != nil && r.opts.IsElsewhere(err):
		again = now.Add(elsewhereDelay + time.Duration(r.opts.Rand()*2*float64(elsewhereDelay)))
	case err != nil:
		r.opts.Log.ErrorContext(ctx, "do work", "queue", d.Queue, "namespace", d.Namespace, "id", d.ID, "err", err)
		again = now.Add(retryDelay + time.Duration(r.opts.Rand()*float64(retryDelay)))
	}
	if again.IsZero() {
		return r.opts.Ledger.Finish(ctx, d)
	}
	return r.opts.Ledger.Postpone(ctx, d, again)
}
