// Package jobs runs the work of a queue: it claims items that are due, handles each in bounded
// time, and says when it is due again.
//
// It accesses the queue only and does not know what the work is. A panic or an error of one
// item never affects another.
//
//	D1  An item leaves the queue only after its work has ended. A worker that is killed leaves
//	    a claim that expires by itself.
//	D2  Long work holds a lease of its own, which is renewed. The claim may expire earlier;
//	    a worker that then claims the item sees the lease and leaves the item alone.
//	D3  One lane (a namespace or an endpoint) uses some of the slots, never all.
//	D4  Work that fails is tried again, each time later. After serverdb.MaxTries it is parked: tried
//	    once a day, or when somebody puts it again. The kind of its error is kept in the queue.
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

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// Options configure the worker of one queue.
type Options struct {
	Queue           string
	Ledger          serverdb.Queue
	Clock           clock.Clock
	Log             *slog.Logger
	Lease           time.Duration // how long a claim lasts
	Timeout         time.Duration // how long the work on one item may take
	Concurrency     int           // items that are handled at once
	LaneConcurrency int           // items of one lane that are handled at once
	// LaneOf returns the lane of an item. Items of one lane may delay each other. nil: the lane
	// is the namespace.
	LaneOf func(ctx context.Context, d serverdb.Due) (string, error)
	// Handle does the work. It returns no error and a zero time if the work is done, or the time
	// at which it is due again. After an error it is due again soon.
	Handle   func(ctx context.Context, d serverdb.Due) (again time.Time, err error)
	MaxDelay time.Duration // the longest wait after a failure; 0: an hour, and a day once it is parked
	// Poll is how often the queue is read without Wake; 0: a second.
	Poll time.Duration
	// Rand returns numbers in [0, 1); nil: random ones.
	Rand func() float64
	// IsElsewhere reports whether an error means that another server has what is needed, and
	// should handle the item; nil: never.
	IsElsewhere func(error) bool
	// Leases are for work that may take longer than a claim. An item can be claimed again after
	// its work is done, and Handle must detect that. nil: Timeout must be shorter than Lease.
	Leases serverdb.Leases
	Holder string // identifies this process in Leases; must be unique
}

const (
	pollInterval   = time.Second      // how often the queue is read without Wake
	finishTimeout  = 10 * time.Second // how long it may take to finish an item in the queue
	retryDelay     = 30 * time.Second // how soon failed work is retried the first time
	maxRetryDelay  = time.Hour
	parkedDelay    = 24 * time.Hour
	elsewhereDelay = time.Second // how soon an item is offered to another server
)

// Worker handles the items of one queue.
type Worker struct {
	opts    Options
	wake    chan struct{}
	slots   chan struct{} // contains one element for each item in progress
	running sync.WaitGroup
	lanes   laneLimiter
}

// New creates a worker. It does nothing until Run or RunOnce.
func New(o Options) *Worker {
	if o.Rand == nil {
		o.Rand = rand.Float64
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Poll == 0 {
		o.Poll = pollInterval
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

// Wake makes the worker read the queue at once.
func (r *Worker) Wake() {
	select {
	case r.wake <- struct{}{}:
	default: // a wake-up is pending already
	}
}

// Run handles items until ctx ends, and then waits for those in progress.
func (r *Worker) Run(ctx context.Context) {
	defer r.running.Wait()
	for ctx.Err() == nil {
		_, more, err := r.claimItems(ctx)
		if err != nil && ctx.Err() == nil {
			r.opts.Log.ErrorContext(ctx, "claim work", "queue", r.opts.Queue, "err", err)
		}
		if !more {
			r.waitForWork(ctx)
		}
	}
}

// RunOnce handles what is due now and returns the number of items that it claimed.
func (r *Worker) RunOnce(ctx context.Context) (int, error) {
	n, _, err := r.claimItems(ctx)
	r.running.Wait()
	return n, err
}

// waitForWork waits until Wake is called or it is time to poll. The random interval keeps
// several servers from polling at the same moment.
func (r *Worker) waitForWork(ctx context.Context) {
	look := time.NewTimer(r.opts.Poll/2 + time.Duration(r.opts.Rand()*float64(r.opts.Poll)))
	defer look.Stop()
	select {
	case <-ctx.Done():
	case <-r.wake:
	case <-look.C:
	}
}

// claimItems claims as many items as there are free slots and starts handling them. It returns
// how many it claimed, and whether there may be more.
func (r *Worker) claimItems(ctx context.Context) (n int, more bool, err error) {
	free := r.acquireSlots(ctx)
	if free == 0 {
		return 0, false, ctx.Err()
	}
	var items []serverdb.Due
	err = recoverPanic(func() (err error) {
		items, err = r.opts.Ledger.Claim(ctx, r.opts.Queue, r.opts.Clock.Now(), r.opts.Lease, free)
		return err
	})
	for range free - len(items) {
		<-r.slots
	}
	for _, d := range items {
		r.running.Go(func() {
			defer func() { <-r.slots }()
			if err := recoverPanic(func() error { return r.processItem(ctx, d) }); err != nil { // the claim expires by itself
				r.opts.Log.WarnContext(ctx, "end claim", "queue", d.Queue, "namespace", d.Namespace, "id", d.ID, "err", err)
			}
		})
	}
	return len(items), len(items) == free, err
}

// acquireSlots waits for a free slot and takes all that are free. It returns how many.
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

// processItem handles one item. If its lane is full, the item is postponed instead.
func (r *Worker) processItem(ctx context.Context, d serverdb.Due) error {
	name, err := r.opts.LaneOf(ctx, d)
	if err != nil {
		return r.finishItem(ctx, d, time.Time{}, err, false)
	}
	wait, in := r.lanes.tryEnter(name)
	if !in {
		return r.finishItem(ctx, d, r.opts.Clock.Now().Add(wait), nil, false)
	}
	defer r.Wake()            // items that wait for this lane may be due
	began := clock.Wall.Now() // a duration, measured even if opts.Clock is fixed
	var again time.Time
	worked := true
	err = recoverPanic(func() (err error) {
		again, worked, err = r.handleItem(ctx, d)
		return err
	})
	r.lanes.leave(name, clock.Wall.Now().Sub(began))
	return r.finishItem(ctx, d, again, err, worked)
}

// recoverPanic calls f and turns a panic into an error.
func recoverPanic(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}

// handleItem does the work in bounded time, under a lease if the worker uses them. worked is false if
// another worker is at it.
func (r *Worker) handleItem(ctx context.Context, d serverdb.Due) (again time.Time, worked bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.opts.Timeout)
	defer cancel()
	if r.opts.Leases == nil {
		again, err = r.opts.Handle(ctx, d)
		return again, true, err
	}
	h := &workLease{worker: r, item: d, name: "work/" + d.Queue + "/" + string(d.Namespace) + "/" + d.ID, holder: r.opts.Holder + "/" + strconv.FormatInt(d.Stamp, 10)}
	ours, err := h.renew(ctx, r.opts.Lease)
	if err != nil {
		return time.Time{}, false, err
	}
	if !ours {
		return r.opts.Clock.Now().Add(r.opts.Lease / 2), false, nil
	}
	defer h.keepAlive(ctx, cancel)()
	again, err = r.opts.Handle(ctx, d)
	return again, true, err
}

// finishItem removes an item from the queue, or postpones it if it is due again or has failed. If
// the worker was stopped, the item is due at once, for another server. worked is false if the work
// was not tried.
func (r *Worker) finishItem(ctx context.Context, d serverdb.Due, again time.Time, err error, worked bool) error {
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
		d.Tries, d.Reason = d.Tries+1, string(retake.AsError(err).Kind)
		again = r.retryTime(d)
		r.opts.Log.ErrorContext(ctx, "do work", "queue", d.Queue, "namespace", d.Namespace, "id", d.ID, "try", d.Tries, "parked", d.IsParked(), "err", err)
	case worked:
		d.Tries, d.Reason = 0, ""
	}
	if again.IsZero() {
		return r.opts.Ledger.Finish(ctx, d)
	}
	return r.opts.Ledger.Postpone(ctx, d, again)
}

// retryTime returns when failed work is due again: each time later.
func (r *Worker) retryTime(d serverdb.Due) time.Time {
	delay := min(retryDelay<<min(d.Tries-1, 20), maxRetryDelay)
	if d.IsParked() {
		delay = parkedDelay
	}
	if r.opts.MaxDelay > 0 {
		delay = min(delay, r.opts.MaxDelay)
	}
	return r.opts.Clock.Now().Add(delay/2 + time.Duration(r.opts.Rand()*float64(delay)))
}
