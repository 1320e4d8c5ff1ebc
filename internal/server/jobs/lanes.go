package jobs

import (
	"sync"
	"time"
)

const (
	slow      = 5 * time.Second  // a lane whose items take longer gets one hand
	firstTook = time.Second / 10 // what an item takes when nothing is known
	leastWait = 100 * time.Millisecond
	mostWait  = 10 * time.Minute
	manyLanes = 1024 // then those that are idle are forgotten
)

// lanes bound how many hands work for one endpoint or namespace. Nothing in here
// outlives the process: it is an estimate, and the queue is the truth.
type lanes struct {
	each int
	mu   sync.Mutex
	by   map[string]*lane // guarded by mu
}

type lane struct {
	running, parked int
	took            time.Duration // about, of one item
}

// enter takes a hand for a lane, or answers how long those before it will take.
func (l *lanes) enter(name string) (wait time.Duration, in bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.by[name]
	if a == nil {
		l.tidy()
		a = &lane{took: firstTook}
		l.by[name] = a
	}
	may := l.each
	if a.took > slow {
		may = 1
	}
	if a.running < may {
		a.running++
		a.parked = max(0, a.parked-1)
		return 0, true
	}
	a.parked++
	wait = a.took * time.Duration(a.parked) / time.Duration(may)
	return min(max(wait, leastWait), mostWait), false
}

func (l *lanes) leave(name string, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.by[name]
	a.running--
	a.took = (a.took + took) / 2
	if a.running == 0 { // other servers may have done some of what we count
		a.parked = max(0, a.parked-a.parked/8-1)
	}
}

func (l *lanes) tidy() {
	if len(l.by) < manyLanes {
		return
	}
	for name, a := range l.by {
		if a.running == 0 {
			delete(l.by, name)
		}
	}
}
