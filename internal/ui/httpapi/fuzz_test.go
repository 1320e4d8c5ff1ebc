package httpapi_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"unicode/utf8"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
	"github.com/retake-dev/retake/internal/ui/httpapi"
)

// recorder is a served API whose service records its calls.
type recorder struct {
	service *fakeService
	handler http.Handler
}

func newRecorder() recorder {
	f := &fakeService{}
	return recorder{f, httpapi.New(f, httpapi.Options{})}
}

// send sends a body as a client does, and returns what the service was called with.
func (s recorder) send(t *testing.T, target string, body any) []any {
	t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, target, bytes.NewReader(b))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	calls := s.service.takeCalls()
	if refused := w.Code >= 300; refused != (len(calls) == 0) || w.Code >= 500 {
		t.Fatalf("the response is %d %s, and the service was called with %+v", w.Code, w.Body, calls)
	}
	return calls
}

func rawIfNeeded(s string) []byte {
	if utf8.ValidString(s) {
		return nil
	}
	return []byte(s)
}

// A peer of the socket names directories and paths, which are bytes. What arrives at the service is
// what was sent; a request that is refused never arrives.
func FuzzPathsArrive(f *testing.F) {
	f.Add("/w\xff", "name", "a\xff", "b")
	f.Add("", "", "", "")
	f.Add("/a\x00b", "\u2028", "../x", "\ufffd")
	s := newRecorder()
	f.Fuzz(func(t *testing.T, dir, name, one, two string) {
		for _, call := range s.send(t, "/v1/workspaces", wire.InitBody{Dir: dir, DirRaw: rawIfNeeded(dir), Name: name, NameRaw: rawIfNeeded(name)}) {
			if q, ok := call.(retake.InitRequest); !ok || q.Dir != dir || q.Name != name {
				t.Fatalf("%q %q arrived as %+v", dir, name, call)
			}
		}
		body := wire.PlanBody{Course: retake.CourseRestore, Ref: "1", Paths: []string{one, two}}
		if !utf8.ValidString(one) || !utf8.ValidString(two) {
			body.PathsRaw = [][]byte{[]byte(one), []byte(two)}
		}
		for _, call := range s.send(t, "/v1/workspaces/"+string(wsID)+"/plans", body) {
			if q, ok := call.(retake.PlanRequest); !ok || len(q.Paths) != 2 || q.Paths[0] != one || q.Paths[1] != two {
				t.Fatalf("%q %q arrived as %+v", one, two, call)
			}
		}
	})
}
