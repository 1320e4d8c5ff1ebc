package storetest

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/store"
)

// unknown asks a store for what another one holds.
func unknown(t *testing.T, s, other store.Store) {
	w := beginWriter(t, other, newWorkspace())
	file, dir := w.writeFile("a", []byte("only in the other")), w.writeDir("", w.writeFile("b", []byte("and this")))
	w.sealTree(1, dir, nil)
	w.close()
	for _, id := range []retake.ObjectID{file.Object, "", "nonsense", "../../etc/passwd", "\xff\n"} {
		if _, err := readAll(t.Context(), s, id); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("File %q: %v, want ErrNotFound", id, err)
		}
	}
	for _, id := range []retake.ObjectID{dir.Object, "", "nonsense"} {
		if _, err := s.Dir(t.Context(), id); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Dir %q: %v, want ErrNotFound", id, err)
		}
	}
	if _, err := s.Head(t.Context(), w.ws.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Head of an unknown line: %v, want ErrNotFound", err)
	}
	if _, err := s.Record(t.Context(), w.ws.ID, 1); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Leaf of an unknown line: %v, want ErrNotFound", err)
	}
	if heads, err := s.Heads(t.Context()); err != nil || len(heads) != 0 {
		t.Errorf("Heads of an empty store: %v, %v", heads, err)
	}
	for _, n := range []int64{-1, 0, 2} {
		if _, err := other.Record(t.Context(), w.ws.ID, n); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Leaf %d: %v, want ErrNotFound", n, err)
		}
	}
}

func testScrub(t *testing.T, h Harness) {
	fillAndForget(t, h.Store)
	s := reopen(t, h)
	var last retake.ScrubReport
	for _, share := range []float64{0, 1} {
		calls := 0
		report, err := s.Scrub(t.Context(), retake.ScrubQuery{Share: share, Progress: func(retake.Progress) { calls++ }})
		if err != nil || len(report.Failed) != 0 {
			t.Errorf("Scrub of a sound store: %+v, %v", report, err)
		}
		if report.Checkpoints != 3 || report.Objects <= 0 || calls == 0 {
			t.Errorf("Scrub with share %v answers %+v after %d calls of Progress, want 3 checkpoints", share, report, calls)
		}
		if report.Bytes < last.Bytes {
			t.Errorf("Scrub reads %d bytes with share %v, and %d with less", report.Bytes, share, last.Bytes)
		}
		last = report
	}
	if _, err := s.Scrub(t.Context(), retake.ScrubQuery{Share: 0.5}); err != nil {
		t.Errorf("Scrub without Progress: %v", err)
	}
}

func testDamagedFile(t *testing.T, h Harness) {
	if h.Damage == nil {
		t.Skip("this store cannot be damaged from outside")
	}
	content := randomBytes(30, 1<<20)
	w := beginWriter(t, h.Store, newWorkspace())
	file := w.writeFile("a", content)
	w.sealTree(1, w.writeDir("", file), nil)
	w.close()
	h.Damage(t, file.Object)
	s := reopen(t, h)
	got, err := readAll(t.Context(), s, file.Object)
	switch {
	case err != nil && !errors.Is(err, store.ErrDamaged):
		t.Errorf("File of damaged bytes: %v, want ErrDamaged", err)
	case err == nil && !bytes.Equal(got, content):
		t.Error("File gives other bytes than were written, and no error")
	}
	wantFailed(t, s)
}

func testDamagedDir(t *testing.T, h Harness) {
	if h.Damage == nil {
		t.Skip("this store cannot be damaged from outside")
	}
	w := beginWriter(t, h.Store, newWorkspace())
	file := w.writeFile("a", []byte("a"))
	root := w.writeDir("", file)
	w.sealTree(1, root, nil)
	w.close()
	h.Damage(t, root.Object)
	s := reopen(t, h)
	got, err := s.Dir(t.Context(), root.Object)
	switch {
	case err != nil && !errors.Is(err, store.ErrDamaged):
		t.Errorf("Dir of damaged bytes: %v, want ErrDamaged", err)
	case err == nil && !cmp.Equal(got, []retake.Entry{file}, cmpopts.EquateEmpty()):
		t.Errorf("Dir gives other entries than were written, and no error: %+v", got)
	}
	wantFailed(t, s)
}

func wantFailed(t *testing.T, s store.Store) {
	t.Helper()
	report, err := s.Scrub(t.Context(), retake.ScrubQuery{Share: 1})
	if len(report.Failed) == 0 && !errors.Is(err, store.ErrDamaged) {
		t.Errorf("Scrub does not find the damage: %+v, %v", report, err)
	}
}
