package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"
)

// fault is what the proxy does to requests that it fits, so many times.
type fault struct {
	Do    string `json:"do"`    // see the table below
	On    string `json:"on"`    // method and a part of the path; empty: every request
	Times int    `json:"times"` // 0: once
	After int    `json:"after"` // cut: bytes that pass
	Strip bool   `json:"strip"` // the key of the request, and the id that its body has, are taken off
}

// The faults.
const (
	loseAnswer  = "lose answer"  // the server does it, and nobody hears
	loseRequest = "lose request" // it never arrives
	tooOften    = "too often"    // 429, and Retry-After says a second
	busy        = "busy"         // 503, a problem
	badGateway  = "bad gateway"  // 502 of something between
	cut         = "cut"          // the answer ends in the middle
	none        = "none"         // for strip alone
)

// seen is one request as the proxy saw it.
type seen struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	Key    string `json:"key"`  // of the request, not of who asks
	Last   string `json:"last"` // Last-Event-ID
	Fault  string `json:"fault"`

	at time.Time
}

type proxy struct {
	url     string
	server  *httptest.Server
	forward *httputil.ReverseProxy
	to      *url.URL
	routes  routes

	mu    sync.Mutex
	fault fault           // guarded by mu
	seen  []seen          // guarded by mu
	hit   map[string]bool // operations that were answered, guarded by mu
}

func newProxy(to string) (*proxy, error) {
	u, err := url.Parse(to)
	if err != nil {
		return nil, err
	}
	p := &proxy{to: u, hit: map[string]bool{}}
	p.forward = &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(u) },
		FlushInterval: -1,
		ErrorHandler:  func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ErrorLog:      quietLog(),
		Transport:     &http.Transport{DisableKeepAlives: true}, // the server is killed now and then
	}
	if p.routes, err = readRoutes("api/openapi.yaml"); err != nil {
		return nil, err
	}
	p.server = httptest.NewUnstartedServer(p)
	p.server.Config.ErrorLog = quietLog()
	p.server.Start()
	p.url = p.server.URL
	return p, nil
}

func (p *proxy) close() {
	p.server.CloseClientConnections()
	p.server.Close()
}

// set makes the next requests meet a fault, and forgets what was seen.
func (p *proxy) set(f fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f.Do != "" && f.Times == 0 {
		f.Times = 1
	}
	p.fault, p.seen = f, nil
}

// told is what was seen since the fault was set.
func (p *proxy) told() map[string]any {
	p.mu.Lock()
	defer p.mu.Unlock()
	keys, faults, last := map[string]bool{}, 0, []string{}
	for _, s := range p.seen {
		if s.Key != "" {
			keys[s.Key] = true
		}
		if s.Fault != "" {
			faults++
		}
		if s.Last != "" {
			last = append(last, s.Last)
		}
	}
	waited := 0.0
	if n := len(p.seen); n > 0 {
		waited = p.seen[n-1].at.Sub(p.seen[0].at).Seconds()
	}
	return map[string]any{"waited": waited, "requests": len(p.seen), "keys": len(keys), "faults": faults, "last": last, "all": p.seen}
}

// meet notes a request, and answers the fault that it meets.
func (p *proxy) meet(r *http.Request) fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hit[p.routes.operation(r)] = true
	s := seen{Method: r.Method, Path: r.URL.Path, Key: r.Header.Get("Idempotency-Key"), Last: r.Header.Get("Last-Event-ID"), at: time.Now()}
	var f fault
	method, part, _ := strings.Cut(p.fault.On, " ")
	if p.fault.Times > 0 && (p.fault.On == "" || method == r.Method && strings.Contains(r.URL.Path, part)) {
		p.fault.Times--
		f, s.Fault = p.fault, p.fault.Do
	}
	f.Strip = p.fault.Strip
	p.seen = append(p.seen, s)
	return f
}

// ServeHTTP passes a request on, or does to it what the fault says.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f := p.meet(r)
	if f.Strip {
		strip(r)
	}
	switch f.Do {
	case "", none:
		p.forward.ServeHTTP(w, r)
	case loseAnswer:
		p.forward.ServeHTTP(httptest.NewRecorder(), r)
		hangUp(w)
	case loseRequest:
		hangUp(w)
	case tooOften:
		w.Header().Set("Retry-After", "1")
		turnAway(w, http.StatusTooManyRequests)
	case busy:
		turnAway(w, http.StatusServiceUnavailable)
	case badGateway:
		http.Error(w, "nobody there", http.StatusBadGateway)
	case cut:
		p.forward.ServeHTTP(&short{ResponseWriter: w, left: f.After}, r)
	default:
		http.Error(w, "no such fault: "+f.Do, http.StatusNotImplemented)
	}
}

func strip(r *http.Request) {
	r.Header.Del("Idempotency-Key")
	body, err := io.ReadAll(r.Body)
	var fields map[string]any
	if err == nil && json.Unmarshal(body, &fields) == nil {
		delete(fields, "id")
		body, _ = json.Marshal(fields) // it was JSON
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.Header.Set("Content-Length", fmt.Sprint(len(body)))
}

// hangUp closes the connection without a word.
func hangUp(w http.ResponseWriter) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0) // as when a machine goes away
	}
	_ = c.Close() // that is the point
}

func turnAway(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{ // the asker may be gone
		"type": "about:blank", "title": "Somebody else is at it", "status": status, "detail": "a fault of the proxy", "code": "busy",
		"what": "a fault of the proxy", "safe": "Nothing was changed.", "retryable": true, "request_id": "req_proxy",
	})
}

// short is an answer that breaks off.
type short struct {
	http.ResponseWriter
	left int
}

func (s *short) Write(b []byte) (int, error) {
	if len(b) < s.left {
		s.left -= len(b)
		return s.ResponseWriter.Write(b)
	}
	_, _ = s.ResponseWriter.Write(b[:s.left])                // the asker may be gone
	_ = http.NewResponseController(s.ResponseWriter).Flush() // and then
	panic(http.ErrAbortHandler)
}

// Unwrap lets streams flush.
func (s *short) Unwrap() http.ResponseWriter { return s.ResponseWriter }
