//go:build linux

package main

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// Exit codes of retake, as docs/use/json.md has them.
const (
	exitInternal = 1
	exitNotFound = 3
	exitDenied   = 6
	exitDamaged  = 9
	exitPartly   = 12
)

// codeNames are the refusals that may have a cause. The first two may always come: commands of an agent
// and of a fault meet in one workspace.
var codeNames = map[int]string{5: "moved", 11: "busy", 8: "limit", 10: "away", exitPartly: "partly", 130: "canceled", exitNotFound: "not-found", exitDenied: "denied"}

var alwaysAllowed = []int{5, 11}

// disturbance says when a fault of ours may be why a command refuses.
type disturbance struct {
	mu    sync.Mutex
	now   int       // faults that go on
	until time.Time // some time after the end of the last one
	flips int       // bits that were flipped so far
}

// calmDown is how long a fault is an excuse after its end: a daemon starts, a store is swept.
const calmDown = 10 * time.Second

// begin is called before a fault, and what it returns after it.
func (d *disturbance) begin() (end func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now++
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.now--
		d.until = time.Now().Add(calmDown)
	}
}

// since reports whether there was a fault after a time, or shortly before it.
func (d *disturbance) since(t time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now > 0 || d.until.After(t)
}

func (d *disturbance) flipped() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.flips
}

func (d *disturbance) noteFlip() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.flips++
}

// panics reports whether a text has the trace of a panic.
func panics(text string) bool {
	return strings.Contains(text, "panic: ") || strings.Contains(text, "goroutine 1 [") || strings.Contains(text, "fatal error: ")
}

// namesDamage reports whether a text says that stored bytes are damaged.
func namesDamage(text string) bool {
	low := strings.ToLower(text)
	return slices.ContainsFunc([]string{"damage", "cannot be read", "can't be read"}, func(s string) bool { return strings.Contains(low, s) })
}

// judge reports whether a command did what it was asked for. A refusal is a failure unless it has a
// cause: damage that we made, a fault that goes on, or one of the codes that the caller expects.
func (b *bed) judge(a answer, expected ...int) (done bool) {
	switch {
	case a.late:
		b.fail(failedLate, "%s", a.said())
	case panics(a.text):
		b.fail(failedPanic, "%s", a.said())
	case a.code == 0:
		return true
	case a.code == exitInternal || a.code < 0:
		b.fail(failedInternal, "%s", a.said())
	case (a.code == exitDamaged || a.code == exitDenied || a.code == exitPartly) && b.calm.flipped() > 0 && namesDamage(a.text):
		b.count(func(c *counts) { c.Named[a.name()]++ })
	case slices.Contains(expected, a.code) || slices.Contains(alwaysAllowed, a.code),
		a.code != exitDamaged && a.code != exitNotFound && a.code != exitDenied && codeNames[a.code] != "" && b.calm.since(a.began):
		b.count(func(c *counts) { c.Refused[a.name()+" "+codeNames[a.code]]++ })
	default:
		b.fail(failedRefusal, "%s", a.said())
	}
	return false
}

// judgeHook reports whether a hook took its checkpoint. A hook that says that it could not is honest,
// and is counted.
func (b *bed) judgeHook(a answer) (taken bool) {
	b.count(func(c *counts) { c.Hooks++ })
	switch {
	case a.late:
		b.fail(failedLate, "%s", a.said())
	case panics(a.text):
		b.fail(failedPanic, "%s", a.said())
	case a.code != 0:
		b.fail(failedHook, "%s", a.said())
	case strings.Contains(a.text, "could not take a checkpoint"):
		when := "in a fault"
		if !b.calm.since(a.began) {
			when = "without a fault"
			b.note("%s", a.said())
		}
		b.count(func(c *counts) { c.Missed[when]++ })
	default:
		return true
	}
	return false
}
