package httpapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
	"github.com/retake-dev/retake/internal/ui/httpapi"
)

func (f *fakeService) PlanRestore(_ context.Context, q retake.PlanRequest) (retake.Plan, error) {
	return answerWith[retake.Plan](f, q)
}

func (f *fakeService) ViewPlan(_ context.Context, q retake.PlanRequest) (retake.ViewedPlan, error) {
	return answerWith[retake.ViewedPlan](f, q)
}

func (f *fakeService) ApplyRestore(ctx context.Context, q retake.ApplyRequest) (retake.RestoreResult, error) {
	if f.restore != nil {
		return f.restore(ctx, q)
	}
	if q.Progress != nil {
		q.Progress(filledValue[retake.Progress]())
	}
	q.Progress = nil
	return answerWith[retake.RestoreResult](f, q)
}

func (f *fakeService) Fork(_ context.Context, q retake.ForkRequest) (retake.ForkResult, error) {
	if q.Progress != nil {
		q.Progress(filledValue[retake.Progress]())
	}
	q.Progress = nil
	return answerWith[retake.ForkResult](f, q)
}

func (f *fakeService) Forks(_ context.Context, ws retake.WorkspaceID) ([]retake.WorkspaceState, error) {
	return answerWith[[]retake.WorkspaceState](f, ws)
}

var (
	planRequest = retake.PlanRequest{
		Workspace: wsID, Course: retake.CourseAdopt, Ref: "14", Paths: []string{"a b", "", oddName}, Git: true,
		Fork: "ws_0197a1de-0000-7000-8000-000000000003",
	}
	applyRequest = retake.ApplyRequest{PlanRequest: planRequest, Digest: "7f3a-91c0", Accept: []string{retake.ObstacleHeld, retake.ObstacleSpace}, ID: cpID}
	forkRequest  = retake.ForkRequest{Workspace: wsID, Ref: "14", Dir: "/" + oddName, Name: oddName, Throwaway: true}
)

var returnCalls = []apiCall{
	{"plan", []any{planRequest}, func(ctx context.Context, c *client.Client) (any, error) { return c.PlanRestore(ctx, planRequest) }},
	{"plan in words", []any{planRequest}, func(ctx context.Context, c *client.Client) (any, error) { return c.ViewPlan(ctx, planRequest) }},
	{"plan of all", []any{retake.PlanRequest{Workspace: wsID, Course: retake.CourseUndo}}, func(ctx context.Context, c *client.Client) (any, error) {
		return c.PlanRestore(ctx, retake.PlanRequest{Workspace: wsID, Course: retake.CourseUndo})
	}},
	{"plan of text", []any{retake.PlanRequest{Workspace: wsID, Paths: []string{"é", "b/"}}}, func(ctx context.Context, c *client.Client) (any, error) {
		return c.PlanRestore(ctx, retake.PlanRequest{Workspace: wsID, Paths: []string{"é", "b/"}})
	}},
	{"restore", []any{applyRequest}, func(ctx context.Context, c *client.Client) (any, error) { return c.ApplyRestore(ctx, applyRequest) }},
	{"restore with progress", []any{applyRequest}, func(ctx context.Context, c *client.Client) (any, error) {
		q := applyRequest
		return withProgress(func(tell func(retake.Progress)) (retake.RestoreResult, error) {
			q.Progress = tell
			return c.ApplyRestore(ctx, q)
		})
	}},
	{"fork", []any{forkRequest}, func(ctx context.Context, c *client.Client) (any, error) { return c.Fork(ctx, forkRequest) }},
	{"fork with progress", []any{forkRequest}, func(ctx context.Context, c *client.Client) (any, error) {
		q := forkRequest
		return withProgress(func(tell func(retake.Progress)) (retake.ForkResult, error) {
			q.Progress = tell
			return c.Fork(ctx, q)
		})
	}},
	{"forks", []any{wsID}, func(ctx context.Context, c *client.Client) (any, error) { return c.Forks(ctx, wsID) }},
}

// emptyService returns values with nothing in them.
type emptyService struct{ *fakeService }

func (emptyService) PlanRestore(context.Context, retake.PlanRequest) (retake.Plan, error) {
	return retake.Plan{}, nil
}

func (emptyService) ApplyRestore(context.Context, retake.ApplyRequest) (retake.RestoreResult, error) {
	return retake.RestoreResult{}, nil
}

func (emptyService) Fork(context.Context, retake.ForkRequest) (retake.ForkResult, error) {
	return retake.ForkResult{}, nil
}

func (emptyService) Forks(context.Context, retake.WorkspaceID) ([]retake.WorkspaceState, error) {
	return nil, nil
}

// An empty list is a list and not null. Only a target may be null.
func TestEmptyListsAreLists(t *testing.T) {
	t.Parallel()
	h := httpapi.New(emptyService{&fakeService{}}, httpapi.Options{})
	for _, x := range []struct {
		method, at, body string
		lists            []string
	}{
		{"POST", "plans", `{"course":"restore"}`, []string{"writes", "deletes", "merges", "times", "keeps", "obstacles", "effects"}},
		{"POST", "restores", `{"course":"restore","digest":"1"}`, []string{"failed", "warnings"}},
		{"POST", "forks", `{"dir":"/f"}`, []string{"warnings"}},
		{"GET", "forks", ``, []string{"forks"}},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(x.method, "/v1/workspaces/a/"+x.at, strings.NewReader(x.body)))
		var got map[string]json.RawMessage
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusOK {
			t.Errorf("%s %s: %d %v: %s", x.method, x.at, w.Code, err, w.Body)
			continue
		}
		for _, name := range x.lists {
			if string(got[name]) != "[]" {
				t.Errorf("%s %s: %s is %s", x.method, x.at, name, got[name])
			}
			delete(got, name)
		}
		for name, v := range got {
			if string(v) == "null" && name != "target" {
				t.Errorf("%s %s: %s is null", x.method, x.at, name)
			}
		}
	}
	p, err := serve(t, h).PlanRestore(t.Context(), retake.PlanRequest{Workspace: wsID})
	if err != nil || p.Target != nil {
		t.Errorf("a plan without a target: %+v %v", p.Target, err)
	}
}

// If exact bytes are sent, only they count.
func TestPathsByTheirBytes(t *testing.T) {
	t.Parallel()
	f := &fakeService{}
	h := httpapi.New(f, httpapi.Options{})
	const paths = `"paths":["a","n\ufffd"],"paths_raw":["YQ==","bv8="]}`
	for at, sent := range map[string]string{"plans": `{"course":"restore",` + paths, "restores": `{"course":"restore","digest":"1",` + paths} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("POST", "/v1/workspaces/a/"+at, strings.NewReader(sent)))
		want := retake.PlanRequest{Workspace: "a", Course: retake.CourseRestore, Paths: []string{"a", "n\xff"}}
		asked := any(want)
		if at == "restores" {
			asked = retake.ApplyRequest{PlanRequest: want, Digest: "1"}
		}
		if d := cmp.Diff([]any{asked}, f.takeCalls()); d != "" || w.Code != http.StatusOK {
			t.Errorf("%s: %d (-want +got):\n%s", at, w.Code, d)
		}
	}
}

// A restore that was done in part is a success that names what was left.
func TestDoneInPartIsAnAnswer(t *testing.T) {
	t.Parallel()
	left := []retake.Failure{{Path: oddName, Why: "it changed meanwhile"}}
	f := &fakeService{restore: func(context.Context, retake.ApplyRequest) (retake.RestoreResult, error) {
		return retake.RestoreResult{Written: 3, Failed: left}, nil
	}}
	for _, tell := range []func(retake.Progress){nil, func(retake.Progress) {}} {
		got, err := serveFake(t, f).ApplyRestore(t.Context(), retake.ApplyRequest{PlanRequest: retake.PlanRequest{Workspace: wsID}, Progress: tell})
		if d := cmp.Diff(left, got.Failed); d != "" || err != nil || got.Written != 3 {
			t.Errorf("%+v %v (-want +got):\n%s", got, err, d)
		}
	}
}
