// Package clock is the only reader of the wall clock.
//
// It knows the time and nothing else. Tests hold it still.
//
//	C1  Monotone never answers a time that is not after every time it answered before.
package clock

import (
	"sync"
	"time"
)

// Clock tells the time.
type Clock interface {
	Now() time.Time
}

// Wall is the clock on the wall.
var Wall Clock = wall{}

type wall struct{}

func (wall) Now() time.Time { return time.Now() }

// Manual is a clock that tests move by hand.
type Manual struct {
	mu sync.Mutex
	t  time.Time // guarded by mu
}

// NewManual holds a clock at t.
func NewManual(t time.Time) *Manual { return &Manual{t: t} }

// Now answers the held time.
func (h *Manual) Now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.t
}

// Advance moves the clock, backwards too.
func (h *Manual) Advance(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.t = h.t.Add(d)
}

// Monotonic gives the times of another clock, but never goes back: behind its
// high-water mark it steps on by a microsecond a call.
type Monotonic struct {
	base      Clock
	mu        sync.Mutex
	highWater time.Time // guarded by mu
}

// NewMonotonic starts at the mark, or at the base clock when that is later.
func NewMonotonic(base Clock, mark time.Time) *Monotonic {
	return &Monotonic{base: base, highWater: mark}
}

// Now answers a time after all earlier answers.
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

// HighWaterMark is the highest time answered or raised to.
func (m *Monotonic) HighWaterMark() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.highWater
}

// RaiseTo lifts the mark to t; a mark never sinks.
func (m *Monotonic) RaiseTo(t time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t.After(m.highWater) {
		m.highWater = t
	}
}
