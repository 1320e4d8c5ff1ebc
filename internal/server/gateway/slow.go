package gateway

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/retake-dev/retake/internal/platform/clock"
)

const (
	bodyTimeout      = 30 * time.Second // how long bodyPiece may take to arrive
	bodyPiece        = 16 << 10         // at least this, or all of the body, in bodyTimeout: 550 bytes a second
	refusedTimeout   = 2 * time.Second  // how long a refused body may arrive, so that its client reads the response
	keyCheckInterval = 5 * time.Second  // how often the key of a long request is checked again
)

// pacedBody is the body of a request, which must keep arriving. A client that stops sending, or sends
// a byte now and then, holds a connection, and work that waits for it, for ever otherwise.
type pacedBody struct {
	io.ReadCloser
	control *http.ResponseController
	timeout time.Duration
	left    int // bytes until the deadline is extended
}

// paceBody makes the body of a request end with an error if it arrives too slowly.
func paceBody(w http.ResponseWriter, r *http.Request, timeout time.Duration) *http.Request {
	if r.Body == nil || r.Body == http.NoBody {
		return r
	}
	r.Body = &pacedBody{ReadCloser: r.Body, control: http.NewResponseController(w), timeout: timeout}
	return r
}

// Read extends the deadline after each piece. When all is read there is none: the server waits on
// the same connection for the client to leave.
func (b *pacedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		b.left = bodyPiece
		_ = b.control.SetReadDeadline(clock.Wall.Now().Add(b.timeout)) // not every connection has deadlines
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= n
	if err != nil {
		_ = b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

// refuseBody makes the connection end soon after the response: the server would otherwise wait for
// a body that nobody wants.
func refuseBody(w http.ResponseWriter, r *http.Request) {
	if r.Body != nil && r.Body != http.NoBody {
		w.Header().Set("Connection", "close")
		_ = http.NewResponseController(w).SetReadDeadline(clock.Wall.Now().Add(refusedTimeout))
	}
}

// whileKeyIsValid returns a context that ends when the key of a request is revoked, for streams and
// downloads. stop must be called when the request ends.
func (f *Gateway) whileKeyIsValid(r *http.Request) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(r.Context())
	watch := time.AfterFunc(keyCheckInterval, func() { // most requests end before
		tick := time.NewTicker(keyCheckInterval)
		defer tick.Stop()
		for ctx.Err() == nil {
			if _, err := f.keys.authenticate(r.WithContext(ctx)); errors.Is(err, errInvalidKey) {
				f.opts.Metrics.CountRefused("revoked")
				cancel()
			}
			select {
			case <-ctx.Done():
			case <-tick.C:
			}
		}
	})
	return ctx, func() { watch.Stop(); cancel() }
}
