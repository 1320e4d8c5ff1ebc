package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/retake-dev/retake"
)

// maxAgain is how often one request is sent again.
const maxAgain = 5

// ask is one request, sent once or more often.
type ask struct {
	method string
	path   string // escaped, or empty with an err
	err    error
	query  url.Values
	body   any
	stream io.Reader // the body, when it is no JSON
	again  bool      // asking twice is asking once
	looks  bool      // nothing is changed by asking
	bytes  bool      // the answer is not JSON
	events bool      // the answer is a stream of them
	last   string
	part   string // of the bytes
	follow func(retake.Progress)

	once  string // the key under which a server remembers its answer
	doubt bool   // a sending before this one may have arrived
}

// get asks for something; the parts become the path.
func get(query url.Values, parts ...string) *ask {
	a := to(http.MethodGet, nil, parts...)
	a.query, a.again, a.looks = query, true, true
	return a
}

// to asks for a deed.
func to(method string, body any, parts ...string) *ask {
	a := &ask{method: method, body: body}
	var path strings.Builder
	path.WriteString("/v1")
	for _, p := range parts {
		switch p {
		case "":
			a.err = &retake.Error{Kind: retake.Invalid, What: "a name or an id is empty", Safe: unchanged}
		case ".", "..": // would be taken for a way through the address
			p = strings.ReplaceAll(p, ".", "%2E")
		default:
			p = url.PathEscape(p)
		}
		path.WriteString("/" + p)
	}
	a.path = path.String()
	return a
}

// broken is a connection that gave no complete answer.
type broken struct {
	sent bool // the request may have arrived
	err  error
}

func (b *broken) Error() string { return b.err.Error() }
func (b *broken) Unwrap() error { return b.err }

// call asks for JSON.
func call[T any](ctx context.Context, c *Client, a *ask) (T, error) {
	var out T
	err := c.do(ctx, a, func(r *http.Response) error {
		defer r.Body.Close() //nolint:errcheck // only read
		data, err := a.result(r)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(data, &out); err != nil {
			return notUnderstood(err)
		}
		return nil
	})
	return out, err
}

// do sends the request until it is answered, or may not be sent again.
func (c *Client) do(ctx context.Context, a *ask, take func(*http.Response) error) error {
	if a.err != nil {
		return a.err
	}
	var body []byte
	if a.body != nil {
		var err error
		if body, err = json.Marshal(a.body); err != nil {
			return notUnderstood(err)
		}
	}
	if c.o.Socket == "" {
		return c.doFar(ctx, a, body, take)
	}
	return c.doNear(ctx, a, body, take)
}

// doNear asks the daemon, which is brought back when it is not there.
func (c *Client) doNear(ctx context.Context, a *ask, body []byte, take func(*http.Response) error) error {
	for try := 0; ; try++ {
		err := c.once(ctx, a, body, take)
		var b *broken
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return a.stopped(ctx)
		case !errors.As(err, &b):
			return told(err)
		case c.o.Revive == nil || try == maxAgain || b.sent && !a.again:
			a.doubt = a.doubt || b.sent
			return c.away(a, b.err)
		}
		a.doubt = a.doubt || b.sent
		if err := c.o.Revive(ctx); err != nil {
			return c.notRevived(ctx, a, err)
		}
	}
}

func (c *Client) once(ctx context.Context, a *ask, body []byte, take func(*http.Response) error) error {
	req, err := c.request(ctx, a, body)
	if err != nil {
		return notUnderstood(err)
	}
	done := func(int, error) {}
	if c.o.Trace != nil {
		done = c.o.Trace(a.method, a.path)
	}
	r, err := c.transport.RoundTrip(req)
	if err != nil {
		done(0, err)
		var op *net.OpError
		return &broken{sent: !errors.As(err, &op) || op.Op != "dial", err: err}
	}
	done(r.StatusCode, nil)
	if r.StatusCode/100 != 2 {
		defer r.Body.Close() //nolint:errcheck // only read
		return answered(r)
	}
	return take(r)
}

func (c *Client) request(ctx context.Context, a *ask, body []byte) (*http.Request, error) {
	address := c.base + a.path
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
	req.Header.Set("User-Agent", "") // none
	if c.o.Version != "" {
		req.Header.Set("Retake-Version", c.o.Version)
	}
	switch {
	case body != nil:
		req.Header.Set("Content-Type", jsonType)
	case a.stream != nil:
		req.Header.Set("Content-Type", tarType)
		req.Header.Set("Expect", "100-continue") // who is not let in sends nothing
	}
	c.identify(req, a)
	switch {
	case a.bytes:
		if a.part != "" {
			req.Header.Set("Range", a.part)
		}
		req.Header.Set("Te", "trailers")
		req.Header.Set("Connection", "TE")
	case a.follow != nil || a.events:
		req.Header.Set("Accept", eventType)
	default:
		req.Header.Set("Accept", jsonType)
	}
	return req, nil
}
