package serverdbtest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// raceOfClaims: of several that claim by two handles, nobody gets what another has.
func raceOfClaims(t *testing.T, open Opener) {
	ledgers := []serverdb.Ledger{open(t), open(t)}
	queue := unique("queue")
	const items, workers, batch = 120, 4, 7
	for n := range items {
		ok(t, ledgers[0].Put(t.Context(), serverdb.Due{Queue: queue, Namespace: retake.NamespaceID(fmt.Sprint(n % 3)), ID: fmt.Sprint(n), At: start}))
	}
	var mu sync.Mutex
	given := map[string]int{}
	work := func(l serverdb.Ledger) error {
		for {
			got, err := l.Claim(t.Context(), queue, start, time.Hour, batch)
			if err != nil {
				return err
			}
			mu.Lock()
			for _, d := range got {
				given[d.ID]++
			}
			all := len(given) == items
			mu.Unlock()
			if all && len(got) == 0 {
				return nil
			}
			for _, d := range got {
				if err := l.Finish(t.Context(), d); err != nil {
					return err
				}
			}
		}
	}
	var g errgroup.Group
	for w := range workers {
		g.Go(func() error { return work(ledgers[w%2]) })
	}
	ok(t, g.Wait())
	for id, n := range given {
		if n != 1 {
			t.Errorf("item %s was claimed %d times", id, n)
		}
	}
	same(t, "claimed", len(given), items)
	n, _, err := ledgers[1].Depth(t.Context(), queue)
	ok(t, err)
	same(t, "left", n, int64(0))
}

// raceOfPutAndFinish: what is put while it is worked on is worked on again.
func raceOfPutAndFinish(t *testing.T, open Opener) {
	ledgers := []serverdb.Ledger{open(t), open(t)}
	queue := unique("queue")
	const puts = 40
	var asked, heard atomic.Int64
	var over atomic.Bool
	var g errgroup.Group
	g.Go(func() error {
		defer over.Store(true)
		for range puts {
			asked.Add(1)
			if err := ledgers[0].Put(t.Context(), serverdb.Due{Queue: queue, Namespace: "ns", ID: "x", At: start}); err != nil {
				return err
			}
		}
		return nil
	})
	g.Go(func() error {
		for {
			last := over.Load()
			got, err := ledgers[1].Claim(t.Context(), queue, start, time.Hour, 1)
			if err != nil || last && len(got) == 0 {
				return err
			}
			for _, d := range got {
				heard.Store(asked.Load())
				if err := ledgers[1].Finish(t.Context(), d); err != nil {
					return err
				}
			}
		}
	})
	ok(t, g.Wait())
	same(t, "heard", heard.Load(), int64(puts))
}

func raceForLease(t *testing.T, open Opener) {
	ledgers := []serverdb.Ledger{open(t), open(t)}
	name := unique("lease")
	for round := range 5 {
		var won atomic.Int64
		var g errgroup.Group
		for h := range 8 {
			g.Go(func() error {
				got, err := ledgers[h%2].Lease(t.Context(), name, fmt.Sprint(h), after(time.Duration(round)*time.Minute), time.Minute)
				if got {
					won.Add(1)
				}
				return err
			})
		}
		ok(t, g.Wait())
		same(t, "holders", won.Load(), int64(1))
	}
}

func raceOfReplies(t *testing.T, open Opener) {
	ns := retake.NamespaceID(unique("ns"))
	ledgers := []serverdb.Ledger{open(t), open(t)}
	for round := range 5 {
		var fresh, held atomic.Int64
		var g errgroup.Group
		for c := range 8 {
			b := ledgers[c%2].Book(ns)
			g.Go(func() error {
				_, state, err := b.BeginReply(t.Context(), "k", digestOf("one"), after(time.Duration(round)*time.Minute), time.Minute)
				switch state {
				case serverdb.ReplyFresh:
					fresh.Add(1)
				case serverdb.ReplyHeld:
					held.Add(1)
				case serverdb.ReplyKnown, serverdb.ReplyOther:
				}
				return err
			})
		}
		ok(t, g.Wait())
		same(t, "fresh and held", []int64{fresh.Load(), held.Load()}, []int64{1, 7})
	}
}

// raceOfOldReplies: those that come remove those that are old, and nobody is in the way
// of another.
func raceOfOldReplies(t *testing.T, open Opener) {
	ns := retake.NamespaceID(unique("ns"))
	ledgers := []serverdb.Ledger{open(t), open(t)}
	const clients, each, keys = 8, 15, 11
	var g errgroup.Group
	for c := range clients {
		b := ledgers[c%2].Book(ns)
		g.Go(func() error {
			for n := range each {
				// Every claim is over when the next one comes, and keys come again.
				key := fmt.Sprint((c*7 + n*5) % keys)
				if _, _, err := b.BeginReply(t.Context(), key, digestOf(key), after(time.Duration(n)*time.Second), time.Second); err != nil {
					return err
				}
			}
			return nil
		})
	}
	ok(t, g.Wait())
}

// twoHandles: what one does, the other sees.
func twoHandles(t *testing.T, open Opener) {
	ns := retake.NamespaceID(unique("ns"))
	one, two := open(t).Book(ns), open(t).Book(ns)
	ok(t, one.PutHook(t.Context(), newHook("wh_1")))
	same(t, "webhook", must[serverdb.Hook](t)(two.Hook(t.Context(), "wh_1")), newHook("wh_1"))
	ok(t, two.DropHook(t.Context(), "wh_1"))
	_, err := one.Hook(t.Context(), "wh_1")
	isErr(t, err, serverdb.ErrNotFound)
	same(t, "entries", verbs(t, one), []string{"add webhook wh_1", "drop webhook wh_1"})
}
