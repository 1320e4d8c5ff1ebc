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
	Open func(ctx context.Context, ns retake.NamespaceID) (svc retake.Service, release func(), err error)
	// Publish tells events; the courier does.
	Publish func(ctx context.Context, ns retake.NamespaceID, events ...retake.Event) error
	// Sign signs anchors, with ed25519; nil: there are none.
	Sign func(text []byte) []byte
	Rand func() float64 // from 0 up to 1, for jitter; nil: any
	// Elsewhere says of an error of Open that another server has the namespace.
	Elsewhere func(error) bool
}

const (
	lease     = time.Minute
	longLimit = 30 * time.Minute // of a run, a tidy-up or a deletion
	hands     = 4
	perSpace  = 2 // schedules of one namespace at once
	anchoring = 20 * time.Second
)

// Timetable looks after what is due.
type Timetable struct {
	o      Options
	rounds map[string]*jobs.Round
}

// New makes a timetable. It does nothing until Run.
func New(o Options) *Timetable {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Rand == nil {
		o.Rand = rand.Float64
	}
	t := &Timetable{o: o, rounds: map[string]*jobs.Round{}}
	holder := uuid.NewString()
	long := func(queue string, each int, do func(context.Context, serverdb.Due) (time.Time, error)) {
		t.rounds[queue] = jobs.New(jobs.Options{
			Queue: queue, Ledger: o.Ledger, Clock: o.Clock, Log: o.Log, Rand: o.Rand, Elsewhere: o.Elsewhere,
			Lease: lease, Limit: longLimit, Hands: hands, Each: each, Do: do, Leases: o.Ledger, Holder: holder,
		})
	}
	long(serverdb.QueueSchedule, perSpace, t.schedule)
	long(serverdb.QueueDeletion, 1, t.deletion)
	long(serverdb.QueueRetention, 1, t.retention)
	if o.Sign != nil {
		t.rounds[serverdb.QueueAnchor] = jobs.New(jobs.Options{
			Queue: serverdb.QueueAnchor, Ledger: o.Ledger, Clock: o.Clock, Log: o.Log, Rand: o.Rand,
			Lease: lease, Limit: anchoring, Hands: hands, Each: 1, Do: t.anchor,
		})
	}
	return t
}

// Run works until ctx ends. First it makes sure that every namespace has its daily turn.
func (t *Timetable) Run(ctx context.Context) error {
	if err := t.enrollAll(ctx); err != nil && ctx.Err() == nil {
		t.o.Log.ErrorContext(ctx, "enroll namespaces", "err", err)
	}
	var all sync.WaitGroup
	for _, r := range t.rounds {
		all.Go(func() { r.Run(ctx) })
	}
	all.Wait()
	return ctx.Err()
}

// Once does what is due now in one queue, and answers how many items were claimed.
func (t *Timetable) Once(ctx context.Context, queue string) (int, error) {
	r := t.rounds[queue]
	if r == nil {
		return 0, nil
	}
	return r.Once(ctx)
}

// Stir lets the timetable look at a queue at once.
func (t *Timetable) Stir(queue string) {
	if r := t.rounds[queue]; r != nil {
		r.Stir()
	}
}

// Enroll gives a new namespace its first turns: a tidy-up within a day, an anchor soon.
func (t *Timetable) Enroll(ctx context.Context, ns retake.NamespaceID) error {
	now := t.o.Clock.Now()
	err := t.o.Ledger.Put(ctx, serverdb.Due{Queue: serverdb.QueueRetention, Namespace: ns, At: now.Add(t.some(day))})
	if err != nil || t.o.Sign == nil {
		return err
	}
	return t.o.Ledger.Put(ctx, serverdb.Due{Queue: serverdb.QueueAnchor, Namespace: ns, At: now.Add(anchorEvery)})
}

// enrollAll heals what a crash between a namespace and its first turn left out. A turn
// that is there already stays where it is.
func (t *Timetable) enrollAll(ctx context.Context) error {
	all, err := t.o.Ledger.Namespaces(ctx)
	if err != nil {
		return err
	}
	for _, ns := range all {
		if ns.Ended != nil {
			continue
		}
		if err := t.Enroll(ctx, ns.ID); err != nil {
			return err
		}
	}
	return nil
}

// some answers a random part of d.
func (t *Timetable) some(d time.Duration) time.Duration {
	return time.Duration(t.o.Rand() * float64(d))
}

// as says who acts: the server itself, named after what it does.
func as(ctx context.Context, kind retake.KeyKind, name string) context.Context {
	return retake.WithActor(ctx, retake.Actor{Kind: kind, Name: name})
}
