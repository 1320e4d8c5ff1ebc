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

// Rows are what a courier reads of a namespace's catalog.
type Rows interface {
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
	Seal   secretbox.Keeper
	Sender Sender
	Clock  clock.Clock
	// Address is where a checkpoint can be asked for; nil: nothing is told.
	Address func(retake.NamespaceID, retake.WorkspaceID, retake.CheckpointID) string
	// Outbox opens the catalog of a namespace until release.
	Outbox  func(ctx context.Context, ns retake.NamespaceID) (rows Rows, release func(), err error)
	Log     *slog.Logger
	Rand    func() float64 // from 0 up to 1, for jitter; nil: any
	Workers int            // messages under way at once; 0: 32
	// Elsewhere says of an error of Outbox that another server has the namespace.
	Elsewhere func(error) bool
}

const (
	lease       = time.Minute // longer than a sender waits
	drainLimit  = 45 * time.Second
	sendLimit   = 45 * time.Second
	drainHands  = 8
	sendHands   = 32
	perEndpoint = 4
)

// Courier carries what happened to who wants to know.
type Courier struct {
	o      Options
	outbox *jobs.Round
	send   *jobs.Round
}

// New makes a courier. It does nothing until Run.
func New(o Options) *Courier {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Rand == nil {
		o.Rand = rand.Float64
	}
	if o.Workers <= 0 {
		o.Workers = sendHands
	}
	c := &Courier{o: o}
	c.outbox = jobs.New(jobs.Options{
		Queue: serverdb.QueueOutbox, Ledger: o.Ledger, Clock: o.Clock, Log: o.Log, Rand: o.Rand,
		Lease: lease, Limit: drainLimit, Hands: drainHands, Each: 1, Do: c.drainDue, Elsewhere: o.Elsewhere,
	})
	c.send = jobs.New(jobs.Options{
		Queue: serverdb.QueueDelivery, Ledger: o.Ledger, Clock: o.Clock, Log: o.Log, Rand: o.Rand,
		Lease: lease, Limit: sendLimit, Hands: o.Workers, Each: min(perEndpoint, o.Workers), Lane: c.endpoint, Do: c.Deliver,
	})
	return c
}

// Run carries until ctx ends.
func (c *Courier) Run(ctx context.Context) error {
	var both sync.WaitGroup
	both.Go(func() { c.outbox.Run(ctx) })
	both.Go(func() { c.send.Run(ctx) })
	both.Wait()
	return ctx.Err()
}

// Once does what is due now, notices first, and answers how many items were claimed.
func (c *Courier) Once(ctx context.Context) (int, error) {
	n, err := c.outbox.Once(ctx)
	if err != nil {
		return n, err
	}
	m, err := c.send.Once(ctx)
	return n + m, err
}

// Stir lets the courier look at a queue at once, after this process put something there.
func (c *Courier) Stir(queue string) {
	switch queue {
	case serverdb.QueueOutbox:
		c.outbox.Stir()
	case serverdb.QueueDelivery:
		c.send.Stir()
	}
}

// Publish adds events of a namespace, and their messages. An event without an id gets one
// of what it says.
func (c *Courier) Publish(ctx context.Context, ns retake.NamespaceID, events ...retake.Event) error {
	for i, e := range events {
		if e.ID == "" {
			events[i].ID = EventID(ns, e.Type, e.Time.UTC().Format(time.RFC3339Nano), string(e.Data))
		}
	}
	if err := c.o.Ledger.Book(ns).Publish(ctx, events, c.message(ns)); err != nil {
		return err
	}
	c.send.Stir()
	return nil
}

// message makes what one webhook is sent of an event.
func (c *Courier) message(ns retake.NamespaceID) func(retake.Event, serverdb.Hook, retake.EventType) (string, []byte) {
	return func(e retake.Event, h serverdb.Hook, name retake.EventType) (string, []byte) {
		return messagePrefix + digest(string(ns), e.ID, string(h.ID), string(name)), webhook.Body(e, name)
	}
}
