package httpapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/pure/wire"
	"github.com/retake-dev/retake/internal/ui/httpapi"
)

// operationsTest is a server whose saves wait.
type operationsTest struct {
	*testing.T
	api  http.Handler
	all  *httpapi.Operations
	open atomic.Int32  // how often the service is kept open
	goOn chan struct{} // ends a save
}

func newOperationsTest(t *testing.T) *operationsTest {
	o := &operationsTest{T: t, all: httpapi.NewOperations(clock.Wall), goOn: make(chan struct{})}
	s := &fakeService{save: func(ctx context.Context, q retake.SaveRequest) (retake.SaveResult, error) {
		q.Progress(retake.Progress{Files: 3, Total: 7, Bytes: 9})
		select {
		case <-o.goOn:
			return retake.SaveResult{Recorded: true}, nil
		case <-ctx.Done():
			return retake.SaveResult{}, &retake.Error{Kind: retake.Canceled, What: "canceled", Safe: "Nothing was changed.", Err: ctx.Err()}
		}
	}}
	o.api = httpapi.New(s, httpapi.Options{DetachWork: true, Operations: o.all, KeepOpen: func(context.Context) (func(), error) {
		o.open.Add(1)
		return func() { o.open.Add(-1) }, nil
	}})
	return o
}

// ask sends a request with a key.
func (o *operationsTest) ask(key, method, path string, header ...string) (*httptest.ResponseRecorder, wire.Operation) {
	o.Helper()
	ctx, gone := context.WithCancel(retake.WithActor(o.Context(), retake.Actor{Kind: retake.KeyAgent, Key: retake.KeyID(key)}))
	r := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(""))
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	o.api.ServeHTTP(w, r)
	gone() // the client has its response
	var op wire.Operation
	if err := json.Unmarshal(w.Body.Bytes(), &op); err != nil && w.Code < http.StatusBadRequest {
		o.Fatalf("%s %s: %v: %s", method, path, err, w.Body)
	}
	return w, op
}

const savePath = "/v1/workspaces/ws_01a1e799-88a0-757f-9e5e-7779983c49ea/checkpoints"

// Long work goes on after a 202, and its operation has the progress and the result.
func TestWorkGoesOnAfterItsResponse(t *testing.T) {
	t.Parallel()
	o := newOperationsTest(t)
	w, begun := o.ask("one", "POST", savePath, "Prefer", "wait=5, respond-async")
	at := w.Header().Get("Location")
	if w.Code != http.StatusAccepted || at != "/v1/operations/"+begun.ID || w.Header().Get("Preference-Applied") != "respond-async" || begun.Status != wire.OperationRunning || begun.Kind != "save" || o.open.Load() != 1 {
		t.Fatalf("%d %v %+v, kept open %d times", w.Code, w.Header(), begun, o.open.Load())
	}
	close(o.goOn)
	w, ended := o.ask("one", "GET", at+"?wait=50s")
	var res retake.SaveResult
	if err := json.Unmarshal(ended.Result, &res); err != nil || !res.Recorded || ended.Status != wire.OperationSucceeded || ended.Progress.Files != 3 || ended.Ended == nil {
		t.Errorf("%v: %s", err, w.Body)
	}
	o.all.Wait()
	if o.open.Load() != 0 {
		t.Error("the service stays open")
	}
	var list wire.Page[wire.Operation]
	w, _ = o.ask("one", "GET", "/v1/operations")
	if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || len(list.Data) != 1 || list.Data[0].Result != nil {
		t.Errorf("%v: %s", err, w.Body)
	}
}

// A canceled operation ends, though its work does not end with its client.
func TestAnOperationIsCanceled(t *testing.T) {
	t.Parallel()
	o := newOperationsTest(t)
	w, _ := o.ask("one", "POST", savePath, "Prefer", "respond-async")
	at := w.Header().Get("Location")
	if w, _ := o.ask("one", "POST", at+"/cancel"); w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	w, ended := o.ask("one", "GET", at+"?wait=50s")
	if ended.Status != wire.OperationCanceled || ended.Problem == nil || ended.Problem.Code != "canceled" {
		t.Errorf("%s", w.Body)
	}
}

// Another key neither sees nor cancels an operation, and does not learn that it exists.
func TestOperationsBelongToTheirKey(t *testing.T) {
	t.Parallel()
	o := newOperationsTest(t)
	w, _ := o.ask("one", "POST", savePath, "Prefer", "respond-async")
	at := w.Header().Get("Location")
	other, _ := o.ask("two", "GET", at)
	none, _ := o.ask("two", "GET", "/v1/operations/op_none")
	if other.Code != http.StatusNotFound || other.Body.String() != none.Body.String() {
		t.Errorf("%d %s, and without one %s", other.Code, other.Body, none.Body)
	}
	if w, _ := o.ask("two", "POST", at+"/cancel"); w.Code != http.StatusNotFound {
		t.Errorf("canceled by another: %d", w.Code)
	}
	if w, _ := o.ask("two", "GET", "/v1/operations"); strings.Contains(w.Body.String(), "op_") {
		t.Errorf("listed for another: %s", w.Body)
	}
	close(o.goOn)
	if _, ended := o.ask("one", "GET", at+"?wait=50s"); ended.Status != wire.OperationSucceeded {
		t.Errorf("%+v", ended)
	}
}

// Only so many run at once.
func TestOperationsAreBounded(t *testing.T) {
	t.Parallel()
	o := newOperationsTest(t)
	for i := range 17 {
		w, _ := o.ask("one", "POST", savePath, "Prefer", "respond-async")
		if want := map[bool]int{true: http.StatusAccepted, false: http.StatusServiceUnavailable}[i < 16]; w.Code != want {
			t.Fatalf("operation %d: %d %s", i+1, w.Code, w.Body)
		}
	}
	close(o.goOn)
	o.all.Wait()
	if o.open.Load() != 0 {
		t.Errorf("kept open %d times", o.open.Load())
	}
}

// Without operations, as on a daemon, the preference is ignored.
func TestADaemonHasNoOperations(t *testing.T) {
	t.Parallel()
	api := httpapi.New(&fakeService{}, httpapi.Options{})
	r := httptest.NewRequest("POST", savePath, strings.NewReader(""))
	r.Header.Set("Prefer", "respond-async")
	w := httptest.NewRecorder()
	api.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	w = httptest.NewRecorder()
	api.ServeHTTP(w, httptest.NewRequest("GET", "/v1/operations", nil))
	if w.Code != http.StatusNotFound {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
