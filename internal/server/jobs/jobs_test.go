package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/server/jobs"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
	"github.com/retake-dev/retake/internal/storage/serverdb"
	"github.com/retake-dev/retake/internal/storage/serverdb/sqldb"
)

const testQueue = "errands"

var startTime = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

func openLedger(t *testing.T, c clock.Clock) *sqldb.Ledger {
	t.Helper()
	db, err := sqlite.OpenDB(t.Context(), sqlite.Memory, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	l, err := sqldb.New(t.Context(), db, sqldb.Options{Clock: c})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func putItem(t *testing.T, l serverdb.Ledger, ns retake.NamespaceID, id string, at time.Time) {
	t.Helper()
	if err := l.Put(t.Context(), serverdb.Due{Queue: testQueue, Namespace: ns, ID: id, At: at}); err != nil {
		t.Fatal(err)
	}
}

func runOnce(t *testing.T, r *jobs.Worker) int {
	t.Helper()
	n, err := r.RunOnce(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func queueDepth(t *testing.T, l serverdb.Ledger) int64 {
	t.Helper()
	n, _, err := l.Depth(t.Context(), testQueue)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// An item that is done leaves the queue, one that is due again comes at its time, and one that
// failed or panicked is retried soon and logged.
func TestWhatBecomesOfItems(t *testing.T) {
	t.Parallel()
	held := clock.NewManual(startTime)
	l := openLedger(t, held)
	var mu sync.Mutex
	var log strings.Builder
	tries := map[string]int{}
	r := jobs.New(jobs.Options{
		Queue: testQueue, Ledger: l, Clock: held, Lease: time.Minute, Timeout: time.Second, Concurrency: 1, LaneConcurrency: 1,
		Log: slog.New(slog.NewTextHandler(&log, nil)),
		Handle: func(_ context.Context, d serverdb.Due) (time.Time, error) {
			mu.Lock()
			defer mu.Unlock()
			tries[d.ID]++
			switch d.ID {
			case "again":
				return held.Now().Add(time.Hour), nil
			case "error":
				return time.Time{}, errors.New("as planned")
			case "panic":
				panic("no plan")
			}
			return time.Time{}, nil
		},
	})
	for _, id := range []string{"done", "again", "error", "panic"} {
		putItem(t, l, "a", id, startTime)
	}
	putItem(t, l, "a", "later", startTime.Add(time.Second))
	all := func() {
		for runOnce(t, r) > 0 {
		}
	}
	want := func(when string, w map[string]int, left int64) {
		t.Helper()
		if fmt.Sprint(tries) != fmt.Sprint(w) || queueDepth(t, l) != left {
			t.Errorf("%s: %v and %d left, want %v and %d", when, tries, queueDepth(t, l), w, left)
		}
	}
	all()
	want("at once", map[string]int{"done": 1, "again": 1, "error": 1, "panic": 1}, 4)
	held.Advance(time.Second)
	all()
	want("a second later", map[string]int{"done": 1, "again": 1, "error": 1, "panic": 1, "later": 1}, 3)
	held.Advance(time.Minute)
	all()
	want("a minute later", map[string]int{"done": 1, "again": 1, "error": 2, "panic": 2, "later": 1}, 3)
	held.Advance(58*time.Minute + 59*time.Second)
	all()
	want("an hour later", map[string]int{"done": 1, "again": 2, "error": 3, "panic": 3, "later": 1}, 3)
	for _, w := range []string{"as planned", "no plan", "jobs_test.go"} {
		if !strings.Contains(log.String(), w) {
			t.Errorf("the log says nothing of %q", w)
		}
	}
}

// No lane uses more slots than it may, and other lanes make progress.
func TestLanes(t *testing.T) {
	t.Parallel()
	l := openLedger(t, clock.Wall)
	for i := range 20 {
		putItem(t, l, "crowd", fmt.Sprint(i), startTime)
	}
	putItem(t, l, "lone", "1", startTime.Add(time.Minute)) // due after all others
	var at, most atomic.Int64
	leave, through := make(chan struct{}), make(chan struct{})
	r := jobs.New(jobs.Options{
		Queue: testQueue, Ledger: l, Clock: clock.Wall, Lease: time.Minute, Timeout: time.Minute, Concurrency: 4, LaneConcurrency: 2,
		Handle: func(_ context.Context, d serverdb.Due) (time.Time, error) {
			if d.Namespace == "lone" {
				close(through)
				return time.Time{}, nil
			}
			if n := at.Add(1); n > most.Load() {
				most.Store(n)
			}
			<-leave
			at.Add(-1)
			return time.Time{}, nil
		},
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.Run(ctx)
	}()
	select {
	case <-through:
	case <-time.After(time.Minute):
		t.Error("the other lane is held up")
	}
	close(leave)
	for queueDepth(t, l) > 0 { // all come to their end
		select {
		case <-time.After(10 * time.Millisecond):
		case <-t.Context().Done():
			t.Fatal("some were lost on the way")
		}
	}
	cancel()
	<-ended
	if most.Load() != 2 {
		t.Errorf("%d hands worked for one lane", most.Load())
	}
}

// Wake makes a worker read the queue at once, without waiting for the poll.
func TestStir(t *testing.T) {
	t.Parallel()
	l := openLedger(t, clock.Wall)
	done, looked := make(chan struct{}), make(chan struct{})
	r := jobs.New(jobs.Options{
		Queue: testQueue, Ledger: idleNotifier{l, sync.OnceFunc(func() { close(looked) })}, Clock: clock.Wall, Lease: time.Minute, Timeout: time.Minute, Concurrency: 1, LaneConcurrency: 1,
		Rand: func() float64 { return 1000 }, // it polls every quarter of an hour
		Handle: func(context.Context, serverdb.Due) (time.Time, error) {
			close(done)
			return time.Time{}, nil
		},
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go r.Run(ctx)
	<-looked
	putItem(t, l, "a", "1", startTime)
	r.Wake()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Error("nobody came")
	}
}

// idleNotifier calls onEmpty whenever nothing could be claimed.
type idleNotifier struct {
	serverdb.Queue
	onEmpty func()
}

func (w idleNotifier) Claim(ctx context.Context, queue string, now time.Time, lease time.Duration, limit int) ([]serverdb.Due, error) {
	all, err := w.Queue.Claim(ctx, queue, now, lease, limit)
	if len(all) == 0 {
		w.onEmpty()
	}
	return all, err
}

// Work that takes longer than a claim is not started twice, and is retried when its process is
// gone.
func TestLongWork(t *testing.T) {
	t.Parallel()
	l := openLedger(t, clock.Wall)
	putItem(t, l, "a", "1", startTime)
	const lease = time.Second
	var runs, live atomic.Int64
	begun, leave := make(chan struct{}), make(chan struct{})
	round := func(holder string, do func(context.Context) error) *jobs.Worker {
		return jobs.New(jobs.Options{
			Queue: testQueue, Ledger: l, Clock: clock.Wall, Lease: lease, Timeout: time.Minute, Concurrency: 1, LaneConcurrency: 1, Leases: l, Holder: holder,
			Handle: func(ctx context.Context, _ serverdb.Due) (time.Time, error) {
				if runs.Add(1); live.Add(1) > 1 {
					t.Error("two are at it")
				}
				defer live.Add(-1)
				return time.Time{}, do(ctx)
			},
		})
	}
	first := round("first", func(context.Context) error {
		close(begun)
		<-leave
		return nil
	})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		runOnce(t, first)
	}()
	<-begun
	second := round("second", func(context.Context) error { return nil })
	for seen := 0; seen < 3; { // the claim ended that often, and the work goes on
		putItem(t, l, "a", "1", startTime)
		seen += runOnce(t, second)
	}
	if runs.Load() != 1 {
		t.Fatalf("begun %d times", runs.Load())
	}
	close(leave)
	<-ended
	for queueDepth(t, l) > 0 {
		runOnce(t, second)
	}
	if n := runs.Load(); n > 2 {
		t.Errorf("begun %d times", n)
	}
}

// Work that fails after a time longer than a claim is counted as failed, though other workers look for
// work meanwhile.
func TestLongWorkThatFailsIsCounted(t *testing.T) {
	t.Parallel()
	l := openLedger(t, clock.Wall)
	putItem(t, l, "a", "1", startTime)
	const lease = 3 * time.Second
	var runs atomic.Int64
	worker := func(holder string) *jobs.Worker {
		return jobs.New(jobs.Options{
			Queue: testQueue, Ledger: l, Clock: clock.Wall, Lease: lease, Timeout: time.Minute, Concurrency: 1, LaneConcurrency: 1, Leases: l, Holder: holder,
			Handle: func(context.Context, serverdb.Due) (time.Time, error) {
				runs.Add(1)
				<-time.After(lease * 3 / 2)
				return time.Time{}, errors.New("the bucket is away")
			},
		})
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		runOnce(t, worker("first"))
	}()
	second := worker("second")
	for waiting := true; waiting; {
		select {
		case <-ended:
			waiting = false
		case <-time.After(100 * time.Millisecond):
			if runs.Load() > 0 {
				runOnce(t, second)
			}
		}
	}
	failing, err := l.Failing(t.Context())
	if err != nil || runs.Load() != 1 || len(failing) != 1 || failing[0].Tries != 1 || failing[0].Reason == "" {
		t.Errorf("begun %d times, failing: %+v %v", runs.Load(), failing, err)
	}
}

// A lost lease ends the work, because another worker may have started it.
func TestLostLease(t *testing.T) {
	t.Parallel()
	l := openLedger(t, clock.Wall)
	putItem(t, l, "a", "1", startTime)
	r := jobs.New(jobs.Options{
		Queue: testQueue, Ledger: l, Clock: clock.Wall, Lease: 60 * time.Millisecond, Timeout: time.Minute, Concurrency: 1, LaneConcurrency: 1, Leases: l, Holder: "first",
		Handle: func(ctx context.Context, d serverdb.Due) (time.Time, error) {
			// as if this process had slept for long
			took, err := l.Lease(ctx, "work/"+testQueue+"/a/1", "second", clock.Wall.Now().Add(time.Hour), 2*time.Hour)
			if err != nil || !took {
				t.Errorf("%v %v", took, err)
			}
			<-ctx.Done()
			return time.Time{}, ctx.Err()
		},
	})
	runOnce(t, r)
	if queueDepth(t, l) != 1 {
		t.Error("the item is gone, and was not done")
	}
}

// Work that times out is due again, and work that is stopped is given back at once.
func TestLimits(t *testing.T) {
	t.Parallel()
	held := clock.NewManual(startTime)
	l := openLedger(t, held)
	putItem(t, l, "a", "1", startTime)
	tries := 0
	r := jobs.New(jobs.Options{
		Queue: testQueue, Ledger: l, Clock: held, Lease: time.Minute, Timeout: time.Millisecond, Concurrency: 1, LaneConcurrency: 1,
		Handle: func(ctx context.Context, _ serverdb.Due) (time.Time, error) {
			tries++
			<-ctx.Done()
			return time.Time{}, ctx.Err()
		},
	})
	runOnce(t, r)
	if runOnce(t, r); tries != 1 {
		t.Fatalf("%d tries at once", tries)
	}
	held.Advance(time.Minute)
	if runOnce(t, r); tries != 2 {
		t.Errorf("%d tries a minute later", tries)
	}
	held.Advance(2 * time.Minute)
	ctx, cancel := context.WithCancel(t.Context())
	ends := jobs.New(jobs.Options{
		Queue: testQueue, Ledger: l, Clock: held, Lease: time.Minute, Timeout: time.Minute, Concurrency: 1, LaneConcurrency: 1,
		Handle: func(ctx context.Context, _ serverdb.Due) (time.Time, error) {
			cancel()
			<-ctx.Done()
			return time.Time{}, ctx.Err()
		},
	})
	if _, err := ends.RunOnce(ctx); err != nil {
		t.Fatal(err)
	}
	if runOnce(t, r); tries != 3 {
		t.Error("it was not given back")
	}
}

// steppedClock is moved by the test.
type steppedClock struct{ now atomic.Int64 }

func (c *steppedClock) Now() time.Time { return time.UnixMicro(c.now.Load()).UTC() }

// Work that always fails is tried later each time and once a day at last; what is put again is
// tried at once.
func TestFailingWorkIsParked(t *testing.T) {
	c := &steppedClock{}
	c.now.Store(startTime.UnixMicro())
	l := openLedger(t, c)
	putItem(t, l, "a", "1", startTime)
	tries := 0
	r := jobs.New(jobs.Options{
		Queue: testQueue, Ledger: l, Clock: c, Lease: time.Minute, Timeout: time.Second, Rand: func() float64 { return 0.5 },
		Handle: func(context.Context, serverdb.Due) (time.Time, error) {
			tries++
			return time.Time{}, &retake.Error{Kind: retake.Away, What: "the secret of a tenant"}
		},
	})
	last, spent := time.Duration(0), time.Duration(0)
	for tries < serverdb.MaxTries {
		if runOnce(t, r) != 1 {
			t.Fatalf("nothing is due after %d tries", tries)
		}
		failing, err := l.Failing(t.Context())
		if err != nil || len(failing) != 1 || failing[0].Tries != int64(tries) || failing[0].Reason != string(retake.Away) {
			t.Fatalf("after %d tries: %+v, %v", tries, failing, err)
		}
		wait := failing[0].At.Sub(c.Now())
		if tries < serverdb.MaxTries && (wait < last || wait > 2*time.Hour) {
			t.Fatalf("try %d waits %v, after %v", tries, wait, last)
		}
		if failing[0].IsParked() != (tries == serverdb.MaxTries) {
			t.Fatalf("after %d tries it is due at %v", tries, failing[0].At)
		}
		if tries < serverdb.MaxTries {
			last, spent = wait, spent+wait
			c.now.Add(wait.Microseconds())
		}
	}
	if spent < 12*time.Hour || spent > 48*time.Hour {
		t.Errorf("it is parked after %v", spent)
	}
	c.now.Add((11 * time.Hour).Microseconds())
	if runOnce(t, r) != 0 {
		t.Error("parked work is tried soon")
	}
	c.now.Add((37 * time.Hour).Microseconds())
	if runOnce(t, r) != 1 {
		t.Error("parked work is never tried")
	}
	putItem(t, l, "a", "1", c.Now())
	if runOnce(t, r) != 1 {
		t.Error("work that was put again is not tried")
	}
}
