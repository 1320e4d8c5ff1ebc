// Package probe reads values that may be slow or never come: from a disk, a database or a bucket
// that hangs.
//
// It calls the functions that it is given and touches nothing else.
//
//	B1  A caller waits no longer than the limit, whatever the function does.
//	B2  A function runs once at a time: one that hangs leaves one goroutine, not one per caller.
package probe

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/retake-dev/retake/internal/platform/clock"
)

// ErrNoAnswer is the error of a value that did not come in time.
var ErrNoAnswer = errors.New("no answer in time")

// Probe reads a value, and keeps it for a while.
type Probe[T any] struct {
	read  func(context.Context) (T, error)
	limit time.Duration // how long a caller waits
	keep  time.Duration // how long a value is returned without reading it again; five times as long if that is slow

	mu      sync.Mutex
	running chan struct{} // guarded by mu; closed at the end of a reading; nil: there is none
	value   T             // guarded by mu
	err     error         // guarded by mu
	at      time.Time     // guarded by mu; zero: there is no value
}

// New returns a probe that has read nothing yet. read should end with its context, which ends after
// limit and keep.
func New[T any](limit, keep time.Duration, read func(context.Context) (T, error)) *Probe[T] {
	return &Probe[T]{read: read, limit: limit, keep: keep}
}

// Read returns the value, or ErrNoAnswer if it does not come in time and there is no earlier one.
func (p *Probe[T]) Read(ctx context.Context) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, p.limit)
	defer cancel()
	p.mu.Lock()
	if !p.at.IsZero() && clock.Wall.Now().Sub(p.at) < p.keep {
		defer p.mu.Unlock()
		return p.value, p.err
	}
	if p.running == nil {
		p.running = make(chan struct{})
		go p.run(p.running)
	}
	ended := p.running
	p.mu.Unlock()
	select {
	case <-ended:
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.value, p.err
	case <-ctx.Done():
		p.mu.Lock()
		defer p.mu.Unlock()
		if !p.at.IsZero() && clock.Wall.Now().Sub(p.at) < 5*p.keep {
			return p.value, p.err
		}
		var none T
		return none, ErrNoAnswer
	}
}

// run reads the value once. Its context is not that of a caller: others wait for it, too.
func (p *Probe[T]) run(ended chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), p.limit+p.keep)
	defer cancel()
	value, err := p.read(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.value, p.err, p.at, p.running = value, err, clock.Wall.Now(), nil
	close(ended)
}

// Forget lets the next Read read again, because the value has changed.
func (p *Probe[T]) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at = time.Time{}
}
