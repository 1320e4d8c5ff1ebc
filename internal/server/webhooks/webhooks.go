// Package webhooks tells others what happens in a namespace: notices of the catalog become
// events and messages, and messages are sent to webhooks until they arrive.
//
// It accesses the ledger, the outboxes of catalogs, and the URLs of webhooks through its
// Sender. It never reads files and never opens a store.
//
//	N1  A notice is deleted only after its events are in the ledger. IDs of events and
//	    messages are derived from their content, so doing it twice adds nothing.
//	N2  A message leaves the queue only after its result is stored: it is delivered at least
//	    once, always with the same ID and the same body.
//	N3  A slow endpoint delays its own messages and no others.
//	N4  A secret is opened for one signature, and is in no log and no row.
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

// CatalogReader is the part of a namespace's catalog that a dispatcher uses.
type CatalogReader interface {
	catalog.Outbox
	Checkpoint(ctx context.Context, id retake.CheckpointID) (retake.Checkpoint, error)
	Tombstones(ctx context.Context, ws retake.WorkspaceID) ([]retake.Tombstone, error)
	Verifications(ctx context.Context, q catalog.VerificationQuery) ([]retake.Verification, error)
}

// Sender posts a message, see webhook.Sender.
type Sender interface {
	Post(ctx context.Context, url string, header map[string]string, body []byte) webhook.Outcome
}

// Options configure a dispatcher.
type Options struct {
	Ledger serverdb.Ledger
	Sealer secretbox.Keeper
	Sender Sender
	Clock  clock.Clock
	// CheckpointURL returns the URL of a checkpoint; nil: events have none.
	CheckpointURL func(retake.NamespaceID, retake.WorkspaceID, retake.CheckpointID) string
	// OpenOutbox opens the catalog of a namespace. The caller must call release.
	OpenOutbox  func(ctx context.Context, ns retake.NamespaceID) (rows CatalogReader, release func(), err error)
	Log         *slog.Logger
	Rand        func() float64 // in [0, 1), for jitter; nil: random
	Concurrency int            // messages that are sent at once; 0: 32
	Poll        time.Duration  // see jobs.Options
	// IsElsewhere reports whether an error of OpenOutbox means that another server has the
	// namespace open.
	IsElsewhere func(error) bool
}

const (
	claimLease       = time.Minute // longer than a sender waits for a response
	drainTimeout     = 45 * time.Second
	sendTimeout      = 45 * time.Second
	drainConcurrency = 8
	sendConcurrency  = 32
	perEndpoint      = 4
)

// Dispatcher turns notices into events and delivers them to webhooks.
type Dispatcher struct {
	opts           Options
	outboxWorker   *jobs.Worker
	deliveryWorker *jobs.Worker
}

// New creates a dispatcher. It does nothing until Run or RunOnce.
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
		Queue: serverdb.QueueOutbox, Ledger: o.Ledger, Clock: o.Clock, Log: o.Log, Rand: o.Rand, Poll: o.Poll,
		Lease: claimLease, Timeout: drainTimeout, Concurrency: drainConcurrency, LaneConcurrency: 1, Handle: c.drainDue, IsElsewhere: o.IsElsewhere,
	})
	c.deliveryWorker = jobs.New(jobs.Options{
		Queue: serverdb.QueueDelivery, Ledger: o.Ledger, Clock: o.Clock, Log: o.Log, Rand: o.Rand, Poll: o.Poll,
		Lease: claimLease, Timeout: sendTimeout, Concurrency: o.Concurrency, LaneConcurrency: min(perEndpoint, o.Concurrency), LaneOf: c.endpointLane, Handle: c.Deliver,
	})
	return c
}

// Run drains outboxes and delivers messages until ctx ends.
func (c *Dispatcher) Run(ctx context.Context) error {
	var both sync.WaitGroup
	both.Go(func() { c.outboxWorker.Run(ctx) })
	both.Go(func() { c.deliveryWorker.Run(ctx) })
	both.Wait()
	return ctx.Err()
}

// RunOnce does what is due now, notices first, and returns the number of items that it claimed.
func (c *Dispatcher) RunOnce(ctx context.Context) (int, error) {
	n, err := c.outboxWorker.RunOnce(ctx)
	if err != nil {
		return n, err
	}
	m, err := c.deliveryWorker.RunOnce(ctx)
	return n + m, err
}

// Wake makes the dispatcher read a queue at once. Call it after adding to the queue.
func (c *Dispatcher) Wake(queue string) {
	switch queue {
	case serverdb.QueueOutbox:
		c.outboxWorker.Wake()
	case serverdb.QueueDelivery:
		c.deliveryWorker.Wake()
	}
}

// Publish adds events of a namespace and queues their messages. An event without an ID gets one
// that is derived from its content.
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

// messageBuilder returns the function that makes the ID and the body of the message with which
// an event is sent to one webhook.
func (c *Dispatcher) messageBuilder(ns retake.NamespaceID) func(retake.Event, serverdb.Hook, retake.EventType) (string, []byte) {
	return func(e retake.Event, h serverdb.Hook, name retake.EventType) (string, []byte) {
		return messagePrefix + hashParts(string(ns), e.ID, string(h.ID), string(name)), webhook.Body(e, name)
	}
}
