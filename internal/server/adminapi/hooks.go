package adminapi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/webhook"
	"github.com/retake-dev/retake/internal/server/webhooks"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

const maxWebhooks = 20

func checkEventTypes(types []retake.EventType) error {
	for _, t := range types {
		if !slices.Contains(retake.EventTypes, t) {
			return invalidError("%q is not an event type", t)
		}
	}
	return nil
}

// MakeWebhook adds a webhook and returns the secret that its receiver verifies messages with.
func (o *Office) MakeWebhook(ctx context.Context, req retake.WebhookRequest) (retake.NewWebhook, error) {
	if req.Scheme == "" {
		req.Scheme = retake.SchemeShared
	}
	if req.Scheme != retake.SchemeShared && req.Scheme != retake.SchemePair {
		return retake.NewWebhook{}, invalidError("%q is no scheme", req.Scheme)
	}
	if err := o.checkWebhook(req.URL, req.Types); err != nil {
		return retake.NewWebhook{}, err
	}
	if req.Workspace != "" {
		if err := o.checkWorkspace(ctx, req.Workspace); err != nil {
			return retake.NewWebhook{}, err
		}
	}
	all, err := o.book.Hooks(ctx)
	if err != nil {
		return retake.NewWebhook{}, err
	}
	if len(all) >= maxWebhooks {
		return retake.NewWebhook{}, &retake.Error{Kind: retake.Limit, What: "the namespace has as many webhooks as it may", Safe: unchanged, Hint: "drop one first"}
	}
	id, err := newID("wh_")
	if err != nil {
		return retake.NewWebhook{}, err
	}
	h := serverdb.Hook{Webhook: retake.Webhook{ID: retake.WebhookID(id), URL: req.URL, Types: req.Types, Workspace: req.Workspace, Scheme: req.Scheme, Created: o.Clock.Now()}}
	if h.Types == nil {
		h.Types = []retake.EventType{}
	}
	shown, err := o.newSecret(ctx, &h)
	if err != nil {
		return retake.NewWebhook{}, err
	}
	if err := o.book.PutHook(ctx, h); err != nil {
		return retake.NewWebhook{}, err
	}
	return retake.NewWebhook{Webhook: h.Webhook, Secret: shown}, nil
}

// checkWorkspace returns an error if the namespace has no such workspace.
func (o *Office) checkWorkspace(ctx context.Context, ws retake.WorkspaceID) error {
	all, err := o.Service.Workspaces(ctx)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(all, func(w retake.WorkspaceState) bool { return w.ID == ws }) {
		return &retake.Error{Kind: retake.NotFound, What: fmt.Sprintf("there is no workspace %s", ws), Safe: unchanged, Hint: "list them: retake workspaces"}
	}
	return nil
}

// newSecret creates the secret of a webhook, seals it in h and returns what its receiver needs.
func (o *Office) newSecret(ctx context.Context, h *serverdb.Hook) (shown string, err error) {
	private, shown, public := webhook.NewSecret(h.Scheme)
	sealed, err := o.Sealer.Seal(ctx, webhooks.SecretPurpose(o.Options.Namespace, h.ID), private)
	h.Secret, h.Public = sealed, public
	return shown, err
}

// checkWebhook returns an error if a webhook may not have this URL or these event types.
func (o *Office) checkWebhook(url string, types []retake.EventType) error {
	if err := checkEventTypes(types); err != nil {
		return err
	}
	return o.CheckWebhookURL(url)
}

// Webhooks lists all webhooks.
func (o *Office) Webhooks(ctx context.Context) ([]retake.Webhook, error) {
	all, err := o.book.Hooks(ctx)
	out := make([]retake.Webhook, 0, len(all))
	for i := range all {
		out = append(out, all[i].Webhook)
	}
	return out, err
}

// ChangeWebhook replaces the URL and the event types, and enables or disables a webhook.
func (o *Office) ChangeWebhook(ctx context.Context, w retake.Webhook) (retake.Webhook, error) {
	if err := o.checkWebhook(w.URL, w.Types); err != nil {
		return retake.Webhook{}, err
	}
	h, err := o.book.ChangeHook(ctx, w.ID, func(h *serverdb.Hook) error {
		if err := retake.CheckVersion(ctx, "the webhook", h.Version()); err != nil {
			return err
		}
		h.URL, h.Types = w.URL, append([]retake.EventType{}, w.Types...)
		switch {
		case w.Disabled == nil:
			h.Disabled, h.Why = nil, ""
		case h.Disabled == nil:
			now := o.Clock.Now()
			h.Disabled, h.Why = &now, "asked for"
		}
		return nil
	})
	return h.Webhook, notFoundError("webhook", err)
}

// DropWebhook deletes a webhook. Messages that wait for it are not delivered.
func (o *Office) DropWebhook(ctx context.Context, id retake.WebhookID) error {
	return notFoundError("webhook", o.book.DropHook(ctx, id))
}

// RotateWebhook creates a new secret. For a day messages are signed with the old one, too.
func (o *Office) RotateWebhook(ctx context.Context, id retake.WebhookID) (retake.NewWebhook, error) {
	h, err := o.book.Hook(ctx, id)
	if err != nil {
		return retake.NewWebhook{}, notFoundError("webhook", err)
	}
	shown, err := o.newSecret(ctx, &h) // of the same ID and scheme, which never change
	if err != nil {
		return retake.NewWebhook{}, err
	}
	now, made := o.Clock.Now(), h
	h, err = o.book.ChangeHook(ctx, id, func(h *serverdb.Hook) error {
		h.Old, h.Rotated, h.Secret, h.Public = h.Secret, &now, made.Secret, made.Public
		return nil
	})
	if err != nil {
		return retake.NewWebhook{}, notFoundError("webhook", err)
	}
	return retake.NewWebhook{Webhook: h.Webhook, Secret: shown}, nil
}

// Deliveries lists messages, newest first.
func (o *Office) Deliveries(ctx context.Context, q retake.DeliveryQuery) ([]retake.Delivery, error) {
	all, err := o.book.Deliveries(ctx, q)
	return all, notFoundError("message", err)
}

// Delivery returns one message with its body.
func (o *Office) Delivery(ctx context.Context, id string) (retake.Delivery, error) {
	d, err := o.book.Delivery(ctx, id)
	return d, notFoundError("message", err)
}

// Replay sends a message again.
func (o *Office) Replay(ctx context.Context, id string) (retake.Delivery, error) {
	if _, err := o.Delivery(ctx, id); err != nil {
		return retake.Delivery{}, err
	}
	d, err := o.Options.ReplayDelivery(ctx, o.Options.Namespace, id)
	if err == nil {
		o.WakeDelivery()
	}
	return d, err
}

// eventPollInterval is how often Events looks again while it waits. Events may come from
// another server, which cannot wake this one.
const eventPollInterval = 250 * time.Millisecond

// Events lists events after a given one. If there are none it waits up to q.Wait for the first.
func (o *Office) Events(ctx context.Context, q retake.EventQuery) ([]retake.Event, error) {
	if q.Newest {
		return o.newestEvent(ctx)
	}
	if q.Limit <= 0 || q.Limit > 1000 {
		q.Limit = 100
	}
	enough := time.NewTimer(q.Wait)
	defer enough.Stop()
	again := time.NewTicker(eventPollInterval)
	defer again.Stop()
	for {
		got, err := o.book.Events(ctx, q.After, q.Limit)
		if err != nil || len(got) > 0 || q.Wait <= 0 {
			return got, err
		}
		select {
		case <-ctx.Done():
			return got, ctx.Err()
		case <-enough.C:
			return got, nil
		case <-again.C:
		}
	}
}

// newestEvent returns the newest event, or none if there are no events yet.
func (o *Office) newestEvent(ctx context.Context) ([]retake.Event, error) {
	e, err := o.book.NewestEvent(ctx)
	if errors.Is(err, serverdb.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return []retake.Event{e}, nil
}
