package main

import (
	"archive/tar"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// openDesk listens for runners.
func (b *bed) openDesk() error {
	b.inbox = &inbox{got: map[string][]message{}, news: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /bed", func(w http.ResponseWriter, _ *http.Request) {
		say(w, map[string]any{"url": b.proxy.url, "keys": b.keys})
	})
	mux.HandleFunc("POST /fault", take(func(f fault) (any, error) { b.proxy.set(f); return true, nil }))
	mux.HandleFunc("GET /seen", func(w http.ResponseWriter, _ *http.Request) { say(w, b.proxy.told()) })
	mux.HandleFunc("POST /restart", func(w http.ResponseWriter, _ *http.Request) { b.restart(); say(w, true) })
	mux.HandleFunc("POST /disk", take(disk))
	mux.HandleFunc("POST /tar", func(w http.ResponseWriter, r *http.Request) {
		var files map[string]string
		if err := json.NewDecoder(r.Body).Decode(&files); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		_, _ = w.Write(pack(files)) // a test's own connection
	})
	mux.HandleFunc("POST /untar", func(w http.ResponseWriter, r *http.Request) {
		files, err := unpack(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		say(w, files)
	})
	mux.HandleFunc("POST /in/{name}", b.inbox.receive)
	mux.HandleFunc("GET /hook/{name}", b.inbox.tell)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	b.desk = "http://" + l.Addr().String()
	s := &http.Server{Handler: mux, ErrorLog: quietLog(), ReadHeaderTimeout: time.Minute}
	go func() { _ = s.Serve(l) }() // as long as the program
	return nil
}

func say(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // a test's own connection
}

// take answers a request whose body is a T.
func take[T any](f func(T) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var v T
		err := json.NewDecoder(r.Body).Decode(&v)
		var out any
		if err == nil {
			out, err = f(v)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		say(w, out)
	}
}

// deed is done to files on the machine of the server. Names that begin with base64: are bytes.
type deed struct {
	Root   string            `json:"root"`
	Write  map[string]string `json:"write"`
	Remove []string          `json:"remove"`
	Look   []string          `json:"look"` // what is there; null: nothing
}

func disk(d deed) (any, error) {
	for name, text := range d.Write {
		at := filepath.Join(d.Root, named(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	for _, name := range d.Remove {
		if err := os.RemoveAll(filepath.Join(d.Root, named(name))); err != nil {
			return nil, err
		}
	}
	out := map[string]any{}
	for _, name := range d.Look {
		text, err := os.ReadFile(filepath.Join(d.Root, named(name)))
		switch {
		case errors.Is(err, os.ErrNotExist):
			out[name] = nil
		case err != nil:
			return nil, err
		default:
			out[name] = string(text)
		}
	}
	return out, nil
}

func named(name string) string {
	if encoded, ok := strings.CutPrefix(name, "base64:"); ok {
		if raw, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			return string(raw)
		}
	}
	return name
}

func pack(files map[string]string) []byte {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		h := &tar.Header{Name: named(name), Mode: 0o600, Size: int64(len(files[name])), ModTime: time.Unix(1_700_000_000, 0), Typeflag: tar.TypeReg}
		_ = w.WriteHeader(h)                // into memory
		_, _ = w.Write([]byte(files[name])) // into memory
	}
	_ = w.Close() // into memory
	return out.Bytes()
}

func unpack(r io.Reader) (map[string]string, error) {
	out := map[string]string{}
	for t := tar.NewReader(r); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(t)
		if err != nil {
			return nil, err
		}
		if h.Typeflag == tar.TypeReg {
			out[h.Name] = string(text)
		}
	}
}

// inbox receives webhooks.
type inbox struct {
	mu   sync.Mutex
	got  map[string][]message // guarded by mu
	news chan struct{}        // closed with every message, guarded by mu
}

type message struct {
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

func (b *inbox) receive(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	m := message{Headers: map[string]string{}, Body: string(body)}
	for k := range r.Header {
		m.Headers[k] = r.Header.Get(k)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	name := r.PathValue("name")
	b.got[name] = append(b.got[name], m)
	close(b.news)
	b.news = make(chan struct{})
}

// tell waits until so many messages came, and answers them.
func (b *inbox) tell(w http.ResponseWriter, r *http.Request) {
	var count int
	_ = json.Unmarshal([]byte(r.URL.Query().Get("count")), &count) // without one: none
	end := time.After(ready)
	for {
		b.mu.Lock()
		got, news := slices.Clone(b.got[r.PathValue("name")]), b.news
		b.mu.Unlock()
		if len(got) >= count {
			say(w, got)
			return
		}
		select {
		case <-news:
		case <-end:
			say(w, got)
			return
		}
	}
}
