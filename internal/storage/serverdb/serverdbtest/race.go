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

// testRaceOfClaims: of several that claim by two handles, nobody gets what another has.
func testRaceOfClaims(t *testing.T, open Opener) {
	ledgers := []serverdb.Ledger{open(t), open(t)}
	queue := uniqueName("queue")
	const items, workers, batch = 120, 4, 7
	for n := range items {
		wantNoError(t, ledgers[0].Put(t.Context(), serverdb.Due{Queue: queue, Namespace: retake.NamespaceID(fmt.Sprint(n % 3)), ID: fmt.Sprint(n), At: start}))
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
	wantNoError(t, g.Wait())
	for id, n := range given {
		if n != 1 {
			t.Errorf("item %s was claimed %d times", id, n)
		}
	}
	wantEqual(t, "claimed", len(given), items)
	n, _, err := ledgers[1].Depth(t.Context(), queue)
	wantNoError(t, err)
	wantEqual(t, "left", n, int64(0))
}

// testRaceOfPutAndFinish: what is put while it is worked on is worked on again.
func testRaceOfPutAndFinish(t *testing.T, open Opener) {
	ledgers := []serverdb.Ledger{open(t), open(t)}
	queue := uniqueName("queue")
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
	wantNoError(t, g.Wait())
	wantEqual(t, "heard", heard.Load(), int64(puts))
}

func testRaceForLease(t *testing.T, open Opener) {
	ledgers := []serverdb.Ledger{open(t), open(t)}
	name := uniqueName("lease")
	for round := range 5 {
		var won atomic.Int64
		var g errgroup.Group
		for h := range 8 {
			g.Go(func() error {
				got, err := ledgers[h%2].Lease(t.Context(), name, fmt.Sprint(h), afterStart(time.Duration(round)*time.Minute), time.Minute)
				if got {
					won.Add(1)
				}
				return err
			})
		}
		wantNoError(t, g.Wait())
		wantEqual(t, "holders", won.Load(), int64(1))
	}
}

func testRaceOfReplies(t *testing.T, open Opener) {
	ns := retake.NamespaceID(uniqueName("ns"))
	ledgers := []serverdb.Ledger{open(t), open(t)}
	for round := range 5 {
		var fresh, held atomic.Int64
		var g errgroup.Group
		for c := range 8 {
			b := ledgers[c%2].Book(ns)
			g.Go(func() error {
				_, state, err := b.BeginReply(t.Context(), "k", digestOf("one"), afterStart(time.Duration(round)*time.Minute), time.Minute)
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
		wantNoError(t, g.Wait())
		wantEqual(t, "fresh and held", []int64{fresh.Load(), held.Load()}, []int64{1, 7})
	}
}

// testRaceOfOldReplies: those that come remove those that are old, and nobody is in the way
// of another.
func testRaceOfOldReplies(t *testing.T, open Opener) {
	ns := retake.NamespaceID(uniqueName("ns"))
	ledgers := []serverdb.Ledger{open(t), open(t)}
	const clients, each, keys = 8, 15, 11
	var g errgroup.Group
	for c := range clients {
		b := ledgers[c%2].Book(ns)
		g.Go(func() error {
			for n := range each {
				// Every claim is over when the next one comes, and keys come again.
				key := fmt.Sprint((c*7 + n*5) % keys)
				if _, _, err := b.BeginReply(t.Context(), key, digestOf(key), afterStart(time.Duration(n)*time.Second), time.Second); err != nil {
					return err
				}
			}
			return nil
		})
	}
	wantNoError(t, g.Wait())
}

// testTwoHandles: what one does, the other sees.
func testTwoHandles(t *testing.T, open Opener) {
	ns := retake.NamespaceID(uniqueName("ns"))
	one, two := open(t).Book(ns), open(t).Book(ns)
	wantNoError(t, one.PutHook(t.Context(), newHook("wh_1")))
	wantEqual(t, "webhook", mustValue[serverdb.Hook](t)(two.Hook(t.Context(), "wh_1")), newHook("wh_1"))
	wantNoError(t, two.DropHook(t.Context(), "wh_1"))
	_, err := one.Hook(t.Context(), "wh_1")
	wantError(t, err, serverdb.ErrNotFound)
	wantEqual(t, "entries", auditVerbs(t, one), []string{"add webhook wh_1", "drop webhook wh_1"})
}
