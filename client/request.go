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

// maxRetries is how often a request is sent again.
const maxRetries = 5

// apiRequest is a request, which may be sent several times.
type apiRequest struct {
	method      string
	path        string // escaped; not valid if err is set
	err         error
	query       url.Values
	body        any
	stream      io.Reader // the body, if it is not JSON
	idempotent  bool      // sending it twice has the effect of sending it once
	readOnly    bool      // it changes nothing
	wantsBytes  bool      // the response is not JSON
	wantsEvents bool      // the response is a stream of events
	lastEventID string
	byteRange   string // value of the Range header
	onProgress  func(retake.Progress)

	idempotencyKey string // under which a server stores its response
	mayHaveArrived bool   // an earlier attempt may have reached the service
}

// newGet returns a GET request. The parts are the segments of the path.
func newGet(query url.Values, parts ...string) *apiRequest {
	a := newRequest(http.MethodGet, nil, parts...)
	a.query, a.idempotent, a.readOnly = query, true, true
	return a
}

// newRequest returns a request with a JSON body. The parts are the segments of the path.
func newRequest(method string, body any, parts ...string) *apiRequest {
	a := &apiRequest{method: method, body: body}
	var path strings.Builder
	path.WriteString("/v1")
	for _, p := range parts {
		switch p {
		case "":
			a.err = &retake.Error{Kind: retake.Invalid, What: "a name or an id is empty", Safe: unchanged}
		case ".", "..": // would be resolved as part of the path
			p = strings.ReplaceAll(p, ".", "%2E")
		default:
			p = url.PathEscape(p)
		}
		path.WriteString("/" + p)
	}
	a.path = path.String()
	return a
}

// connError is a connection that failed before the response was complete.
type connError struct {
	mayHaveArrived bool // the request may have reached the service
	err            error
}

func (b *connError) Error() string { return b.err.Error() }
func (b *connError) Unwrap() error { return b.err }

// callJSON sends a request and decodes its JSON response.
func callJSON[T any](ctx context.Context, c *Client, a *apiRequest) (T, error) {
	var out T
	err := c.send(ctx, a, func(r *http.Response) error {
		defer r.Body.Close() //nolint:errcheck // only read
		data, err := a.readResult(r)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(data, &out); err != nil {
			return badResponse(err)
		}
		return nil
	})
	return out, err
}

// send sends a request, again if that is safe, and passes the response to take.
func (c *Client) send(ctx context.Context, a *apiRequest, take func(*http.Response) error) error {
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
func (c *Client) sendToDaemon(ctx context.Context, a *apiRequest, body []byte, take func(*http.Response) error) error {
	for try := 0; ; try++ {
		err := c.sendOnce(ctx, a, body, take)
		var b *connError
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return a.canceledError(ctx)
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
func (c *Client) sendOnce(ctx context.Context, a *apiRequest, body []byte, take func(*http.Response) error) error {
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
func (c *Client) buildRequest(ctx context.Context, a *apiRequest, body []byte) (*http.Request, error) {
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
	req.Header.Set("User-Agent", "") // none
	if c.opts.Version != "" {
		req.Header.Set("Retake-Version", c.opts.Version)
	}
	switch {
	case body != nil:
		req.Header.Set("Content-Type", jsonType)
	case a.stream != nil:
		req.Header.Set("Content-Type", tarType)
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
		req.Header.Set("Accept", eventType)
	default:
		req.Header.Set("Accept", jsonType)
	}
	return req, nil
}
