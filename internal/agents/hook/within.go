package hook

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

var errEnded = errors.New("ended without an answer")

// withBudget runs f with a time limit and returns when the limit is reached, even if f has
// not returned. A panic in f becomes an error. The process is about to end, so f is left
// running.
func withBudget[T any](ctx context.Context, budget time.Duration, f func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		r := result{err: errEnded}
		defer func() {
			if p := recover(); p != nil {
				r.err = fmt.Errorf("panic: %v", p)
			}
			done <- r
		}()
		r.value, r.err = f(ctx)
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
	}
	select {
	case r := <-done: // both at once: what was done is done
		return r.value, r.err
	default:
		var none T
		return none, ctx.Err()
	}
}

// readPayload reads one JSON value and does not wait for the end of the input after it. If
// the payload is refused, it returns what was read and drains the rest, so that the agent's
// write does not fail.
func readPayload(in io.Reader) ([]byte, error) {
	limited := &io.LimitedReader{R: in, N: maxPayload + 1}
	buffered := bufio.NewReader(limited)
	if mark, _ := buffered.Peek(len(byteOrderMark)); bytes.Equal(mark, byteOrderMark) {
		_, _ = buffered.Discard(len(byteOrderMark)) // it is there
	}
	dec := json.NewDecoder(buffered)
	var payload json.RawMessage
	err := dec.Decode(&payload)
	if err == nil && len(payload) <= maxPayload {
		return payload, nil
	}
	rest, _ := io.ReadAll(dec.Buffered()) // it is in memory
	if len(payload) > 0 {
		rest = payload
	}
	if limited.N <= 0 {
		err = errTooLarge
	}
	_, _ = io.Copy(io.Discard, in)
	return rest, err
}
