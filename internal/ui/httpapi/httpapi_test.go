package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/httpapi"
)

// Every method passes on the arguments of the caller, and its result comes back complete: every
// field, every byte.
func TestEveryCallArrives(t *testing.T) {
	t.Parallel()
	f := &fakeService{}
	c := serveFake(t, f)
	for _, x := range allCalls {
		got, err := x.call(t.Context(), c)
		if err != nil {
			t.Errorf("%s: %v", x.name, err)
			continue
		}
		if d := cmp.Diff(x.wantArgs, f.takeCalls()); d != "" {
			t.Errorf("%s asks otherwise (-want +got):\n%s", x.name, d)
		}
		want := reflect.New(reflect.TypeOf(got)).Elem()
		n := 0
		fillIn(want, "", &n)
		if d := cmp.Diff(want.Interface(), got, ignoreAdded); d != "" {
			t.Errorf("%s answers otherwise (-want +got):\n%s", x.name, d)
		}
	}
}

// ignoreAdded leaves out what the API adds; TestListsHavePages and the tests of ETags are about it.
var ignoreAdded = cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".NextCursor" || p.Last().String() == ".ETag" }, cmp.Ignore())

var errorKinds = []retake.ErrorKind{
	retake.Internal, retake.Invalid, retake.NotFound, retake.Exists, retake.Moved, retake.Denied,
	retake.Limit, retake.Damaged, retake.Away, retake.Busy, retake.Partly, retake.Canceled,
}

// Every error kind comes back from every method with all its texts.
func TestEveryErrorComesBack(t *testing.T) {
	t.Parallel()
	for _, k := range append([]retake.ErrorKind{"of-tomorrow"}, errorKinds...) {
		t.Run(string(k), func(t *testing.T) {
			t.Parallel()
			want := &retake.Error{Kind: k, What: "what " + oddName, Safe: "Safe.", Hint: "do: this\nor: " + oddName, Err: errors.Join(errors.New("one "+oddName), errors.New("two"))}
			f := &fakeService{err: want}
			c := serveFake(t, f)
			for _, x := range allCalls {
				_, err := x.call(t.Context(), c)
				if d := cmp.Diff(errorTexts(want), errorTexts(err)); d != "" {
					t.Errorf("%s (-want +got):\n%s", x.name, d)
				}
			}
			f.err = &retake.Error{Kind: k, What: "bare"}
			_, err := c.Space(t.Context())
			if d := cmp.Diff(errorTexts(f.err), errorTexts(err)); d != "" {
				t.Errorf("bare (-want +got):\n%s", d)
			}
		})
	}
}

func errorTexts(err error) map[string]string {
	var e *retake.Error
	if !errors.As(err, &e) {
		return map[string]string{"no error of ours": errors.Join(err).Error()}
	}
	out := map[string]string{"kind": string(e.Kind), "what": e.What, "safe": e.Safe, "hint": e.Hint, "all": e.Error()}
	if e.Err != nil {
		out["cause"] = e.Err.Error()
	}
	return out
}

func TestAboutTellsWhoAnswers(t *testing.T) {
	t.Parallel()
	want := filledValue[retake.About]()
	got, err := serve(t, httpapi.New(&fakeService{}, httpapi.Options{About: filledValue[retake.About]})).About(t.Context())
	want.API = retake.APIVersion
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
}

// A request that is not valid is refused with a problem and never reaches the service.
func TestWhatDoesNotFitIsRefused(t *testing.T) {
	t.Parallel()
	big := `{"intent":"` + strings.Repeat("x", 1<<20) + `"}`
	for name, x := range map[string]struct {
		method, target, contentType, body string
		status                            int
		code                              string
		says                              string
	}{
		"nothing there":   {"GET", "/v2/about", "", "", 404, "unknown_route", "nothing at this address"},
		"root":            {"GET", "/", "", "", 404, "unknown_route", "nothing at this address"},
		"no name":         {"DELETE", "/v1/workspaces/a/pins/", "", "", 404, "unknown_route", "nothing at this address"},
		"other method":    {"PATCH", "/v1/workspaces", "", "", 405, "method_not_allowed", "does not take PATCH"},
		"broken query":    {"GET", "/v1/workspaces/a/list?dir=%zz", "", "", 400, "invalid", "percent"},
		"semicolon":       {"GET", "/v1/workspaces/a/list?dir=a;b", "", "", 400, "invalid", "percent"},
		"no dir":          {"GET", "/v1/locate", "", "", 422, "invalid", "query.dir"},
		"relative dir":    {"GET", "/v1/locate?dir=a", "", "", 422, "invalid", "from the root"},
		"relative init":   {"POST", "/v1/workspaces", "application/json", `{"dir":"."}`, 422, "invalid", "from the root"},
		"relative raw":    {"POST", "/v1/workspaces", "application/json", `{"dir":"/a","dir_raw":"YQ=="}`, 422, "invalid", "from the root"},
		"no body":         {"POST", "/v1/workspaces", "application/json", ``, 400, "invalid", "body is required"},
		"no json":         {"POST", "/v1/workspaces", "application/json", `{"dir":`, 400, "invalid", "body"},
		"no object":       {"POST", "/v1/workspaces", "application/json", `[1]`, 422, "invalid", "body"},
		"null":            {"POST", "/v1/workspaces/a/forget", "application/json", `{"refs":null}`, 422, "invalid", "body.refs"},
		"other type":      {"POST", "/v1/workspaces/a/checkpoints", "application/json", `{"intent":1}`, 422, "invalid", "body.intent"},
		"no number":       {"GET", "/v1/workspaces/a/checkpoints?limit=x", "", "", 422, "invalid", "query.limit"},
		"no time":         {"GET", "/v1/workspaces/a/checkpoints?since=x", "", "", 422, "invalid", "query.since"},
		"form of a page":  {"POST", "/v1/workspaces/a/checkpoints", "application/x-www-form-urlencoded", `intent=x`, 415, "invalid", "content type"},
		"no course":       {"POST", "/v1/workspaces/a/plans", "application/json", `{"ref":"14"}`, 422, "invalid", "course"},
		"no digest":       {"POST", "/v1/workspaces/a/restores", "application/json", `{"course":"undo"}`, 422, "invalid", "digest"},
		"null path":       {"POST", "/v1/workspaces/a/plans", "application/json", `{"course":"undo","paths":[null]}`, 422, "invalid", "body.paths[0]"},
		"raw is no bytes": {"POST", "/v1/workspaces/a/plans", "application/json", `{"course":"undo","paths_raw":["?"]}`, 422, "invalid", "body"},
		"null accept":     {"POST", "/v1/workspaces/a/restores", "application/json", `{"course":"undo","digest":"1","accept":[null]}`, 422, "invalid", "body.accept[0]"},
		"relative fork":   {"POST", "/v1/workspaces/a/forks", "application/json", `{"dir":"f"}`, 422, "invalid", "from the root"},
		"too large":       {"POST", "/v1/workspaces/a/checkpoints", "application/json", big, 413, "too_large", "too large"},
		"too long to say": {"POST", "/v1/workspaces/a/checkpoints", "", big, 413, "too_large", "too large"},
	} {
		f := &fakeService{}
		r := httptest.NewRequest(x.method, x.target, strings.NewReader(x.body))
		if x.contentType != "" {
			r.Header.Set("Content-Type", x.contentType)
		}
		w := httptest.NewRecorder()
		httpapi.New(f, httpapi.Options{}).ServeHTTP(w, r)
		var p struct {
			Type, Title, Detail, What, Safe string
			Status                          int
			Code                            string
		}
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
			t.Errorf("%s: %v: %s", name, err, w.Body)
			continue
		}
		if w.Code != x.status || p.Status != x.status || p.Code != x.code || !strings.Contains(p.What, x.says) || p.Safe == "" || p.Title == "" || p.Type == "" {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
		if ct := w.Header().Get("Content-Type"); ct != "application/problem+json" {
			t.Errorf("%s: Content-Type %s", name, ct)
		}
		if asked := f.takeCalls(); len(asked) > 0 {
			t.Errorf("%s reached the service: %v", name, asked)
		}
	}
}

// A wish that is not understood is not dropped: misspelled fields and parameters are refused.
func TestUnknownFieldsAreRefused(t *testing.T) {
	t.Parallel()
	for _, x := range [][4]string{
		{"POST", "/v1/workspaces/a/checkpoints", `{"intnet":"x"}`, "body.intnet: there is no such field"},
		{"POST", "/v1/workspaces/a/checkpoints?intent=1", `{}`, "query.intent: there is no such parameter"},
		{"POST", "/v1/workspaces/a/plans", `{"course":"undo","new":[1]}`, "body.new"},
		{"POST", "/v1/workspaces/a/restores", `{"course":"undo","digest":"1","new":1}`, "body.new"},
		{"POST", "/v1/workspaces/a/forks", `{"dir":"/f","new":1}`, "body.new"},
		{"PUT", "/v1/workspaces/a/pins/b", `{"ref":"1","new":null}`, "body.new"},
		{"GET", "/v1/workspaces/a/list?ref=1&dri=b", ``, "query.dri"},
		{"POST", "/v1/webhooks", `{"url":"https://a.example/","event":["a"]}`, "body.event"},
		{"GET", "/v1/openapi.json?new=1", ``, "query.new"},
	} {
		w := httptest.NewRecorder()
		f := &fakeService{}
		httpapi.New(f, httpapi.Options{}).ServeHTTP(w, httptest.NewRequest(x[0], x[1], strings.NewReader(x[2])))
		if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), x[3]) || len(f.takeCalls()) > 0 {
			t.Errorf("%v: %d %s", x, w.Code, w.Body)
		}
	}
}

// What an agent reports is taken with fields of a newer plugin, and any host is.
func TestUnknownIsIgnored(t *testing.T) {
	t.Parallel()
	for _, x := range [][3]string{
		{"POST", "/v1/signals", `{"agent":"a","dir":"/p","id":"1","kind":"turn-end","session":"s","time":"2026-01-02T03:04:05Z","new":{"deep":[1]}}`},
		{"POST", "/v1/workspaces/a/checkpoints", ``},
		{"POST", "/v1/scrub", ``},
		{"POST", "/v1/workspaces/a/plans", `{"course":"of-tomorrow"}`},
		{"GET", "/v1/workspaces/a/list?dir=b&ref", ``},
	} {
		r := httptest.NewRequest(x[0], x[1], strings.NewReader(x[2]))
		r.Host = "elsewhere.example:1"
		r.Header.Set("Origin", "https://elsewhere.example")
		w := httptest.NewRecorder()
		f := &fakeService{}
		httpapi.New(f, httpapi.Options{}).ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			t.Errorf("%v: %d %s", x, w.Code, w.Body)
		}
		if x[0] == "GET" {
			if d := cmp.Diff([]any{retake.WorkspaceID("a"), "", "b"}, f.takeCalls()); d != "" {
				t.Errorf("%v (-want +got):\n%s", x, d)
			}
		}
		for name := range w.Header() {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%v: %s", x, name)
			}
		}
	}
}

// A panic is a problem and a line in the log; the next request is served.
func TestPanicIsAProblem(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	f := &fakeService{save: func(context.Context, retake.SaveRequest) (retake.SaveResult, error) { panic("oh") }}
	c := serve(t, httpapi.New(f, httpapi.Options{Log: slog.New(slog.NewTextHandler(&log, nil))}))
	for _, tell := range []func(retake.Progress){nil, func(retake.Progress) {}} {
		_, err := c.Save(t.Context(), retake.SaveRequest{Workspace: wsID, Progress: tell})
		if e := retake.AsError(err); e.Kind != retake.Internal || strings.Contains(e.Safe, "Nothing was changed") {
			t.Errorf("%+v", e)
		}
	}
	if n := strings.Count(log.String(), "value=oh"); n != 2 {
		t.Errorf("the log tells of %d panics:\n%s", n, log.String())
	}
	if _, err := c.Space(t.Context()); err != nil {
		t.Error(err)
	}
}

// A service that could not be opened answers every request with the reason.
func TestRefuse(t *testing.T) {
	t.Parallel()
	want := &retake.Error{Kind: retake.Away, What: "no disk", Safe: "Nothing was changed.", Hint: "mount it", Err: errors.New("oh")}
	c := serve(t, httpapi.RefuseAll(want))
	for _, x := range allCalls {
		_, err := x.call(t.Context(), c)
		if d := cmp.Diff(errorTexts(want), errorTexts(err)); d != "" {
			t.Errorf("%s (-want +got):\n%s", x.name, d)
		}
	}
}

// The description is served to every client.
func TestDescriptionIsServed(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	httpapi.New(&fakeService{}, httpapi.Options{}).ServeHTTP(w, httptest.NewRequest("GET", "/v1/openapi.json", nil))
	var got struct {
		OpenAPI string
		Paths   map[string]any
	}
	if err := json.NewDecoder(w.Body).Decode(&got); err != nil || !strings.HasPrefix(got.OpenAPI, "3.1") || len(got.Paths) == 0 {
		t.Errorf("%v: %+v", err, got)
	}
}

// Whatever is sent, the response is one of ours.
func FuzzRequests(f *testing.F) {
	f.Add("POST", "/v1/workspaces", `{"dir":"/a","dir_raw":"/w==","accept":["home"],"mark":"copy"}`)
	f.Add("POST", "/v1/workspaces/a/checkpoints", `{"id":"cp_","budget":-1,"if_changed":true}`)
	f.Add("POST", "/v1/workspaces/a/plans", `{"course":"undo","paths":["a"],"paths_raw":["/w=="],"git":true}`)
	f.Add("POST", "/v1/workspaces/a/restores", `{"course":"","digest":"7f3a-91c0","accept":["held"],"id":"cp_"}`)
	f.Add("POST", "/v1/workspaces/a/forks", `{"dir":"/f","dir_raw":"/w==","throwaway":true}`)
	f.Add("POST", "/v1/workspaces/a/forget", `{"refs":["1","2"]}`)
	f.Add("PUT", "/v1/workspaces/%ff/pins/%2F", `{"ref":"\ud800"}`)
	f.Add("GET", "/v1/workspaces/a/diff?path=%ff&path=&from=1", "")
	f.Add("GET", "/v1/workspaces/a/file?path=%00&ref==&&=", "")
	f.Add("DELETE", "/v1/workspaces//pins/../x", "")
	f.Add("GET", "*", "")
	h := httpapi.New(&fakeService{}, httpapi.Options{})
	f.Fuzz(func(t *testing.T, method, target, body string) {
		r, err := http.NewRequest(method, target, strings.NewReader(body))
		if err != nil {
			t.Skip()
		}
		r.RequestURI = target
		for _, accept := range []string{"", "text/event-stream"} {
			r.Header.Set("Accept", accept)
			r.Body = io.NopCloser(strings.NewReader(body))
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r) // a panic fails
			if w.Code >= 400 && w.Code != http.StatusBadRequest && w.Header().Get("Content-Type") != "application/problem+json" {
				t.Errorf("%d %s: %s", w.Code, w.Header().Get("Content-Type"), w.Body)
			}
		}
	})
}
