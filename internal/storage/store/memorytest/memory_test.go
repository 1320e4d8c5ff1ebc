package memorytest_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/memorytest"
	"github.com/retake-dev/retake/internal/storage/store/storetest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(*testing.T) storetest.Harness {
		s := memorytest.New()
		return storetest.Harness{
			Store:  s,
			Reopen: func(*testing.T) store.Store { return s },
			Damage: func(_ *testing.T, id retake.ObjectID) { s.FlipByte(id) },
		}
	})
}

var workspace = retake.Workspace{ID: "ws_1"}

func begin(t *testing.T, s *memorytest.Store) store.Writer {
	t.Helper()
	w, err := s.Begin(t.Context(), workspace)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

func TestWriteDirRefusesNames(t *testing.T) {
	t.Parallel()
	w := begin(t, memorytest.New())
	for _, names := range [][]string{{"a", "b", "a"}, {""}, {"."}, {".."}, {"a/b"}, {"a\x00"}} {
		var entries []retake.Entry
		for _, n := range names {
			entries = append(entries, retake.Entry{Name: n, Kind: retake.KindFIFO})
		}
		if _, _, err := w.WriteDir(t.Context(), entries, 0); err == nil {
			t.Errorf("WriteDir takes %q", names)
		}
	}
}

func TestSweepRemovesWhatNobodyReaches(t *testing.T) {
	t.Parallel()
	s := memorytest.New()
	w := begin(t, s)
	var gone retake.ObjectID
	for n, text := range []string{"first", "second"} {
		id, _, err := w.WriteFile(t.Context(), "a", strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			gone = id
		}
		dir, _, err := w.WriteDir(t.Context(), []retake.Entry{{Name: "a", Kind: retake.KindFile, Object: id}}, 0)
		if err != nil {
			t.Fatal(err)
		}
		card := retake.Card{Checkpoint: retake.Checkpoint{Number: int64(n + 1), Tree: dir}}
		err = w.Seal(t.Context(), store.SealRequest{Card: card, Files: retake.Entry{Kind: retake.KindDir, Object: dir}})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Forget(t.Context(), []retake.Tombstone{{Number: 1}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	report, err := s.Sweep(t.Context(), store.SweepOptions{})
	if err != nil || report.After >= report.Before {
		t.Errorf("Sweep: %+v, %v", report, err)
	}
	if _, err := s.File(t.Context(), gone); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("File of forgotten bytes: %v, want ErrNotFound", err)
	}
}

func TestProve(t *testing.T) {
	t.Parallel()
	if _, _, err := memorytest.New().Prove(t.Context(), retake.Entry{}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Prove: %v, want ErrNotFound", err)
	}
}

func TestForgetUnknownChangesNothing(t *testing.T) {
	t.Parallel()
	s := memorytest.New()
	w := begin(t, s)
	if err := w.Forget(t.Context(), []retake.Tombstone{{Number: 7}}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Forget: %v, want ErrNotFound", err)
	}
	if _, err := s.Head(t.Context(), workspace.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Head of a line that keeps nothing: %v, want ErrNotFound", err)
	}
}
