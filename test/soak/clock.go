//go:build linux

package main

import (
	"context"
	"os"
	"sync"
	"time"
)

// shiftedClock is the file that the programs read their clock's shift from.
type shiftedClock struct {
	file   string
	mu     sync.Mutex
	steady time.Duration // guarded by mu; it only grows
	leap   time.Duration // guarded by mu; a jump that will be taken back
}

func (c *shiftedClock) steadyShift() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.steady
}

func (c *shiftedClock) advanceTo(steady time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.steady = steady
	return c.writeLocked()
}

// jump sets how far the clock is off on top; 0 takes a jump back.
func (c *shiftedClock) jump(leap time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leap = leap
	return c.writeLocked()
}

// writeLocked replaces the file at once: who reads half a duration has no shift at all.
func (c *shiftedClock) writeLocked() error {
	next := c.file + ".next"
	if err := os.WriteFile(next, []byte((c.steady + c.leap).String()), 0o600); err != nil {
		return err
	}
	return os.Rename(next, c.file)
}

const (
	maxStep = 30 * time.Minute // of the clock, at once
	minTick = 500 * time.Millisecond
	maxTick = 5 * time.Second
)

// advanceClock lets the days pass. The clock moves in steps between two commands: a save has two seconds
// by this clock, and one that a step falls into would be partial. Jumps are faults and wait for nothing.
func (b *bed) advanceClock(ctx context.Context) {
	total := time.Duration(b.Days * 24 * float64(time.Hour))
	tick := time.Duration(float64(maxStep) * float64(b.Time) / float64(total))
	t := time.NewTicker(min(max(tick, minTick), maxTick))
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		part := min(float64(time.Since(b.began))/float64(b.Time), 1)
		idle := b.tryIdle()
		err := b.clock.advanceTo(time.Duration(part * float64(total-time.Duration(b.Time))))
		if idle {
			b.busy.Unlock()
		}
		if err != nil {
			b.fail(failedSoak, "move the clock: %v", err)
		}
		b.count(func(c *counts) {
			if c.Steps++; !idle {
				c.Amid++
			}
		})
	}
}

// tryIdle waits a moment until no command runs, and then keeps new ones out.
func (b *bed) tryIdle() bool {
	for range 200 {
		if b.busy.TryLock() {
			return true
		}
		time.Sleep(5 * time.Millisecond)
	}
	return false
}
