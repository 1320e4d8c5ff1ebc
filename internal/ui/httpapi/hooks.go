package httpapi

import (
	"cmp"
	"context"
	"net/http"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

type hookPath struct {
	Hook retake.WebhookID `path:"hook" doc:"The webhook's ID."`
}

type changeHookInput struct {
	Hook retake.WebhookID `path:"hook" doc:"The webhook's ID."`
	IfMatch
	Body wire.ChangeHookBody
}

type deliveryQuery struct {
	Webhook retake.WebhookID     `query:"webhook" doc:"Only messages to the webhook with this ID."`
	State   retake.DeliveryState `query:"state" doc:"Only messages in this state: waiting, delivered or dead."`
	Before  string               `query:"before" doc:"Continue below the message with this ID. cursor does the same."`
	Limit   int                  `query:"limit" doc:"The largest number of results, up to 1000. Absent means 50."`
	Cursor  string               `query:"cursor" doc:"The next_cursor of the page before."`
}

type deliveryPath struct {
	Delivery string `path:"delivery" doc:"The message's ID."`
}

// registerWebhooks registers the routes for webhooks and deliveries.
func (a *api) registerWebhooks() {
	handleOffice(a, withStatusCreated(newOperation(http.MethodPost, "/v1/webhooks", "make-webhook", "Create a webhook")), func(ctx context.Context, o retake.Office, in *body[wire.HookBody]) (retake.NewWebhook, error) {
		b := in.Body
		if b.Scheme == "" {
			b.Scheme = retake.SchemeShared
		}
		types, err := eventTypes(b.Types, b.Events)
		if err != nil {
			return retake.NewWebhook{}, err
		}
		if b.Namespace != "" {
			if ns, err := o.Namespace(ctx); err != nil || ns.ID != b.Namespace {
				return retake.NewWebhook{}, cmp.Or(err, error(requestProblem(http.StatusUnprocessableEntity, "body.namespace: your API key is for another namespace")))
			}
		}
		w, err := o.MakeWebhook(ctx, retake.WebhookRequest{URL: b.URL, Types: types, Workspace: b.Workspace, Scheme: b.Scheme})
		w.Webhook = fillWebhook(w.Webhook)
		return w, err
	})
	handleOffice(a, newOperation(http.MethodGet, "/v1/webhooks", "list-webhooks", "List webhooks"), func(ctx context.Context, o retake.Office, in *pageQuery) (page[retake.Webhook], error) {
		all, err := o.Webhooks(ctx)
		for i := range all {
			all[i] = fillWebhook(all[i])
		}
		return pageFromList(a, "webhooks", in, all, err, func(w *retake.Webhook) string { return string(w.ID) })
	})
	handleTagged(a, newOperation(http.MethodPut, "/v1/webhooks/{hook}", "change-webhook", "Change a webhook"), (*retake.Webhook).Version, inOffice(a, func(ctx context.Context, o retake.Office, in *changeHookInput) (retake.Webhook, error) {
		types, err := eventTypes(in.Body.Types, in.Body.Events)
		if err != nil {
			return retake.Webhook{}, err
		}
		w, err := o.ChangeWebhook(ctx, retake.Webhook{ID: in.Hook, URL: in.Body.URL, Types: types, Disabled: in.Body.Disabled})
		return fillWebhook(w), err
	}))
	handleOfficeEmpty(a, newOperation(http.MethodDelete, "/v1/webhooks/{hook}", "drop-webhook", "Delete a webhook"), func(ctx context.Context, o retake.Office, in *hookPath) error {
		return o.DropWebhook(ctx, in.Hook)
	})
	handleOffice(a, newOperation(http.MethodPost, "/v1/webhooks/{hook}/rotate", "rotate-webhook", "Rotate a webhook's secret"), func(ctx context.Context, o retake.Office, in *hookPath) (retake.NewWebhook, error) {
		w, err := o.RotateWebhook(ctx, in.Hook)
		w.Webhook = fillWebhook(w.Webhook)
		return w, err
	})
	handleOffice(a, newOperation(http.MethodGet, "/v1/deliveries", "list-deliveries", "List deliveries"), a.listDeliveries)
	handleOffice(a, newOperation(http.MethodGet, "/v1/deliveries/{delivery}", "delivery", "Get a delivery"), func(ctx context.Context, o retake.Office, in *deliveryPath) (retake.Delivery, error) {
		return fillDelivery(o.Delivery(ctx, in.Delivery))
	})
	handleOffice(a, newOperation(http.MethodPost, "/v1/deliveries/{delivery}/replay", "replay", "Send a delivery again"), func(ctx context.Context, o retake.Office, in *deliveryPath) (retake.Delivery, error) {
		return fillDelivery(o.Replay(ctx, in.Delivery))
	})
}

// fillWebhook replaces nil lists, which must not be null in JSON, and adds the ETag.
func fillWebhook(w retake.Webhook) retake.Webhook {
	w.Types, w.ETag = nonNil(w.Types), entityTag(w.Version())
	return w
}

// fillDelivery replaces nil lists, which must not be null in JSON.
func fillDelivery(d retake.Delivery, err error) (retake.Delivery, error) {
	d.Tries = nonNil(d.Tries)
	return d, err
}

// listDeliveries returns one page of deliveries.
func (a *api) listDeliveries(ctx context.Context, o retake.Office, in *deliveryQuery) (page[retake.Delivery], error) {
	filter := "deliveries " + string(in.Webhook) + " " + string(in.State)
	before, err := a.cursorText(filter, in.Cursor, in.Before)
	if err != nil {
		return page[retake.Delivery]{}, err
	}
	limit := (&pageQuery{Limit: in.Limit}).pageLimit()
	got, err := o.Deliveries(ctx, retake.DeliveryQuery{Webhook: in.Webhook, State: in.State, Before: before, Limit: limit + 1})
	if err != nil {
		return page[retake.Delivery]{}, err
	}
	for i := range got {
		got[i].Tries = nonNil(got[i].Tries)
	}
	return pageFromFetched(a, filter, limit, got, func(d *retake.Delivery) string { return d.ID }), nil
}

// eventTypes returns the event types of a request, which has them under one of two names.
func eventTypes(types, events []retake.EventType) ([]retake.EventType, error) {
	if len(types) > 0 && len(events) > 0 {
		return nil, requestProblem(http.StatusUnprocessableEntity, "body.events: types says the same, send one of the two")
	}
	if len(events) > 0 {
		return events, nil
	}
	return types, nil
}
