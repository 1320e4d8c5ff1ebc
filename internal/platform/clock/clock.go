// Package clock is the only reader of the wall clock.
//
// It knows the time and nothing else. Tests use a clock that they set by hand.
//
//	C1  Monotonic never returns a time that is not after every time it returned before.
package clock

import (
	"sync"
	"time"
)

// Clock returns the current time.
type Clock interface {
	Now() time.Time
}

// Wall is the clock of the system.
var Wall Clock = wall{}

type wall struct{}

func (wall) Now() time.Time { return time.Now().Add(shift()) }

// Manual is a clock for tests that only moves when it is told to.
type Manual struct {
	mu sync.Mutex
	t  time.Time // guarded by mu
}

// NewManual returns a clock that is set to t.
func NewManual(t time.Time) *Manual { return &Manual{t: t} }

// Now returns the time that was set.
func (h *Manual) Now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.t
}

// Advance moves the clock by d, backwards if d is negative.
func (h *Manual) Advance(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.t = h.t.Add(d)
}

// Monotonic returns the times of another clock but never goes back: while that clock is behind
// the high-water mark, each call advances by a microsecond.
type Monotonic struct {
	base      Clock
	mu        sync.Mutex
	highWater time.Time // guarded by mu
}

// NewMonotonic starts at mark, or at the base clock if that is later.
func NewMonotonic(base Clock, mark time.Time) *Monotonic {
	return &Monotonic{base: base, highWater: mark}
}

// Now returns a time after all that were returned before.
func (m *Monotonic) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.base.Now()
	if !t.After(m.highWater) {
		t = m.highWater.Add(time.Microsecond)
	}
	m.highWater = t
	return t
}

// HighWaterMark returns the highest time that was returned or set by RaiseTo.
func (m *Monotonic) HighWaterMark() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.highWater
}

// RaiseTo raises the high-water mark to t. It never lowers it.
func (m *Monotonic) RaiseTo(t time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t.After(m.highWater) {
		m.highWater = t
	}
}
