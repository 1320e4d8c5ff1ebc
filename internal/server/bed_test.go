package server_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/server"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// testServer is a server on SQLite and disk, with its first namespace.
type testServer struct {
	t       testing.TB
	data    string
	url     string
	initial *retake.NewNamespace
	srv     *server.Server
	stop    func()
}

func testOptions(data string) server.Options {
	return server.Options{
		DataDir: data, ListenAddress: "127.0.0.1:0", AllowInsecureWebhooks: true, Version: "test", Clock: clock.Wall,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Floor: func(int64) int64 { return 0 }, Boot: "this run",
	}
}

func newTestServer(t testing.TB, webhook string, change func(*server.Options)) *testServer {
	t.Helper()
	b := &testServer{t: t, data: shortDir(t)}
	b.start(webhook, change)
	return b
}

// shortDir returns a directory with a short path: that of a socket has about a hundred bytes.
func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "rt")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// start opens a server on the same data directory, in addition to those that run already.
func (b *testServer) start(webhook string, change func(*server.Options)) {
	b.t.Helper()
	o := testOptions(b.data)
	if change != nil {
		change(&o)
	}
	ctx, cancel := context.WithCancel(context.Background())
	srv, err := server.Open(ctx, o)
	must(b.t, err)
	ready, ended := make(chan string, 1), make(chan error, 1)
	begin := func() error {
		begun, err := srv.Bootstrap(ctx, webhook)
		if begun != nil {
			b.initial = begun
		}
		return err
	}
	go func() { ended <- srv.Serve(ctx, begin, func(address string) { ready <- address }) }()
	select {
	case address := <-ready:
		b.url = "http://" + address
	case err := <-ended:
		b.t.Fatal(err)
	}
	b.srv = srv
	b.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			b.t.Error(err)
		}
		if err := srv.Close(); err != nil {
			b.t.Error(err)
		}
	})
	b.t.Cleanup(b.stop)
}

func (b *testServer) keySecret(kind retake.KeyKind) string {
	for _, k := range b.initial.Keys {
		if k.Key.Kind == kind {
			return k.Secret
		}
	}
	b.t.Fatalf("no key of kind %s", kind)
	return ""
}

func (b *testServer) clientAs(kind retake.KeyKind) *client.Client {
	return b.clientWithKey(b.keySecret(kind))
}

func (b *testServer) clientWithKey(secret string) *client.Client {
	return client.New(client.Options{URL: b.url, Key: secret, Retries: -1})
}

// writeFile writes into the default workspace of the first namespace.
func (b *testServer) writeFile(name, text string) {
	b.t.Helper()
	must(b.t, os.WriteFile(filepath.Join(b.data, "ns", "main", "files", "default", name), []byte(text), 0o644))
}

func (b *testServer) saveCheckpoint(intent string) retake.Checkpoint {
	b.t.Helper()
	res, err := b.clientAs(retake.KeyAgent).Save(b.t.Context(), retake.SaveRequest{Workspace: b.initial.Namespace.Default, Intent: intent, Trigger: retake.TriggerManual})
	must(b.t, err)
	return res.Checkpoint
}

// sendRequest sends a request without the client.
func (b *testServer) sendRequest(method, path, secret, body string, header map[string]string) (response, string) {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.url+path, http.NoBody)
	if body != "" {
		req, err = http.NewRequestWithContext(b.t.Context(), method, b.url+path, readerOf(body))
	}
	must(b.t, err)
	req.Header.Set("Content-Type", "application/json")
	if secret != "" {
		req.Header.Set("Authorization", "Bearer "+secret)
	}
	for k, v := range header {
		req.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(req)
	must(b.t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	must(b.t, err)
	return response{res.StatusCode, res.Header}, string(text)
}

type response struct {
	StatusCode int
	Header     http.Header
}

// receiver is an endpoint for webhooks.
type receiver struct {
	*httptest.Server
	messages chan message
}

type message struct {
	header http.Header
	body   []byte
}

func newReceiver(t testing.TB) *receiver {
	r := &receiver{messages: make(chan message, 1000)}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		r.messages <- message{q.Header, body}
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) nextMessage(t testing.TB) message {
	t.Helper()
	select {
	case m := <-r.messages:
		return m
	case <-time.After(30 * time.Second):
		t.Fatal("no message came")
		return message{}
	}
}
