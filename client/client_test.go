package client_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
)

const ws = retake.WorkspaceID("ws_0197a1de-0000-7000-8000-000000000001")

func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	f := newFakeDaemon(t)
	c := client.New(client.Options{Socket: f.socket})
	for name, call := range map[string]func() error{
		"get":  func() error { _, err := c.About(t.Context()); return err },
		"post": func() error { _, err := c.Sweep(t.Context()); return err },
		"file": func() error { _, _, err := c.Open(t.Context(), ws, "1", "a"); return err },
	} {
		e := retake.AsError(call())
		if e.Kind != retake.Away || e.What != "the daemon does not answer" || e.Hint == "" || e.Safe != "Nothing was changed." || e.Err == nil {
			t.Errorf("%s: %+v", name, e)
		}
	}
	_, err := client.New(client.Options{URL: "http://127.0.0.1:1"}).About(t.Context())
	if e := retake.AsError(err); e.Kind != retake.Away || !strings.Contains(e.What, "server") || !strings.Contains(e.Hint, "127.0.0.1:1") {
		t.Errorf("%+v", e)
	}
}

func TestReviveBringsItBack(t *testing.T) {
	t.Parallel()
	want := retake.About{Version: "9", API: 1}
	f := newFakeDaemon(t)
	got, err := f.newClient(respondJSON(want)).About(t.Context())
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("%+v %v", got, err)
	}
	// Nothing was sent, so even a request that is not idempotent is sent again.
	f = newFakeDaemon(t)
	if _, err := f.newClient(respondJSON(retake.SaveResult{})).Init(t.Context(), retake.InitRequest{Dir: "/x"}); err != nil {
		t.Error(err)
	}
}

func TestReviveThatDoesNotWork(t *testing.T) {
	t.Parallel()
	f := newFakeDaemon(t)
	if _, err := f.newClient().About(t.Context()); !retake.IsKind(err, retake.Away) || f.revived != 5 {
		t.Errorf("%v after %d tries", err, f.revived)
	}
	for _, x := range []struct {
		gives error
		want  retake.ErrorKind
	}{
		{&retake.Error{Kind: retake.Denied, What: "not yours"}, retake.Denied},
		{errors.New("no room"), retake.Away},
	} {
		c := client.New(client.Options{Socket: f.socket, Revive: func(context.Context) error { return x.gives }})
		if _, err := c.About(t.Context()); !retake.IsKind(err, x.want) || !strings.Contains(err.Error(), x.gives.Error()) {
			t.Errorf("%v is %v", x.gives, err)
		}
	}
}

// A body that is cut short ends with an error, whether the connection broke or the announced
// trailer is missing.
func TestBodyThatEndsEarly(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]http.HandlerFunc{
		"broken": respondPartly("application/octet-stream", strings.Repeat("x", 100000)),
		"no end": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Trailer", "Retake-End")
			_, _ = io.WriteString(w, "half")
		},
		"bad end": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Trailer", "Retake-End")
			_, _ = io.WriteString(w, "half")
			w.Header().Set("Retake-End", "?")
		},
	} {
		f := newFakeDaemon(t)
		f.start(h)
		r, err := f.newClient().Bytes(t.Context(), "k1")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, r); err == nil {
			t.Errorf("%s looks like a good end", name)
		}
		r.Close()
	}
}

// The caller stops while it reads a body.
func TestStoppedBody(t *testing.T) {
	t.Parallel()
	f := newFakeDaemon(t)
	f.start(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("x", 100000))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	ctx, stop := context.WithCancel(t.Context())
	r, err := f.newClient().Bytes(ctx, "k1")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := io.ReadFull(r, make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	stop()
	if _, err := io.Copy(io.Discard, r); !retake.IsKind(err, retake.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestStoppedBeforeItBegan(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	f := newFakeDaemon(t)
	for _, c := range []*client.Client{f.newClient(), client.New(client.Options{Socket: f.socket})} {
		if _, err := c.About(ctx); !retake.IsKind(err, retake.Canceled) || !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
	// Revive is stopped, too.
	ctx, stop = context.WithCancel(t.Context())
	c := client.New(client.Options{Socket: f.socket, Revive: func(ctx context.Context) error {
		stop()
		return ctx.Err()
	}})
	if _, err := c.About(ctx); !retake.IsKind(err, retake.Canceled) {
		t.Errorf("%v", err)
	}
}

// Whatever is at the other end, its response is an error with a kind.
func TestAnswersThatAreNotOurs(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		h    http.HandlerFunc
		want retake.ErrorKind
	}{
		"gateway":  {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "<html>", http.StatusBadGateway) }, retake.Away},
		"page":     {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, retake.Internal},
		"redirect": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/login", http.StatusFound) }, retake.Internal},
		"no kind":  {respondProblem(""), retake.Internal},
		"no entry": {respondJSON("bytes"), retake.Internal},
	} {
		f := newFakeDaemon(t)
		f.start(x.h)
		call := func(c *client.Client) error { _, err := c.About(t.Context()); return err }
		if name == "no entry" {
			call = func(c *client.Client) error { _, _, err := c.Open(t.Context(), ws, "1", "a"); return err }
		}
		if err := call(f.newClient()); !retake.IsKind(err, x.want) || len(f.requestLog()) != 1 {
			t.Errorf("%s: %v after %q", name, err, f.requestLog())
		}
	}
}

// Empty names would result in another URL; nothing is sent.
func TestEmptyNamesAreNotSent(t *testing.T) {
	t.Parallel()
	f := newFakeDaemon(t)
	f.start(respondJSON(map[string]any{}))
	c := f.newClient()
	for name, call := range map[string]func() error{
		"pin":       func() error { _, err := c.Pin(t.Context(), ws, "1", ""); return err },
		"unpin":     func() error { return c.Unpin(t.Context(), ws, "") },
		"workspace": func() error { _, err := c.Deinit(t.Context(), ""); return err },
		"object":    func() error { _, err := c.Bytes(t.Context(), ""); return err },
	} {
		if err := call(); !retake.IsKind(err, retake.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if d := cmp.Diff([]string(nil), f.requestLog()); d != "" {
		t.Errorf("sent:\n%s", d)
	}
}

// One connection serves several calls.
func TestOneConnection(t *testing.T) {
	t.Parallel()
	f := newFakeDaemon(t)
	l, err := net.Listen("unix", f.socket)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	conns := 0
	s := &http.Server{Handler: respondJSON(map[string]any{}), ConnState: func(_ net.Conn, st http.ConnState) {
		if st == http.StateNew {
			mu.Lock()
			conns++
			mu.Unlock()
		}
	}}
	go s.Serve(l) //nolint:errcheck // ends when the test does
	defer s.Close()
	c := f.newClient()
	for range 20 {
		if _, err := c.Save(t.Context(), retake.SaveRequest{Workspace: ws}); err != nil {
			t.Fatal(err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if conns != 1 {
		t.Errorf("%d connections", conns)
	}
}

func BenchmarkRoundTrip(b *testing.B) {
	dir, err := os.MkdirTemp("", "rt")
	if err != nil {
		b.Fatal(err)
	}
	defer os.RemoveAll(dir)
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		b.Fatal(err)
	}
	s := &http.Server{Handler: respondJSON(retake.About{Version: "1"})}
	go s.Serve(l) //nolint:errcheck // ends with the benchmark
	defer s.Close()
	c := client.New(client.Options{Socket: filepath.Join(dir, "s")})
	for b.Loop() {
		if _, err := c.About(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
