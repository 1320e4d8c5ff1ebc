package storetest

import (
	"errors"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/store"
)

// testAnnotate: what the agent held may come later than the files, and changes nothing
// else of the checkpoint. It is reached by that checkpoint alone.
func testAnnotate(t *testing.T, h Harness) {
	w := beginWriter(t, h.Store, newWorkspace())
	root := w.writeDir("", w.writeFile("a", []byte("one")))
	first := w.sealTree(1, root, map[string][]byte{"tasks.json": []byte("[]"), "calls": []byte("old")})
	second := w.sealFile(2, []byte("two"))
	before := w.Head().Seq
	part := w.writeFile("000001", []byte("said"))
	talk := w.writeDir("conversation", part)
	if err := w.Annotate(t.Context(), 1, []retake.Entry{talk, w.writeFile("calls", []byte("new"))}); err != nil {
		t.Fatalf("Annotate: %v", err)
	}
	if at := w.Head(); at.Seq <= before || at.Latest != 2 {
		t.Errorf("head after Annotate: %+v, want a sequence number above %d", at, before)
	}
	if err := w.Annotate(t.Context(), 7, nil); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Annotate of a number that is not there: %v, want ErrNotFound", err)
	}
	third := w.sealFile(3, []byte("three")) // the history goes on after both
	fourth := newCard(w.ws, 4, root)
	if err := w.Seal(t.Context(), store.SealRequest{Card: fourth, Files: root, State: map[string][]byte{"z": []byte("z")}, StoredState: []retake.Entry{talk}}); err != nil {
		t.Fatalf("Seal with what is stored already: %v", err)
	}
	w.close()

	s := reopen(t, h)
	if _, err := s.Sweep(t.Context(), store.SweepOptions{}); err != nil {
		t.Fatalf("Sweep: %v", err)
	}
	for _, c := range []struct {
		card retake.Card
		text string
	}{{first, "one"}, {second, "two"}, {third, "three"}} {
		wantRecord(t, s, c.card, []byte(c.text))
	}
	got := stateOf(t, s, w.ws, 1)
	if len(got) != 3 || got["conversation"].Kind != retake.KindDir {
		t.Fatalf("state is %+v, want tasks.json, calls and the directory conversation", got)
	}
	wantBytes(t, s, got["tasks.json"].Object, []byte("[]"))
	wantBytes(t, s, got["calls"].Object, []byte("new"))
	wantDir(t, s, got["conversation"].Object, []retake.Entry{part})
	wantBytes(t, s, part.Object, []byte("said"))

	if got := stateOf(t, s, w.ws, 4); len(got) != 2 || got["conversation"].Object != talk.Object || got["z"].Size != 1 {
		t.Errorf("state is %+v, want conversation and z", got)
	}
}

func stateOf(t *testing.T, s store.Store, ws retake.Workspace, number int64) map[string]retake.Entry {
	t.Helper()
	leaf, err := s.Record(t.Context(), ws.ID, number)
	if err != nil {
		t.Fatalf("Leaf %d: %v", number, err)
	}
	got := map[string]retake.Entry{}
	for _, e := range leaf.State {
		got[e.Name] = e
	}
	return got
}
