package workspace

import (
	"context"
	"testing"
	"time"
)

// Who waits for a lock gets it when it is free, and stops when told to.
func TestLock(t *testing.T) {
	t.Parallel()
	l := NewLock()
	if l.Lock(); l.TryLock() || l.LockWithin(t.Context(), time.Millisecond) {
		t.Fatal("a lock is held twice")
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if l.LockWithin(gone, time.Hour) {
		t.Fatal("a lock is held twice")
	}
	waited := make(chan bool)
	go func() { waited <- l.LockWithin(t.Context(), time.Hour) }()
	if l.Unlock(); !<-waited || l.TryLock() {
		t.Fatal("who waited does not have the lock")
	}
	l.Unlock()
	for range 100 {
		if !l.LockWithin(gone, 0) {
			t.Fatal("a free lock is not given to who has no time")
		}
		l.Unlock()
	}
	defer func() {
		if recover() == nil {
			t.Error("an unlock without a lock is not noticed")
		}
	}()
	l.Unlock()
}
