package server

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// Anchors are kept in a file in any order, and a line that a crash has cut is left out.
func TestAnchorsInAFile(t *testing.T) {
	t.Parallel()
	s := &Server{opts: Options{DataDir: t.TempDir()}}
	if got, err := s.keptAnchors(t.Context(), "a"); err != nil || len(got) != 0 {
		t.Fatalf("%v %v", got, err)
	}
	for _, seq := range []int64{3, 9, 5} {
		if err := s.keepAnchor(t.Context(), "a", serverdb.Anchor{Seq: seq, Hash: "h"}); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.OpenFile(filepath.Join(s.opts.DataDir, "anchors", "a"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"Seq":99,"Ha`); err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	if got, err := s.keptAnchors(t.Context(), "a"); err != nil || len(got) != 1 || got[0].Seq != 9 || got[0].Hash != "h" {
		t.Errorf("%v %v", got, err)
	}
	if got, err := s.keptAnchors(t.Context(), "b"); err != nil || len(got) != 0 {
		t.Errorf("of another namespace: %v %v", got, err)
	}
}
