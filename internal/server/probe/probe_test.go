package probe_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/retake-dev/retake/internal/server/probe"
)

// A function that never answers is asked once, and no caller waits longer than the limit. When it
// answers after all, its value is there.
func TestHanging(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	hang := make(chan struct{})
	p := probe.New(50*time.Millisecond, time.Hour, func(context.Context) (int, error) {
		calls.Add(1)
		<-hang
		return 7, nil
	})
	for range 3 {
		if n, err := p.Read(t.Context()); !errors.Is(err, probe.ErrNoAnswer) || n != 0 {
			t.Fatalf("%d %v", n, err)
		}
	}
	if n := calls.Load(); n != 1 {
		t.Errorf("asked %d times", n)
	}
	close(hang)
	for { // the reading ends soon
		n, err := p.Read(t.Context())
		if err == nil && n == 7 {
			return
		}
		if !errors.Is(err, probe.ErrNoAnswer) {
			t.Fatalf("%d %v", n, err)
		}
	}
}

// The context of a reading ends, so that one that honors it leaves nothing behind.
func TestReadingEnds(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	p := probe.New(10*time.Millisecond, 0, func(ctx context.Context) (int, error) {
		<-ctx.Done()
		ended <- ctx.Err()
		return 0, ctx.Err()
	})
	if _, err := p.Read(t.Context()); err == nil {
		t.Error("there is a value")
	}
	if err := <-ended; !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// A value is kept, with its error, until it is forgotten.
func TestKeep(t *testing.T) {
	t.Parallel()
	var calls int
	broken := errors.New("broken")
	p := probe.New(time.Minute, time.Hour, func(context.Context) (int, error) {
		calls++
		return calls, broken
	})
	for _, want := range []int{1, 1, 2} {
		if want == 2 {
			p.Forget()
		}
		if n, err := p.Read(t.Context()); n != want || !errors.Is(err, broken) {
			t.Errorf("%d %v, want %d", n, err, want)
		}
	}
}

// While a slow reading is under way, callers get the value before it, as long as that is not old.
func TestSlow(t *testing.T) {
	t.Parallel()
	more := make(chan struct{}, 1)
	more <- struct{}{}
	p := probe.New(time.Minute, 20*time.Millisecond, func(context.Context) (int, error) {
		<-more
		return 1, nil
	})
	if n, err := p.Read(t.Context()); n != 1 || err != nil {
		t.Fatalf("%d %v", n, err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for { // the value is still good for a while, and then it is not
		n, err := p.Read(gone)
		if errors.Is(err, probe.ErrNoAnswer) {
			break
		}
		if n != 1 || err != nil {
			t.Fatalf("%d %v", n, err)
		}
	}
	close(more)
	if n, err := p.Read(t.Context()); n != 1 || err != nil {
		t.Fatalf("%d %v", n, err)
	}
}
