// Package scheduler does what a server does by itself: schedules, deletions whose grace is
// over, the daily tidy-up of each namespace, and anchors of audit logs.
//
// It touches the ledger, and namespaces by way of their service. It decides nothing about
// what stays: pins, holds and the newest checkpoint are the service's to refuse.
//
//	H1  A run that nobody was there for is counted and told, and one run is made up.
//	H2  Nothing is deleted before its grace is over, nor after it was canceled.
//	H3  An anchor is put only for a head that was there, and is never changed.
//	H4  All work is bounded in time; what fails in one namespace stays there.
package scheduler

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/server/jobs"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// Options are what a timetable is made of.
type Options struct {
	Ledger serverdb.Ledger
	Clock  clock.Clock
	Log    *slog.Logger
	// Open answers the service of a namespace until release.
	OpenService func(ctx context.Context, ns retake.NamespaceID) (svc retake.Service, release func(), err error)
	// Publish tells events; the courier does.
	Publish func(ctx context.Context, ns retake.NamespaceID, events ...retake.Event) error
	// Sign signs anchors, with ed25519; nil: there are none.
	SignAnchor func(text []byte) []byte
	Rand       func() float64 // from 0 up to 1, for jitter; nil: any
	// Elsewhere says of an error of Open that another server has the namespace.
	IsElsewhere func(error) bool
}

const (
	claimLease            = time.Minute
	longTimeout           = 30 * time.Minute // of a run, a tidy-up or a deletion
	concurrency           = 4
	schedulesPerNamespace = 2 // schedules of one namespace at once
	anchorTimeout         = 20 * time.Second
)

// Scheduler looks after what is due.
type Scheduler struct {
	opts    Options
	workers map[string]*jobs.Worker
}

// New makes a timetable. It does nothing until Run.
func New(o Options) *Scheduler {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Rand == nil {
		o.Rand = rand.Float64
	}
	t := &Scheduler{opts: o, workers: map[string]*jobs.Worker{}}
	holder := uuid.NewString()
	long := func(queue string, each int, do func(context.Context, serverdb.Due) (time.Time, error)) {
		t.workers[queue] = jobs.New(jobs.Options{
			Queue: queue, Ledger: o.Ledger, Clock: o.Clock, Log: o.Log, Rand: o.Rand, IsElsewhere: o.IsElsewhere,
			Lease: claimLease, Timeout: longTimeout, Concurrency: concurrency, LaneConcurrency: each, Handle: do, Leases: o.Ledger, Holder: holder,
		})
	}
	long(serverdb.QueueSchedule, schedulesPerNamespace, t.runDueSchedule)
	long(serverdb.QueueDeletion, 1, t.runDueDeletion)
	long(serverdb.QueueRetention, 1, t.runRetention)
	if o.SignAnchor != nil {
		t.workers[serverdb.QueueAnchor] = jobs.New(jobs.Options{
			Queue: serverdb.QueueAnchor, Ledger: o.Ledger, Clock: o.Clock, Log: o.Log, Rand: o.Rand,
			Lease: claimLease, Timeout: anchorTimeout, Concurrency: concurrency, LaneConcurrency: 1, Handle: t.signAnchor,
		})
	}
	return t
}

// Run works until ctx ends. First it makes sure that every namespace has its daily turn.
func (t *Scheduler) Run(ctx context.Context) error {
	if err := t.enrollNamespaces(ctx); err != nil && ctx.Err() == nil {
		t.opts.Log.ErrorContext(ctx, "enroll namespaces", "err", err)
	}
	var all sync.WaitGroup
	for _, r := range t.workers {
		all.Go(func() { r.Run(ctx) })
	}
	all.Wait()
	return ctx.Err()
}

// RunOnce does what is due now in one queue, and answers how many items were claimed.
func (t *Scheduler) RunOnce(ctx context.Context, queue string) (int, error) {
	r := t.workers[queue]
	if r == nil {
		return 0, nil
	}
	return r.RunOnce(ctx)
}

// Wake lets the timetable look at a queue at once.
func (t *Scheduler) Wake(queue string) {
	if r := t.workers[queue]; r != nil {
		r.Wake()
	}
}

// EnrollNamespace gives a new namespace its first turns: a tidy-up within a day, an anchor soon.
func (t *Scheduler) EnrollNamespace(ctx context.Context, ns retake.NamespaceID) error {
	now := t.opts.Clock.Now()
	err := t.opts.Ledger.Put(ctx, serverdb.Due{Queue: serverdb.QueueRetention, Namespace: ns, At: now.Add(t.randomPart(day))})
	if err != nil || t.opts.SignAnchor == nil {
		return err
	}
	return t.opts.Ledger.Put(ctx, serverdb.Due{Queue: serverdb.QueueAnchor, Namespace: ns, At: now.Add(anchorInterval)})
}

// enrollNamespaces heals what a crash between a namespace and its first turn left out. A turn
// that is there already stays where it is.
func (t *Scheduler) enrollNamespaces(ctx context.Context) error {
	all, err := t.opts.Ledger.Namespaces(ctx)
	if err != nil {
		return err
	}
	for _, ns := range all {
		if ns.Ended != nil {
			continue
		}
		if err := t.EnrollNamespace(ctx, ns.ID); err != nil {
			return err
		}
	}
	return nil
}

// randomPart answers a random part of d.
func (t *Scheduler) randomPart(d time.Duration) time.Duration {
	return time.Duration(t.opts.Rand() * float64(d))
}

// withActor says who acts: the server itself, named after what it does.
func withActor(ctx context.Context, kind retake.KeyKind, name string) context.Context {
	return retake.WithActor(ctx, retake.Actor{Kind: kind, Name: name})
}
