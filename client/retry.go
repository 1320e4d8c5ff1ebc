package client

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake/internal/pure/wire"
)

const (
	minRetryDelay = 100 * time.Millisecond
	maxRetryDelay = 5 * time.Second
	maxRetryAfter = time.Minute // upper bound for the Retry-After of a server
)

// retryableError is a response after which the same request may succeed later.
type retryableError struct {
	err        error
	retryAfter time.Duration // from the Retry-After header; 0: there was none
	refused    bool          // the service did not see the request
}

func (l *retryableError) Error() string { return l.err.Error() }
func (l *retryableError) Unwrap() error { return l.err }

// unwrapRetryable returns the error that the caller gets.
func unwrapRetryable(err error) error {
	var l *retryableError
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
	return min(time.Duration(n)*time.Second, maxRetryAfter)
}

// setIdentity adds the key of the caller and the idempotency key of the request.
func (c *conn) setIdentity(req *http.Request, a *apiRequest) {
	if c.opts.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.opts.Key)
	}
	if a.idempotencyKey != "" {
		req.Header.Set(wire.IdempotencyHeader, a.idempotencyKey)
	}
	if a.ifMatch != "" {
		req.Header.Set("If-Match", a.ifMatch)
	}
	if a.lastEventID != "" {
		req.Header.Set("Last-Event-ID", a.lastEventID)
	}
}

// sendToServer sends a request to a server. A POST gets an idempotency key, so that it can be
// sent again, unless it is a stream, whose response a server cannot store.
func (c *conn) sendToServer(ctx context.Context, a *apiRequest, body []byte, take func(*http.Response) error) error {
	if a.method == http.MethodPost && a.stream == nil && a.onProgress == nil {
		a.idempotencyKey, a.idempotent = uuid.NewString(), true
	}
	for try := 0; ; try++ {
		err := c.sendOnce(ctx, a, body, take)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return a.canceledError(ctx)
		}
		var b *connError
		if errors.As(err, &b) {
			a.mayHaveArrived = a.mayHaveArrived || b.mayHaveArrived
		}
		if try >= c.retries() || !a.mayRetry(err) {
			if b != nil {
				return c.unreachableError(a, b.err)
			}
			return unwrapRetryable(err)
		}
		if !sleep(ctx, retryDelay(try, err)) {
			return a.canceledError(ctx)
		}
	}
}

func (c *conn) retries() int {
	if c.opts.Retries == 0 {
		return maxRetries
	}
	return max(c.opts.Retries, 0)
}

// mayRetry reports whether a request may be sent again after an error.
func (a *apiRequest) mayRetry(err error) bool {
	if a.stream != nil {
		return false // the body cannot be read again
	}
	var b *connError
	if errors.As(err, &b) {
		return a.idempotent || !b.mayHaveArrived
	}
	var l *retryableError
	return errors.As(err, &l) && (a.idempotent || l.refused)
}

// retryDelay grows with each attempt, and is random so that clients which were refused together
// do not return together.
func retryDelay(try int, err error) time.Duration {
	var l *retryableError
	if errors.As(err, &l) && l.retryAfter > 0 {
		return l.retryAfter
	}
	d := min(minRetryDelay<<try, maxRetryDelay)
	return d/2 + rand.N(d/2+1)
}

// sleep waits, and returns false if ctx ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
