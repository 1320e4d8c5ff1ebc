// Package client is retake.Service and retake.Office over HTTP, on a Unix socket or at a URL.
//
// It dials on the first call, keeps no state but idle connections, reads neither the
// environment nor any file, and starts nothing: Revive does that, if given.
//
//	K1  Errors have the kind, the texts and the cause that the service returned.
//	K2  Names and paths keep their bytes.
//	K3  An idempotent request is sent again after a broken connection; any other request
//	    only if it was never sent.
//	K4  A body that is cut short ends with an error.
//	K5  The key is sent to the configured address and nowhere else.
package client

import (
	"context"
	"crypto/tls"
	"net/http"

	"github.com/retake-dev/retake"
)

// Options configure a client.
type Options struct {
	Socket  string // path of a Unix socket, or
	URL     string // base URL, http or https
	Version string // version of the caller, sent as Retake-Version
	// Header is sent with each request, besides the client's own.
	Header http.Header
	// Revive is called if nothing listens on the socket; it starts the daemon again. Then the
	// request is sent again. nil: the call fails.
	Revive func(ctx context.Context) error
	// Trace is called before each request, and what it returns with how it ended: a status, or
	// 0 and an error. nil: nobody looks.
	Trace func(method, path string) (done func(status int, err error))

	// The following options are for a URL.
	Key     string      // rtk_…; sent in clear, so use https, or a network that you trust
	TLS     *tls.Config // nil: the system's default
	Retries int         // how often a request is retried, with growing delays; 0: five times; negative: never
}

// Client calls the API of another process. It is safe for concurrent use.
type Client struct {
	admin
	observer
	storage
	snapshots
	conn *conn
}

var (
	_ retake.Service = (*Client)(nil)
	_ retake.Office  = (*Client)(nil)
)

// New creates a client. It does not dial.
func New(o Options) *Client {
	c := newConn(o)
	return &Client{admin: admin{c}, observer: observer{c}, storage: storage{c}, snapshots: snapshots{c}, conn: c}
}

// Close closes idle connections. The other process continues.
func (c *Client) Close() error {
	c.conn.transport.CloseIdleConnections()
	return nil
}

// About describes the process that serves the API.
func (c *Client) About(ctx context.Context) (retake.About, error) {
	return callJSON[retake.About](ctx, c.conn, newGet(nil, "about"))
}
