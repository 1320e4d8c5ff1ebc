// Package webhooks tells others what happens in a namespace: notices of the catalog become
// events and messages, and messages go to webhooks until they arrive.
//
// It touches the ledger, the outboxes of catalogs, and the addresses of webhooks by way of
// its sender. It never reads files and never opens a store.
//
//	N1  A notice is taken only after its events are in the ledger. Ids of events and
//	    messages are made of what they tell: doing it twice adds nothing.
//	N2  A message leaves the queue only after its end is written down: at least once, always
//	    with the same id and the same body.
//	N3  A slow endpoint holds up its own messages and no others.
//	N4  Secrets are opened for one signature, and are in no log and no row.
package webhooks

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/webhook"
	"github.com/retake-dev/retake/internal/pure/secretbox"
	"github.com/retake-dev/retake/internal/server/jobs"
	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// CatalogReader are what a courier reads of a namespace's catalog.
type CatalogReader interface {
	catalog.Outbox
	Checkpoint(ctx context.Context, id retake.CheckpointID) (retake.Checkpoint, error)
	Tombstones(ctx context.Context, ws retake.WorkspaceID) ([]retake.Tombstone, error)
	Verifications(ctx context.Context, q catalog.VerificationQuery) ([]retake.Verification, error)
}

// Sender posts a message; webhook.Sender does.
type Sender interface {
	Post(ctx context.Context, url string, header map[string]string, body []byte) webhook.Outcome
}

// Options are what a courier is made of.
type Options struct {
	Ledger serverdb.Ledger
	Sealer secretbox.Keeper
	Sender Sender
	Clock  clock.Clock
	// Address is where a checkpoint can be asked for; nil: nothing is told.
	CheckpointURL func(retake.NamespaceID, retake.WorkspaceID, retake.CheckpointID) string
	// Outbox opens the catalog of a namespace until release.
	OpenOutbox  func(ctx context.Context, ns retake.NamespaceID) (rows CatalogReader, release func(), err error)
	Log         *slog.Logger
	Rand        func() float64 // from 0 up to 1, for jitter; nil: any
	Concurrency int            // messages under way at once; 0: 32
	// Elsewhere says of an error of Outbox that another server has the namespace.
	IsElsewhere func(error) bool
}

const (
	claimLease       = time.Minute // longer than a sender waits
	drainTimeout     = 45 * time.Second
	sendTimeout      = 45 * time.Second
	drainConcurrency = 8
	sendConcurrency  = 32
	perEndpoint      = 4
)

// Dispatcher carries what happened to who wants to know.
type Dispatcher struct {
	opts           Options
	outboxWorker   *jobs.Worker
	deliveryWorker *jobs.Worker
}

// New makes a courier. It does nothing until Run.
func New(o Options) *Dispatcher {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Rand == nil {
		o.Rand = rand.Float64
	}
	if o.Concurrency <= 0 {
		o.Concurrency = sendConcurrency
	}
	c := &Dispatcher{opts: o}
	c.outboxWorker = jobs.New(jobs.Options{
		Queue: serverdb.QueueOutbox, Ledger: o.Ledger, Clock: o.Clock, Log: o.Log, Rand: o.Rand,
		Lease: claimLease, Timeout: drainTimeout, Concurrency: drainConcurrency, LaneConcurrency: 1, Handle: c.drainDue, IsElsewhere: o.IsElsewhere,
	})
	c.deliveryWorker = jobs.New(jobs.Options{
		Queue: serverdb.QueueDelivery, Ledger: o.Ledger, Clock: o.Clock, Log: o.Log, Rand: o.Rand,
		Lease: claimLease, Timeout: sendTimeout, Concurrency: o.Concurrency, LaneConcurrency: min(perEndpoint, o.Concurrency), LaneOf: c.endpointLane, Handle: c.Deliver,
	})
	return c
}

// Run carries until ctx ends.
func (c *Dispatcher) Run(ctx context.Context) error {
	var both sync.WaitGroup
	both.Go(func() { c.outboxWorker.Run(ctx) })
	both.Go(func() { c.deliveryWorker.Run(ctx) })
	both.Wait()
	return ctx.Err()
}

// RunOnce does what is due now, notices first, and answers how many items were claimed.
func (c *Dispatcher) RunOnce(ctx context.Context) (int, error) {
	n, err := c.outboxWorker.RunOnce(ctx)
	if err != nil {
		return n, err
	}
	m, err := c.deliveryWorker.RunOnce(ctx)
	return n + m, err
}

// Wake lets the courier look at a queue at once, after this process put something there.
func (c *Dispatcher) Wake(queue string) {
	switch queue {
	case serverdb.QueueOutbox:
		c.outboxWorker.Wake()
	case serverdb.QueueDelivery:
		c.deliveryWorker.Wake()
	}
}

// Publish adds events of a namespace, and their messages. An event without an id gets one
// of what it says.
func (c *Dispatcher) Publish(ctx context.Context, ns retake.NamespaceID, events ...retake.Event) error {
	for i, e := range events {
		if e.ID == "" {
			events[i].ID = EventID(ns, e.Type, e.Time.UTC().Format(time.RFC3339Nano), string(e.Data))
		}
	}
	if err := c.opts.Ledger.Book(ns).Publish(ctx, events, c.messageBuilder(ns)); err != nil {
		return err
	}
	c.deliveryWorker.Wake()
	return nil
}

// messageBuilder makes what one webhook is sent of an event.
func (c *Dispatcher) messageBuilder(ns retake.NamespaceID) func(retake.Event, serverdb.Hook, retake.EventType) (string, []byte) {
	return func(e retake.Event, h serverdb.Hook, name retake.EventType) (string, []byte) {
		return messagePrefix + hashParts(string(ns), e.ID, string(h.ID), string(name)), webhook.Body(e, name)
	}
}
