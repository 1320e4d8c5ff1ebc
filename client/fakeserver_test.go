package client_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
)

// fakeDaemon is a socket that several handlers serve, one after the other.
type fakeDaemon struct {
	t      *testing.T
	socket string

	mu       sync.Mutex
	server   *http.Server // guarded by mu; nil while it is stopped
	requests []string     // guarded by mu: method, path and body
	revived  int          // guarded by mu
}

func newFakeDaemon(t *testing.T) *fakeDaemon {
	t.Helper()
	dir, err := os.MkdirTemp("", "rt") // the path of a socket has 108 bytes at most
	if err != nil {
		t.Fatal(err)
	}
	f := &fakeDaemon{t: t, socket: filepath.Join(dir, "s")}
	t.Cleanup(func() { f.stop(); os.RemoveAll(dir) })
	return f
}

func (f *fakeDaemon) start(h http.HandlerFunc) {
	f.t.Helper()
	l, err := net.Listen("unix", f.socket)
	if err != nil {
		f.t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			f.t.Error(err)
		}
		f.mu.Lock()
		f.requests = append(f.requests, r.Method+" "+r.RequestURI+" "+string(body))
		f.mu.Unlock()
		h(w, r)
	})}
	f.mu.Lock()
	f.server = s
	f.mu.Unlock()
	go s.Serve(l) //nolint:errcheck // ends when the test does
}

// stop closes every connection, as the end of a process does.
func (f *fakeDaemon) stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.server != nil {
		f.server.Close()
	}
	f.server = nil
}

func (f *fakeDaemon) requestLog() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.requests
}

// newClient returns a client whose Revive starts one handler after the other, and then none.
func (f *fakeDaemon) newClient(next ...http.HandlerFunc) *client.Client {
	c := client.New(client.Options{Socket: f.socket, Revive: func(context.Context) error {
		f.stop()
		f.mu.Lock()
		n := f.revived
		f.revived++
		f.mu.Unlock()
		if n < len(next) {
			f.start(next[n])
		}
		return nil
	}})
	f.t.Cleanup(func() { c.Close() })
	return c
}

func respondJSON(v any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v) // the client is waiting
	}
}

func abortConnection(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// respondPartly sends a part of a response and aborts the connection.
func respondPartly(contentType, part string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, part)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

func respondProblem(k retake.ErrorKind) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusTeapot) // the client ignores the status
		_ = json.NewEncoder(w).Encode(map[string]string{"code": string(k), "what": "no", "of": "tomorrow"})
	}
}
