package workspace

import (
	"context"
	"time"
)

// Lock is a mutex that somebody can stop waiting for.
type Lock chan struct{}

// NewLock returns a free lock.
func NewLock() Lock { return make(Lock, 1) }

// Lock waits for the lock.
func (l Lock) Lock() { l <- struct{}{} }

// TryLock takes the lock if it is free, and reports whether it did.
func (l Lock) TryLock() bool {
	select {
	case l <- struct{}{}:
		return true
	default:
		return false
	}
}

// LockWithin waits for the lock for so long, and reports whether it has it. It takes a lock
// that is free even if there is no time to wait.
func (l Lock) LockWithin(ctx context.Context, wait time.Duration) bool {
	if l.TryLock() {
		return true
	}
	end := time.NewTimer(wait)
	defer end.Stop()
	select {
	case l <- struct{}{}:
		return true
	case <-ctx.Done():
	case <-end.C:
	}
	return false
}

// Unlock releases the lock.
func (l Lock) Unlock() {
	select {
	case <-l:
	default:
		panic("unlock of an unlocked Lock")
	}
}
