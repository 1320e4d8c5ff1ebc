package httpapi_test

import (
	"context"

	"github.com/retake-dev/retake"
)

func (f *fixed) MakeWebhook(_ context.Context, req retake.WebhookRequest) (retake.NewWebhook, error) {
	return give[retake.NewWebhook](f, req)
}

func (f *fixed) Webhooks(context.Context) ([]retake.Webhook, error) {
	return give[[]retake.Webhook](f)
}

func (f *fixed) ChangeWebhook(_ context.Context, w retake.Webhook) (retake.Webhook, error) {
	return give[retake.Webhook](f, w)
}

func (f *fixed) DropWebhook(_ context.Context, id retake.WebhookID) error {
	_, err := give[retake.Pin](f, id)
	return err
}

func (f *fixed) RotateWebhook(_ context.Context, id retake.WebhookID) (retake.NewWebhook, error) {
	return give[retake.NewWebhook](f, id)
}

func (f *fixed) Deliveries(_ context.Context, q retake.DeliveryQuery) ([]retake.Delivery, error) {
	return give[[]retake.Delivery](f, q)
}

func (f *fixed) Delivery(_ context.Context, id string) (retake.Delivery, error) {
	return give[retake.Delivery](f, id)
}

func (f *fixed) Replay(_ context.Context, id string) (retake.Delivery, error) {
	return give[retake.Delivery](f, id)
}

func (f *fixed) Events(ctx context.Context, q retake.EventQuery) ([]retake.Event, error) {
	if f.news != nil {
		return f.news(ctx, q)
	}
	return give[[]retake.Event](f, q)
}

var (
	hookRequest = retake.WebhookRequest{URL: "https://x/é?a=b&c", Types: []retake.EventType{retake.EventCreated}, Scheme: retake.SchemePair}
	changedHook = retake.Webhook{ID: "wh/..", URL: "https://y", Types: []retake.EventType{retake.EventVerified}, Disabled: &soon}
)
