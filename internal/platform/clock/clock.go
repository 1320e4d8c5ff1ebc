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

// Held is a clock that tests move by hand.
type Held struct {
	mu sync.Mutex
	t  time.Time // guarded by mu
}

// NewHeld holds a clock at t.
func NewHeld(t time.Time) *Held { return &Held{t: t} }

// Now answers the held time.
func (h *Held) Now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.t
}

// Move moves the clock, backwards too.
func (h *Held) Move(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.t = h.t.Add(d)
}

// Monotone gives the times of another clock, but never goes back: behind its
// high-water mark it steps on by a microsecond a call.
type Monotone struct {
	base Clock
	mu   sync.Mutex
	high time.Time // guarded by mu
}

// NewMonotone starts at the mark, or at the base clock when that is later.
func NewMonotone(base Clock, mark time.Time) *Monotone {
	return &Monotone{base: base, high: mark}
}

// Now answers a time after all earlier answers.
func (m *Monotone) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.base.Now()
	if !t.After(m.high) {
		t = m.high.Add(time.Microsecond)
	}
	m.high = t
	return t
}

// High is the highest time answered or raised to.
func (m *Monotone) High() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.high
}

// Raise lifts the mark to t; a mark never sinks.
func (m *Monotone) Raise(t time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t.After(m.high) {
		m.high = t
	}
}
