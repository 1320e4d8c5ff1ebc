package fsx

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrLocked means that the context ended while somebody else held the lock.
var ErrLocked = errors.New("held by another")

// Locks are named locks that end with the process that holds them. Several holders can share a
// lock; an exclusive holder excludes all others.
type Locks interface {
	// Lock waits for the lock until ctx ends, and then returns ErrLocked.
	Lock(ctx context.Context, name string, exclusive bool) (release func(), err error)
}

// lockPollInterval is the time between two attempts to take a lock. The kernel's own wait
// cannot be cancelled, so we poll.
const lockPollInterval = 5 * time.Millisecond

// pollUntil calls try until it returns true or an error, or until ctx ends.
func pollUntil(ctx context.Context, try func() (bool, error)) error {
	t := time.NewTicker(lockPollInterval)
	defer t.Stop()
	for {
		ok, err := try()
		if ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(ErrLocked, ctx.Err())
		case <-t.C:
		}
	}
}

// NewMemoryLocks returns locks that are only valid within this process.
func NewMemoryLocks() Locks { return &memoryLocks{held: map[string]int{}} }

type memoryLocks struct {
	mu   sync.Mutex
	held map[string]int // guarded by mu; -1 exclusive, n shared holders
}

func (m *memoryLocks) Lock(ctx context.Context, name string, exclusive bool) (func(), error) {
	err := pollUntil(ctx, func() (bool, error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		n := m.held[name]
		if n < 0 || exclusive && n > 0 {
			return false, nil
		}
		if exclusive {
			m.held[name] = -1
		} else {
			m.held[name] = n + 1
		}
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	return sync.OnceFunc(func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.held[name] < 0 {
			m.held[name] = 0
		} else {
			m.held[name]--
		}
	}), nil
}
