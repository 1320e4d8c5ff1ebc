package httpapi_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/httpapi"
)

type wireProblem struct {
	Code      string
	Status    int
	Retryable bool
	RequestID string   `json:"request_id"`
	NextSteps []string `json:"next_steps"`
}

// Every problem has the ID of its request, wherever it was created.
func TestProblemsTellTheRequest(t *testing.T) {
	t.Parallel()
	f := &fakeService{err: &retake.Error{Kind: retake.Busy, What: "no"}}
	h := httpapi.New(f, httpapi.Options{Office: f})
	for _, x := range [][3]string{
		{"GET", "/v1/space", ""},
		{"GET", "/v1/namespace", ""},
		{"GET", "/v1/events", ""},
		{"GET", "/v1/workspaces/a/file?path=x", ""},
		{"GET", "/v1/workspaces/a/checkpoints/1/archive", ""},
		{"POST", "/v1/workspaces/a/checkpoints", "{}"},
		{"POST", "/v1/import", "x"},
		{"POST", "/v1/keys", "{"},
		{"POST", "/v1/keys", "{}"},
		{"GET", "/v1/keys?limit=x", ""},
		{"GET", "/v1/nothing", ""},
		{"PATCH", "/v1/keys", ""},
		{"GET", "/v1/space?a=%zz", ""},
		{"DELETE", "/v1/webhooks/a", ""},
	} {
		for _, id := range []string{"req_7", ""} {
			r := httptest.NewRequest(x[0], x[1], strings.NewReader(x[2]))
			if id != "" {
				r = r.WithContext(httpapi.WithRequestID(r.Context(), id))
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			var p wireProblem
			if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || p.RequestID != id || p.Code == "" || p.Status != w.Code {
				t.Errorf("%v with %q: %v: %s", x, id, err, w.Body)
			}
		}
	}
}

// A handler in front of the API can write the same problem with its own status.
func TestWriteProblem(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		err    *retake.Error
		status int
		want   wireProblem
	}{
		{&retake.Error{Kind: retake.Busy, What: "too often"}, http.StatusTooManyRequests, wireProblem{Code: "limited", Status: 429, Retryable: true}},
		{&retake.Error{Kind: retake.Denied, What: "no key"}, 0, wireProblem{Code: "forbidden", Status: 403}},
		{
			&retake.Error{Kind: retake.Denied, What: "not with this", Hint: "this needs an API key with the role operator or admin"}, 0,
			wireProblem{Code: "forbidden", Status: 403, NextSteps: []string{"use an API key with the role operator or admin"}},
		},
		{
			&retake.Error{Kind: retake.Away, What: "gone", Hint: "look at it: retake daemon status\nretake doctor\nor wait"}, 0,
			wireProblem{Code: "unavailable", Status: 503, Retryable: true, NextSteps: []string{"retake daemon status", "retake doctor"}},
		},
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", "/v1/about", nil)
		httpapi.WriteProblem(w, r.WithContext(httpapi.WithRequestID(r.Context(), "req_1")), x.err, x.status)
		var got wireProblem
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		x.want.RequestID = "req_1"
		if d := cmp.Diff(x.want, got); d != "" || w.Code != x.want.Status || w.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%d (-want +got):\n%s", w.Code, d)
		}
	}
}
