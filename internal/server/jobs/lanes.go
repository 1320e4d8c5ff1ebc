package jobs

import (
	"sync"
	"time"
)

const (
	slowThreshold   = 5 * time.Second  // a lane whose items take longer gets one hand
	initialDuration = time.Second / 10 // what an item takes when nothing is known
	minWait         = 100 * time.Millisecond
	maxWait         = 10 * time.Minute
	maxLanes        = 1024 // then those that are idle are forgotten
)

// laneLimiter bound how many hands work for one endpoint or namespace. Nothing in here
// outlives the process: it is an estimate, and the queue is the truth.
type laneLimiter struct {
	perLane int
	mu      sync.Mutex
	byName  map[string]*laneState // guarded by mu
}

type laneState struct {
	running, waiting int
	itemDuration     time.Duration // about, of one item
}

// tryEnter takes a hand for a lane, or answers how long those before it will take.
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

func (l *laneLimiter) leave(name string, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.byName[name]
	a.running--
	a.itemDuration = (a.itemDuration + took) / 2
	if a.running == 0 { // other servers may have done some of what we count
		a.waiting = max(0, a.waiting-a.waiting/8-1)
	}
}

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
