package httpapi_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/retake-dev/retake/internal/ui/httpapi"
)

var record = flag.Bool("record", false, "record what the client of today asks, when there is no recording yet")

// recording has the requests of the first client and the responses to them:
//
//	= METHOD TARGET
//	> a header, or the body, in one line each
//	< STATUS and type, then the response
//
// It is never written again, because such clients are in use.
const recording = "testdata/client-1.txt"

var spokenHeaders = []string{"Accept", "Content-Type", "Te", "Retake-Version"}

// exchange is a request and its response.
type exchange struct {
	method, target string
	header         http.Header
	body           string
	answer         []string
}

func TestClientOneIsUnderstood(t *testing.T) {
	t.Parallel()
	if *record {
		writeRecording(t)
	}
	all := readRecording(t)
	if len(all) < len(firstCalls) {
		t.Fatalf("%d exchanges for %d calls", len(all), len(firstCalls))
	}
	h := httpapi.New(&fakeService{}, httpapi.Options{})
	for _, x := range all {
		r := httptest.NewRequest(x.method, x.target, strings.NewReader(x.body))
		r.Header = x.header
		got := reply(h, r)
		if got[0] != x.answer[0] {
			t.Errorf("%s %s: %s, was %s", x.method, x.target, got[0], x.answer[0])
			continue
		}
		if len(got) < len(x.answer) {
			t.Errorf("%s %s: %q, was %q", x.method, x.target, got, x.answer)
			continue
		}
		for i, was := range x.answer[1:] {
			compareLine(t, x.method+" "+x.target, was, got[i+1])
		}
	}
}

// reply returns the status and type of a response, then its lines.
func reply(h http.Handler, r *http.Request) []string {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	out := []string{fmt.Sprintf("%d %s", w.Code, w.Header().Get("Content-Type"))}
	for _, name := range []string{"Retake-Entry", "Retake-End"} {
		for _, from := range []http.Header{w.Header(), w.Result().Trailer} {
			if from.Get(name) != "" {
				out = append(out, name+": something")
				break
			}
		}
	}
	for line := range strings.SplitSeq(w.Body.String(), "\n") {
		if line != "" && line != ":" {
			out = append(out, line)
		}
	}
	return out
}

// errorReporter is the part of testing.T that comparisons use.
type errorReporter interface {
	Helper()
	Errorf(format string, args ...any)
}

type errorCounter int

func (*errorCounter) Helper()                 {}
func (c *errorCounter) Errorf(string, ...any) { *c++ }

// compareLine reports an error if something is missing in a response, or has another type.
// Additions are allowed.
func compareLine(t errorReporter, at, was, is string) {
	t.Helper()
	var a, b any
	old, fresh := strings.TrimPrefix(was, "data: "), strings.TrimPrefix(is, "data: ")
	if json.Unmarshal([]byte(old), &a) != nil {
		if was != is {
			t.Errorf("%s: %q, was %q", at, is, was)
		}
		return
	}
	if err := json.Unmarshal([]byte(fresh), &b); err != nil {
		t.Errorf("%s: %v in %q", at, err, is)
		return
	}
	compareValue(t, at, a, b)
}

func compareValue(t errorReporter, at string, was, is any) {
	t.Helper()
	switch was := was.(type) {
	case map[string]any:
		is, ok := is.(map[string]any)
		if !ok {
			t.Errorf("%s was an object", at)
			return
		}
		for k, v := range was {
			if _, ok := is[k]; !ok {
				t.Errorf("%s.%s is gone", at, k)
				continue
			}
			compareValue(t, at+"."+k, v, is[k])
		}
	case []any:
		is, ok := is.([]any)
		if !ok || len(is) < len(was) {
			t.Errorf("%s was a list of %d", at, len(was))
			return
		}
		for i := range was {
			compareValue(t, at+"[]", was[i], is[i])
		}
	default:
		if fmt.Sprintf("%T", was) != fmt.Sprintf("%T", is) {
			t.Errorf("%s was %T and is %T", at, was, is)
		}
	}
}

// A change that would break old clients is detected.
func TestBrokenShapesAreFound(t *testing.T) {
	t.Parallel()
	const was = `{"a":{"b":[{"c":1}]},"d":"x"}`
	for is, good := range map[string]bool{
		was:                                  true,
		`{"a":{"b":[{"c":2,"n":3}]},"d":""}`: true,
		`{"a":{"b":[{"c":1}]}}`:              false,
		`{"a":{"b":[{"n":1}]},"d":"x"}`:      false,
		`{"a":{"b":[{"c":"1"}]},"d":"x"}`:    false,
		`{"a":{"b":[]},"d":"x"}`:             false,
		`{"a":[],"d":"x"}`:                   false,
	} {
		var found errorCounter
		compareLine(&found, "", was, is)
		if (found == 0) != good {
			t.Errorf("%s: %d complaints", is, found)
		}
	}
}

func writeRecording(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(recording); err == nil {
		t.Fatal("there is a recording; a new client gets a file of its own")
	}
	var out bytes.Buffer
	var mu sync.Mutex
	h := httpapi.New(&fakeService{}, httpapi.Options{})
	c := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		fmt.Fprintf(&out, "= %s %s\n", r.Method, r.RequestURI)
		for _, name := range spokenHeaders {
			if v := r.Header.Get(name); v != "" {
				fmt.Fprintf(&out, "> %s: %s\n", name, v)
			}
		}
		if len(body) > 0 {
			fmt.Fprintf(&out, "> %s\n", body)
		}
		again := func() *http.Request {
			n := r.Clone(r.Context())
			n.Body = io.NopCloser(bytes.NewReader(body))
			return n
		}
		for _, line := range reply(h, again()) {
			fmt.Fprintf(&out, "< %s\n", line)
		}
		h.ServeHTTP(w, again())
	}))
	_, err := c.About(t.Context())
	for _, x := range allCalls {
		if err == nil {
			_, err = x.call(t.Context(), c)
		}
	}
	if err == nil {
		err = os.MkdirAll("testdata", 0o755)
	}
	if err == nil {
		err = os.WriteFile(recording, out.Bytes(), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func readRecording(t *testing.T) []exchange {
	t.Helper()
	text, err := os.ReadFile(recording)
	if err != nil {
		t.Fatal(err)
	}
	var all []exchange
	for line := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n") {
		mark, rest, _ := strings.Cut(line, " ")
		x := &exchange{}
		if len(all) > 0 {
			x = &all[len(all)-1]
		}
		switch mark {
		case "=":
			method, target, _ := strings.Cut(rest, " ")
			all = append(all, exchange{method: method, target: target, header: http.Header{}})
		case ">":
			if name, value, ok := strings.Cut(rest, ": "); ok && !strings.HasPrefix(rest, "{") {
				x.header.Set(name, value)
			} else {
				x.body = rest
			}
		case "<":
			x.answer = append(x.answer, rest)
		}
	}
	return all
}
