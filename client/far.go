package client

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"
)

const (
	tarType    = "application/x-tar"
	onceHeader = "Idempotency-Key"

	firstPause = 100 * time.Millisecond
	longPause  = 5 * time.Second
	maxPause   = time.Minute // however long a server asks us to wait
)

// later is an answer that says that the same request may work then.
type later struct {
	err     error
	after   time.Duration // as the server asked; 0: it did not
	refused bool          // it was not looked at
}

func (l *later) Error() string { return l.err.Error() }
func (l *later) Unwrap() error { return l.err }

// told is the error as the caller gets it.
func told(err error) error {
	var l *later
	if errors.As(err, &l) {
		return l.err
	}
	return err
}

func retryAfter(r *http.Response) time.Duration {
	n, err := strconv.Atoi(r.Header.Get("Retry-After"))
	if err != nil || n < 0 {
		return 0
	}
	return min(time.Duration(n)*time.Second, maxPause)
}

// identify adds who asks, and for a deed the key under which a server does it once.
func (c *Client) identify(req *http.Request, a *ask) {
	if c.o.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.o.Key)
	}
	if a.once != "" {
		req.Header.Set(onceHeader, a.once)
	}
	if a.last != "" {
		req.Header.Set("Last-Event-ID", a.last)
	}
}

// doFar asks a server. A deed carries a key of its own, so that asking twice is asking
// once; of streams a server cannot remember the answer.
func (c *Client) doFar(ctx context.Context, a *ask, body []byte, take func(*http.Response) error) error {
	if a.method == http.MethodPost && a.stream == nil && a.follow == nil {
		a.once, a.again = uuid.NewString(), true
	}
	for try := 0; ; try++ {
		err := c.once(ctx, a, body, take)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return a.stopped(ctx)
		}
		var b *broken
		if errors.As(err, &b) {
			a.doubt = a.doubt || b.sent
		}
		if try >= c.retries() || !a.mayAgain(err) {
			if b != nil {
				return c.away(a, b.err)
			}
			return told(err)
		}
		if !paused(ctx, pause(try, err)) {
			return a.stopped(ctx)
		}
	}
}

func (c *Client) retries() int {
	if c.o.Retries == 0 {
		return maxAgain
	}
	return max(c.o.Retries, 0)
}

// mayAgain reports whether a request may be sent again after an error.
func (a *ask) mayAgain(err error) bool {
	if a.stream != nil {
		return false // what was read of it is gone
	}
	var b *broken
	if errors.As(err, &b) {
		return a.again || !b.sent
	}
	var l *later
	return errors.As(err, &l) && (a.again || l.refused)
}

// pause grows with every try, and differs between askers that were turned away together.
func pause(try int, err error) time.Duration {
	var l *later
	if errors.As(err, &l) && l.after > 0 {
		return l.after
	}
	d := min(firstPause<<try, longPause)
	return d/2 + rand.N(d/2+1)
}

// paused answers false when the caller does not wait any longer.
func paused(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
