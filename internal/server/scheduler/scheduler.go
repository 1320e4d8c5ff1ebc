// Package scheduler does what a server does by itself: schedules, deletions whose grace period
// has ended, the daily retention of each namespace, and anchors of audit logs.
//
// It accesses the ledger, and namespaces through their service. It does not decide what is
// kept: the service refuses to delete pins, holds and the newest checkpoint.
//
//	H1  Missed runs are counted and reported, and one run makes up for them.
//	H2  Nothing is deleted before its grace period ends, nor after it was canceled.
//	H3  An anchor is written only for a head that existed, and is never changed.
//	H4  All work is bounded in time. A failure in one namespace does not affect another.
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

// Options configure a scheduler.
type Options struct {
	Ledger serverdb.Ledger
	Clock  clock.Clock
	Log    *slog.Logger
	// OpenService opens the service of a namespace. The caller must call release.
	OpenService func(ctx context.Context, ns retake.NamespaceID) (svc retake.Service, release func(), err error)
	// Publish publishes events, see webhooks.Dispatcher.
	Publish func(ctx context.Context, ns retake.NamespaceID, events ...retake.Event) error
	// SignAnchor signs anchors with ed25519; nil: there are no anchors.
	SignAnchor func(text []byte) []byte
	// KeepAnchor keeps a signed anchor outside of the database.
	KeepAnchor func(ctx context.Context, ns retake.NamespaceID, a serverdb.Anchor) error
	Rand       func() float64 // in [0, 1), for jitter; nil: random
	Poll       time.Duration  // see jobs.Options
	// IsElsewhere reports whether an error of OpenService means that another server has the
	// namespace open.
	IsElsewhere func(error) bool
}

const (
	claimLease            = time.Minute
	longTimeout           = 30 * time.Minute // for a run, a retention or a deletion
	concurrency           = 4
	schedulesPerNamespace = 2 // schedules of one namespace that run at once
	anchorTimeout         = 20 * time.Second
)

// Scheduler runs scheduled work when it is due.
type Scheduler struct {
	opts    Options
	workers map[string]*jobs.Worker
}

// New creates a scheduler. It does nothing until Run or RunOnce.
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
			Queue: queue, Ledger: o.Ledger, Clock: o.Clock, Log: o.Log, Rand: o.Rand, Poll: o.Poll, IsElsewhere: o.IsElsewhere,
			Lease: claimLease, Timeout: longTimeout, Concurrency: concurrency, LaneConcurrency: each, Handle: do, Leases: o.Ledger, Holder: holder,
		})
	}
	long(serverdb.QueueSchedule, schedulesPerNamespace, t.runDueSchedule)
	long(serverdb.QueueDeletion, 1, t.runDueDeletion)
	long(serverdb.QueueRetention, 1, t.runRetention)
	if o.SignAnchor != nil {
		t.workers[serverdb.QueueAnchor] = jobs.New(jobs.Options{
			Queue: serverdb.QueueAnchor, Ledger: o.Ledger, Clock: o.Clock, Log: o.Log, Rand: o.Rand, Poll: o.Poll,
			Lease: claimLease, Timeout: anchorTimeout, Concurrency: concurrency, LaneConcurrency: 1, Handle: t.signAnchor, MaxDelay: maxAnchorDelay,
		})
	}
	return t
}

// Run runs due work until ctx ends. First it makes sure that every namespace is enrolled.
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

// RunOnce does what is due now in one queue and returns the number of items that it claimed.
func (t *Scheduler) RunOnce(ctx context.Context, queue string) (int, error) {
	r := t.workers[queue]
	if r == nil {
		return 0, nil
	}
	return r.RunOnce(ctx)
}

// Wake makes the scheduler read a queue at once.
func (t *Scheduler) Wake(queue string) {
	if r := t.workers[queue]; r != nil {
		r.Wake()
	}
}

// EnrollNamespace queues the first retention of a namespace, within a day, and its first
// anchor.
func (t *Scheduler) EnrollNamespace(ctx context.Context, ns retake.NamespaceID) error {
	now := t.opts.Clock.Now()
	err := t.opts.Ledger.PutNew(ctx, serverdb.Due{Queue: serverdb.QueueRetention, Namespace: ns, At: now.Add(t.randomPart(day))})
	if err != nil || t.opts.SignAnchor == nil {
		return err
	}
	return t.opts.Ledger.PutNew(ctx, serverdb.Due{Queue: serverdb.QueueAnchor, Namespace: ns, At: now.Add(anchorInterval)})
}

// enrollNamespaces enrolls all namespaces, because a server may have been killed between
// creating a namespace and enrolling it. Items that are queued already are not changed: what is parked
// stays parked.
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

// randomPart returns a random part of d.
func (t *Scheduler) randomPart(d time.Duration) time.Duration {
	return time.Duration(t.opts.Rand() * float64(d))
}

// withActor records the server as the actor of what follows, named after its task.
func withActor(ctx context.Context, kind retake.KeyKind, name string) context.Context {
	return retake.WithActor(ctx, retake.Actor{Kind: kind, Name: name})
}
