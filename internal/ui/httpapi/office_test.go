package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
	"github.com/retake-dev/retake/internal/ui/httpapi"
)

func (f *fakeService) Namespace(context.Context) (retake.Namespace, error) {
	return answerWith[retake.Namespace](f)
}

func (f *fakeService) Usage(context.Context) (retake.Usage, error) {
	return answerWith[retake.Usage](f)
}

func (f *fakeService) SetLimits(_ context.Context, q retake.LimitsRequest) (retake.Namespace, error) {
	return answerWith[retake.Namespace](f, q)
}

func (f *fakeService) Import(_ context.Context, req retake.ImportRequest, archive io.Reader) (retake.SaveResult, error) {
	b, err := io.ReadAll(archive)
	if err != nil {
		return retake.SaveResult{}, err
	}
	return answerWith[retake.SaveResult](f, req, string(b))
}

func (f *fakeService) WriteFile(_ context.Context, req retake.FileRequest, content io.Reader) (retake.FileWritten, error) {
	b, err := io.ReadAll(content)
	if err != nil {
		return retake.FileWritten{}, err
	}
	return answerWith[retake.FileWritten](f, req, string(b))
}

func (f *fakeService) RemoveFile(_ context.Context, req retake.FileRequest) error {
	_, err := answerWith[struct{}](f, req)
	return err
}

func (f *fakeService) CreateNamespace(_ context.Context, req retake.NamespaceRequest) (retake.NewNamespace, error) {
	return answerWith[retake.NewNamespace](f, req)
}

func (f *fakeService) Provisioned(context.Context) ([]retake.Namespace, error) {
	return answerWith[[]retake.Namespace](f)
}

func (f *fakeService) ProvisionedNamespace(_ context.Context, ns retake.NamespaceID) (retake.Namespace, error) {
	return answerWith[retake.Namespace](f, ns)
}

func (f *fakeService) SetNamespaceLimits(_ context.Context, ns retake.NamespaceID, q retake.LimitsRequest) (retake.Namespace, error) {
	return answerWith[retake.Namespace](f, ns, q)
}

func (f *fakeService) CreateNamespaceKey(_ context.Context, ns retake.NamespaceID, req retake.KeyRequest) (retake.NewKey, error) {
	return answerWith[retake.NewKey](f, ns, req)
}

func (f *fakeService) MakeKey(_ context.Context, req retake.KeyRequest) (retake.NewKey, error) {
	return answerWith[retake.NewKey](f, req)
}

func (f *fakeService) Keys(context.Context) ([]retake.Key, error) { return answerWith[[]retake.Key](f) }

func (f *fakeService) RevokeKey(_ context.Context, id retake.KeyID) (retake.Key, error) {
	return answerWith[retake.Key](f, id)
}

func (f *fakeService) MakeSchedule(_ context.Context, req retake.ScheduleRequest) (retake.Schedule, error) {
	return answerWith[retake.Schedule](f, req)
}

func (f *fakeService) ViewCadence(_ context.Context, cron string) (retake.Cadence, error) {
	return answerWith[retake.Cadence](f, cron)
}

func (f *fakeService) Schedules(context.Context) ([]retake.Schedule, error) {
	return answerWith[[]retake.Schedule](f)
}

func (f *fakeService) DropSchedule(_ context.Context, id string) error {
	_, err := answerWith[retake.Pin](f, id)
	return err
}

func (f *fakeService) Audit(_ context.Context, q retake.AuditQuery) ([]retake.AuditEntry, error) {
	return answerWith[[]retake.AuditEntry](f, q)
}

func (f *fakeService) CheckAudit(context.Context) (retake.AuditProof, error) {
	return answerWith[retake.AuditProof](f)
}

func (f *fakeService) RequestDeletion(_ context.Context, req retake.DeletionRequest) (retake.Deletion, error) {
	return answerWith[retake.Deletion](f, req)
}

func (f *fakeService) Deletions(context.Context) ([]retake.Deletion, error) {
	return answerWith[[]retake.Deletion](f)
}

func (f *fakeService) CancelDeletion(_ context.Context, id string) (retake.Deletion, error) {
	return answerWith[retake.Deletion](f, id)
}

func (f *fakeService) Hold(_ context.Context, ws retake.WorkspaceID, ref, name string) (retake.Pin, error) {
	return answerWith[retake.Pin](f, ws, ref, name)
}

func (f *fakeService) Release(_ context.Context, ws retake.WorkspaceID, name string) error {
	_, err := answerWith[retake.Pin](f, ws, name)
	return err
}

var (
	soon          = time.Date(2027, 1, 2, 3, 4, 5, 6, time.UTC)
	keyRequest    = retake.KeyRequest{Kind: retake.KeyAgent, Name: "é “x”", Workspaces: []string{string(wsID)}, Expires: &soon}
	planRequest2  = retake.ScheduleRequest{Work: retake.WorkSave, Workspace: wsID, Cron: "*/5 * * * *", Jitter: 3 * time.Second}
	goRequest     = retake.DeletionRequest{Workspace: wsID, Refs: []string{"3", oddName[:1]}, Why: "asked for"}
	limitsRequest = retake.LimitsRequest{Limits: filledValue[retake.Limits](), IfVersion: filledValue[retake.Namespace]().Limits.Version()}
	applied       = retake.ApplyRequest{PlanRequest: planRequest, Digest: filledValue[retake.Plan]().Digest, Accept: []string{retake.ObstacleHeld}, ID: cpID}
)

// emptyResult is for methods that return only an error.
func emptyResult(err error) (any, error) { return filledValue[retake.Pin](), err }

// officeCalls are the methods that only a server has, and the restore in one call.
var officeCalls = []apiCall{
	{"namespace", nil, func(ctx context.Context, c *client.Client) (any, error) { return c.Namespace(ctx) }},
	{"usage", nil, func(ctx context.Context, c *client.Client) (any, error) { return c.Usage(ctx) }},
	{"set limits", []any{limitsRequest}, func(ctx context.Context, c *client.Client) (any, error) { return c.SetLimits(ctx, limitsRequest) }},
	{"import", []any{retake.ImportRequest{Name: "é/x", Intent: "first\n"}, "bytes \xff"}, func(ctx context.Context, c *client.Client) (any, error) {
		return c.Import(ctx, retake.ImportRequest{Name: "é/x", Intent: "first\n"}, strings.NewReader("bytes \xff"))
	}},
	{"make key", []any{keyRequest}, func(ctx context.Context, c *client.Client) (any, error) { return c.MakeKey(ctx, keyRequest) }},
	{"keys", nil, func(ctx context.Context, c *client.Client) (any, error) { return c.Keys(ctx) }},
	{"revoke key", []any{retake.KeyID("key/..")}, func(ctx context.Context, c *client.Client) (any, error) { return c.RevokeKey(ctx, "key/..") }},
	{"make webhook", []any{hookRequest}, func(ctx context.Context, c *client.Client) (any, error) { return c.MakeWebhook(ctx, hookRequest) }},
	{"webhooks", nil, func(ctx context.Context, c *client.Client) (any, error) { return c.Webhooks(ctx) }},
	{"change webhook", []any{changedHook}, func(ctx context.Context, c *client.Client) (any, error) { return c.ChangeWebhook(ctx, changedHook) }},
	{"drop webhook", []any{retake.WebhookID("wh")}, func(ctx context.Context, c *client.Client) (any, error) { return emptyResult(c.DropWebhook(ctx, "wh")) }},
	{"rotate webhook", []any{retake.WebhookID("wh")}, func(ctx context.Context, c *client.Client) (any, error) { return c.RotateWebhook(ctx, "wh") }},
	{"deliveries", []any{retake.DeliveryQuery{Webhook: "wh", State: retake.DeliveryDead, Before: "msg_2", Limit: 8}}, func(ctx context.Context, c *client.Client) (any, error) {
		return c.Deliveries(ctx, retake.DeliveryQuery{Webhook: "wh", State: retake.DeliveryDead, Before: "msg_2", Limit: 7})
	}},
	{"delivery", []any{"msg_1"}, func(ctx context.Context, c *client.Client) (any, error) { return c.Delivery(ctx, "msg_1") }},
	{"replay", []any{"msg_1"}, func(ctx context.Context, c *client.Client) (any, error) { return c.Replay(ctx, "msg_1") }},
	{"events", []any{retake.EventQuery{After: 5, Limit: 7, Wait: 3 * time.Second}}, func(ctx context.Context, c *client.Client) (any, error) {
		return c.Events(ctx, retake.EventQuery{After: 5, Limit: 7, Wait: 3 * time.Second})
	}},
	{"make schedule", []any{planRequest2}, func(ctx context.Context, c *client.Client) (any, error) { return c.MakeSchedule(ctx, planRequest2) }},
	{"cadence", []any{"0 3 * * *"}, func(ctx context.Context, c *client.Client) (any, error) { return c.ViewCadence(ctx, "0 3 * * *") }},
	{"schedules", nil, func(ctx context.Context, c *client.Client) (any, error) { return c.Schedules(ctx) }},
	{"drop schedule", []any{"sch"}, func(ctx context.Context, c *client.Client) (any, error) {
		return emptyResult(c.DropSchedule(ctx, "sch"))
	}},
	{"audit", []any{retake.AuditQuery{Before: 9, Limit: 4}}, func(ctx context.Context, c *client.Client) (any, error) {
		return c.Audit(ctx, retake.AuditQuery{Before: 9, Limit: 3})
	}},
	{"audit, oldest first", []any{retake.AuditQuery{OldestFirst: true, After: 7, Limit: 4}}, func(ctx context.Context, c *client.Client) (any, error) {
		return c.Audit(ctx, retake.AuditQuery{OldestFirst: true, After: 7, Limit: 3})
	}},
	{"check audit", nil, func(ctx context.Context, c *client.Client) (any, error) { return c.CheckAudit(ctx) }},
	{"request deletion", []any{goRequest}, func(ctx context.Context, c *client.Client) (any, error) { return c.RequestDeletion(ctx, goRequest) }},
	{"deletions", nil, func(ctx context.Context, c *client.Client) (any, error) { return c.Deletions(ctx) }},
	{"cancel deletion", []any{"del"}, func(ctx context.Context, c *client.Client) (any, error) { return c.CancelDeletion(ctx, "del") }},
	{"hold", []any{wsID, "14", "case 7"}, func(ctx context.Context, c *client.Client) (any, error) { return c.Hold(ctx, wsID, "14", "case 7") }},
	{"release", []any{wsID, oddName}, func(ctx context.Context, c *client.Client) (any, error) {
		return emptyResult(c.Release(ctx, wsID, oddName))
	}},
	{"restore in one call", []any{planRequest, applied}, func(ctx context.Context, c *client.Client) (any, error) { return c.Restore(ctx, applied) }},
	{"restore in one call with progress", []any{planRequest, applied}, func(ctx context.Context, c *client.Client) (any, error) {
		q := applied
		return withProgress(func(tell func(retake.Progress)) (retake.RestoreResult, error) {
			q.Progress = tell
			return c.Restore(ctx, q)
		})
	}},
}

// Without a server every such route says so, and no call is made.
func TestWithoutAnOffice(t *testing.T) {
	t.Parallel()
	f := &fakeService{}
	c := serve(t, httpapi.New(f, httpapi.Options{}))
	asked := map[string]func() error{
		"make snapshot": func() error { _, err := c.MakeSnapshot(t.Context(), "", "x"); return err },
		"snapshots":     func() error { _, _, err := c.Snapshots(t.Context(), "", "", 0); return err },
		"snapshot":      func() error { _, err := c.Snapshot(t.Context(), cpID); return err },
		"drop snapshot": func() error { _, err := c.DropSnapshot(t.Context(), cpID, ""); return err },
		"go back":       func() error { _, err := c.RestoreSnapshot(t.Context(), cpID, nil, nil); return err },
		"follow":        func() error { return c.Follow(t.Context(), 0, func(retake.Event) error { return nil }) },
	}
	for _, x := range officeCalls {
		if !strings.HasPrefix(x.name, "restore") {
			asked[x.name] = func() error { _, err := x.call(t.Context(), c); return err }
		}
	}
	for name, call := range asked {
		if e := retake.AsError(call()); e.Kind != retake.NotFound || e.What != "only a server has this" {
			t.Errorf("%s: %+v", name, e)
		}
		if asked := f.takeCalls(); len(asked) > 0 {
			t.Errorf("%s reached the service: %v", name, asked)
		}
	}
}

// Limits that a change does not mention stay as they are.
func TestLimitsThatAreNotNamedStay(t *testing.T) {
	t.Parallel()
	f := &fakeService{}
	w := httptest.NewRecorder()
	httpapi.New(f, httpapi.Options{Office: f}).ServeHTTP(w, httptest.NewRequest("PUT", "/v1/namespace/limits", strings.NewReader(`{"store":0,"grace":5}`)))
	want := filledValue[retake.Namespace]().Limits
	want.Store, want.Grace = 0, 5
	if d := cmp.Diff([]any{retake.LimitsRequest{Limits: want, IfVersion: limitsRequest.IfVersion}}, f.takeCalls()); d != "" || w.Code != http.StatusOK {
		t.Errorf("%d %s (-want +got):\n%s", w.Code, w.Body, d)
	}
}

// Durations can be sent as texts, beside the numbers and instead of them.
func TestLimitsAsTexts(t *testing.T) {
	t.Parallel()
	const days = 24 * time.Hour
	for sent, want := range map[string]time.Duration{
		`{"within_text":"400d"}`: 400 * days, `{"within_text":"12w"}`: 84 * days, `{"within_text":"36h"}`: 36 * time.Hour, `{"within_text":"0"}`: 0,
		`{"within_text":"1d","within":86400000000000}`: days,
		`{"within_text":"1d","within":1}`:              -1, `{"within_text":"soon"}`: -1, `{"within_text":"99999999d"}`: -1, `{"grace_text":""}`: -1,
	} {
		f := &fakeService{}
		w := httptest.NewRecorder()
		httpapi.New(f, httpapi.Options{Office: f}).ServeHTTP(w, httptest.NewRequest("PUT", "/v1/namespace/limits", strings.NewReader(sent)))
		var asked retake.LimitsRequest
		for _, call := range f.takeCalls() {
			asked, _ = call.(retake.LimitsRequest)
		}
		if want < 0 != (w.Code == http.StatusUnprocessableEntity) || want >= 0 && asked.Limits.Within != want {
			t.Errorf("%s: %d %s: %v", sent, w.Code, w.Body, asked.Limits.Within)
		}
	}
	got, err := json.Marshal(retake.Limits{Within: 400 * days, Grace: 90 * time.Minute})
	if err != nil || !strings.Contains(string(got), `"within_text":"400d"`) || !strings.Contains(string(got), `"grace_text":"1h30m0s"`) || !strings.Contains(string(got), `"gone_after_text":"0"`) {
		t.Errorf("%v %s", err, got)
	}
}

// Limits that were changed since they were read are not overwritten.
func TestLimitsIfMatch(t *testing.T) {
	t.Parallel()
	f := &fakeService{}
	h := httpapi.New(f, httpapi.Options{Office: f})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/v1/namespace", nil))
	tag := w.Header().Get("ETag")
	if tag != `"`+limitsRequest.IfVersion+`"` {
		t.Fatalf("ETag %s", tag)
	}
	for match, want := range map[string]int{tag: 200, "*": 200, `"other", ` + tag: 200, `"other"`: 412, tag[1 : len(tag)-1]: 412} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("PUT", "/v1/namespace/limits", strings.NewReader(`{"store":1}`))
		r.Header.Set("If-Match", match)
		h.ServeHTTP(w, r)
		if w.Code != want || want == 412 && !strings.Contains(w.Body.String(), `"code":"precondition_failed"`) || want == 200 && w.Header().Get("ETag") == "" {
			t.Errorf("If-Match %s: %d %s", match, w.Code, w.Body)
		}
	}
}

// The status alone tells what happened.
func TestStatusOfDeeds(t *testing.T) {
	t.Parallel()
	f := &fakeService{}
	h := httpapi.New(f, httpapi.Options{Office: f})
	for _, x := range []struct {
		method, target, body string
		want                 int
	}{
		{"POST", "/v1/keys", `{"kind":"agent"}`, 201},
		{"POST", "/v1/webhooks", `{"url":"https://x"}`, 201},
		{"POST", "/v1/schedules", `{"work":"save","cron":"* * * * *"}`, 201},
		{"POST", "/v1/import", "tar", 201},
		{"POST", "/v1/snapshots", ``, 201},
		{"POST", "/v1/deletions", `{"workspace":"a","refs":["1"]}`, 202},
		{"DELETE", "/v1/snapshots/" + string(cpID), ``, 202},
		{"DELETE", "/v1/webhooks/a", ``, 204},
		{"DELETE", "/v1/schedules/a", ``, 204},
		{"DELETE", "/v1/workspaces/a/holds?name=b", ``, 204},
		{"DELETE", "/v1/keys/a", ``, 200},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(x.method, x.target, strings.NewReader(x.body)))
		if w.Code != x.want {
			t.Errorf("%s %s: %d, not %d: %s", x.method, x.target, w.Code, x.want, w.Body)
		}
	}
}

// manyKeysOffice is an office with n keys, which the test may delete.
type manyKeysOffice struct {
	*fakeService
	keys []retake.Key
}

func (m *manyKeysOffice) Keys(context.Context) ([]retake.Key, error) { return m.keys, nil }

func manyKeys(n int) *manyKeysOffice {
	m := &manyKeysOffice{fakeService: &fakeService{}}
	for i := range n {
		m.keys = append(m.keys, retake.Key{ID: retake.KeyID(fmt.Sprintf("key_%04d", i)), Workspaces: []string{}})
	}
	return m
}
