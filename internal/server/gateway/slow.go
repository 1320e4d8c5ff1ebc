package gateway

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/retake-dev/retake/internal/platform/clock"
)

const (
	bodyTimeout      = 30 * time.Second // how long bodyPiece may take to arrive
	bodyPiece        = 16 << 10         // at least this, or all of the body, in bodyTimeout: 550 bytes a second
	responseTimeout  = 30 * time.Second // how long a client may take for a part of a response
	refusedTimeout   = 2 * time.Second  // how long a refused body may arrive, so that its client reads the response
	keyCheckInterval = 5 * time.Second  // how often the key of a long request is checked again
)

// pacedBody is the body of a request, which must keep arriving. A client that stops sending, or sends
// a byte now and then, holds a connection, and work that waits for it, for ever otherwise.
type pacedBody struct {
	io.ReadCloser
	http2   bool // where a deadline that passes between two reads ends the body for good
	timeout time.Duration
	left    int           // bytes until the time begins anew
	waited  time.Duration // for the bytes since it began

	mu      sync.Mutex
	control *http.ResponseController // guarded by mu; nil after the request: it is not valid then
}

// paceBody returns a request whose body ends with an error if it arrives too slowly, also if nobody
// reads it: the server waits for the rest of a small one. end must be called when the request ends.
//
// The request that the server has keeps its own body: by its type the server finds out that it was not
// read to its end, and ends the connection. Else the rest would be taken for more requests.
func paceBody(w http.ResponseWriter, r *http.Request, timeout time.Duration) (paced *http.Request, end func()) {
	if !hasBody(r) {
		return r, func() {}
	}
	b := &pacedBody{ReadCloser: r.Body, http2: r.ProtoMajor > 1, control: http.NewResponseController(w), timeout: timeout}
	if !b.http2 { // the server waits for a body that nobody reads
		b.setDeadline(clock.Wall.Now().Add(timeout))
	}
	r = r.WithContext(r.Context()) // a copy
	r.Body = b
	return r, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.control = nil
	}
}

// hasBody reports whether a request has a body. In HTTP/2 its Body does not say.
func hasBody(r *http.Request) bool {
	return r.Body != nil && r.Body != http.NoBody && r.ContentLength != 0
}

// Read extends the deadline after each piece. Only the time that it waits itself counts: who reads
// may be slow. When all is read there is no deadline: the server waits on the same connection for
// the client to leave. After an error there is no more time: the server would wait for the rest.
func (b *pacedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		b.left, b.waited = bodyPiece, 0
	}
	begun := clock.Wall.Now()
	b.setDeadline(begun.Add(b.timeout - b.waited))
	n, err := b.ReadCloser.Read(p)
	b.left, b.waited = b.left-n, b.waited+clock.Wall.Now().Sub(begun)
	switch {
	case errors.Is(err, io.EOF) || err == nil && b.http2:
		b.setDeadline(time.Time{})
	case err != nil:
		b.setDeadline(begun)
	}
	return n, err
}

func (b *pacedBody) setDeadline(t time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.control != nil {
		_ = b.control.SetReadDeadline(t) // not every connection has deadlines
	}
}

// pacedWriter is a response that must keep leaving. A client that stops reading holds what the response
// is read from otherwise. Between two writes there is no deadline: a stream may be silent.
type pacedWriter struct {
	http.ResponseWriter
	timeout time.Duration
}

func (w pacedWriter) Write(p []byte) (n int, err error) {
	err = w.inTime(func() (err error) {
		n, err = w.ResponseWriter.Write(p)
		return err
	})
	return n, err
}

// FlushError is what http.ResponseController calls.
func (w pacedWriter) FlushError() error {
	return w.inTime(http.NewResponseController(w.ResponseWriter).Flush)
}

func (w pacedWriter) inTime(write func() error) error {
	control := http.NewResponseController(w.ResponseWriter)
	_ = control.SetWriteDeadline(clock.Wall.Now().Add(w.timeout)) // not every connection has deadlines
	err := write()
	if err == nil { // after an error the connection ends
		_ = control.SetWriteDeadline(time.Time{})
	}
	return err
}

// Flush is for those who don't know http.ResponseController.
func (w pacedWriter) Flush() { _ = w.FlushError() }

// begin lets the server write at once that a body may come: the deadline is that of the response before.
func (w pacedWriter) begin() {
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Time{}) // not every connection has deadlines
}

// end gives the rest of a response, which the server writes after its handler, as much time as any part.
func (w pacedWriter) end() {
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(clock.Wall.Now().Add(w.timeout)) // not every connection has deadlines
}

// Unwrap gives http.ResponseController access to what else a response can do.
func (w pacedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// refuseBody makes the connection end soon after the response: the server would otherwise wait for
// a body that nobody wants.
func refuseBody(w http.ResponseWriter, r *http.Request) {
	if hasBody(r) && r.ProtoMajor == 1 { // in HTTP/2 it would end the requests beside it
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
			if _, err := f.authenticate(r.WithContext(ctx)); errors.Is(err, errInvalidKey) {
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
