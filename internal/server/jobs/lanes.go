package jobs

import (
	"sync"
	"time"
)

const (
	slowThreshold   = 5 * time.Second  // a lane whose items take longer gets one slot
	initialDuration = time.Second / 10 // assumed for the first item of a lane
	minWait         = 100 * time.Millisecond
	maxWait         = 10 * time.Minute
	maxLanes        = 1024 // above this, idle lanes are dropped
)

// laneLimiter limits how many items of one lane are handled at once. It is an estimate in
// memory and may be lost: the queue has all items.
type laneLimiter struct {
	perLane int
	mu      sync.Mutex
	byName  map[string]*laneState // guarded by mu
}

type laneState struct {
	running, waiting int
	itemDuration     time.Duration // moving average for one item
}

// tryEnter takes a slot of a lane. If none is free, it returns false and an estimate of how
// long the items that are ahead will take.
func (l *laneLimiter) tryEnter(name string) (wait time.Duration, in bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.byName[name]
	if a == nil {
		l.dropIdle()
		a = &laneState{itemDuration: initialDuration}
		l.byName[name] = a
	}
	may := l.perLane
	if a.itemDuration > slowThreshold {
		may = 1
	}
	if a.running < may {
		a.running++
		a.waiting = max(0, a.waiting-1)
		return 0, true
	}
	a.waiting++
	wait = a.itemDuration * time.Duration(a.waiting) / time.Duration(may)
	return min(max(wait, minWait), maxWait), false
}

// leave gives a slot back and updates the estimate for the lane.
func (l *laneLimiter) leave(name string, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.byName[name]
	a.running--
	a.itemDuration = (a.itemDuration + took) / 2
	if a.running == 0 { // other servers may have handled some of the waiting items
		a.waiting = max(0, a.waiting-a.waiting/8-1)
	}
}

// dropIdle drops idle lanes if there are many. l.mu must be held.
func (l *laneLimiter) dropIdle() {
	if len(l.byName) < maxLanes {
		return
	}
	for name, a := range l.byName {
		if a.running == 0 {
			delete(l.byName, name)
		}
	}
}
