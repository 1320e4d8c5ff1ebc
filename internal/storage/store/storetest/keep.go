package storetest

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/store"
)

func testForget(t *testing.T, h Harness) {
	w := beginWriter(t, h.Store, newWorkspace())
	var cards []retake.Card
	for n := range int64(5) {
		cards = append(cards, w.sealFile(n+1, []byte{byte(n)}))
	}
	want := []retake.Tombstone{newTombstone(cards[1]), newTombstone(cards[3])}
	if err := w.Forget(t.Context(), want); err != nil {
		t.Fatalf("Forget: %v", err)
	}
	w.close()

	s := reopen(t, h)
	wantNumbers(t, s, w.ws, 0, 1, -2, 3, -4, 5)
	var got []retake.Tombstone
	err := s.Records(t.Context(), w.ws.ID, 0, func(_ *store.Record, st *retake.Tombstone) error {
		if st != nil {
			got = append(got, *st)
		}
		return nil
	})
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("tombstones: %v (-want +got):\n%s", err, d)
	}
	if _, err := s.Record(t.Context(), w.ws.ID, 2); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Leaf of a forgotten checkpoint: %v, want ErrNotFound", err)
	}
	for _, i := range []int{0, 2, 4} {
		wantRecord(t, s, cards[i], []byte{byte(i)})
	}
	w = beginWriter(t, s, w.ws)
	w.sealFile(6, []byte("six"))
	w.close()
	wantNumbers(t, s, w.ws, 0, 1, -2, 3, -4, 5, 6)
}

func testForgetRequired(t *testing.T, h Harness) {
	w := beginWriter(t, h.Store, newWorkspace())
	one, two, three := w.sealFile(1, []byte("1")), w.sealFile(2, []byte("2")), w.sealFile(3, []byte("3"))
	pin := retake.Pin{Name: "keep", Checkpoint: two.Checkpoint.ID, Number: 2, Time: epoch}
	if err := w.Amend(t.Context(), w.ws, []retake.Pin{pin}); err != nil {
		t.Fatalf("Amend: %v", err)
	}
	before := readHead(t, h.Store, w.ws)
	for name, card := range map[string]retake.Card{"the newest": three, "a pinned one": two} {
		err := w.Forget(t.Context(), []retake.Tombstone{newTombstone(one), newTombstone(card)})
		if !errors.Is(err, store.ErrRequired) {
			t.Errorf("Forget of %s: %v, want ErrHeld", name, err)
		}
		wantNumbers(t, h.Store, w.ws, 0, 1, 2, 3)
		if d := cmp.Diff(before, readHead(t, h.Store, w.ws)); d != "" {
			t.Errorf("head after a refused Forget (-want +got):\n%s", d)
		}
	}
	// Without its pin the checkpoint can go.
	if err := w.Amend(t.Context(), w.ws, nil); err != nil {
		t.Fatalf("Amend: %v", err)
	}
	if err := w.Forget(t.Context(), []retake.Tombstone{newTombstone(two)}); err != nil {
		t.Errorf("Forget after the pin is gone: %v", err)
	}
	w.close()
	s := reopen(t, h)
	wantNumbers(t, s, w.ws, 0, 1, -2, 3)
	wantRecord(t, s, one, []byte("1"))
}

// fillAndForget fills two histories, forgets two checkpoints of the first and returns a check
// that all the rest still reads.
func fillAndForget(t *testing.T, s store.Store) func(store.Store) {
	t.Helper()
	shared, state := randomBytes(10, 300<<10), map[string][]byte{"s": []byte("kept state")}
	w := beginWriter(t, s, newWorkspace())
	one := w.sealFile(1, randomBytes(11, 2<<20))
	two := w.sealFile(2, shared)
	three := w.sealFile(3, randomBytes(12, 2<<20))
	inner := w.writeDir("deep", w.writeDir("er", w.writeFile("b", randomBytes(13, 100<<10))))
	w.sealTree(4, w.writeDir("", inner, w.writeFile("a", shared)), state)
	if err := w.Forget(t.Context(), []retake.Tombstone{newTombstone(one), newTombstone(three)}); err != nil {
		t.Fatalf("Forget: %v", err)
	}
	w.writeDir("", w.writeFile("never sealed", randomBytes(14, 1<<20)))
	w.close()
	other := beginWriter(t, s, newWorkspace())
	theirs := other.sealFile(1, randomBytes(15, 100<<10))
	other.close()

	return func(s store.Store) {
		t.Helper()
		wantNumbers(t, s, w.ws, 0, -1, 2, -3, 4)
		wantRecord(t, s, two, shared)
		wantRecord(t, s, theirs, randomBytes(15, 100<<10))
		wantState(t, s, w.ws, 4, state)
		leaf, err := s.Record(t.Context(), w.ws.ID, 4)
		if err != nil {
			t.Fatalf("Leaf: %v", err)
		}
		wantBytes(t, s, findObject(t, s, leaf.Files, "deep", "er", "b"), randomBytes(13, 100<<10))
		wantBytes(t, s, findObject(t, s, leaf.Files, "a"), shared)
	}
}

func findObject(t *testing.T, s store.Store, at retake.Entry, names ...string) retake.ObjectID {
	t.Helper()
	for _, name := range names {
		entries, err := s.Dir(t.Context(), at.Object)
		if err != nil {
			t.Fatalf("Dir: %v", err)
		}
		at = retake.Entry{}
		for _, e := range entries {
			if e.Name == name {
				at = e
			}
		}
	}
	if at.Object == "" {
		t.Fatalf("there is no %q", names)
	}
	return at.Object
}

func testSweep(t *testing.T, h Harness) {
	check := fillAndForget(t, h.Store)
	check(h.Store)
	before := storeSize(t, h.Store)
	for range 2 {
		report := runSweep(t, h.Store)
		// A sweep may note that it ran.
		if report.Before+(64<<10) < report.After || report.After < 0 || report.Peak < 0 || report.Took < 0 {
			t.Errorf("Sweep answers %+v", report)
		}
		check(h.Store)
	}
	s := reopen(t, h)
	check(s)
	if after := storeSize(t, s); after >= before {
		t.Logf("size after two sweeps: %d, before: %d; this store frees later", after, before)
	}
}

func storeSize(t *testing.T, s store.Store) int64 {
	t.Helper()
	n, err := s.Size(t.Context())
	if err != nil {
		t.Fatalf("Size: %v", err)
	}
	if n <= 0 {
		t.Errorf("Size is %d", n)
	}
	return n
}

func runSweep(t *testing.T, s store.Store) retake.SweepReport {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	report, err := s.Sweep(ctx, store.SweepOptions{})
	if err != nil {
		t.Fatalf("Sweep: %v", err)
	}
	return report
}

// testWriteAgain writes the bytes that a sweep removed: a store that remembers
// having them would lose them.
func testWriteAgain(t *testing.T, h Harness) {
	check := fillAndForget(t, h.Store)
	runSweep(t, h.Store)
	w := beginWriter(t, h.Store, newWorkspace())
	first := w.sealFile(1, randomBytes(11, 2<<20))
	second := w.sealFile(2, randomBytes(14, 1<<20))
	w.close()
	wantRecord(t, h.Store, first, randomBytes(11, 2<<20))
	runSweep(t, h.Store)
	s := reopen(t, h)
	wantRecord(t, s, first, randomBytes(11, 2<<20))
	wantRecord(t, s, second, randomBytes(14, 1<<20))
	check(s)
}
