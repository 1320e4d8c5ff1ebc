package kopia_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
)

// stopAnswering makes the bucket hang, until the test ends or it is lifted.
func (f *fakeS3) stopAnswering(t *testing.T) (lift func()) {
	gone := make(chan struct{})
	f.intercept(func(_ http.ResponseWriter, r *http.Request, _ string, _ []byte) bool {
		select {
		case <-gone:
		case <-r.Context().Done():
		}
		return true
	})
	lift = sync.OnceFunc(func() { f.intercept(nil); close(gone) })
	t.Cleanup(lift)
	return lift
}

// waitForWriter begins as soon as the bucket is heard again: after a silence it must answer quickly.
func (y *sweepTest) waitForWriter() store.Writer {
	y.Helper()
	for end := time.Now().Add(time.Minute); ; {
		w, err := y.s.Begin(y.Context(), y.ws)
		if err == nil {
			return w
		}
		if !retake.IsKind(err, retake.Away) || time.Now().After(end) {
			y.Fatal(err)
		}
	}
}

// impatience is short for a bucket that is silent, and long for one on a busy machine.
const impatience = time.Second

// A bucket that is silent is away, for who writes, reads and looks after it, and nothing waits
// forever. When it is back all goes on.
func TestSilentBucketIsAway(t *testing.T) {
	t.Parallel()
	for _, sole := range []bool{false, true} {
		f := newFakeS3(t)
		o := kopia.Impatient(inBucket(t, f, sole), impatience)
		y := newBucketSweepTest(t, o)
		big := randomBytes(7, 3<<20)
		cp := y.seal(big)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		w, err := y.s.Begin(ctx, y.ws)
		if err != nil {
			t.Fatal(err)
		}
		first := y.entries(cp)[0].Object
		lift := f.stopAnswering(t)
		id, sum, err := w.WriteDir(ctx, nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		next := retake.Checkpoint{ID: retake.CheckpointID(retake.CheckpointPrefix + uuid.NewString()), Workspace: y.ws.ID, Number: 2, Tree: id}
		err = w.Seal(ctx, store.SealRequest{Card: retake.Card{V: 1, Checkpoint: next}, Files: retake.Entry{Kind: retake.KindDir, Object: id, Sum: sum}})
		if !retake.IsKind(err, retake.Away) {
			t.Errorf("sole %v: seal answers %v", sole, err)
		}
		w.Close()
		read := func() error {
			r, err := y.s.File(ctx, first)
			if err == nil {
				_, err = r.Read(make([]byte, 10))
				r.Close()
			}
			return err
		}
		if err := read(); !retake.IsKind(err, retake.Away) || errors.Is(err, store.ErrDamaged) {
			t.Errorf("sole %v: reading answers %v", sole, err)
		}
		if _, err := y.s.Scrub(ctx, retake.ScrubQuery{Share: 1}); !retake.IsKind(err, retake.Away) {
			t.Errorf("sole %v: scrub answers %v", sole, err)
		}
		if _, err := kopia.Open(ctx, o); !retake.IsKind(err, retake.Away) {
			t.Errorf("sole %v: open answers %v", sole, err)
		}
		if !sole {
			if _, err := y.s.Begin(ctx, y.ws); !retake.IsKind(err, retake.Away) {
				t.Errorf("begin answers %v", err)
			}
		}
		lift()
		for retake.IsKind(read(), retake.Away) && ctx.Err() == nil { // after a silence it must answer soon to be heard
		}
		y.wantFiles(y.seal([]byte("later")), []byte("later"))
		y.wantFiles(cp, big)
	}
}

// An index blob whose put is done and not acknowledged is a seal in doubt. The next
// writer finds it.
func TestLostAnswerIsInDoubt(t *testing.T) {
	t.Parallel()
	for _, sole := range []bool{false, true} {
		f := newFakeS3(t)
		y := newBucketSweepTest(t, kopia.Impatient(inBucket(t, f, sole), impatience))
		y.seal([]byte("one"))
		f.intercept(func(_ http.ResponseWriter, r *http.Request, key string, body []byte) bool {
			if r.Method != http.MethodPut || !strings.Contains(key, "/xn") {
				return false
			}
			f.put(key, body)
			panic(http.ErrAbortHandler)
		})
		if err := sealEmpty(t.Context(), y.s, y.ws); !errors.Is(err, store.ErrInDoubt) || !retake.IsKind(err, retake.Away) {
			t.Errorf("sole %v: %v", sole, err)
		}
		f.intercept(nil)
		w := y.waitForWriter()
		if n := w.Head().Latest; n != 2 {
			t.Errorf("sole %v: the next writer begins after %d", sole, n)
		}
		w.Close()
	}
}

// An index blob that comes when another has taken its number is not the head.
func TestLateIndexIsNotTheHead(t *testing.T) {
	t.Parallel()
	f := newFakeS3(t)
	y := newBucketSweepTest(t, kopia.Impatient(inBucket(t, f, false), impatience))
	y.seal([]byte("one"))
	var late []byte
	var name string
	f.intercept(func(_ http.ResponseWriter, r *http.Request, key string, body []byte) bool {
		if r.Method != http.MethodPut || !strings.Contains(key, "/xn") {
			return false
		}
		name, late = key, body
		panic(http.ErrAbortHandler)
	})
	if err := sealEmpty(t.Context(), y.s, y.ws); !errors.Is(err, store.ErrInDoubt) {
		t.Fatal(err)
	}
	f.intercept(nil)
	y.waitForWriter().Close()
	cp := y.seal([]byte("two"))
	f.put(name, late)
	leaf, err := y.s.Record(t.Context(), y.ws.ID, 2)
	if err != nil || leaf.Card.Checkpoint.ID != cp.ID {
		t.Errorf("checkpoint 2 is %s, %v; acknowledged was %s", leaf.Card.Checkpoint.ID, err, cp.ID)
	}
}

// Bytes that were swept by a server whose clock was ahead, and come back through one that
// has neither its directory nor its clock, stay.
func TestMarkIsInTheBucket(t *testing.T) {
	t.Parallel()
	f := newFakeS3(t)
	start := clock.Wall.Now()
	ahead := clock.NewManual(start.Add(time.Hour))
	o := inBucket(t, f, false)
	o.Clock = ahead
	y := newBucketSweepTest(t, o)
	comes := randomBytes(9, 300<<10)
	gone := y.seal(comes)
	y.seal([]byte("stays"))
	y.forget(gone)
	for range 2 {
		ahead.Advance(time.Minute)
		y.sweep(store.SweepOptions{})
	}
	if err := y.s.Close(); err != nil {
		t.Fatal(err)
	}
	o.Dir, o.Clock = t.TempDir(), clock.NewManual(start)
	y.s = createIn(t, o)
	back := y.seal(comes)
	y.s = createIn(t, o)
	y.wantFiles(back, comes)
	if marks := f.keys("ns/one/xc"); len(marks) != 1 {
		t.Errorf("marks: %v", marks)
	}
}
