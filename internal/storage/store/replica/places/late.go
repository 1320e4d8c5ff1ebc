package places

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

const (
	closeWait = 2 * time.Second
	lateWait  = 20 * time.Second
)

// errLate means that a host took a request and never answered. A client of the engine cannot take it back.
var errLate = errors.New("the host has not answered an earlier request yet")

// lateRequests are requests that nobody waits for any more, by the place that they were sent to. A put among them
// may still replace an object, so that nothing is sent to this place before it ended. It ends when the connection
// does.
type lateRequests struct {
	mu sync.Mutex
	of map[string][]chan struct{} // guarded by mu
}

var late = lateRequests{of: map[string][]chan struct{}{}}

func (l *lateRequests) add(place string, done chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.of[place] = append(l.of[place], done)
}

func (l *lateRequests) remove(place string, done chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.of[place] = slices.DeleteFunc(l.of[place], func(c chan struct{}) bool { return c == done })
	if len(l.of[place]) == 0 {
		delete(l.of, place)
	}
}

// wait waits a while until no request to a place is late.
func (l *lateRequests) wait(ctx context.Context, place string) error {
	l.mu.Lock()
	all := slices.Clone(l.of[place])
	l.mu.Unlock()
	limit := time.NewTimer(lateWait)
	defer limit.Stop()
	for _, done := range all {
		select {
		case <-done:
		case <-ctx.Done():
			return ctx.Err()
		case <-limit.C:
			return errLate
		}
	}
	return nil
}

// await waits for f as long as ctx allows. The clients of the engine do not end with a context.
func await[T any](ctx context.Context, place string, f func() (T, error)) (T, error) {
	var out T
	var err error
	if err := ctx.Err(); err != nil {
		return out, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if v := recover(); v != nil { // nobody else can
				err = fmt.Errorf("the client panicked: %v\n%s", v, debug.Stack())
			}
		}()
		out, err = f()
	}()
	select {
	case <-done:
		return out, err
	case <-ctx.Done():
		late.add(place, done)
		go func() {
			<-done
			late.remove(place, done)
		}()
		var none T
		return none, ctx.Err()
	}
}
