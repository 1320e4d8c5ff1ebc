package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
)

// maxEvents is far more than happens while somebody is away for a moment.
const maxEvents = 1000

// EventBuffer holds the newest events of this machine in memory. They only say that there is
// something new to read. Numbers start at the start time of the daemon, so that a client of an
// earlier one can continue.
type EventBuffer struct {
	mu    sync.Mutex
	list  []retake.Event // the oldest first; guarded by mu, as what follows
	last  int64
	grown chan struct{} // closed when there is more
}

// NewEventBuffer begins with nothing.
func NewEventBuffer(c clock.Clock) *EventBuffer {
	return &EventBuffer{last: c.Now().UnixMilli(), grown: make(chan struct{})}
}

// Add adds an event.
func (n *EventBuffer) Add(t retake.EventType, at time.Time, d retake.EventData) {
	data, err := json.Marshal(d)
	if err != nil {
		return // our own types always encode
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.last++
	n.list = append(n.list, retake.Event{Seq: n.last, ID: fmt.Sprintf("evt_%d", n.last), Type: t, Time: at.UTC(), Data: data})
	if len(n.list) > maxEvents {
		n.list = append(n.list[:0:0], n.list[len(n.list)-maxEvents:]...)
	}
	close(n.grown)
	n.grown = make(chan struct{})
}

// Events lists those behind one, oldest first, and waits for the first of them as long as q
// says.
func (n *EventBuffer) Events(ctx context.Context, q retake.EventQuery) ([]retake.Event, error) {
	if q.Limit <= 0 || q.Limit > maxEvents {
		q.Limit = 100
	}
	enough := time.NewTimer(q.Wait)
	defer enough.Stop()
	for {
		got, grown := n.eventsAfter(q)
		if len(got) > 0 || q.Wait <= 0 || q.Newest {
			return got, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-enough.C:
			return nil, nil
		case <-grown:
		}
	}
}

func (n *EventBuffer) eventsAfter(q retake.EventQuery) ([]retake.Event, <-chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	list := n.list
	if q.Newest {
		return append([]retake.Event{}, list[max(len(list)-1, 0):]...), n.grown
	}
	if q.After > n.last { // of a daemon that began later, by a clock that went back since
		q.After = 0
	}
	for len(list) > 0 && list[0].Seq <= q.After {
		list = list[1:]
	}
	return append([]retake.Event{}, list[:min(len(list), q.Limit)]...), n.grown
}
