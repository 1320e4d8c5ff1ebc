package storetest

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/store"
)

func forget(t *testing.T, h Harness) {
	w := begin(t, h.Store, newWorkspace())
	var cards []retake.Card
	for n := range int64(5) {
		cards = append(cards, w.seal(n+1, []byte{byte(n)}))
	}
	want := []retake.Tombstone{stone(cards[1]), stone(cards[3])}
	if err := w.Forget(t.Context(), want); err != nil {
		t.Fatalf("Forget: %v", err)
	}
	w.close()

	s := reopen(t, h)
	wantNumbers(t, s, w.ws, 0, 1, -2, 3, -4, 5)
	var got []retake.Tombstone
	err := s.Leaves(t.Context(), w.ws.ID, 0, func(_ *store.Leaf, st *retake.Tombstone) error {
		if st != nil {
			got = append(got, *st)
		}
		return nil
	})
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("tombstones: %v (-want +got):\n%s", err, d)
	}
	if _, err := s.Leaf(t.Context(), w.ws.ID, 2); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Leaf of a forgotten checkpoint: %v, want ErrNotFound", err)
	}
	for _, i := range []int{0, 2, 4} {
		wantLeaf(t, s, cards[i], []byte{byte(i)})
	}
	w = begin(t, s, w.ws)
	w.seal(6, []byte("six"))
	w.close()
	wantNumbers(t, s, w.ws, 0, 1, -2, 3, -4, 5, 6)
}

func held(t *testing.T, h Harness) {
	w := begin(t, h.Store, newWorkspace())
	one, two, three := w.seal(1, []byte("1")), w.seal(2, []byte("2")), w.seal(3, []byte("3"))
	pin := retake.Pin{Name: "keep", Checkpoint: two.Checkpoint.ID, Number: 2, Time: epoch}
	if err := w.Amend(t.Context(), w.ws, []retake.Pin{pin}); err != nil {
		t.Fatalf("Amend: %v", err)
	}
	before := head(t, h.Store, w.ws)
	for name, card := range map[string]retake.Card{"the newest": three, "a pinned one": two} {
		err := w.Forget(t.Context(), []retake.Tombstone{stone(one), stone(card)})
		if !errors.Is(err, store.ErrHeld) {
			t.Errorf("Forget of %s: %v, want ErrHeld", name, err)
		}
		wantNumbers(t, h.Store, w.ws, 0, 1, 2, 3)
		if d := cmp.Diff(before, head(t, h.Store, w.ws)); d != "" {
			t.Errorf("head after a refused Forget (-want +got):\n%s", d)
		}
	}
	// Without its pin the checkpoint can go.
	if err := w.Amend(t.Context(), w.ws, nil); err != nil {
		t.Fatalf("Amend: %v", err)
	}
	if err := w.Forget(t.Context(), []retake.Tombstone{stone(two)}); err != nil {
		t.Errorf("Forget after the pin is gone: %v", err)
	}
	w.close()
	s := reopen(t, h)
	wantNumbers(t, s, w.ws, 0, 1, -2, 3)
	wantLeaf(t, s, one, []byte("1"))
}

// kept fills two lines, forgets two checkpoints of the first and answers a check
// that all the rest still reads.
func kept(t *testing.T, s store.Store) func(store.Store) {
	t.Helper()
	shared, state := noise(10, 300<<10), map[string][]byte{"s": []byte("kept state")}
	w := begin(t, s, newWorkspace())
	one := w.seal(1, noise(11, 2<<20))
	two := w.seal(2, shared)
	three := w.seal(3, noise(12, 2<<20))
	inner := w.dir("deep", w.dir("er", w.file("b", noise(13, 100<<10))))
	w.sealTree(4, w.dir("", inner, w.file("a", shared)), state)
	if err := w.Forget(t.Context(), []retake.Tombstone{stone(one), stone(three)}); err != nil {
		t.Fatalf("Forget: %v", err)
	}
	w.dir("", w.file("never sealed", noise(14, 1<<20)))
	w.close()
	other := begin(t, s, newWorkspace())
	theirs := other.seal(1, noise(15, 100<<10))
	other.close()

	return func(s store.Store) {
		t.Helper()
		wantNumbers(t, s, w.ws, 0, -1, 2, -3, 4)
		wantLeaf(t, s, two, shared)
		wantLeaf(t, s, theirs, noise(15, 100<<10))
		wantState(t, s, w.ws, 4, state)
		leaf, err := s.Leaf(t.Context(), w.ws.ID, 4)
		if err != nil {
			t.Fatalf("Leaf: %v", err)
		}
		wantBytes(t, s, walk(t, s, leaf.Files, "deep", "er", "b"), noise(13, 100<<10))
		wantBytes(t, s, walk(t, s, leaf.Files, "a"), shared)
	}
}

func walk(t *testing.T, s store.Store, at retake.Entry, names ...string) retake.ObjectID {
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

func sweep(t *testing.T, h Harness) {
	check := kept(t, h.Store)
	check(h.Store)
	before := size(t, h.Store)
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
	if after := size(t, s); after >= before {
		t.Logf("size after two sweeps: %d, before: %d; this store frees later", after, before)
	}
}

func size(t *testing.T, s store.Store) int64 {
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
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	report, err := s.Sweep(ctx, store.SweepOptions{})
	if err != nil {
		t.Fatalf("Sweep: %v", err)
	}
	return report
}

// writeAgain writes the bytes that a sweep removed: a store that remembers
// having them would lose them.
func writeAgain(t *testing.T, h Harness) {
	check := kept(t, h.Store)
	runSweep(t, h.Store)
	w := begin(t, h.Store, newWorkspace())
	first := w.seal(1, noise(11, 2<<20))
	second := w.seal(2, noise(14, 1<<20))
	w.close()
	wantLeaf(t, h.Store, first, noise(11, 2<<20))
	runSweep(t, h.Store)
	s := reopen(t, h)
	wantLeaf(t, s, first, noise(11, 2<<20))
	wantLeaf(t, s, second, noise(14, 1<<20))
	check(s)
}
