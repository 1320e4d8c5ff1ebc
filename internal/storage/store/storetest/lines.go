package storetest

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/store"
)

func testSeal(t *testing.T, h Harness) {
	w := beginWriter(t, h.Store, newWorkspace())
	if at := w.Head(); at.Latest != 0 || at.Workspace.ID != w.ws.ID {
		t.Errorf("head of a new line: %+v", at)
	}
	state := map[string][]byte{"git": []byte("ref: main"), "none": {}, "big": randomBytes(4, 1<<20)}
	first := w.sealTree(1, w.writeDir("", w.writeFile("a", []byte("one"))), state)
	second := w.sealFile(2, []byte("two"))
	if at := w.Head(); at.Latest != 2 {
		t.Errorf("head of the writer after two seals: %+v", at)
	}
	w.close()

	s := reopen(t, h)
	at := readHead(t, s, w.ws)
	if d := cmp.Diff(w.ws, at.Workspace); d != "" || at.Latest != 2 {
		t.Errorf("head: latest %d, want 2; workspace (-want +got):\n%s", at.Latest, d)
	}
	wantRecord(t, s, first, []byte("one"))
	wantRecord(t, s, second, []byte("two"))
	wantState(t, s, w.ws, 1, state)
	wantState(t, s, w.ws, 2, nil)

	again := beginWriter(t, s, w.ws)
	if at := again.Head(); at.Latest != 2 {
		t.Errorf("head of the next writer: %+v", at)
	}
	third := again.sealFile(3, []byte("three"))
	again.close()
	wantRecord(t, s, third, []byte("three"))
	wantRecord(t, s, first, []byte("one"))
}

func wantState(t *testing.T, s store.Store, ws retake.Workspace, number int64, want map[string][]byte) {
	t.Helper()
	leaf, err := s.Record(t.Context(), ws.ID, number)
	if err != nil {
		t.Fatalf("Leaf %d: %v", number, err)
	}
	if len(leaf.State) != len(want) {
		t.Errorf("checkpoint %d has the state %v, want %d names", number, leaf.State, len(want))
	}
	for _, e := range leaf.State {
		b, ok := want[e.Name]
		if !ok || e.Kind != retake.KindFile || e.Size != int64(len(b)) {
			t.Errorf("checkpoint %d has the state %+v", number, e)
			continue
		}
		wantBytes(t, s, e.Object, b)
	}
}

func testNumbers(t *testing.T, h Harness) {
	w := beginWriter(t, h.Store, newWorkspace())
	root := w.writeDir("", w.writeFile("a", []byte("a")))
	w.sealTree(4, root, nil)
	for _, n := range []int64{-1, 0, 1, 3, 4} {
		if err := w.Seal(t.Context(), store.SealRequest{Card: newCard(w.ws, n, root), Files: root}); err == nil {
			t.Errorf("Seal takes the number %d after 4", n)
		}
	}
	other := w.writeDir("")
	if err := w.Seal(t.Context(), store.SealRequest{Card: newCard(w.ws, 5, other), Files: root}); err == nil {
		t.Error("Seal takes a card that names another tree")
	}
	w.sealTree(9, root, nil)
	w.close()
	s := reopen(t, h)
	if at := readHead(t, s, w.ws); at.Latest != 9 {
		t.Errorf("latest is %d, want 9", at.Latest)
	}
	wantNumbers(t, s, w.ws, 0, 4, 9)
	if _, err := s.Record(t.Context(), w.ws.ID, 5); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Leaf of a number that was left out: %v, want ErrNotFound", err)
	}
}

// wantNumbers wants these checkpoints above after; a negative one is a tombstone.
func wantNumbers(t *testing.T, s store.Store, ws retake.Workspace, after int64, want ...int64) {
	t.Helper()
	var got []int64
	err := s.Records(t.Context(), ws.ID, after, func(l *store.Record, st *retake.Tombstone) error {
		switch {
		case (l == nil) == (st == nil):
			t.Errorf("Leaves gives %v and %v, want one of them", l, st)
		case l != nil:
			got = append(got, l.Card.Checkpoint.Number)
		default:
			got = append(got, -st.Number)
		}
		return nil
	})
	if err != nil {
		t.Fatalf("Leaves: %v", err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("Leaves above %d: %v, want %v", after, got, want)
	}
}

func testUnsealed(t *testing.T, h Harness) {
	ws := newWorkspace()
	w := beginWriter(t, h.Store, ws)
	w.writeDir("", w.writeFile("lost", []byte("lost")))
	w.close()
	w = beginWriter(t, h.Store, ws)
	first := w.sealFile(1, []byte("kept"))
	w.close()
	w = beginWriter(t, h.Store, ws)
	before := w.Head()
	w.writeDir("", w.writeFile("lost", randomBytes(5, 1<<20)))
	w.close()

	check := func(s store.Store) {
		t.Helper()
		wantNumbers(t, s, ws, 0, 1)
		wantRecord(t, s, first, []byte("kept"))
		if at := readHead(t, s, ws); at.Latest != 1 || at.Seq != before.Seq {
			t.Errorf("head after a writer that sealed nothing: %+v, want %+v", at, before)
		}
	}
	check(h.Store)
	check(reopen(t, h))
}

func testClosed(t *testing.T, h Harness) {
	w := beginWriter(t, h.Store, newWorkspace())
	card := w.sealFile(1, []byte("a"))
	root := w.writeDir("")
	w.close()
	ctx := t.Context()
	_, _, errFile := w.WriteFile(ctx, "a", strings.NewReader("a"))
	_, _, errDir := w.WriteDir(ctx, nil, 0)
	for name, err := range map[string]error{
		"WriteFile": errFile, "WriteDir": errDir,
		"Seal":     w.Seal(ctx, store.SealRequest{Card: newCard(w.ws, 2, root), Files: root}),
		"Amend":    w.Amend(ctx, w.ws, nil),
		"Annotate": w.Annotate(ctx, 1, nil),
		"Forget":   w.Forget(ctx, []retake.Tombstone{newTombstone(card)}),
	} {
		if !errors.Is(err, store.ErrSealed) {
			t.Errorf("%s after Close: %v, want ErrSealed", name, err)
		}
	}
	wantNumbers(t, h.Store, w.ws, 0, 1)
}

func testSequence(t *testing.T, h Harness) {
	w := beginWriter(t, h.Store, newWorkspace())
	last := w.Head().Seq
	rises := func(what string) {
		t.Helper()
		if at := readHead(t, h.Store, w.ws).Seq; at <= last {
			t.Errorf("the sequence number after %s is %d, want above %d", what, at, last)
		} else {
			last = at
		}
	}
	card := w.sealFile(1, []byte("a"))
	rises("Seal")
	w.sealFile(2, []byte("a"))
	rises("a Seal of the same tree")
	if err := w.Amend(t.Context(), w.ws, nil); err != nil {
		t.Fatalf("Amend: %v", err)
	}
	rises("Amend")
	if err := w.Forget(t.Context(), []retake.Tombstone{newTombstone(card)}); err != nil {
		t.Fatalf("Forget: %v", err)
	}
	rises("Forget")
	w.close()
	if at := readHead(t, reopen(t, h), w.ws).Seq; at != last {
		t.Errorf("the sequence number after Reopen is %d, want %d", at, last)
	}
}

func testRecords(t *testing.T, h Harness) {
	w := beginWriter(t, h.Store, newWorkspace())
	var stones []retake.Tombstone
	for n := int64(1); n <= 12; n++ {
		card := w.sealFile(n*n, []byte{byte(n)})
		if n%4 == 1 {
			stones = append(stones, newTombstone(card))
		}
	}
	if err := w.Forget(t.Context(), stones); err != nil {
		t.Fatalf("Forget: %v", err)
	}
	w.close()
	s := reopen(t, h)
	wantNumbers(t, s, w.ws, 0, -1, 4, 9, 16, -25, 36, 49, 64, -81, 100, 121, 144)
	wantNumbers(t, s, w.ws, 1, 4, 9, 16, -25, 36, 49, 64, -81, 100, 121, 144)
	wantNumbers(t, s, w.ws, 24, -25, 36, 49, 64, -81, 100, 121, 144)
	wantNumbers(t, s, w.ws, 143, 144)
	wantNumbers(t, s, w.ws, 144)

	stop, calls := errors.New("stop"), 0
	err := s.Records(t.Context(), w.ws.ID, 0, func(*store.Record, *retake.Tombstone) error {
		calls++
		return stop
	})
	if !errors.Is(err, stop) || calls != 1 {
		t.Errorf("Leaves after an error: %v after %d calls, want it back after one", err, calls)
	}
}

func testLong(t *testing.T, h Harness) {
	const n = 200
	w := beginWriter(t, h.Store, newWorkspace())
	file, want := w.writeFile("a", []byte("a")), make([]int64, n)
	for i := range want {
		want[i] = int64(i + 1)
		file.ModTime++ // another tree each time, and few bytes
		w.sealTree(want[i], w.writeDir("", file), nil)
	}
	w.close()
	s := reopen(t, h)
	wantNumbers(t, s, w.ws, 0, want...)
	wantNumbers(t, s, w.ws, 150, want[150:]...)
	if at := readHead(t, s, w.ws); at.Latest != n {
		t.Errorf("latest is %d, want %d", at.Latest, n)
	}
	for _, number := range []int64{1, 100, n} {
		leaf, err := s.Record(t.Context(), w.ws.ID, number)
		if err != nil {
			t.Fatalf("Leaf %d: %v", number, err)
		}
		file.ModTime = epoch.UnixNano() + number
		wantDir(t, s, leaf.Files.Object, []retake.Entry{file})
	}
}

func testAmend(t *testing.T, h Harness) {
	w := beginWriter(t, h.Store, newWorkspace())
	one, two := w.sealFile(1, []byte("1")), w.sealFile(2, []byte("2"))
	pins := []retake.Pin{
		{Name: "zeta", Checkpoint: one.Checkpoint.ID, Number: 1, Time: epoch},
		{Name: "before \"it\"", Checkpoint: two.Checkpoint.ID, Number: 2, Time: epoch},
	}
	ended, ws := epoch, w.ws
	ws.Name, ws.Root, ws.Ino, ws.Ended = "other", "/moved", 1<<64-1, &ended
	if err := w.Amend(t.Context(), ws, pins); err != nil {
		t.Fatalf("Amend: %v", err)
	}
	w.close()
	want := store.Head{Workspace: ws, Latest: 2, Pins: []retake.Pin{pins[1], pins[0]}}
	check := func(s store.Store) {
		t.Helper()
		if d := cmp.Diff(want, readHead(t, s, ws), cmpopts.IgnoreFields(store.Head{}, "Seq")); d != "" {
			t.Errorf("head (-want +got):\n%s", d)
		}
	}
	check(h.Store)
	s := reopen(t, h)
	check(s)

	w = beginWriter(t, s, ws)
	w.sealFile(3, bytes.Repeat([]byte("3"), 3))
	want.Latest = 3 // and a seal keeps the rest
	check(s)
	if err := w.Amend(t.Context(), ws, nil); err != nil {
		t.Fatalf("Amend: %v", err)
	}
	w.close()
	want.Pins = nil
	if d := cmp.Diff(want, readHead(t, s, ws), cmpopts.IgnoreFields(store.Head{}, "Seq"), cmpopts.EquateEmpty()); d != "" {
		t.Errorf("head without pins (-want +got):\n%s", d)
	}
	wantNumbers(t, s, ws, 0, 1, 2, 3)
}
