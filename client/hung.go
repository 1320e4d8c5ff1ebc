package client

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"
)

// A daemon that is stopped or stuck still takes connections. While a request waits for its answer,
// the daemon is asked whether it is there.
const (
	hungAfter = 1500 * time.Millisecond // until it is asked for the first time
	hungAgain = 5 * time.Second         // between two questions
	hungWait  = time.Second             // for an answer
)

// errHung says that a request was given up because the daemon does not answer anything.
var errHung = errors.New("it takes connections and answers nothing")

// sendWatched is sendOnce for a daemon that may hang. A request that was given up is left to
// itself; its answer is not taken any more.
func (c *conn) sendWatched(ctx context.Context, a *apiRequest, body []byte, take func(*http.Response) error) error {
	var decided atomic.Bool // somebody has taken the answer, or nobody waits for it any more
	done, answered := make(chan error, 1), make(chan struct{})
	go func() {
		done <- c.sendOnce(ctx, a, body, func(r *http.Response) error {
			if !decided.CompareAndSwap(false, true) {
				return errors.Join(errHung, r.Body.Close())
			}
			close(answered)
			return take(r)
		})
	}()
	for wait := hungAfter; ; wait = hungAgain {
		t := time.NewTimer(wait)
		select {
		case err := <-done:
			t.Stop()
			return err
		case <-answered:
			t.Stop()
			return <-done
		case <-t.C:
			if c.isHung(ctx) && decided.CompareAndSwap(false, true) {
				return errHung
			}
		}
	}
}

// isHung asks the daemon for anything. Every answer counts, and so does a refused connection: the
// request itself meets that too.
func (c *conn) isHung(ctx context.Context) bool {
	ask, cancel := context.WithTimeout(ctx, hungWait)
	defer cancel()
	req, err := http.NewRequestWithContext(ask, http.MethodGet, c.baseURL+"/daemon/state", nil)
	if err != nil {
		return false
	}
	r, err := c.transport.RoundTrip(req)
	if err == nil {
		_ = r.Body.Close() // nobody reads it
	}
	return errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil
}
