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
	Queue  string
	Ledger serverdb.Queue
	Clock  clock.Clock
	Log    *slog.Logger
	Lease  time.Duration // of a claim
	Limit  time.Duration // of the work on one item
	Hands  int           // items at once
	Each   int           // items of one lane at once
	// Lane says which items may hold each other up; nil: those of a namespace.
	Lane func(ctx context.Context, d serverdb.Due) (string, error)
	// Do does the work. Nil and no time: it is done. A time: it is due again then. An
	// error: it is due again soon.
	Do func(ctx context.Context, d serverdb.Due) (again time.Time, err error)
	// Rand answers numbers from 0 up to 1; nil: any.
	Rand func() float64
	// Elsewhere says of an error that another server has what is needed; nil: none does.
	Elsewhere func(error) bool
	// Leases hold work that may take longer than a claim. Such work can be begun again
	// after it was done, and must see that. nil: Limit is shorter than Lease.
	Leases serverdb.Leases
	Holder string // who works, unlike any other process
}

const (
	poll      = time.Second      // how often we ask when nobody stirs us
	settling  = 10 * time.Second // how long the end of work may take
	afterFail = 30 * time.Second // when work that came to an error is tried again
	elsewhere = time.Second      // when another server should have found it
)

// Round looks after one queue.
type Round struct {
	o     Options
	stir  chan struct{}
	hands chan struct{} // holds one for each item at work
	work  sync.WaitGroup
	lanes lanes
}

// New makes a round.
func New(o Options) *Round {
	if o.Rand == nil {
		o.Rand = rand.Float64
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Lane == nil {
		o.Lane = func(_ context.Context, d serverdb.Due) (string, error) { return string(d.Namespace), nil }
	}
	o.Hands, o.Each = max(o.Hands, 1), max(o.Each, 1)
	return &Round{
		o: o, stir: make(chan struct{}, 1), hands: make(chan struct{}, o.Hands),
		lanes: lanes{each: o.Each, by: map[string]*lane{}},
	}
}

// Stir lets the round look at once.
func (r *Round) Stir() {
	select {
	case r.stir <- struct{}{}:
	default: // it is stirred already
	}
}

// Run looks after the queue until ctx ends, and waits for what is at work.
func (r *Round) Run(ctx context.Context) {
	defer r.work.Wait()
	for ctx.Err() == nil {
		n, err := r.claim(ctx)
		if err != nil && ctx.Err() == nil {
			r.o.Log.ErrorContext(ctx, "claim work", "queue", r.o.Queue, "err", err)
		}
		if n == 0 {
			r.rest(ctx)
		}
	}
}

// Once does what is due now, and answers how many items were claimed.
func (r *Round) Once(ctx context.Context) (int, error) {
	n, err := r.claim(ctx)
	r.work.Wait()
	return n, err
}

// rest waits until somebody stirs us or it is time to look.
func (r *Round) rest(ctx context.Context) {
	look := time.NewTimer(poll/2 + time.Duration(r.o.Rand()*float64(poll)))
	defer look.Stop()
	select {
	case <-ctx.Done():
	case <-r.stir:
	case <-look.C:
	}
}

// claim takes as many items as there are free hands, and begins each.
func (r *Round) claim(ctx context.Context) (int, error) {
	free := r.reach(ctx)
	if free == 0 {
		return 0, ctx.Err()
	}
	var items []serverdb.Due
	err := contain(func() (err error) {
		items, err = r.o.Ledger.Claim(ctx, r.o.Queue, r.o.Clock.Now(), r.o.Lease, free)
		return err
	})
	for range free - len(items) {
		<-r.hands
	}
	for _, d := range items {
		r.work.Go(func() {
			defer func() { <-r.hands }()
			if err := contain(func() error { return r.one(ctx, d) }); err != nil { // the claim ends by itself
				r.o.Log.WarnContext(ctx, "end claim", "queue", d.Queue, "namespace", d.Namespace, "id", d.ID, "err", err)
			}
		})
	}
	return len(items), err
}

// reach waits for a free hand, and takes all that are free.
func (r *Round) reach(ctx context.Context) int {
	select {
	case r.hands <- struct{}{}:
	case <-ctx.Done():
		return 0
	}
	for n := 1; ; n++ {
		select {
		case r.hands <- struct{}{}:
		default:
			return n
		}
	}
}

// one does one item, unless its lane is full: then it waits its turn in the queue.
func (r *Round) one(ctx context.Context, d serverdb.Due) error {
	name, err := r.o.Lane(ctx, d)
	if err != nil {
		return r.settle(ctx, d, time.Time{}, err)
	}
	wait, in := r.lanes.enter(name)
	if !in {
		return r.settle(ctx, d, r.o.Clock.Now().Add(wait), nil)
	}
	defer r.Stir()            // who waited for this lane may come
	began := clock.Wall.Now() // how slow a lane is has nothing to do with the time of day
	var again time.Time
	err = contain(func() (err error) {
		again, err = r.do(ctx, d)
		return err
	})
	r.lanes.leave(name, clock.Wall.Now().Sub(began))
	return r.settle(ctx, d, again, err)
}

// contain makes an error of a panic.
func contain(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}

// do does the work in bounded time.
func (r *Round) do(ctx context.Context, d serverdb.Due) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, r.o.Limit)
	defer cancel()
	if r.o.Leases == nil {
		return r.o.Do(ctx, d)
	}
	h := &hold{r: r, name: "work/" + d.Queue + "/" + string(d.Namespace) + "/" + d.ID, holder: r.o.Holder + "/" + strconv.FormatInt(d.Stamp, 10)}
	ours, err := h.lease(ctx, r.o.Lease)
	if err != nil {
		return time.Time{}, err
	}
	if !ours {
		return r.o.Clock.Now().Add(r.o.Lease / 2), nil
	}
	defer h.keep(ctx, cancel)()
	return r.o.Do(ctx, d)
}

// settle says what becomes of an item. Who is told to end gives it back at once.
func (r *Round) settle(ctx context.Context, d serverdb.Due, again time.Time, err error) error {
	ended := ctx.Err() != nil
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settling)
	defer cancel()
	now := r.o.Clock.Now()
	switch {
	case err != nil && ended:
		again = now
	case err != nil && r.o.Elsewhere != nil && r.o.Elsewhere(err):
		again = now.Add(elsewhere + time.Duration(r.o.Rand()*2*float64(elsewhere)))
	case err != nil:
		r.o.Log.ErrorContext(ctx, "do work", "queue", d.Queue, "namespace", d.Namespace, "id", d.ID, "err", err)
		again = now.Add(afterFail + time.Duration(r.o.Rand()*float64(afterFail)))
	}
	if again.IsZero() {
		return r.o.Ledger.Finish(ctx, d)
	}
	return r.o.Ledger.Postpone(ctx, d, again)
}
