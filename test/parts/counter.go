//go:build unix

package parts

import (
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
)

// Counts are what went to an S3 server.
type Counts struct {
	Requests map[string]int64 `json:"requests"` // by method; LIST is a GET of names
	Failed   int64            `json:"failed"`   // without an answer
	Sent     int64            `json:"sent"`     // bytes of bodies to the server
	Received int64            `json:"received"` // bytes of bodies from it
}

// Since answers the difference to an earlier count.
func (c Counts) Since(then Counts) Counts {
	out := Counts{Requests: map[string]int64{}, Failed: c.Failed - then.Failed, Sent: c.Sent - then.Sent, Received: c.Received - then.Received}
	for m, n := range c.Requests {
		if d := n - then.Requests[m]; d != 0 {
			out.Requests[m] = d
		}
	}
	return out
}

// Counter stands before an S3 server, counts, and can cut connections. Signatures hold:
// it changes nothing that is signed.
type Counter struct {
	server *http.Server
	l      net.Listener

	sent, received, failed atomic.Int64

	mu    sync.Mutex
	by    map[string]int64      // guarded by mu
	conns map[net.Conn]struct{} // guarded by mu
}

// StartCounter listens at a port of its own.
func StartCounter(target string) (*Counter, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start a counter: %w", err)
	}
	c := &Counter{l: l, by: map[string]int64{}, conns: map[net.Conn]struct{}{}}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: target})
			r.Out.Host = r.In.Host
			if r.Out.Body != nil {
				r.Out.Body = &counted{r.Out.Body, &c.sent}
			}
		},
		ModifyResponse: func(r *http.Response) error {
			r.Body = &counted{r.Body, &c.received}
			return nil
		},
		ErrorLog:  quiet,
		Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 256},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			c.failed.Add(1)
			panic(http.ErrAbortHandler) // as if nobody were there
		},
	}
	c.server = &http.Server{ConnState: c.state, ErrorLog: quiet, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		c.by[kindOf(r)]++
		c.mu.Unlock()
		proxy.ServeHTTP(w, r)
	})}
	go func() { _ = c.server.Serve(l) }() // ends with Close
	return c, nil
}

// quiet: connections break here on purpose.
var quiet = log.New(io.Discard, "", 0)

func kindOf(r *http.Request) string {
	q := r.URL.Query()
	if r.Method == http.MethodGet && (q.Has("list-type") || q.Has("prefix") || q.Has("delimiter")) {
		return "LIST"
	}
	return r.Method
}

func (c *Counter) state(conn net.Conn, s http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch s {
	case http.StateNew:
		c.conns[conn] = struct{}{}
	case http.StateClosed, http.StateHijacked:
		delete(c.conns, conn)
	default: // it is known
	}
}

// Address answers host and port.
func (c *Counter) Address() string { return c.l.Addr().String() }

// Counts answers all that went through since the start.
func (c *Counter) Counts() Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Counts{Requests: maps.Clone(c.by), Failed: c.failed.Load(), Sent: c.sent.Load(), Received: c.received.Load()}
}

// Cut breaks all connections and answers how many there were.
func (c *Counter) Cut() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.conns {
		reset(conn)
	}
	return len(c.conns)
}

// Close ends it.
func (c *Counter) Close() error { return c.server.Close() }

// counted counts what is read.
type counted struct {
	io.ReadCloser
	n *atomic.Int64
}

func (r *counted) Read(b []byte) (int, error) {
	n, err := r.ReadCloser.Read(b)
	r.n.Add(int64(n))
	return n, err
}
