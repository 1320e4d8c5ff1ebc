// Package client is retake.Service and retake.Office over HTTP, on a unix socket or an
// address.
//
// It dials on the first call, keeps no state but idle connections, reads neither
// the environment nor any file, and starts nothing: Revive does that, if given.
//
//	K1  Errors come back with the kind, the texts and the cause that the service gave.
//	K2  Names and paths keep their bytes.
//	K3  What may be asked twice is asked again after a broken connection; the rest
//	    only when the request was never sent.
//	K4  Bytes that end early end with an error.
//	K5  The key goes to the address that it is for, and nowhere else.
package client

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/retake-dev/retake"
)

// Options say whom to ask.
type Options struct {
	Socket  string // path of a unix socket, or
	URL     string // base address, http or https
	Version string // of the caller, sent as Retake-Version
	// Revive is called when nobody answers; it brings the other end back. After it
	// the request is sent again. nil: the error is given.
	Revive func(ctx context.Context) error
	// Trace is called before each request, and what it returns with how it ended: a status, or
	// 0 and an error. nil: nobody looks.
	Trace func(method, path string) (done func(status int, err error))

	// What follows is for an address.
	Key     string      // rtk_…; sent as it is, so the address is https, or of a network that is trusted
	TLS     *tls.Config // nil: as the system has it
	Retries int         // how often a request is sent again, ever later; 0: five times; below: never
}

// Client asks another process. It may be used by several goroutines.
type Client struct {
	opts      Options
	baseURL   string
	transport *http.Transport
}

var (
	_ retake.Service = (*Client)(nil)
	_ retake.Office  = (*Client)(nil)
)

// New never dials.
func New(o Options) *Client {
	t := &http.Transport{DisableCompression: true, Protocols: new(http.Protocols), TLSClientConfig: o.TLS, ExpectContinueTimeout: time.Second}
	t.Protocols.SetHTTP1(true)
	c := &Client{opts: o, baseURL: strings.TrimSuffix(o.URL, "/"), transport: t}
	if o.Socket != "" {
		c.baseURL = "http://retake"
		t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", o.Socket)
		}
	}
	return c
}

// Close gives idle connections back. The other end goes on.
func (c *Client) Close() error {
	c.transport.CloseIdleConnections()
	return nil
}

// About asks who answers.
func (c *Client) About(ctx context.Context) (retake.About, error) {
	return callJSON[retake.About](ctx, c, newGet(nil, "about"))
}
