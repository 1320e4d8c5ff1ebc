package serverdbtest

import (
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// queueTest is one queue that nobody else has.
type queueTest struct {
	t     *testing.T
	l     serverdb.Ledger
	queue string
}

func newQueueTest(t *testing.T, open Opener) *queueTest {
	return &queueTest{t: t, l: open(t), queue: uniqueName("queue")}
}

func (d *queueTest) newDue(id string, at time.Time) serverdb.Due {
	return serverdb.Due{Queue: d.queue, Namespace: "ns", ID: id, At: at}
}

func (d *queueTest) put(id string, at time.Time) {
	d.t.Helper()
	wantNoError(d.t, d.l.Put(d.t.Context(), d.newDue(id, at)))
}

func (d *queueTest) claim(now time.Time, lease time.Duration, limit int) []serverdb.Due {
	d.t.Helper()
	return mustValue[[]serverdb.Due](d.t)(d.l.Claim(d.t.Context(), d.queue, now, lease, limit))
}

// wantClaims wants exactly these items, in this order.
func (d *queueTest) wantClaims(now time.Time, lease time.Duration, limit int, want ...serverdb.Due) []serverdb.Due {
	d.t.Helper()
	got := d.claim(now, lease, limit)
	wantEqual(d.t, "claimed", withoutStamps(got), want)
	return got
}

func withoutStamps(all []serverdb.Due) []serverdb.Due {
	out := make([]serverdb.Due, len(all))
	for i, d := range all {
		d.Stamp = 0
		out[i] = d
	}
	return out
}

func testPutEarlierWins(t *testing.T, open Opener) {
	d := newQueueTest(t, open)
	d.put("a", afterStart(time.Hour))
	d.put("a", afterStart(2*time.Hour))
	d.wantClaims(afterStart(time.Hour-time.Microsecond), time.Minute, 9)
	d.put("a", afterStart(time.Minute))
	d.put("a", afterStart(time.Hour))
	d.wantClaims(afterStart(time.Minute), time.Minute, 9, d.newDue("a", afterStart(time.Minute)))
}

// testPutNew: an item that is there keeps its time, its claim and its tries.
func testPutNew(t *testing.T, open Opener) {
	d := newQueueTest(t, open)
	putNew := func(at time.Time) { wantNoError(t, d.l.PutNew(t.Context(), d.newDue("a", at))) }
	putNew(afterStart(time.Minute))
	putNew(afterStart(0))
	d.wantClaims(afterStart(time.Second), time.Minute, 9)
	got := d.wantClaims(afterStart(time.Minute), time.Minute, 9, d.newDue("a", afterStart(time.Minute)))
	putNew(afterStart(0))
	d.wantClaims(afterStart(time.Minute), time.Minute, 9) // it is claimed
	parked := got[0]
	parked.Tries, parked.Reason = serverdb.MaxTries, "internal"
	wantNoError(t, d.l.Postpone(t.Context(), parked, afterStart(24*time.Hour)))
	putNew(afterStart(0))
	d.wantClaims(afterStart(time.Hour), time.Minute, 9)
	want := d.newDue("a", afterStart(24*time.Hour))
	want.Tries, want.Reason = serverdb.MaxTries, "internal"
	d.wantClaims(afterStart(24*time.Hour), time.Minute, 9, want)
}

func testClaimOldestFirst(t *testing.T, open Opener) {
	d := newQueueTest(t, open)
	other := newQueueTest(t, open)
	for id, at := range map[string]time.Duration{"c": 3, "a": 1, "b": 2, "e": 2, "d": 4} {
		d.put(id, afterStart(at*time.Second))
	}
	other.put("a", afterStart(0))
	wantNoError(t, d.l.Put(t.Context(), serverdb.Due{Queue: d.queue, Namespace: "aa", ID: "z", At: afterStart(2 * time.Second)}))
	d.wantClaims(afterStart(3*time.Second), time.Minute, 0)
	d.wantClaims(afterStart(3*time.Second), time.Minute, 2, d.newDue("a", afterStart(time.Second)),
		serverdb.Due{Queue: d.queue, Namespace: "aa", ID: "z", At: afterStart(2 * time.Second)})
	d.wantClaims(afterStart(3*time.Second), time.Minute, 9, d.newDue("b", afterStart(2*time.Second)), d.newDue("e", afterStart(2*time.Second)), d.newDue("c", afterStart(3*time.Second)))
	d.wantClaims(afterStart(3*time.Second), time.Minute, 9)
	d.wantClaims(afterStart(4*time.Second), time.Minute, 9, d.newDue("d", afterStart(4*time.Second)))
}

func testClaimComesBack(t *testing.T, open Opener) {
	d := newQueueTest(t, open)
	d.put("a", afterStart(0))
	first := d.wantClaims(afterStart(0), time.Minute, 1, d.newDue("a", afterStart(0)))
	d.wantClaims(afterStart(time.Minute-time.Microsecond), time.Minute, 1)
	second := d.wantClaims(afterStart(time.Minute), time.Minute, 1, d.newDue("a", afterStart(0)))
	// Whoever was first is late: the item is another's.
	wantNoError(t, d.l.Finish(t.Context(), first[0]))
	wantNoError(t, d.l.Postpone(t.Context(), first[0], afterStart(time.Hour)))
	d.wantClaims(afterStart(time.Minute), time.Minute, 1)
	third := d.wantClaims(afterStart(2*time.Minute), time.Minute, 1, d.newDue("a", afterStart(0)))
	wantNoError(t, d.l.Finish(t.Context(), second[0]))
	wantNoError(t, d.l.Finish(t.Context(), third[0]))
	d.wantClaims(late, time.Minute, 1)
}

func testPutEndsClaim(t *testing.T, open Opener) {
	d := newQueueTest(t, open)
	d.put("a", afterStart(0))
	first := d.wantClaims(afterStart(0), time.Hour, 1, d.newDue("a", afterStart(0)))
	d.put("a", afterStart(time.Second))
	wantNoError(t, d.l.Finish(t.Context(), first[0]))
	wantNoError(t, d.l.Postpone(t.Context(), first[0], afterStart(time.Hour)))
	second := d.wantClaims(afterStart(time.Second), time.Hour, 1, d.newDue("a", afterStart(0)))
	wantNoError(t, d.l.Finish(t.Context(), second[0]))
	d.wantClaims(late, time.Hour, 1)
}

func testExtend(t *testing.T, open Opener) {
	d := newQueueTest(t, open)
	d.put("a", afterStart(0))
	first := d.claim(afterStart(0), time.Minute, 1)
	wantNoError(t, d.l.Extend(t.Context(), first[0], afterStart(3*time.Minute)))
	d.wantClaims(afterStart(2*time.Minute), time.Hour, 1)
	second := d.claim(afterStart(4*time.Minute), time.Minute, 1)
	wantNoError(t, d.l.Extend(t.Context(), first[0], afterStart(time.Hour))) // it is not its claim any more
	d.wantClaims(afterStart(6*time.Minute), time.Hour, 1, d.newDue("a", afterStart(0)))
	wantNoError(t, d.l.Finish(t.Context(), second[0]))
}

func testPostpone(t *testing.T, open Opener) {
	d := newQueueTest(t, open)
	d.put("a", afterStart(0))
	first := d.claim(afterStart(0), time.Hour, 1)
	wantNoError(t, d.l.Postpone(t.Context(), first[0], afterStart(time.Minute)))
	wantNoError(t, d.l.Finish(t.Context(), first[0])) // the claim has ended
	d.wantClaims(afterStart(time.Second), time.Hour, 1)
	d.wantClaims(afterStart(time.Minute), time.Hour, 1, d.newDue("a", afterStart(time.Minute)))
}

// testOldClaims: what was finished and put again has nothing to do with claims from before.
func testOldClaims(t *testing.T, open Opener) {
	d := newQueueTest(t, open)
	var old []serverdb.Due
	for range 20 {
		d.put("a", afterStart(0))
		claimed := d.claim(afterStart(0), time.Hour, 1)
		for _, o := range old {
			wantNoError(t, d.l.Finish(t.Context(), o))
		}
		if n, _, err := d.l.Depth(t.Context(), d.queue); err != nil || n != 1 {
			t.Fatalf("an old claim finished a new item: %d, %v", n, err)
		}
		wantNoError(t, d.l.Finish(t.Context(), claimed[0]))
		old = append(old, claimed...)
	}
}

func testDepth(t *testing.T, open Opener) {
	d := newQueueTest(t, open)
	for want, id := range []string{"", "b", "a", "c"} {
		if id != "" {
			d.put(id, afterStart(map[string]time.Duration{"a": 1, "b": 2, "c": 3}[id]*time.Second))
		}
		n, oldest, err := d.l.Depth(t.Context(), d.queue)
		wantNoError(t, err)
		wantEqual(t, "depth", n, int64(want))
		wantEqual(t, "oldest", oldest, []time.Time{{}, afterStart(2 * time.Second), afterStart(time.Second), afterStart(time.Second)}[want])
	}
	d.claim(afterStart(time.Second), time.Hour, 1)
	n, oldest, err := d.l.Depth(t.Context(), d.queue)
	wantNoError(t, err)
	wantEqual(t, "depth with a claim", n, int64(3))
	wantEqual(t, "oldest with a claim", oldest, afterStart(time.Second))
}

func testLease(t *testing.T, open Opener) {
	l, name := open(t), uniqueName("lease")
	for i, step := range []struct {
		holder string
		at     time.Duration
		want   bool
	}{
		{"a", 0, true}, {"b", 0, false}, {"a", 30, true}, {"b", 60, false}, {"b", 89, false}, {"b", 90, true}, {"a", 91, false}, {"a", 150, true},
	} {
		got, err := l.Lease(t.Context(), name, step.holder, afterStart(step.at*time.Second), time.Minute)
		wantNoError(t, err)
		if got != step.want {
			t.Errorf("step %d: %s at %d s: %v", i, step.holder, step.at, got)
		}
	}
	// Who holds it can give it back.
	if got, err := l.Lease(t.Context(), name, "a", afterStart(151*time.Second), 0); err != nil || !got {
		t.Errorf("give back: %v, %v", got, err)
	}
	if got, err := l.Lease(t.Context(), name, "b", afterStart(151*time.Second), time.Minute); err != nil || !got {
		t.Errorf("after it was given back: %v, %v", got, err)
	}
}

// testCanceled: a call whose caller is gone does nothing.
func testCanceled(t *testing.T, open Opener) {
	l := open(t)
	b := l.Book(retake.NamespaceID(uniqueName("ns")))
	ctx, cancel := withCancel(t)
	cancel()
	if err := b.PutHook(ctx, newHook("wh_1")); err == nil {
		t.Error("a canceled act went well")
	}
	wantEqual(t, "entries", auditVerbs(t, b), nil)
	wantEqual(t, "webhooks", mustValue[[]serverdb.Hook](t)(b.Hooks(t.Context())), nil)
}
