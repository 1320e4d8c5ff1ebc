package fsx

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrLocked means that somebody else holds the lock and ctx ran out.
var ErrLocked = errors.New("held by another")

// Locks are named locks that die with their owner. Shared holders exclude an
// exclusive one and the other way round.
type Locks interface {
	// Lock waits for the lock as long as ctx allows, then answers ErrLocked.
	Lock(ctx context.Context, name string, exclusive bool) (release func(), err error)
}

// lockPoll is how often a held lock is tried again. The kernel's own waiting
// cannot be cancelled, so we ask instead.
const lockPollInterval = 5 * time.Millisecond

// pollUntil tries until try answers true, or an error, or ctx ends.
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

// NewMemoryLocks gives locks that hold within this process only.
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
