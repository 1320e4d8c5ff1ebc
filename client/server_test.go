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

// remote is a server at an address that answers with one handler after the other; the
// last stays.
type remote struct {
	*httptest.Server
	mu   sync.Mutex
	seen []*http.Request // guarded by mu
	next []http.HandlerFunc
}

func newRemote(t *testing.T, next ...http.HandlerFunc) *remote {
	t.Helper()
	r := &remote{next: next}
	r.Server = httptest.NewTLSServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *remote) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body) // as far as it came
	req.Body = io.NopCloser(strings.NewReader(string(body)))
	r.mu.Lock()
	r.seen = append(r.seen, req)
	h := r.next[min(len(r.seen), len(r.next))-1]
	r.mu.Unlock()
	h(w, req)
}

func (r *remote) requests() []*http.Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen
}

func (r *remote) client(t *testing.T, retries int) *client.Client {
	t.Helper()
	pool := x509.NewCertPool()
	pool.AddCert(r.Certificate())
	c := client.New(client.Options{URL: r.URL + "/", Key: key, Retries: retries, TLS: &tls.Config{RootCAs: pool}})
	t.Cleanup(func() { c.Close() })
	return c
}

// later is a problem of which the server says that the same request may work later.
func later(status int, kind retake.ErrorKind, after string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		if after != "" {
			w.Header().Set("Retry-After", after)
		}
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]any{"code": kind, "what": "later", "retryable": true})
	}
}

func gateway(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "<html>", http.StatusBadGateway)
}

// deeds are calls of every manner, and whether each may be sent again when it may have arrived.
var deeds = map[string]struct {
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
	"save":   {true, func(ctx context.Context, c *client.Client) error { return save(ctx, c, nil) }},
	"follow": {true, func(ctx context.Context, c *client.Client) error { return save(ctx, c, func(retake.Progress) {}) }},
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

func save(ctx context.Context, c *client.Client, tell func(retake.Progress)) error {
	_, err := c.Save(ctx, retake.SaveRequest{Workspace: ws, Progress: tell})
	return err
}

// What may be sent again is, with the same key of its own, after all that may pass.
func TestServerIsAskedAgain(t *testing.T) {
	t.Parallel()
	for how, trouble := range map[string]http.HandlerFunc{
		"lost": breaksOff, "busy": later(503, retake.Busy, ""), "away": later(503, retake.Away, "0"), "under way": later(409, retake.Busy, "x"), "gateway": gateway,
	} {
		for name, x := range deeds {
			t.Run(how+"/"+name, func(t *testing.T) {
				t.Parallel()
				r := newRemote(t, trouble, trouble, answers(map[string]any{"data": []any{}}))
				err := x.call(t.Context(), r.client(t, 0))
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

// Every deed has a key of its own; what is remembered by nobody has none, and neither has
// what is asked of a daemon.
func TestDeedsHaveAKeyOfTheirOwn(t *testing.T) {
	t.Parallel()
	r := newRemote(t, answers(map[string]any{}))
	c := r.client(t, 0)
	had := map[string]bool{}
	for _, name := range []string{"post", "body", "post", "save"} {
		if err := deeds[name].call(t.Context(), c); err != nil {
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
		if err := deeds[name].call(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		q := r.requests()
		if once := q[len(q)-1].Header.Get("Idempotency-Key"); once != "" {
			t.Errorf("%s has the key %q", name, once)
		}
	}
	f := newFar(t)
	heads := make(chan http.Header, 1)
	f.live(func(w http.ResponseWriter, r *http.Request) {
		heads <- r.Header
		answers(map[string]any{})(w, r)
	})
	if err := deeds["post"].call(t.Context(), f.client()); err != nil {
		t.Fatal(err)
	}
	if h := <-heads; h.Get("Idempotency-Key") != "" || h.Get("Authorization") != "" {
		t.Errorf("%v", h)
	}
}

// Who asks too often waits as long as the server says, also with what may not be repeated
// otherwise: it was not looked at.
func TestTooOften(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"post", "deinit"} {
		r := newRemote(t, later(429, retake.Busy, "1"), answers(map[string]any{}))
		began := clock.Wall.Now()
		if err := deeds[name].call(t.Context(), r.client(t, 0)); err != nil || len(r.requests()) != 2 {
			t.Errorf("%s: %v after %d", name, err, len(r.requests()))
		}
		if took := clock.Wall.Now().Sub(began); took < time.Second {
			t.Errorf("%s waited %s", name, took)
		}
	}
}

// It ends: after some tries, at once when it is not wanted, and when the caller stops.
func TestAskingAgainEnds(t *testing.T) {
	t.Parallel()
	for retries, want := range map[int]int{-1: 1, 2: 3} {
		r := newRemote(t, later(503, retake.Busy, ""))
		if err := deeds["post"].call(t.Context(), r.client(t, retries)); !retake.IsKind(err, retake.Busy) || len(r.requests()) != want {
			t.Errorf("%d retries: %v after %d", retries, err, len(r.requests()))
		}
		r = newRemote(t, breaksOff)
		if err := deeds["get"].call(t.Context(), r.client(t, retries)); !retake.IsKind(err, retake.Away) || len(r.requests()) != want {
			t.Errorf("%d retries, lost: %v after %d", retries, err, len(r.requests()))
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	r := newRemote(t, func(w http.ResponseWriter, q *http.Request) {
		defer stop()
		later(503, retake.Busy, "3600")(w, q)
	})
	if err := deeds["post"].call(ctx, r.client(t, 0)); !retake.IsKind(err, retake.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}

// What is refused for good is asked once.
func TestRefusedForGood(t *testing.T) {
	t.Parallel()
	for _, k := range []retake.ErrorKind{retake.Invalid, retake.NotFound, retake.Denied, retake.Internal, retake.Limit, retake.Moved} {
		r := newRemote(t, refuses(k))
		if err := deeds["post"].call(t.Context(), r.client(t, 0)); !retake.IsKind(err, k) || len(r.requests()) != 1 {
			t.Errorf("%s: %v after %d", k, err, len(r.requests()))
		}
	}
}

// The key goes nowhere else: redirects are not followed, and a server that cannot prove
// who it is gets nothing.
func TestKeyStaysWhereItBelongs(t *testing.T) {
	t.Parallel()
	thief := newRemote(t, answers(map[string]any{}))
	r := newRemote(t, func(w http.ResponseWriter, q *http.Request) {
		http.Redirect(w, q, thief.URL+q.URL.Path, http.StatusTemporaryRedirect)
	})
	for name, c := range map[string]*client.Client{
		"redirect": r.client(t, -1),
		"stranger": client.New(client.Options{URL: thief.URL, Key: key, Retries: -1}),
	} {
		if err := deeds["post"].call(t.Context(), c); err == nil {
			t.Errorf("%s: no error", name)
		}
		if n := len(thief.requests()); n != 0 {
			t.Errorf("%s: the thief got %d requests", name, n)
		}
	}
}

// What was dropped in a request whose answer was lost is dropped.
func TestDropsThatWereLost(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func(*client.Client) error{
		"webhook":  func(c *client.Client) error { return c.DropWebhook(t.Context(), "wh") },
		"schedule": func(c *client.Client) error { return c.DropSchedule(t.Context(), "s") },
		"hold":     func(c *client.Client) error { return c.Release(t.Context(), ws, "h") },
	} {
		r := newRemote(t, breaksOff, refuses(retake.NotFound))
		if err := call(r.client(t, 0)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		r = newRemote(t, refuses(retake.NotFound))
		if err := call(r.client(t, 0)); !retake.IsKind(err, retake.NotFound) {
			t.Errorf("%s, nothing was lost: %v", name, err)
		}
	}
}

// An import that is not let in sends nothing of the archive.
func TestImportWaitsToBeLetIn(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { refuses(retake.Denied)(w, r) }))
	defer s.Close()
	sent := &counted{}
	_, err := client.New(client.Options{URL: s.URL, Key: key}).Import(t.Context(), retake.ImportRequest{Name: "n"}, sent)
	if !retake.IsKind(err, retake.Denied) || sent.n > 0 {
		t.Errorf("%v after %d bytes", err, sent.n)
	}
}

type counted struct{ n int }

func (c *counted) Read(p []byte) (int, error) { c.n += len(p); return len(p), nil }

// A list that comes in parts is gathered, each part by the cursor of the one before.
func TestListsAreGathered(t *testing.T) {
	t.Parallel()
	part := func(n int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			next := ""
			if n < 3 {
				next = "c " + strconv.Itoa(n)
			}
			answers(map[string]any{"data": []retake.Webhook{{ID: retake.WebhookID(r.URL.Query().Get("cursor"))}}, "next_cursor": next})(w, r)
		}
	}
	r := newRemote(t, part(1), part(2), part(3))
	all, err := r.client(t, 0).Webhooks(t.Context())
	if err != nil || len(all) != 3 || all[0].ID != "" || all[1].ID != "c 1" || all[2].ID != "c 2" {
		t.Errorf("%+v %v", all, err)
	}
}
