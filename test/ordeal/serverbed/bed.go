//go:build linux

// Package serverbed holds what ordeals of a server stand on: a server with guests, keys and
// all its operations.
package serverbed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/server"
	"github.com/retake-dev/retake/test/ordeal/daemonbed"
	"github.com/retake-dev/retake/test/ordeal/harness"
)

// Hall is a server in this process, whose rows and files can be looked at from behind.
type Hall struct {
	Dir  string
	URL  string
	srv  *server.Server
	Rows *RowView
	log  *spoken
	Stop func() error

	Heard func(Asked, Answer) // is told of every answer; nil: nobody is
}

// HallOptions choose what a hall stands on.
type HallOptions struct {
	Postgres string      // "": SQLite
	Strict   bool        // webhooks may not go to this machine
	Keys     string      // a hall whose server.key and kek are taken over
	Clock    clock.Clock // nil: the one on the wall
}

// spoken is what a server logs.
type spoken struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *spoken) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(p)
}

func (s *spoken) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

// OpenHall starts a server without a namespace.
func OpenHall(r *harness.Run, o HallOptions) (*Hall, error) {
	h := &Hall{Dir: r.Scratch("hall"), log: &spoken{}}
	for _, name := range []string{"kek", "server.key"} {
		if o.Keys == "" {
			break
		}
		if b, err := os.ReadFile(filepath.Join(o.Keys, name)); err == nil {
			if err := os.WriteFile(filepath.Join(h.Dir, name), b, 0o600); err != nil {
				return nil, err
			}
		}
	}
	if o.Clock == nil {
		o.Clock = clock.Wall
	}
	var err error
	h.srv, err = server.Open(context.Background(), server.Options{
		DataDir: h.Dir, ListenAddress: "127.0.0.1:0", Postgres: o.Postgres, AllowInsecureWebhooks: !o.Strict, Version: daemonbed.Release(0), Clock: o.Clock,
		Log: slog.New(slog.NewTextHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug})), Derivation: harness.Derivation,
		Floor: func(int64) int64 { return 1 << 10 },
	})
	if err != nil {
		return nil, err
	}
	if err := h.listen(); err != nil {
		return nil, errors.Join(err, h.srv.Close())
	}
	if h.Rows, err = ViewRows(h.Dir, o.Postgres); err != nil {
		return nil, errors.Join(err, h.Stop())
	}
	return h, nil
}

// listen serves until stop.
func (h *Hall) listen() error {
	ctx, cancel := context.WithCancel(context.Background())
	at, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- h.srv.Serve(ctx, func() error { return nil }, func(address string) { at <- address }) }()
	h.Stop = sync.OnceValue(func() error {
		cancel()
		return errors.Join(<-ended, h.srv.Close())
	})
	select {
	case address := <-at:
		h.URL = "http://" + address
		return nil
	case err := <-ended:
		cancel()
		ended <- err
		return err
	}
}

func (h *Hall) Close() error {
	var err error
	if h.Rows != nil {
		err = h.Rows.Close()
	}
	return errors.Join(err, h.Stop())
}

// Guest is a namespace with a key of each kind.
type Guest struct {
	Ns   retake.NamespaceID
	Keys map[retake.KeyKind]string
	Ids  map[retake.KeyKind]retake.KeyID
	Home retake.WorkspaceID
}

// Add makes a namespace whose keys may ask as often as they like.
func (h *Hall) Add(ns retake.NamespaceID) (*Guest, error) {
	l := retake.DefaultLimits()
	l.PerSecond, l.RestoreHour = 0, 0
	b, err := h.srv.AddNamespace(context.Background(), retake.Namespace{ID: ns, Limits: l}, "")
	if err != nil {
		return nil, err
	}
	if err := h.Rows.Learn(context.Background()); err != nil { // the first namespace makes tables
		return nil, err
	}
	g := &Guest{Ns: ns, Keys: map[retake.KeyKind]string{}, Ids: map[retake.KeyKind]retake.KeyID{}, Home: b.Namespace.Default}
	for _, k := range b.Keys {
		g.Keys[k.Key.Kind], g.Ids[k.Key.Kind] = k.Secret, k.Key.ID
	}
	return g, nil
}

// AddProvisionerKey makes a key that creates namespaces, as the owner of the server does.
func (h *Hall) AddProvisionerKey(ns retake.NamespaceID) (retake.NewKey, error) {
	return h.srv.AddProvisionerKey(context.Background(), ns, retake.KeyRequest{Name: string(ns) + " platform"})
}

// Files is where the workspaces of a namespace lie.
func (h *Hall) Files(ns retake.NamespaceID) string {
	return filepath.Join(h.Dir, "ns", string(ns), "files")
}

// Asked is a request.
type Asked struct {
	Key    string // a secret; "": none
	Method string
	Path   string // with its query, encoded
	Body   []byte
	Header map[string]string
	Wait   time.Duration // 0: long
}

// Answer is what came back; a status of 0 is a connection that broke off.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

var visitor = &http.Client{
	Transport:     &http.Transport{MaxIdleConnsPerHost: 16, DisableCompression: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func (h *Hall) Ask(q Asked) Answer {
	a := AskAt(h.URL, q)
	if h.Heard != nil {
		h.Heard(q, a)
	}
	return a
}

// AskAt asks a server. What could not be asked at all is a status of 0 with the reason.
func AskAt(url string, q Asked) Answer {
	if q.Wait == 0 {
		q.Wait = daemonbed.CommandPatience
	}
	ctx, cancel := context.WithTimeout(context.Background(), q.Wait)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, q.Method, url+q.Path, bytes.NewReader(q.Body))
	if err != nil {
		return Answer{Body: []byte(err.Error())}
	}
	if q.Key != "" {
		req.Header.Set("Authorization", "Bearer "+q.Key)
	}
	if q.Body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for k, v := range q.Header {
		req.Header.Set(k, v)
	}
	res, err := visitor.Do(req)
	if err != nil {
		return Answer{Body: []byte(err.Error())}
	}
	defer res.Body.Close() //nolint:errcheck // read to its end
	b, err := io.ReadAll(res.Body)
	if err != nil && ctx.Err() == nil {
		return Answer{Body: []byte(err.Error())}
	}
	return Answer{res.StatusCode, res.Header, b}
}

func (a Answer) Good() bool { return a.Status >= 200 && a.Status < 300 }

// Say is an answer for a person.
func (a Answer) Say() string { return fmt.Sprintf("%d %.200s", a.Status, a.Body) }

// Pick reads a value of a JSON answer by a path such as "webhook.id" or "data.0.id".
func (a Answer) Pick(path string) string {
	var v any
	if json.Unmarshal(a.Body, &v) != nil {
		return ""
	}
	for part := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[part]
		case []any:
			if len(x) == 0 {
				return ""
			}
			v = x[0]
		}
	}
	s, _ := v.(string)
	return s
}

// Must asks and answers an error when it is not done.
func (h *Hall) Must(key, method, path, body string) (Answer, error) {
	q := Asked{Key: key, Method: method, Path: path}
	if body != "" {
		q.Body = []byte(body)
	}
	a := h.Ask(q)
	if !a.Good() {
		return a, fmt.Errorf("%s %s: %s", method, path, a.Say())
	}
	return a, nil
}

// Receiver is an address of this machine that takes messages.
type Receiver struct {
	URL   string
	Close func() error
	mu    sync.Mutex
	got   []message // guarded by mu
}

// message is one that came, with when.
type message struct {
	Header http.Header
	Body   []byte
	At     time.Time
	Status int // that it was answered with
}

func (c *Receiver) All() []message {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]message(nil), c.got...)
}
