package httpapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/httpapi"
)

// eventLog is a source of events that the test adds to.
type eventLog struct {
	mu    sync.Mutex
	last  int64         // guarded by mu
	grown chan struct{} // guarded by mu; closed when there is more
	asked []retake.EventQuery
}

func newEventLog(n int64) *eventLog { return &eventLog{last: n, grown: make(chan struct{})} }

func (w *eventLog) addEvents(n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last += n
	close(w.grown)
	w.grown = make(chan struct{})
}

// events returns the events after one, and waits for the first if the query says so.
func (w *eventLog) events(ctx context.Context, q retake.EventQuery) ([]retake.Event, error) {
	for {
		w.mu.Lock()
		last, grown := w.last, w.grown
		w.asked = append(w.asked, q)
		w.mu.Unlock()
		var out []retake.Event
		if q.Newest {
			q.After, q.Wait, q.Limit = max(last-1, 0), 0, 1
		}
		for n := q.After + 1; n <= last && len(out) < q.Limit; n++ {
			out = append(out, retake.Event{Seq: n, ID: "e", Type: retake.EventCreated, Time: soon, Data: json.RawMessage(`{"intent":"a\nb"}`)})
		}
		if len(out) > 0 || q.Wait == 0 {
			return out, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-grown:
		}
	}
}

// openStream opens a stream and returns its lines.
func openStream(t *testing.T, h http.Handler, target, last string) (*bufio.Reader, context.CancelFunc) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, "GET", s.URL+target, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%s %s", resp.Status, resp.Header.Get("Content-Type"))
	}
	return bufio.NewReader(resp.Body), cancel
}

// readIDs reads n events and returns their IDs. Other lines must be valid, too.
func readIDs(t *testing.T, r *bufio.Reader, n int) (ids []string) {
	t.Helper()
	for len(ids) < n {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("after %v: %v", ids, err)
		}
		line = strings.TrimSuffix(line, "\n")
		id, is := strings.CutPrefix(line, "id: ")
		switch {
		case is:
			ids = append(ids, id)
		case line == "" || line == ":" || line == "retry: 2000" || line == "event: checkpoint.created" || strings.HasPrefix(line, "data: {"):
		default:
			t.Fatalf("a line says %q", line)
		}
	}
	return ids
}

// A stream begins after the given event, continues with new events, and says how soon to
// reconnect.
func TestStreamOfEvents(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		target, last, first string
	}{
		"from the beginning":      {"/v1/events", "", "1"},
		"after":                   {"/v1/events?after=3", "", "4"},
		"last":                    {"/v1/events", "3", "4"},
		"from now":                {"/v1/events?after=latest", "", "5"},
		"from now, then broke":    {"/v1/events?after=latest", "2", "3"},
		"what broke off is newer": {"/v1/events?after=1", "4", "5"},
	} {
		w := newEventLog(4)
		f := &fakeService{events: w.events}
		r, _ := openStream(t, httpapi.New(f, httpapi.Options{Office: f}), x.target, x.last)
		if line, err := r.ReadString('\n'); err != nil || line != "retry: 2000\n" {
			t.Errorf("%s begins with %q %v", name, line, err)
		}
		w.addEvents(1)
		if got := readIDs(t, r, 1); got[0] != x.first {
			t.Errorf("%s: %v, not %s", name, got, x.first)
		}
		for range 3 {
			w.addEvents(100)
		}
		got := readIDs(t, r, 300)
		if slices.Contains(got, x.first) || len(slices.Compact(slices.Clone(got))) != 300 {
			t.Errorf("%s: events came twice or not at all: %v", name, got)
		}
	}
}

// A silent stream sends keep-alives, and every wait is short enough for them.
func TestQuietStreamLives(t *testing.T) {
	t.Parallel()
	waits := make(chan time.Duration, 1)
	f := &fakeService{events: func(ctx context.Context, q retake.EventQuery) ([]retake.Event, error) {
		if q.Wait == 0 {
			return nil, nil
		}
		select {
		case waits <- q.Wait:
			return nil, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
	r, _ := openStream(t, httpapi.New(f, httpapi.Options{Office: f}), "/v1/events", "")
	for signs := 0; signs < 5; {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if line != ":\n" {
			continue
		}
		signs++
		if w := <-waits; w <= 0 || w > 15*time.Second {
			t.Errorf("it waits %s", w)
		}
	}
}

// A stream ends when its client disconnects, when work is stopped, and when the server shuts down.
func TestStreamEnds(t *testing.T) {
	t.Parallel()
	for _, why := range []string{"asker", "stop", "leaving"} {
		w := newEventLog(1)
		f := &fakeService{events: w.events}
		stop, halt := context.WithCancel(t.Context())
		ended := make(chan struct{})
		o := httpapi.Options{Office: f}
		switch why {
		case "stop":
			o.WorkContext = stop
		case "leaving":
			o.StreamContext = stop
		}
		h := httpapi.New(f, o)
		r, leave := openStream(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer close(ended)
			h.ServeHTTP(w, r)
		}), "/v1/events", "")
		readIDs(t, r, 1)
		if why == "asker" {
			leave()
		} else {
			halt()
		}
		<-ended
		halt()
	}
}

// A list that waits for an event is empty when the server stops, for which a stop waits.
func TestWaitEndsWithTheServer(t *testing.T) {
	t.Parallel()
	for _, gone := range []bool{false, true} {
		stop, halt := context.WithCancel(t.Context())
		ctx, leave := context.WithCancel(t.Context())
		f := &fakeService{events: func(ctx context.Context, _ retake.EventQuery) ([]retake.Event, error) {
			if gone {
				leave()
			} else {
				halt() // it waits by now
			}
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(30 * time.Second):
				return nil, errors.New("the wait goes on")
			}
		}}
		w := httptest.NewRecorder()
		httpapi.New(f, httpapi.Options{Office: f, StreamContext: stop}).ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", "/v1/events?wait=60s", nil))
		if want := map[bool]int{false: http.StatusOK, true: 499}[gone]; w.Code != want || !gone && !strings.Contains(w.Body.String(), `"data":[]`) {
			t.Errorf("the client is gone: %t: %d %s", gone, w.Code, w.Body)
		}
		halt()
		leave()
	}
}

// An error at the beginning is a problem with its status; later it is an event.
func TestTroubleOfAStream(t *testing.T) {
	t.Parallel()
	away := &retake.Error{Kind: retake.Away, What: "no rows"}
	f := &fakeService{events: func(context.Context, retake.EventQuery) ([]retake.Event, error) { return nil, away }}
	for _, x := range [][2]string{{"/v1/events", "503"}, {"/v1/events?wait=x", "503"}, {"/v1/events?cursor=x", "422"}} {
		r := httptest.NewRequest("GET", x[0], nil)
		r.Header.Set("Accept", "text/event-stream")
		w := httptest.NewRecorder()
		httpapi.New(f, httpapi.Options{Office: f}).ServeHTTP(w, r)
		if !strings.Contains(w.Body.String(), `"status":`+x[1]) || w.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %d %s", x[0], w.Code, w.Body)
		}
	}
	f.events = func(_ context.Context, q retake.EventQuery) ([]retake.Event, error) {
		if q.Wait == 0 {
			return nil, nil
		}
		return nil, away
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "/v1/events", nil).WithContext(httpapi.WithRequestID(t.Context(), "req_9"))
	r.Header.Set("Accept", "text/event-stream")
	httpapi.New(f, httpapi.Options{Office: f}).ServeHTTP(w, r)
	if !strings.Contains(w.Body.String(), "event: problem\ndata: {") || !strings.Contains(w.Body.String(), `"request_id":"req_9"`) {
		t.Errorf("%s", w.Body)
	}
}

// The client continues a stream after the last event: nothing twice, nothing missing.
func TestFollowGoesOn(t *testing.T) {
	t.Parallel()
	w := newEventLog(0)
	f := &fakeService{events: w.events}
	h := httpapi.New(f, httpapi.Options{Office: f})
	var mu sync.Mutex
	streams := 0
	c := serve(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		mu.Lock()
		streams++
		mu.Unlock()
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		h.ServeHTTP(&cuttingWriter{ResponseWriter: rw, left: 7, cut: cancel}, r.WithContext(ctx))
		panic(http.ErrAbortHandler)
	}))
	w.addEvents(40)
	enough := errors.New("enough")
	var got []int64
	err := c.Follow(t.Context(), 2, func(e retake.Event) error {
		if got = append(got, e.Seq); len(got) == 30 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) {
		t.Fatal(err)
	}
	for i, n := range got {
		if n != int64(i+3) {
			t.Fatalf("%v", got)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if streams < 4 {
		t.Errorf("%d streams: none broke off", streams)
	}
}

// cuttingWriter cuts a stream off after some events.
type cuttingWriter struct {
	http.ResponseWriter
	left int
	cut  func()
}

func (c *cuttingWriter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *cuttingWriter) Write(p []byte) (int, error) {
	if c.left <= 0 {
		return len(p), nil
	}
	if strings.HasPrefix(string(p), "id: ") {
		if c.left--; c.left == 0 {
			defer c.cut()
		}
	}
	return c.ResponseWriter.Write(p)
}

// A client that is refused gets the reason, and does not retry for ever.
func TestFollowIsRefused(t *testing.T) {
	t.Parallel()
	f := &fakeService{events: func(context.Context, retake.EventQuery) ([]retake.Event, error) {
		return nil, &retake.Error{Kind: retake.Denied, What: "no"}
	}}
	if err := serveFake(t, f).Follow(t.Context(), 0, func(retake.Event) error { return nil }); !retake.IsKind(err, retake.Denied) {
		t.Errorf("%v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	w := newEventLog(1)
	f.events = w.events
	err := serveFake(t, f).Follow(ctx, 0, func(retake.Event) error { stop(); return nil })
	if !retake.IsKind(err, retake.Canceled) {
		t.Errorf("%v", err)
	}
}
