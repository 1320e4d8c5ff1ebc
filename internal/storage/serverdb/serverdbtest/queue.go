package serverdbtest

import (
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// desk is one queue that nobody else has.
type desk struct {
	t     *testing.T
	l     serverdb.Ledger
	queue string
}

func newDesk(t *testing.T, open Opener) *desk {
	return &desk{t: t, l: open(t), queue: unique("queue")}
}

func (d *desk) due(id string, at time.Time) serverdb.Due {
	return serverdb.Due{Queue: d.queue, Namespace: "ns", ID: id, At: at}
}

func (d *desk) put(id string, at time.Time) {
	d.t.Helper()
	ok(d.t, d.l.Put(d.t.Context(), d.due(id, at)))
}

func (d *desk) claim(now time.Time, lease time.Duration, limit int) []serverdb.Due {
	d.t.Helper()
	return must[[]serverdb.Due](d.t)(d.l.Claim(d.t.Context(), d.queue, now, lease, limit))
}

// claims wants exactly these items, in this order.
func (d *desk) claims(now time.Time, lease time.Duration, limit int, want ...serverdb.Due) []serverdb.Due {
	d.t.Helper()
	got := d.claim(now, lease, limit)
	same(d.t, "claimed", unstamped(got), want)
	return got
}

func unstamped(all []serverdb.Due) []serverdb.Due {
	out := make([]serverdb.Due, len(all))
	for i, d := range all {
		d.Stamp = 0
		out[i] = d
	}
	return out
}

func putEarlierWins(t *testing.T, open Opener) {
	d := newDesk(t, open)
	d.put("a", after(time.Hour))
	d.put("a", after(2*time.Hour))
	d.claims(after(time.Hour-time.Microsecond), time.Minute, 9)
	d.put("a", after(time.Minute))
	d.put("a", after(time.Hour))
	d.claims(after(time.Minute), time.Minute, 9, d.due("a", after(time.Minute)))
}

func claimOldestFirst(t *testing.T, open Opener) {
	d := newDesk(t, open)
	other := newDesk(t, open)
	for id, at := range map[string]time.Duration{"c": 3, "a": 1, "b": 2, "e": 2, "d": 4} {
		d.put(id, after(at*time.Second))
	}
	other.put("a", after(0))
	ok(t, d.l.Put(t.Context(), serverdb.Due{Queue: d.queue, Namespace: "aa", ID: "z", At: after(2 * time.Second)}))
	d.claims(after(3*time.Second), time.Minute, 0)
	d.claims(after(3*time.Second), time.Minute, 2, d.due("a", after(time.Second)),
		serverdb.Due{Queue: d.queue, Namespace: "aa", ID: "z", At: after(2 * time.Second)})
	d.claims(after(3*time.Second), time.Minute, 9, d.due("b", after(2*time.Second)), d.due("e", after(2*time.Second)), d.due("c", after(3*time.Second)))
	d.claims(after(3*time.Second), time.Minute, 9)
	d.claims(after(4*time.Second), time.Minute, 9, d.due("d", after(4*time.Second)))
}

func claimComesBack(t *testing.T, open Opener) {
	d := newDesk(t, open)
	d.put("a", after(0))
	first := d.claims(after(0), time.Minute, 1, d.due("a", after(0)))
	d.claims(after(time.Minute-time.Microsecond), time.Minute, 1)
	second := d.claims(after(time.Minute), time.Minute, 1, d.due("a", after(0)))
	// Whoever was first is late: the item is another's.
	ok(t, d.l.Finish(t.Context(), first[0]))
	ok(t, d.l.Postpone(t.Context(), first[0], after(time.Hour)))
	d.claims(after(time.Minute), time.Minute, 1)
	third := d.claims(after(2*time.Minute), time.Minute, 1, d.due("a", after(0)))
	ok(t, d.l.Finish(t.Context(), second[0]))
	ok(t, d.l.Finish(t.Context(), third[0]))
	d.claims(late, time.Minute, 1)
}

func putEndsClaim(t *testing.T, open Opener) {
	d := newDesk(t, open)
	d.put("a", after(0))
	first := d.claims(after(0), time.Hour, 1, d.due("a", after(0)))
	d.put("a", after(time.Second))
	ok(t, d.l.Finish(t.Context(), first[0]))
	ok(t, d.l.Postpone(t.Context(), first[0], after(time.Hour)))
	second := d.claims(after(time.Second), time.Hour, 1, d.due("a", after(0)))
	ok(t, d.l.Finish(t.Context(), second[0]))
	d.claims(late, time.Hour, 1)
}

func postpone(t *testing.T, open Opener) {
	d := newDesk(t, open)
	d.put("a", after(0))
	first := d.claim(after(0), time.Hour, 1)
	ok(t, d.l.Postpone(t.Context(), first[0], after(time.Minute)))
	ok(t, d.l.Finish(t.Context(), first[0])) // the claim has ended
	d.claims(after(time.Second), time.Hour, 1)
	d.claims(after(time.Minute), time.Hour, 1, d.due("a", after(time.Minute)))
}

// oldClaims: what was finished and put again has nothing to do with claims from before.
func oldClaims(t *testing.T, open Opener) {
	d := newDesk(t, open)
	var old []serverdb.Due
	for range 20 {
		d.put("a", after(0))
		claimed := d.claim(after(0), time.Hour, 1)
		for _, o := range old {
			ok(t, d.l.Finish(t.Context(), o))
		}
		if n, _, err := d.l.Depth(t.Context(), d.queue); err != nil || n != 1 {
			t.Fatalf("an old claim finished a new item: %d, %v", n, err)
		}
		ok(t, d.l.Finish(t.Context(), claimed[0]))
		old = append(old, claimed...)
	}
}

func depth(t *testing.T, open Opener) {
	d := newDesk(t, open)
	for want, id := range []string{"", "b", "a", "c"} {
		if id != "" {
			d.put(id, after(map[string]time.Duration{"a": 1, "b": 2, "c": 3}[id]*time.Second))
		}
		n, oldest, err := d.l.Depth(t.Context(), d.queue)
		ok(t, err)
		same(t, "depth", n, int64(want))
		same(t, "oldest", oldest, []time.Time{{}, after(2 * time.Second), after(time.Second), after(time.Second)}[want])
	}
	d.claim(after(time.Second), time.Hour, 1)
	n, oldest, err := d.l.Depth(t.Context(), d.queue)
	ok(t, err)
	same(t, "depth with a claim", n, int64(3))
	same(t, "oldest with a claim", oldest, after(time.Second))
}

func lease(t *testing.T, open Opener) {
	l, name := open(t), unique("lease")
	for i, step := range []struct {
		holder string
		at     time.Duration
		want   bool
	}{
		{"a", 0, true}, {"b", 0, false}, {"a", 30, true}, {"b", 60, false}, {"b", 89, false}, {"b", 90, true}, {"a", 91, false}, {"a", 150, true},
	} {
		got, err := l.Lease(t.Context(), name, step.holder, after(step.at*time.Second), time.Minute)
		ok(t, err)
		if got != step.want {
			t.Errorf("step %d: %s at %d s: %v", i, step.holder, step.at, got)
		}
	}
	// Who holds it can give it back.
	if got, err := l.Lease(t.Context(), name, "a", after(151*time.Second), 0); err != nil || !got {
		t.Errorf("give back: %v, %v", got, err)
	}
	if got, err := l.Lease(t.Context(), name, "b", after(151*time.Second), time.Minute); err != nil || !got {
		t.Errorf("after it was given back: %v, %v", got, err)
	}
}

// canceled: a call whose caller is gone does nothing.
func canceled(t *testing.T, open Opener) {
	l := open(t)
	b := l.Book(retake.NamespaceID(unique("ns")))
	ctx, cancel := withCancel(t)
	cancel()
	if err := b.PutHook(ctx, newHook("wh_1")); err == nil {
		t.Error("a canceled act went well")
	}
	same(t, "entries", verbs(t, b), nil)
	same(t, "webhooks", must[[]serverdb.Hook](t)(b.Hooks(t.Context())), nil)
}
