package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/httpapi"
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
	hookRequest = retake.WebhookRequest{URL: "https://x/é?a=b&c", Types: []retake.EventType{retake.EventCreated}, Workspace: wsID, Scheme: retake.SchemePair}
	changedHook = retake.Webhook{ID: "wh/..", URL: "https://y", Types: []retake.EventType{retake.EventVerified}, Disabled: &soon}
)

// A webhook takes the names of the hosted page: events, namespace and workspace_id.
func TestWebhookByOtherNames(t *testing.T) {
	t.Parallel()
	own := string(filledValue[retake.Namespace]().ID)
	for sent, want := range map[string]*retake.WebhookRequest{
		`{"url":"https://x","events":["snapshot.created"],"workspace_id":"ws_1"}`: {URL: "https://x", Types: []retake.EventType{"snapshot.created"}, Workspace: "ws_1", Scheme: retake.SchemeShared},
		`{"url":"https://x","namespace":"` + own + `"}`:                           {URL: "https://x", Scheme: retake.SchemeShared},
		`{"url":"https://x","namespace":"other"}`:                                 nil,
		`{"url":"https://x","events":["a"],"types":["b"]}`:                        nil,
	} {
		f := &fakeService{}
		w := httptest.NewRecorder()
		httpapi.New(f, httpapi.Options{Office: f}).ServeHTTP(w, httptest.NewRequest("POST", "/v1/webhooks", strings.NewReader(sent)))
		if want == nil {
			if w.Code != http.StatusUnprocessableEntity || len(f.takeCalls()) > 0 {
				t.Errorf("%s: %d %s", sent, w.Code, w.Body)
			}
			continue
		}
		if d := cmp.Diff([]any{*want}, f.takeCalls()); d != "" || w.Code != http.StatusCreated {
			t.Errorf("%s: %d (-want +got):\n%s", sent, w.Code, d)
		}
	}
}
