//go:build linux

package main

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
)

// hall is a server in this process, whose rows and files can be looked at from behind.
type hall struct {
	dir  string
	url  string
	srv  *server.Server
	rows *rowView
	log  *spoken
	stop func() error

	heard func(asked, answer) // is told of every answer; nil: nobody is
}

// hallOptions choose what a hall stands on.
type hallOptions struct {
	postgres string      // "": SQLite
	strict   bool        // webhooks may not go to this machine
	keys     string      // a hall whose server.key and kek are taken over
	clock    clock.Clock // nil: the one on the wall
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

// openHall starts a server without a namespace.
func openHall(r *run, o hallOptions) (*hall, error) {
	h := &hall{dir: r.scratch("hall"), log: &spoken{}}
	for _, name := range []string{"kek", "server.key"} {
		if o.keys == "" {
			break
		}
		if b, err := os.ReadFile(filepath.Join(o.keys, name)); err == nil {
			if err := os.WriteFile(filepath.Join(h.dir, name), b, 0o600); err != nil {
				return nil, err
			}
		}
	}
	if o.clock == nil {
		o.clock = clock.Wall
	}
	var err error
	h.srv, err = server.Open(context.Background(), server.Options{
		DataDir: h.dir, ListenAddress: "127.0.0.1:0", Postgres: o.postgres, AllowInsecureWebhooks: !o.strict, Version: release(0), Clock: o.clock,
		Log: slog.New(slog.NewTextHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug})), Derivation: derivation,
		Floor: func(int64) int64 { return 1 << 10 },
	})
	if err != nil {
		return nil, err
	}
	if err := h.listen(); err != nil {
		return nil, errors.Join(err, h.srv.Close())
	}
	if h.rows, err = viewRows(h.dir, o.postgres); err != nil {
		return nil, errors.Join(err, h.stop())
	}
	return h, nil
}

// listen serves until stop.
func (h *hall) listen() error {
	ctx, cancel := context.WithCancel(context.Background())
	at, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- h.srv.Serve(ctx, func() error { return nil }, func(address string) { at <- address }) }()
	h.stop = sync.OnceValue(func() error {
		cancel()
		return errors.Join(<-ended, h.srv.Close())
	})
	select {
	case address := <-at:
		h.url = "http://" + address
		return nil
	case err := <-ended:
		cancel()
		ended <- err
		return err
	}
}

func (h *hall) close() error {
	var err error
	if h.rows != nil {
		err = h.rows.close()
	}
	return errors.Join(err, h.stop())
}

// guest is a namespace with a key of each kind.
type guest struct {
	ns   retake.NamespaceID
	keys map[retake.KeyKind]string
	ids  map[retake.KeyKind]retake.KeyID
	home retake.WorkspaceID
}

// add makes a namespace whose keys may ask as often as they like.
func (h *hall) add(ns retake.NamespaceID) (*guest, error) {
	l := retake.DefaultLimits()
	l.PerSecond, l.RestoreHour = 0, 0
	b, err := h.srv.AddNamespace(context.Background(), retake.Namespace{ID: ns, Limits: l}, "")
	if err != nil {
		return nil, err
	}
	if err := h.rows.learn(context.Background()); err != nil { // the first namespace makes tables
		return nil, err
	}
	g := &guest{ns: ns, keys: map[retake.KeyKind]string{}, ids: map[retake.KeyKind]retake.KeyID{}, home: b.Namespace.Default}
	for _, k := range b.Keys {
		g.keys[k.Key.Kind], g.ids[k.Key.Kind] = k.Secret, k.Key.ID
	}
	return g, nil
}

// files is where the workspaces of a namespace lie.
func (h *hall) files(ns retake.NamespaceID) string {
	return filepath.Join(h.dir, "ns", string(ns), "files")
}

// asked is a request.
type asked struct {
	key    string // a secret; "": none
	method string
	path   string // with its query, encoded
	body   []byte
	header map[string]string
	wait   time.Duration // 0: long
}

// answer is what came back; a status of 0 is a connection that broke off.
type answer struct {
	status int
	header http.Header
	body   []byte
}

var visitor = &http.Client{
	Transport:     &http.Transport{MaxIdleConnsPerHost: 16, DisableCompression: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func (h *hall) ask(q asked) answer {
	a := askAt(h.url, q)
	if h.heard != nil {
		h.heard(q, a)
	}
	return a
}

// askAt asks a server. What could not be asked at all is a status of 0 with the reason.
func askAt(url string, q asked) answer {
	if q.wait == 0 {
		q.wait = commandPatience
	}
	ctx, cancel := context.WithTimeout(context.Background(), q.wait)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, q.method, url+q.path, bytes.NewReader(q.body))
	if err != nil {
		return answer{body: []byte(err.Error())}
	}
	if q.key != "" {
		req.Header.Set("Authorization", "Bearer "+q.key)
	}
	if q.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for k, v := range q.header {
		req.Header.Set(k, v)
	}
	res, err := visitor.Do(req)
	if err != nil {
		return answer{body: []byte(err.Error())}
	}
	defer res.Body.Close() //nolint:errcheck // read to its end
	b, err := io.ReadAll(res.Body)
	if err != nil && ctx.Err() == nil {
		return answer{body: []byte(err.Error())}
	}
	return answer{res.StatusCode, res.Header, b}
}

func (a answer) good() bool { return a.status >= 200 && a.status < 300 }

// say is an answer for a person.
func (a answer) say() string { return fmt.Sprintf("%d %.200s", a.status, a.body) }

// pick reads a value of a JSON answer by a path such as "webhook.id" or "data.0.id".
func (a answer) pick(path string) string {
	var v any
	if json.Unmarshal(a.body, &v) != nil {
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

// must asks and answers an error when it is not done.
func (h *hall) must(key, method, path, body string) (answer, error) {
	q := asked{key: key, method: method, path: path}
	if body != "" {
		q.body = []byte(body)
	}
	a := h.ask(q)
	if !a.good() {
		return a, fmt.Errorf("%s %s: %s", method, path, a.say())
	}
	return a, nil
}

// receiver is an address of this machine that takes messages.
type receiver struct {
	url   string
	close func() error
	mu    sync.Mutex
	got   []message // guarded by mu
}

// message is one that came, with when.
type message struct {
	header http.Header
	body   []byte
	at     time.Time
	status int // that it was answered with
}

func (c *receiver) all() []message {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]message(nil), c.got...)
}
