package jobs_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/server/jobs"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// announcer stands for a database that announces what is put.
type announcer struct {
	note  chan func(queue string, at time.Time)
	fails chan error
}

func (a *announcer) listen(ctx context.Context, connected func(), note func(string, time.Time)) error {
	connected()
	select {
	case a.note <- note:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-a.fails:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// countingQueue counts how often all queues are read.
type countingQueue struct {
	serverdb.Queue
	mu    sync.Mutex
	reads int
}

func (q *countingQueue) NextDue(ctx context.Context) (map[string]time.Time, error) {
	q.mu.Lock()
	q.reads++
	q.mu.Unlock()
	return q.Queue.NextDue(ctx)
}

func startAlarm(t *testing.T, q serverdb.Queue, c clock.Clock, a *announcer) chan string {
	t.Helper()
	woken := make(chan string, 100)
	o := jobs.AlarmOptions{Ledger: q, Clock: c, Wake: func(queue string) {
		select {
		case woken <- queue:
		default:
		}
	}}
	if a != nil {
		o.Listen = a.listen
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = jobs.NewAlarm(o).Run(ctx) }()
	t.Cleanup(func() { stop(); <-ended })
	return woken
}

// wantWake fails if queue is not the next to be woken. What keeps a worker asleep for minutes is
// seen in the stacks only.
func wantWake(t *testing.T, woken chan string, queue string) {
	t.Helper()
	select {
	case got := <-woken:
		if got != queue {
			t.Fatalf("woke %s, want %s", got, queue)
		}
	case <-time.After(3 * time.Minute):
		stacks := make([]byte, 1<<20)
		t.Fatalf("%s was not woken:\n%s", queue, stacks[:runtime.Stack(stacks, true)])
	}
}

// A database that announces nothing is read; one that announces is not read for each item.
func TestAlarmWakesWorkers(t *testing.T) {
	t.Parallel()
	t.Run("by reading", func(t *testing.T) {
		t.Parallel()
		l := openLedger(t, clock.Wall)
		woken := startAlarm(t, l, clock.Wall, nil)
		putItem(t, l, "a", "1", clock.Wall.Now())
		wantWake(t, woken, testQueue)
	})
	t.Run("by an announcement", func(t *testing.T) {
		t.Parallel()
		q := &countingQueue{Queue: openLedger(t, clock.Wall)}
		a := &announcer{make(chan func(string, time.Time)), make(chan error)}
		woken := startAlarm(t, q, clock.Wall, a)
		note := <-a.note
		for range 50 {
			note("other", clock.Wall.Now())
			wantWake(t, woken, "other")
		}
		note("later", clock.Wall.Now().Add(10*time.Millisecond))
		wantWake(t, woken, "later")
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.reads > 25 { // once or twice, and once a second on a machine that is that busy
			t.Errorf("the queues were read %d times for 51 announcements", q.reads)
		}
	})
}

// heldQueue holds its first reading until released is closed.
type heldQueue struct {
	serverdb.Queue
	once     sync.Once
	entered  chan struct{}
	released chan struct{}
}

func (q *heldQueue) NextDue(ctx context.Context) (map[string]time.Time, error) {
	next, err := q.Queue.NextDue(ctx)
	q.once.Do(func() {
		close(q.entered)
		<-q.released
	})
	return next, err
}

// What is announced during a slow reading, or before the next one, is not forgotten.
func TestAlarmKeepsAnnouncementsWhileItReads(t *testing.T) {
	t.Parallel()
	q := &heldQueue{Queue: openLedger(t, clock.Wall), entered: make(chan struct{}), released: make(chan struct{})}
	a := &announcer{make(chan func(string, time.Time)), make(chan error)}
	woken := startAlarm(t, q, clock.Wall, a)
	<-q.entered
	note := <-a.note
	note("other", clock.Wall.Now())
	close(q.released)
	wantWake(t, woken, "other")
}

// What was put while nobody listened is found when the connection is back.
func TestAlarmAfterALostConnection(t *testing.T) {
	t.Parallel()
	l := openLedger(t, clock.Wall)
	a := &announcer{make(chan func(string, time.Time)), make(chan error)}
	woken := startAlarm(t, l, clock.Wall, a)
	<-a.note
	a.fails <- errors.New("as planned")
	putItem(t, l, "a", "1", clock.Wall.Now())
	wantWake(t, woken, testQueue)
	<-a.note // it listens again
}

// An item that is claimed is due again when its lease ends.
func TestNextDueOfAClaim(t *testing.T) {
	t.Parallel()
	l := openLedger(t, clock.Wall)
	putItem(t, l, "a", "1", startTime)
	if _, err := l.Claim(t.Context(), testQueue, startTime, time.Hour, 1); err != nil {
		t.Fatal(err)
	}
	next, err := l.NextDue(t.Context())
	if err != nil || !next[testQueue].Equal(startTime.Add(time.Hour)) {
		t.Errorf("next %v, error %v", next, err)
	}
}
