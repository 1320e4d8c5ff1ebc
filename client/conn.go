package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

// conn sends requests to a daemon or a server, and again if that is safe.
type conn struct {
	opts      Options
	baseURL   string
	transport *http.Transport
}

func newConn(o Options) *conn {
	t := &http.Transport{DisableCompression: true, Protocols: new(http.Protocols), TLSClientConfig: o.TLS, ExpectContinueTimeout: time.Second}
	t.Protocols.SetHTTP1(true)
	c := &conn{opts: o, baseURL: strings.TrimSuffix(o.URL, "/"), transport: t}
	if o.Socket != "" {
		c.baseURL = "http://retake"
		t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", o.Socket)
		}
	}
	return c
}

// send sends a request, again if that is safe, and passes the response to take.
func (c *conn) send(ctx context.Context, a *apiRequest, take func(*http.Response) error) error {
	if a.err != nil {
		return a.err
	}
	var body []byte
	if a.body != nil {
		var err error
		if body, err = json.Marshal(a.body); err != nil {
			return badResponse(err)
		}
	}
	if c.opts.Socket == "" {
		return c.sendToServer(ctx, a, body, take)
	}
	return c.sendToDaemon(ctx, a, body, take)
}

// sendToDaemon sends a request to the daemon, and starts the daemon again if it is gone.
func (c *conn) sendToDaemon(ctx context.Context, a *apiRequest, body []byte, take func(*http.Response) error) error {
	for try := 0; ; try++ {
		err := c.sendWatched(ctx, a, body, take)
		var b *connError
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return a.canceledError(ctx)
		case errors.Is(err, errHung):
			a.mayHaveArrived = true
			return c.unreachableError(a, errHung)
		case !errors.As(err, &b):
			return unwrapRetryable(err)
		case c.opts.Revive == nil || try == maxRetries || b.mayHaveArrived && !a.idempotent:
			a.mayHaveArrived = a.mayHaveArrived || b.mayHaveArrived
			return c.unreachableError(a, b.err)
		}
		a.mayHaveArrived = a.mayHaveArrived || b.mayHaveArrived
		if err := c.opts.Revive(ctx); err != nil {
			return c.reviveError(ctx, a, err)
		}
	}
}

// sendOnce makes one attempt. The error is a connError if the connection failed.
func (c *conn) sendOnce(ctx context.Context, a *apiRequest, body []byte, take func(*http.Response) error) error {
	req, err := c.buildRequest(ctx, a, body)
	if err != nil {
		return badResponse(err)
	}
	done := func(int, error) {}
	if c.opts.Trace != nil {
		done = c.opts.Trace(a.method, a.path)
	}
	r, err := c.transport.RoundTrip(req)
	if err != nil {
		done(0, err)
		var op *net.OpError
		return &connError{mayHaveArrived: !errors.As(err, &op) || op.Op != "dial", err: err}
	}
	done(r.StatusCode, nil)
	if r.StatusCode/100 != 2 {
		defer r.Body.Close() //nolint:errcheck // only read
		return responseError(r)
	}
	return take(r)
}

// buildRequest builds the HTTP request of one attempt.
func (c *conn) buildRequest(ctx context.Context, a *apiRequest, body []byte) (*http.Request, error) {
	address := c.baseURL + a.path
	if len(a.query) > 0 {
		address += "?" + a.query.Encode()
	}
	r := a.stream
	if body != nil {
		r = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, a.method, address, r)
	if err != nil {
		return nil, fmt.Errorf("make a request: %w", err)
	}
	maps.Copy(req.Header, c.opts.Header)
	req.Header.Set("User-Agent", "") // none
	if c.opts.Version != "" {
		req.Header.Set(wire.VersionHeader, c.opts.Version)
	}
	switch {
	case body != nil:
		req.Header.Set("Content-Type", wire.JSONType)
	case a.stream != nil:
		req.Header.Set("Content-Type", wire.TarType)
		req.Header.Set("Expect", "100-continue") // a request that is refused does not send its body
	}
	c.setIdentity(req, a)
	switch {
	case a.wantsBytes:
		if a.byteRange != "" {
			req.Header.Set("Range", a.byteRange)
		}
		req.Header.Set("Te", "trailers")
		req.Header.Set("Connection", "TE")
	case a.onProgress != nil || a.wantsEvents:
		req.Header.Set("Accept", wire.EventType)
	default:
		req.Header.Set("Accept", wire.JSONType)
	}
	return req, nil
}

// sendDelete deletes something. If a response was lost, not found means that it was deleted.
func (c *conn) sendDelete(ctx context.Context, a *apiRequest) error {
	a.idempotent = true
	err := c.send(ctx, a, func(r *http.Response) error { return r.Body.Close() })
	if a.mayHaveArrived && retake.IsKind(err, retake.NotFound) {
		return nil
	}
	return err
}
