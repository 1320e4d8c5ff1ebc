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

const queue = "errands"

var began = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

func open(t *testing.T, c clock.Clock) *sqldb.Ledger {
	t.Helper()
	db, err := sqlite.DB(t.Context(), sqlite.Memory, sqlite.Options{})
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

func put(t *testing.T, l serverdb.Ledger, ns retake.NamespaceID, id string, at time.Time) {
	t.Helper()
	if err := l.Put(t.Context(), serverdb.Due{Queue: queue, Namespace: ns, ID: id, At: at}); err != nil {
		t.Fatal(err)
	}
}

func once(t *testing.T, r *jobs.Round) int {
	t.Helper()
	n, err := r.Once(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func depth(t *testing.T, l serverdb.Ledger) int64 {
	t.Helper()
	n, _, err := l.Depth(t.Context(), queue)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// What is done leaves, what is due again comes at its time, what came to an error or a
// panic comes soon, and is told.
func TestWhatBecomesOfItems(t *testing.T) {
	t.Parallel()
	held := clock.NewHeld(began)
	l := open(t, held)
	var mu sync.Mutex
	var log strings.Builder
	tries := map[string]int{}
	r := jobs.New(jobs.Options{
		Queue: queue, Ledger: l, Clock: held, Lease: time.Minute, Limit: time.Second, Hands: 1, Each: 1,
		Log: slog.New(slog.NewTextHandler(&log, nil)),
		Do: func(_ context.Context, d serverdb.Due) (time.Time, error) {
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
		put(t, l, "a", id, began)
	}
	put(t, l, "a", "later", began.Add(time.Second))
	all := func() {
		for once(t, r) > 0 {
		}
	}
	want := func(when string, w map[string]int, left int64) {
		t.Helper()
		if fmt.Sprint(tries) != fmt.Sprint(w) || depth(t, l) != left {
			t.Errorf("%s: %v and %d left, want %v and %d", when, tries, depth(t, l), w, left)
		}
	}
	all()
	want("at once", map[string]int{"done": 1, "again": 1, "error": 1, "panic": 1}, 4)
	held.Move(time.Second)
	all()
	want("a second later", map[string]int{"done": 1, "again": 1, "error": 1, "panic": 1, "later": 1}, 3)
	held.Move(time.Minute)
	all()
	want("a minute later", map[string]int{"done": 1, "again": 1, "error": 2, "panic": 2, "later": 1}, 3)
	held.Move(58*time.Minute + 59*time.Second)
	all()
	want("an hour later", map[string]int{"done": 1, "again": 2, "error": 3, "panic": 3, "later": 1}, 3)
	for _, w := range []string{"as planned", "no plan", "jobs_test.go"} {
		if !strings.Contains(log.String(), w) {
			t.Errorf("the log says nothing of %q", w)
		}
	}
}

// No lane takes more hands than it may, and another one gets through.
func TestLanes(t *testing.T) {
	t.Parallel()
	l := open(t, clock.Wall)
	for i := range 20 {
		put(t, l, "crowd", fmt.Sprint(i), began)
	}
	put(t, l, "lone", "1", began.Add(time.Minute)) // behind them all
	var at, most atomic.Int64
	leave, through := make(chan struct{}), make(chan struct{})
	r := jobs.New(jobs.Options{
		Queue: queue, Ledger: l, Clock: clock.Wall, Lease: time.Minute, Limit: time.Minute, Hands: 4, Each: 2,
		Do: func(_ context.Context, d serverdb.Due) (time.Time, error) {
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
	for depth(t, l) > 0 { // all come to their end
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

// Somebody who stirs is heard at once, not when it is time to look.
func TestStir(t *testing.T) {
	t.Parallel()
	l := open(t, clock.Wall)
	done, looked := make(chan struct{}), make(chan struct{})
	r := jobs.New(jobs.Options{
		Queue: queue, Ledger: watched{l, sync.OnceFunc(func() { close(looked) })}, Clock: clock.Wall, Lease: time.Minute, Limit: time.Minute, Hands: 1, Each: 1,
		Rand: func() float64 { return 1000 }, // it looks every quarter of an hour
		Do: func(context.Context, serverdb.Due) (time.Time, error) {
			close(done)
			return time.Time{}, nil
		},
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go r.Run(ctx)
	<-looked
	put(t, l, "a", "1", began)
	r.Stir()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Error("nobody came")
	}
}

// watched tells when somebody looked in vain.
type watched struct {
	serverdb.Queue
	vain func()
}

func (w watched) Claim(ctx context.Context, queue string, now time.Time, lease time.Duration, limit int) ([]serverdb.Due, error) {
	all, err := w.Queue.Claim(ctx, queue, now, lease, limit)
	if len(all) == 0 {
		w.vain()
	}
	return all, err
}

// Work that takes longer than a claim is not begun twice, and comes back when its process
// is no more.
func TestLongWork(t *testing.T) {
	t.Parallel()
	l := open(t, clock.Wall)
	put(t, l, "a", "1", began)
	const lease = time.Second
	var runs, live atomic.Int64
	begun, leave := make(chan struct{}), make(chan struct{})
	round := func(holder string, do func(context.Context) error) *jobs.Round {
		return jobs.New(jobs.Options{
			Queue: queue, Ledger: l, Clock: clock.Wall, Lease: lease, Limit: time.Minute, Hands: 1, Each: 1, Leases: l, Holder: holder,
			Do: func(ctx context.Context, _ serverdb.Due) (time.Time, error) {
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
		once(t, first)
	}()
	<-begun
	second := round("second", func(context.Context) error { return nil })
	for seen := 0; seen < 3; { // the claim ended that often, and the work goes on
		seen += once(t, second)
	}
	if runs.Load() != 1 {
		t.Fatalf("begun %d times", runs.Load())
	}
	close(leave)
	<-ended
	for depth(t, l) > 0 {
		once(t, second)
	}
	if n := runs.Load(); n > 2 {
		t.Errorf("begun %d times", n)
	}
}

// A lease that was lost ends the work: another may be at it.
func TestLostLease(t *testing.T) {
	t.Parallel()
	l := open(t, clock.Wall)
	put(t, l, "a", "1", began)
	r := jobs.New(jobs.Options{
		Queue: queue, Ledger: l, Clock: clock.Wall, Lease: 60 * time.Millisecond, Limit: time.Minute, Hands: 1, Each: 1, Leases: l, Holder: "first",
		Do: func(ctx context.Context, d serverdb.Due) (time.Time, error) {
			// as if this process had slept for long
			took, err := l.Lease(ctx, "work/"+queue+"/a/1", "second", clock.Wall.Now().Add(time.Hour), 2*time.Hour)
			if err != nil || !took {
				t.Errorf("%v %v", took, err)
			}
			<-ctx.Done()
			return time.Time{}, ctx.Err()
		},
	})
	once(t, r)
	if depth(t, l) != 1 {
		t.Error("the item is gone, and was not done")
	}
}

// What ends with its time is due again, and what is told to end is given back at once.
func TestLimits(t *testing.T) {
	t.Parallel()
	held := clock.NewHeld(began)
	l := open(t, held)
	put(t, l, "a", "1", began)
	tries := 0
	r := jobs.New(jobs.Options{
		Queue: queue, Ledger: l, Clock: held, Lease: time.Minute, Limit: time.Millisecond, Hands: 1, Each: 1,
		Do: func(ctx context.Context, _ serverdb.Due) (time.Time, error) {
			tries++
			<-ctx.Done()
			return time.Time{}, ctx.Err()
		},
	})
	once(t, r)
	if once(t, r); tries != 1 {
		t.Fatalf("%d tries at once", tries)
	}
	held.Move(time.Minute)
	if once(t, r); tries != 2 {
		t.Errorf("%d tries a minute later", tries)
	}
	held.Move(time.Minute)
	ctx, cancel := context.WithCancel(t.Context())
	ends := jobs.New(jobs.Options{
		Queue: queue, Ledger: l, Clock: held, Lease: time.Minute, Limit: time.Minute, Hands: 1, Each: 1,
		Do: func(ctx context.Context, _ serverdb.Due) (time.Time, error) {
			cancel()
			<-ctx.Done()
			return time.Time{}, ctx.Err()
		},
	})
	if _, err := ends.Once(ctx); err != nil {
		t.Fatal(err)
	}
	if once(t, r); tries != 3 {
		t.Error("it was not given back")
	}
}
