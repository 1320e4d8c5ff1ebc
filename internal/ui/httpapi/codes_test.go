package httpapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
	"github.com/retake-dev/retake/internal/ui/httpapi"
)

func writtenProblem(t *testing.T, ctx context.Context, err error, status int) wire.Problem {
	t.Helper()
	w := httptest.NewRecorder()
	httpapi.WriteProblem(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil), err, status)
	var p wire.Problem
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || p.Status != w.Code {
		t.Fatalf("%s: %v", w.Body, err)
	}
	return p
}

// A client decides by the code alone: what it must do differently has a code of its own, each code
// has one status, and the documentation has all.
func TestEachThingToDoHasACode(t *testing.T) {
	t.Parallel()
	docs, err := os.ReadFile("../../../docs/API.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		err    retake.Error
		status int
		code   string
		want   int
	}{
		{retake.Error{Kind: retake.Denied}, http.StatusUnauthorized, "unauthenticated", 401},
		{retake.Error{Kind: retake.Denied}, 0, "forbidden", 403},
		{retake.Error{Kind: retake.Denied, Accept: []string{"changed"}}, 0, "needs_confirmation", 409},
		{retake.Error{Kind: retake.NotFound}, 0, "not_found", 404},
		{retake.Error{Kind: retake.Invalid}, http.StatusNotFound, "unknown_route", 404},
		{retake.Error{Kind: retake.Invalid}, http.StatusMethodNotAllowed, "method_not_allowed", 405},
		{retake.Error{Kind: retake.Invalid}, http.StatusBadRequest, "invalid", 400},
		{retake.Error{Kind: retake.Invalid}, 0, "invalid", 422},
		{retake.Error{Kind: retake.Limit}, http.StatusRequestEntityTooLarge, "too_large", 413},
		{retake.Error{Kind: retake.Limit}, 0, "limit_reached", 507},
		{retake.Error{Kind: retake.Exists}, 0, "already_exists", 409},
		{retake.Error{Kind: retake.Moved}, 0, "stale_plan", 409},
		{retake.Error{Kind: retake.Busy}, http.StatusConflict, "in_progress", 409},
		{retake.Error{Kind: retake.Busy}, http.StatusTooManyRequests, "limited", 429},
		{retake.Error{Kind: retake.Busy}, 0, "busy", 503},
		{retake.Error{Kind: retake.Away}, 0, "unavailable", 503},
		{retake.Error{Kind: retake.Damaged}, 0, "damaged", 500},
		{retake.Error{Kind: retake.Partly}, 0, "incomplete", 500},
		{retake.Error{Kind: retake.Internal}, 0, "internal", 500},
		{retake.Error{Kind: retake.Canceled}, 0, "canceled", 499},
		{retake.Error{Kind: "of a later version"}, 0, "internal", 500},
	} {
		p := writtenProblem(t, t.Context(), &c.err, c.status)
		if p.Code != c.code || p.Status != c.want || p.Kind != c.err.Kind || !strings.HasSuffix(p.Type, "#"+c.code) {
			t.Errorf("%s with %d is %s %s %d", c.err.Kind, c.status, p.Kind, p.Code, p.Status)
		}
		if !strings.Contains(string(docs), `<a id="`+c.code+`"></a>`) {
			t.Errorf("docs/API.md has no %s", c.code)
		}
	}
}

// Who calls the API has no command line: hints name requests.
func TestHintsNameRequests(t *testing.T) {
	t.Parallel()
	e := &retake.Error{Kind: retake.NotFound, Hint: "list checkpoints: retake log\nundo it all: retake bisect\nin words"}
	p := writtenProblem(t, httpapi.WithRequestHints(t.Context()), e, 0)
	if want := "list checkpoints: GET /v1/workspaces/{ws}/checkpoints\nin words"; p.Hint != want || len(p.NextSteps) != 1 {
		t.Errorf("the hint is %q, with %q", p.Hint, p.NextSteps)
	}
	if p := writtenProblem(t, t.Context(), e, 0); p.Hint != e.Hint {
		t.Errorf("our command line gets %q", p.Hint)
	}
}
