package jobs

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// Alarm wakes the workers of several queues when items become due, so that each of them need not
// read its queue all the time. It reads all queues at once, and rarely if the database announces
// what is put.
type Alarm struct {
	opts AlarmOptions
	ring chan struct{}

	mu        sync.Mutex
	read      time.Time            // when Run last read all queues, on the wall clock; zero: it must read them
	next      map[string]time.Time // when the first item of a queue is due, as it was read
	announced map[string]time.Time // the same, as it was announced, until the worker is woken
	silent    bool                 // nothing is announced: every put is found by reading only
}

// AlarmOptions configure an alarm.
type AlarmOptions struct {
	Ledger serverdb.Queue
	Clock  clock.Clock
	Log    *slog.Logger
	// Wake wakes the worker of a queue. It must not wait.
	Wake func(queue string)
	// Listen calls connected once it hears what is put, and then note for each item, until it fails
	// or ctx ends. nil: the database announces nothing.
	Listen func(ctx context.Context, connected func(), note func(queue string, at time.Time)) error
}

const (
	silentInterval = time.Second      // how often queues are read if nothing is announced
	quietInterval  = 15 * time.Second // how often they are read nevertheless: an announcement may be lost
	relisten       = 2 * time.Second  // how soon a lost connection is made again
)

// NewAlarm creates an alarm. It does nothing until Run.
func NewAlarm(o AlarmOptions) *Alarm {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Alarm{opts: o, ring: make(chan struct{}, 1), announced: map[string]time.Time{}, silent: true}
}

// Run wakes workers until ctx ends.
func (a *Alarm) Run(ctx context.Context) error {
	var listening sync.WaitGroup
	defer listening.Wait()
	if a.opts.Listen != nil {
		listening.Go(func() { a.keepListening(ctx) })
	}
	for ctx.Err() == nil {
		if a.untilRead() <= 0 {
			a.readQueues(ctx)
		}
		look := time.NewTimer(min(a.wakeDue(), a.untilRead()))
		select {
		case <-ctx.Done():
		case <-a.ring:
		case <-look.C:
		}
		look.Stop()
	}
	return ctx.Err()
}

func (a *Alarm) untilRead() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	interval := quietInterval
	if a.silent {
		interval = silentInterval
	}
	return interval - clock.Wall.Now().Sub(a.read)
}

// readQueues replaces what is known by what is in the ledger.
func (a *Alarm) readQueues(ctx context.Context) {
	a.mu.Lock()
	a.read = clock.Wall.Now()
	a.mu.Unlock()
	next, err := a.opts.Ledger.NextDue(ctx)
	if err != nil {
		if ctx.Err() == nil {
			a.opts.Log.ErrorContext(ctx, "find next due", "err", err)
		}
		return
	}
	a.mu.Lock()
	a.next = next
	a.mu.Unlock()
}

// wakeDue wakes the workers whose queue has something that is due, and returns the time until the
// next is.
func (a *Alarm) wakeDue() time.Duration {
	now, wait := a.opts.Clock.Now(), quietInterval
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, known := range []map[string]time.Time{a.next, a.announced} {
		for queue, at := range known {
			if at.After(now) {
				wait = min(wait, at.Sub(now))
				continue
			}
			delete(a.next, queue) // what the worker leaves is read again
			delete(a.announced, queue)
			a.opts.Wake(queue)
		}
	}
	return max(wait, time.Millisecond)
}

// note records that an item was put.
func (a *Alarm) note(queue string, at time.Time) {
	a.mu.Lock()
	if known, ok := a.announced[queue]; !ok || at.Before(known) {
		a.announced[queue] = at
	}
	a.mu.Unlock()
	a.wakeUp()
}

// wakeUp makes Run look again.
func (a *Alarm) wakeUp() {
	select {
	case a.ring <- struct{}{}:
	default: // it is about to look
	}
}

// keepListening listens until ctx ends. While there is no connection, queues are read often, and
// once there is one they are read again: what was put in between was not heard.
func (a *Alarm) keepListening(ctx context.Context) {
	for ctx.Err() == nil {
		err := a.opts.Listen(ctx, func() { a.setSilent(false) }, a.note)
		a.setSilent(true)
		if ctx.Err() != nil {
			return
		}
		a.opts.Log.WarnContext(ctx, "listen to the database", "err", err)
		again := time.NewTimer(relisten)
		select {
		case <-ctx.Done():
		case <-again.C:
		}
		again.Stop()
	}
}

// setSilent records whether puts are announced, and has the queues read again either way.
func (a *Alarm) setSilent(silent bool) {
	a.mu.Lock()
	a.silent, a.read = silent, time.Time{}
	a.mu.Unlock()
	a.wakeUp()
}
