package httpapi_test

import (
	"context"

	"github.com/retake-dev/retake"
)

func (f *fakeService) MakeWebhook(_ context.Context, req retake.WebhookRequest) (retake.NewWebhook, error) {
	return answerWith[retake.NewWebhook](f, req)
}

func (f *fakeService) Webhooks(context.Context) ([]retake.Webhook, error) {
	return answerWith[[]retake.Webhook](f)
}

func (f *fakeService) ChangeWebhook(_ context.Context, w retake.Webhook) (retake.Webhook, error) {
	return answerWith[retake.Webhook](f, w)
}

func (f *fakeService) DropWebhook(_ context.Context, id retake.WebhookID) error {
	_, err := answerWith[retake.Pin](f, id)
	return err
}

func (f *fakeService) RotateWebhook(_ context.Context, id retake.WebhookID) (retake.NewWebhook, error) {
	return answerWith[retake.NewWebhook](f, id)
}

func (f *fakeService) Deliveries(_ context.Context, q retake.DeliveryQuery) ([]retake.Delivery, error) {
	return answerWith[[]retake.Delivery](f, q)
}

func (f *fakeService) Delivery(_ context.Context, id string) (retake.Delivery, error) {
	return answerWith[retake.Delivery](f, id)
}

func (f *fakeService) Replay(_ context.Context, id string) (retake.Delivery, error) {
	return answerWith[retake.Delivery](f, id)
}

func (f *fakeService) Events(ctx context.Context, q retake.EventQuery) ([]retake.Event, error) {
	if f.events != nil {
		return f.events(ctx, q)
	}
	return answerWith[[]retake.Event](f, q)
}

var (
	hookRequest = retake.WebhookRequest{URL: "https://x/é?a=b&c", Types: []retake.EventType{retake.EventCreated}, Scheme: retake.SchemePair}
	changedHook = retake.Webhook{ID: "wh/..", URL: "https://y", Types: []retake.EventType{retake.EventVerified}, Disabled: &soon}
)
