package storetest

import (
	"bytes"
	"errors"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/store"
)

// testRevise: a checkpoint that loses something keeps its number and id, the others are as
// they were, and after a sweep that wipes nothing of it can be read.
func testRevise(t *testing.T, h Harness) {
	const secret = "a secret of the line"
	w := beginWriter(t, h.Store, newWorkspace())
	for n := int64(1); n <= 40; n++ { // more than one group of records
		w.sealFile(n, []byte("text"))
	}
	root := w.writeDir("", w.writeFile("a", []byte("stays")), w.writeFile("b", []byte(secret)))
	card := w.sealTree(41, root, map[string][]byte{"said": []byte(secret)})
	last := w.sealFile(42, []byte("the newest"))
	if !storedBytesContain(t, h.Store, secret) {
		t.Fatal("the control: the secret is not among the contents")
	}
	clean := w.writeDir("", w.writeFile("a", []byte("stays")))
	card.Checkpoint.Tree = clean.Object
	state := []retake.Entry{w.writeFile("said", []byte("masked"))}
	if err := w.Revise(t.Context(), []store.Record{{Card: card, Files: clean, State: state}}); err != nil {
		t.Fatalf("Revise: %v", err)
	}
	absent := card
	absent.Checkpoint.Number = 77
	if err := w.Revise(t.Context(), []store.Record{{Card: absent, Files: clean}}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Revise of a number that is not there: %v, want ErrNotFound", err)
	}
	w.close()
	s := reopen(t, h)
	if _, err := s.Sweep(t.Context(), store.SweepOptions{Wipe: true}); err != nil {
		t.Fatalf("Sweep: %v", err)
	}
	leaf, err := s.Record(t.Context(), w.ws.ID, 41)
	if err != nil || leaf.Card.Checkpoint.ID != card.Checkpoint.ID || leaf.Files.Object != clean.Object || len(leaf.State) != 1 {
		t.Errorf("leaf 41 is %+v, %v", leaf, err)
	}
	wantRecord(t, s, last, []byte("the newest"))
	if storedBytesContain(t, s, secret) {
		t.Error("what was revised away can be read after a sweep that wipes")
	}
}

// testErase: a history is gone with all of its bytes, and another is whole.
func testErase(t *testing.T, h Harness) {
	const secret = "all of it goes"
	one := beginWriter(t, h.Store, newWorkspace())
	one.sealFile(1, []byte(secret))
	one.close()
	two := beginWriter(t, h.Store, newWorkspace())
	card := two.sealFile(1, []byte("stays"))
	two.close()
	if err := h.Store.Erase(t.Context(), one.ws.ID); err != nil {
		t.Fatalf("Erase: %v", err)
	}
	if _, err := h.Store.Sweep(t.Context(), store.SweepOptions{Wipe: true}); err != nil {
		t.Fatalf("Sweep: %v", err)
	}
	s := reopen(t, h)
	if _, err := s.Head(t.Context(), one.ws.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the head of an erased line: %v, want ErrNotFound", err)
	}
	if storedBytesContain(t, s, secret) {
		t.Error("bytes of an erased line can be read")
	}
	wantRecord(t, s, card, []byte("stays"))
}

// storedBytesContain reports whether some stored bytes hold a text.
func storedBytesContain(t *testing.T, s store.Store, text string) bool {
	t.Helper()
	found := false
	err := s.Contents(t.Context(), func(b []byte) error {
		found = found || bytes.Contains(b, []byte(text))
		return nil
	})
	if err != nil {
		t.Fatalf("Contents: %v", err)
	}
	return found
}
