package client_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
	"github.com/retake-dev/retake/internal/platform/clock"
)

const key = "rtk_agent_x"

// fakeServer is a server that responds with one handler after the other; the last one stays.
type fakeServer struct {
	*httptest.Server
	mu       sync.Mutex
	received []*http.Request // guarded by mu
	next     []http.HandlerFunc
}

func newFakeServer(t *testing.T, next ...http.HandlerFunc) *fakeServer {
	t.Helper()
	r := &fakeServer{next: next}
	r.Server = httptest.NewTLSServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *fakeServer) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body) // as far as it came
	req.Body = io.NopCloser(strings.NewReader(string(body)))
	r.mu.Lock()
	r.received = append(r.received, req)
	h := r.next[min(len(r.received), len(r.next))-1]
	r.mu.Unlock()
	h(w, req)
}

func (r *fakeServer) requests() []*http.Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.received
}

func (r *fakeServer) newClient(t *testing.T, retries int) *client.Client {
	t.Helper()
	pool := x509.NewCertPool()
	pool.AddCert(r.Certificate())
	c := client.New(client.Options{URL: r.URL + "/", Key: key, Retries: retries, TLS: &tls.Config{RootCAs: pool}})
	t.Cleanup(func() { c.Close() })
	return c
}

// retryableError responds with a problem after which the same request may succeed later.
func retryableError(status int, kind retake.ErrorKind, after string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		if after != "" {
			w.Header().Set("Retry-After", after)
		}
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]any{"code": kind, "what": "later", "retryable": true})
	}
}

func respondBadGateway(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "<html>", http.StatusBadGateway)
}

// retryCases are calls of every kind, and whether each may be sent again if it may have arrived.
var retryCases = map[string]struct {
	again bool
	call  func(context.Context, *client.Client) error
}{
	"get":  {true, func(ctx context.Context, c *client.Client) error { _, err := c.Namespace(ctx); return err }},
	"list": {true, func(ctx context.Context, c *client.Client) error { _, err := c.Keys(ctx); return err }},
	"post": {true, func(ctx context.Context, c *client.Client) error { _, err := c.Sweep(ctx); return err }},
	"body": {true, func(ctx context.Context, c *client.Client) error {
		_, err := c.MakeKey(ctx, retake.KeyRequest{})
		return err
	}},
	"save": {true, func(ctx context.Context, c *client.Client) error { return saveCheckpoint(ctx, c, nil) }},
	"follow": {true, func(ctx context.Context, c *client.Client) error {
		return saveCheckpoint(ctx, c, func(retake.Progress) {})
	}},
	"put":    {true, func(ctx context.Context, c *client.Client) error { _, err := c.Pin(ctx, ws, "1", "a"); return err }},
	"delete": {true, func(ctx context.Context, c *client.Client) error { return c.DropWebhook(ctx, "wh") }},
	"deinit": {false, func(ctx context.Context, c *client.Client) error { _, err := c.Deinit(ctx, ws); return err }},
	"init with progress": {false, func(ctx context.Context, c *client.Client) error {
		_, err := c.Init(ctx, retake.InitRequest{Dir: "/x", Progress: func(retake.Progress) {}})
		return err
	}},
	"import": {false, func(ctx context.Context, c *client.Client) error {
		_, err := c.Import(ctx, retake.ImportRequest{}, strings.NewReader("tar"))
		return err
	}},
}

func saveCheckpoint(ctx context.Context, c *client.Client, tell func(retake.Progress)) error {
	_, err := c.Save(ctx, retake.SaveRequest{Workspace: ws, Progress: tell})
	return err
}

// A request that may be sent again is, with the same idempotency key, after any kind of failure.
func TestServerIsAskedAgain(t *testing.T) {
	t.Parallel()
	for how, trouble := range map[string]http.HandlerFunc{
		"lost": abortConnection, "busy": retryableError(503, retake.Busy, ""), "away": retryableError(503, retake.Away, "0"), "under way": retryableError(409, retake.Busy, "x"), "gateway": respondBadGateway,
	} {
		for name, x := range retryCases {
			t.Run(how+"/"+name, func(t *testing.T) {
				t.Parallel()
				r := newFakeServer(t, trouble, trouble, respondJSON(map[string]any{"data": []any{}}))
				err := x.call(t.Context(), r.newClient(t, 0))
				seen := r.requests()
				if x.again && (err != nil || len(seen) != 3) || !x.again && (err == nil || len(seen) != 1) {
					t.Errorf("%v after %d", err, len(seen))
				}
				if !x.again && how == "lost" && strings.Contains(retake.AsError(err).Safe, "Nothing") {
					t.Errorf("%+v", retake.AsError(err))
				}
				for i, q := range seen {
					if q.Header.Get("Authorization") != "Bearer "+key {
						t.Errorf("%q", q.Header.Get("Authorization"))
					}
					if once := q.Header.Get("Idempotency-Key"); once != seen[0].Header.Get("Idempotency-Key") {
						t.Errorf("try %d has the key %q", i, once)
					}
				}
			})
		}
	}
}

// Every POST has its own idempotency key, except streams and requests to a daemon.
func TestDeedsHaveAKeyOfTheirOwn(t *testing.T) {
	t.Parallel()
	r := newFakeServer(t, respondJSON(map[string]any{}))
	c := r.newClient(t, 0)
	had := map[string]bool{}
	for _, name := range []string{"post", "body", "post", "save"} {
		if err := retryCases[name].call(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		q := r.requests()
		once := q[len(q)-1].Header.Get("Idempotency-Key")
		if len(once) < 16 || had[once] {
			t.Errorf("%s has the key %q", name, once)
		}
		had[once] = true
	}
	for _, name := range []string{"get", "follow", "put", "delete", "import"} {
		if err := retryCases[name].call(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		q := r.requests()
		if once := q[len(q)-1].Header.Get("Idempotency-Key"); once != "" {
			t.Errorf("%s has the key %q", name, once)
		}
	}
	f := newFakeDaemon(t)
	heads := make(chan http.Header, 1)
	f.start(func(w http.ResponseWriter, r *http.Request) {
		heads <- r.Header
		respondJSON(map[string]any{})(w, r)
	})
	if err := retryCases["post"].call(t.Context(), f.newClient()); err != nil {
		t.Fatal(err)
	}
	if h := <-heads; h.Get("Idempotency-Key") != "" || h.Get("Authorization") != "" {
		t.Errorf("%v", h)
	}
}

// A client that is rate-limited waits as long as the server says, even with a request that may
// otherwise not be repeated, because the service did not see it.
func TestTooOften(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"post", "deinit"} {
		r := newFakeServer(t, retryableError(429, retake.Busy, "1"), respondJSON(map[string]any{}))
		began := clock.Wall.Now()
		if err := retryCases[name].call(t.Context(), r.newClient(t, 0)); err != nil || len(r.requests()) != 2 {
			t.Errorf("%s: %v after %d", name, err, len(r.requests()))
		}
		if took := clock.Wall.Now().Sub(began); took < time.Second {
			t.Errorf("%s waited %s", name, took)
		}
	}
}

// Retries end: after some attempts, at once if they are disabled, and when the caller stops.
func TestAskingAgainEnds(t *testing.T) {
	t.Parallel()
	for retries, want := range map[int]int{-1: 1, 2: 3} {
		r := newFakeServer(t, retryableError(503, retake.Busy, ""))
		if err := retryCases["post"].call(t.Context(), r.newClient(t, retries)); !retake.IsKind(err, retake.Busy) || len(r.requests()) != want {
			t.Errorf("%d retries: %v after %d", retries, err, len(r.requests()))
		}
		r = newFakeServer(t, abortConnection)
		if err := retryCases["get"].call(t.Context(), r.newClient(t, retries)); !retake.IsKind(err, retake.Away) || len(r.requests()) != want {
			t.Errorf("%d retries, lost: %v after %d", retries, err, len(r.requests()))
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	r := newFakeServer(t, func(w http.ResponseWriter, q *http.Request) {
		defer stop()
		retryableError(503, retake.Busy, "3600")(w, q)
	})
	if err := retryCases["post"].call(ctx, r.newClient(t, 0)); !retake.IsKind(err, retake.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}

// A request that is refused for good is sent once.
func TestRefusedForGood(t *testing.T) {
	t.Parallel()
	for _, k := range []retake.ErrorKind{retake.Invalid, retake.NotFound, retake.Denied, retake.Internal, retake.Limit, retake.Moved} {
		r := newFakeServer(t, respondProblem(k))
		if err := retryCases["post"].call(t.Context(), r.newClient(t, 0)); !retake.IsKind(err, k) || len(r.requests()) != 1 {
			t.Errorf("%s: %v after %d", k, err, len(r.requests()))
		}
	}
}

// The key is sent nowhere else: redirects are not followed, and a server without a valid
// certificate gets nothing.
func TestKeyStaysWhereItBelongs(t *testing.T) {
	t.Parallel()
	thief := newFakeServer(t, respondJSON(map[string]any{}))
	r := newFakeServer(t, func(w http.ResponseWriter, q *http.Request) {
		http.Redirect(w, q, thief.URL+q.URL.Path, http.StatusTemporaryRedirect)
	})
	for name, c := range map[string]*client.Client{
		"redirect": r.newClient(t, -1),
		"stranger": client.New(client.Options{URL: thief.URL, Key: key, Retries: -1}),
	} {
		if err := retryCases["post"].call(t.Context(), c); err == nil {
			t.Errorf("%s: no error", name)
		}
		if n := len(thief.requests()); n != 0 {
			t.Errorf("%s: the thief got %d requests", name, n)
		}
	}
}

// What was deleted by a request whose response was lost is deleted.
func TestDropsThatWereLost(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func(*client.Client) error{
		"webhook":  func(c *client.Client) error { return c.DropWebhook(t.Context(), "wh") },
		"schedule": func(c *client.Client) error { return c.DropSchedule(t.Context(), "s") },
		"hold":     func(c *client.Client) error { return c.Release(t.Context(), ws, "h") },
	} {
		r := newFakeServer(t, abortConnection, respondProblem(retake.NotFound))
		if err := call(r.newClient(t, 0)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		r = newFakeServer(t, respondProblem(retake.NotFound))
		if err := call(r.newClient(t, 0)); !retake.IsKind(err, retake.NotFound) {
			t.Errorf("%s, nothing was lost: %v", name, err)
		}
	}
}

// An import that is refused sends nothing of the archive.
func TestImportWaitsToBeLetIn(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { respondProblem(retake.Denied)(w, r) }))
	defer s.Close()
	sent := &countingReader{}
	_, err := client.New(client.Options{URL: s.URL, Key: key}).Import(t.Context(), retake.ImportRequest{Name: "n"}, sent)
	if !retake.IsKind(err, retake.Denied) || sent.n > 0 {
		t.Errorf("%v after %d bytes", err, sent.n)
	}
}

type countingReader struct{ n int }

func (c *countingReader) Read(p []byte) (int, error) { c.n += len(p); return len(p), nil }

// All pages of a list are fetched, each with the cursor of the one before.
func TestListsAreGathered(t *testing.T) {
	t.Parallel()
	part := func(n int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			next := ""
			if n < 3 {
				next = "c " + strconv.Itoa(n)
			}
			respondJSON(map[string]any{"data": []retake.Webhook{{ID: retake.WebhookID(r.URL.Query().Get("cursor"))}}, "next_cursor": next})(w, r)
		}
	}
	r := newFakeServer(t, part(1), part(2), part(3))
	all, err := r.newClient(t, 0).Webhooks(t.Context())
	if err != nil || len(all) != 3 || all[0].ID != "" || all[1].ID != "c 1" || all[2].ID != "c 2" {
		t.Errorf("%+v %v", all, err)
	}
}
