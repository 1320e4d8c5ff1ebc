package webhooks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/webhook"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

const (
	oldSecretGrace   = 24 * time.Hour // how long the old secret signs, too, after a rotation
	maxRetryAfter    = 24 * time.Hour // upper bound for the Retry-After of a receiver
	maxRecordedTries = 100            // of one message, which may be replayed any number of times
	userAgent        = "Retake-Webhooks/1"
	recordTimeout    = 10 * time.Second // how long it may take to store the result of an attempt
)

// SecretPurpose binds the sealed secret of a webhook to the webhook.
func SecretPurpose(ns retake.NamespaceID, id retake.WebhookID) string {
	return "webhook/" + string(ns) + "/" + string(id)
}

// endpointLane returns the lane of a message: its webhook.
func (c *Dispatcher) endpointLane(ctx context.Context, due serverdb.Due) (string, error) {
	d, err := c.opts.Ledger.Book(due.Namespace).Delivery(ctx, due.ID)
	if errors.Is(err, serverdb.ErrNotFound) {
		return string(due.Namespace), nil
	}
	return string(due.Namespace) + "/" + string(d.Webhook), err
}

// Deliver makes one attempt to deliver a message that is due. It returns when the next attempt
// is due, or a zero time if there is none.
func (c *Dispatcher) Deliver(ctx context.Context, due serverdb.Due) (time.Time, error) {
	book := c.opts.Ledger.Book(due.Namespace)
	d, err := book.Delivery(ctx, due.ID)
	if errors.Is(err, serverdb.ErrNotFound) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("find message: %w", err)
	}
	now := c.opts.Clock.Now()
	switch {
	case d.State != retake.DeliveryWaiting: // done, but the worker was killed before it could finish the item
		return time.Time{}, nil
	case d.Next != nil && d.Next.After(now): // tried, but the worker was killed before it could postpone the item
		return *d.Next, nil
	}
	h, err := book.Hook(ctx, d.Webhook)
	switch {
	case errors.Is(err, serverdb.ErrNotFound):
		return time.Time{}, c.markDead(ctx, book, d, retake.Try{At: now, Why: "the webhook is gone"})
	case err != nil:
		return time.Time{}, fmt.Errorf("find webhook: %w", err)
	case h.Disabled != nil:
		return time.Time{}, c.markDead(ctx, book, d, retake.Try{At: now, Why: "the webhook is disabled: " + h.Why})
	}
	header, err := c.signHeaders(ctx, due.Namespace, h, d, now)
	if err != nil {
		return time.Time{}, err
	}
	began := clock.Wall.Now()
	out := c.opts.Sender.Post(ctx, h.URL, header, d.Body)
	if out.Err != nil && errors.Is(ctx.Err(), context.Canceled) { // the server is stopping, and it is not known whether the message arrived
		return time.Time{}, ctx.Err()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	return c.recordAttempt(ctx, book, d, h, out, clock.Wall.Now().Sub(began))
}

// signHeaders returns the headers of a message with its signatures. For a day after a rotation
// both secrets sign.
func (c *Dispatcher) signHeaders(ctx context.Context, ns retake.NamespaceID, h serverdb.Hook, d retake.Delivery, now time.Time) (map[string]string, error) {
	secrets := [][]byte{h.Secret}
	if len(h.Old) > 0 && h.Rotated != nil && now.Before(h.Rotated.Add(oldSecretGrace)) {
		secrets = append(secrets, h.Old)
	}
	var signatures []string
	for _, sealed := range secrets {
		private, err := c.opts.Sealer.Open(ctx, SecretPurpose(ns, h.ID), sealed)
		if err != nil {
			return nil, fmt.Errorf("open secret of webhook: %w", err)
		}
		signature := webhook.Sign(h.Scheme, private, d.ID, now, d.Body)
		clear(private)
		if signature == "" {
			return nil, errors.New("sign message: the secret does not fit the scheme of the webhook")
		}
		signatures = append(signatures, signature)
	}
	header := webhook.Header(d.ID, now, signatures...)
	header["user-agent"], header["content-type"] = userAgent, "application/json"
	return header, nil
}

// recordAttempt stores the result of an attempt and returns when the next one is due.
func (c *Dispatcher) recordAttempt(ctx context.Context, book serverdb.Book, d retake.Delivery, h serverdb.Hook, out webhook.Outcome, took time.Duration) (time.Time, error) {
	now := c.opts.Clock.Now()
	try := retake.Try{At: now, Status: out.Status, Took: took}
	if out.Err == nil {
		d.State, d.Next = retake.DeliveryDelivered, nil
		return time.Time{}, c.putAttempt(ctx, book, d, try)
	}
	try.Why = truncateText(out.Err.Error())
	if out.Gone {
		if err := c.disableWebhook(ctx, book, h, now); err != nil {
			return time.Time{}, err
		}
		return time.Time{}, c.markDead(ctx, book, d, try)
	}
	wait, more := webhook.NextDelay(len(d.Tries)+1, c.opts.Rand)
	if !more {
		return time.Time{}, c.markDead(ctx, book, d, try)
	}
	next := now.Add(max(wait, min(out.RetryAfter, maxRetryAfter)))
	d.Next = &next
	return next, c.putAttempt(ctx, book, d, try)
}

// markDead stores the last attempt of a message that is not sent again.
func (c *Dispatcher) markDead(ctx context.Context, book serverdb.Book, d retake.Delivery, try retake.Try) error {
	d.State, d.Next = retake.DeliveryDead, nil
	return c.putAttempt(ctx, book, d, try)
}

// putAttempt adds an attempt to a message and stores it.
func (c *Dispatcher) putAttempt(ctx context.Context, book serverdb.Book, d retake.Delivery, try retake.Try) error {
	d.Tries = append(d.Tries, try)
	if n := len(d.Tries) - maxRecordedTries; n > 0 {
		d.Tries = d.Tries[n:]
	}
	if err := book.PutDelivery(ctx, d); err != nil {
		return fmt.Errorf("write down try: %w", err)
	}
	return nil
}

// disableWebhook disables a webhook whose receiver answered 410 Gone, unless its URL was changed
// meanwhile.
func (c *Dispatcher) disableWebhook(ctx context.Context, book serverdb.Book, was serverdb.Hook, now time.Time) error {
	_, err := book.ChangeHook(ctx, was.ID, func(h *serverdb.Hook) error {
		if h.URL == was.URL && h.Disabled == nil {
			h.Disabled, h.Why = &now, "the receiver answered 410 Gone"
		}
		return nil
	})
	if err != nil && !errors.Is(err, serverdb.ErrNotFound) {
		return fmt.Errorf("disable webhook: %w", err)
	}
	return nil
}

// Replay makes a message due again, whatever its state, with the same ID and body and a new
// signature.
func (c *Dispatcher) Replay(ctx context.Context, ns retake.NamespaceID, id string) (retake.Delivery, error) {
	book := c.opts.Ledger.Book(ns)
	d, err := book.Delivery(ctx, id)
	if errors.Is(err, serverdb.ErrNotFound) {
		return d, &retake.Error{Kind: retake.NotFound, What: "there is no such message", Safe: "Nothing was sent.", Err: err}
	}
	if err != nil {
		return d, fmt.Errorf("find message: %w", err)
	}
	now := c.opts.Clock.Now()
	d.State, d.Next = retake.DeliveryWaiting, &now
	if err := book.PutDelivery(ctx, d); err != nil {
		return d, fmt.Errorf("replay message: %w", err)
	}
	if err := c.opts.Ledger.Put(ctx, serverdb.Due{Queue: serverdb.QueueDelivery, Namespace: ns, ID: id, At: now}); err != nil {
		return d, fmt.Errorf("replay message: %w", err)
	}
	c.deliveryWorker.Wake()
	return d, nil
}
