package serverdbtest

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// item is what the model knows of one that is due.
type item struct {
	at, until time.Time
	claim     int // the number of the last claim or put: only that one may end it
	tries     int64
	reason    string
}

// queueModel says in a plain map what a queue must do.
type queueModel struct {
	d      *queueTest
	items  map[string]item
	now    time.Time
	number int
	held   []claimed
}

// claimed is a claim that somebody remembers, good or not.
type claimed struct {
	due    serverdb.Due
	number int
}

func (m *queueModel) nextNumber() int { m.number++; return m.number }

func (m *queueModel) put(t *rapid.T) {
	id := rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}).Draw(t, "id")
	at := m.now.Add(time.Duration(rapid.IntRange(-5, 5).Draw(t, "at")) * time.Second)
	fatalIf(t, m.d.l.Put(t.Context(), m.d.newDue(id, at)))
	old, there := m.items[id]
	if there && old.at.Before(at) {
		at = old.at
	}
	m.items[id] = item{at: at, claim: m.nextNumber(), reason: old.reason} // it may be tried as often as a new one
}

func (m *queueModel) claim(t *rapid.T) {
	limit := rapid.IntRange(0, 3).Draw(t, "limit")
	lease := time.Duration(rapid.IntRange(1, 5).Draw(t, "lease")) * time.Second
	got, err := m.d.l.Claim(t.Context(), m.d.queue, m.now, lease, limit)
	fatalIf(t, err)
	var want []string
	for id, it := range m.items {
		if !it.at.After(m.now) && !it.until.After(m.now) {
			want = append(want, id)
		}
	}
	slices.SortFunc(want, func(a, b string) int { return cmp.Or(m.items[a].at.Compare(m.items[b].at), cmp.Compare(a, b)) })
	want = want[:min(limit, len(want))]
	if len(got) != len(want) {
		t.Fatalf("claimed %v, want %v", got, want)
	}
	for i, id := range want {
		it := m.items[id]
		if got[i].ID != id || !got[i].At.Equal(it.at) || got[i].Queue != m.d.queue || got[i].Namespace != "ns" || got[i].Tries != it.tries || got[i].Reason != it.reason {
			t.Fatalf("claim %d is %v, want %s at %v", i, got[i], id, it.at)
		}
		it.until, it.claim = m.now.Add(lease), m.nextNumber()
		m.items[id] = it
		m.held = append(m.held, claimed{got[i], it.claim})
	}
}

// takeHeld draws a claim, and whether it is good.
func (m *queueModel) takeHeld(t *rapid.T) (claimed, bool) {
	if len(m.held) == 0 {
		t.Skip("no claims")
	}
	c := rapid.SampledFrom(m.held).Draw(t, "claim")
	it, there := m.items[c.due.ID]
	return c, there && it.claim == c.number
}

func (m *queueModel) finish(t *rapid.T) {
	c, good := m.takeHeld(t)
	fatalIf(t, m.d.l.Finish(t.Context(), c.due))
	if good {
		delete(m.items, c.due.ID)
	}
}

func (m *queueModel) postpone(t *rapid.T) {
	c, good := m.takeHeld(t)
	at := m.now.Add(time.Duration(rapid.IntRange(0, 5).Draw(t, "at")) * time.Second)
	c.due.Tries, c.due.Reason = rapid.Int64Range(0, 3).Draw(t, "tries"), rapid.SampledFrom([]string{"", "away", "internal"}).Draw(t, "reason")
	fatalIf(t, m.d.l.Postpone(t.Context(), c.due, at))
	if good {
		m.items[c.due.ID] = item{at: at, claim: m.nextNumber(), tries: c.due.Tries, reason: c.due.Reason}
	}
}

func (m *queueModel) passTime(t *rapid.T) {
	m.now = m.now.Add(time.Duration(rapid.IntRange(1, 4).Draw(t, "seconds")) * time.Second)
}

func (m *queueModel) compare(t *rapid.T) {
	n, oldest, err := m.d.l.Depth(t.Context(), m.d.queue)
	fatalIf(t, err)
	var want time.Time
	for _, it := range m.items {
		if want.IsZero() || it.at.Before(want) {
			want = it.at
		}
	}
	if n != int64(len(m.items)) || !oldest.Equal(want) {
		t.Fatalf("depth %d since %v, want %d since %v", n, oldest, len(m.items), want)
	}
	failing, err := m.d.l.Failing(t.Context())
	fatalIf(t, err)
	for _, d := range failing {
		if it := m.items[d.ID]; d.Queue == m.d.queue && (it.reason != d.Reason || it.tries != d.Tries) {
			t.Fatalf("%s failed %d times with %q, want %d and %q", d.ID, d.Tries, d.Reason, it.tries, it.reason)
		}
	}
}

func fatalIf(t *rapid.T, err error) {
	if err != nil {
		t.Fatal(err)
	}
}

func testQueueLikeModel(t *testing.T, open Opener) {
	l := open(t)
	rapid.Check(t, func(rt *rapid.T) {
		m := &queueModel{d: &queueTest{t: t, l: l, queue: uniqueName("queue")}, items: map[string]item{}, now: start}
		rt.Repeat(map[string]func(*rapid.T){
			"put": m.put, "put again": m.put, "claim": m.claim, "claim again": m.claim, "finish": m.finish, "postpone": m.postpone, "pass": m.passTime,
			"": m.compare,
		})
	})
}
