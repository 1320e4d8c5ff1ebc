package kopia_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
)

// Every index, each gone before it had a copy: the next start finds packs that no index names, and
// reads them.
func TestALostIndexIsBuiltAgain(t *testing.T) {
	t.Parallel()
	f := fillStore(t) // without a second copy
	at, tried, built := filepath.Join(t.TempDir(), "store"), 0, 0
	for i, name := range f.blobs(t, "xn") {
		if testing.Short() && i%4 > 0 {
			continue
		}
		c := f.copyTo(t, at)
		must(t, os.Remove(filepath.Join(c.dir, name)))
		tried++
		whole, repaired, err := c.count(t)
		if err != nil || whole != filledWorkspaces*filledCheckpoints {
			t.Fatalf("%s: %d checkpoints, repaired %q, %v", name, whole, repaired, err)
		}
		built += len(repaired)
		if whole, repaired, err = c.count(t); err != nil || whole != filledWorkspaces*filledCheckpoints || len(repaired) > 0 {
			t.Fatalf("%s, opened again: %d checkpoints, repaired %q, %v", name, whole, repaired, err)
		}
	}
	if tried < 4 || built < tried*3/4 { // what an index of packed heads names, others name too
		t.Errorf("%d indexes were tried, %d built again", tried, built)
	}
}

// A power cut can leave some packs of a save that never finished. They stay unnamed: the head among
// them leads to files that were not written.
func TestAnUnfinishedSaveIsNotFinished(t *testing.T) {
	t.Parallel()
	f := fillStore(t)
	_, session, _ := strings.Cut(filepath.Base(f.newestBlob(t, "q")), "-")
	must(t, os.Remove(filepath.Join(f.dir, f.newestBlob(t, "xn"))))
	for _, name := range f.blobs(t, "p") {
		if strings.HasSuffix(name, session) {
			must(t, os.Remove(filepath.Join(f.dir, name)))
		}
	}
	s, err := kopia.Open(t.Context(), f.opts)
	must(t, err)
	defer s.Close() // only read
	heads, err := s.Heads(t.Context())
	must(t, err)
	var sum int64
	for _, h := range heads {
		sum += h.Latest
		if _, err := readText(t.Context(), s, h.Workspace.ID, h.Latest); err != nil {
			t.Errorf("checkpoint %d is listed, and cannot be read: %v", h.Latest, err)
		}
	}
	if sum != filledWorkspaces*filledCheckpoints-1 {
		t.Errorf("%d checkpoints are listed", sum)
	}
}

// Every pack of metadata, each gone before it had a copy: a repair brings back all checkpoints but
// one, and those that it lists can be found. Only the first pack of a history has its name and pins;
// without it the history stays unreadable, and the others are not affected.
func TestARepairGoesOnFromTheNewestReadableHead(t *testing.T) {
	t.Parallel()
	f := fillStore(t)
	at, tried, unread := filepath.Join(t.TempDir(), "store"), 0, 0
	for i, name := range f.blobs(t, "q") {
		if testing.Short() && i%4 > 0 && name != f.newestBlob(t, "q") {
			continue
		}
		c := f.copyTo(t, at)
		must(t, os.Remove(filepath.Join(c.dir, name)))
		tried++
		if !c.repairAndCheck(t, name) {
			unread++
		}
	}
	if tried < 4 || unread > filledWorkspaces {
		t.Errorf("%d packs were tried, %d hide a history", tried, unread)
	}
}

// repairAndCheck repairs the store, and reports whether all histories can be read.
func (f *filledStore) repairAndCheck(t *testing.T, name string) bool {
	t.Helper()
	s, err := kopia.Open(t.Context(), f.opts)
	must(t, err)
	defer s.Close() // read at the end
	if _, err := s.Heads(t.Context()); err != nil && !errors.Is(err, store.ErrDamaged) {
		t.Fatalf("%s: %v", name, err)
	}
	rep, err := s.Scrub(t.Context(), retake.ScrubQuery{Share: 1, Repair: true})
	must(t, err)
	heads, err := s.Heads(t.Context())
	if errors.Is(err, store.ErrDamaged) && len(heads) == filledWorkspaces-1 {
		return false
	}
	must(t, err)
	var listed int64
	for _, h := range heads {
		listed += h.Latest
		if _, err := s.Record(t.Context(), h.Workspace.ID, h.Latest); err != nil {
			t.Errorf("%s: the newest checkpoint is not found: %v", name, err)
		}
	}
	whole := 0
	for ws, texts := range f.files {
		for n, want := range texts {
			switch got, err := readText(t.Context(), s, ws, int64(n+1)); {
			case err == nil && got != want:
				t.Fatalf("%s: checkpoint %d holds %q instead of %q", name, n+1, got, want)
			case err == nil:
				whole++
			}
		}
	}
	t.Logf("%s: %d listed, %d whole, %d damaged", name, listed, whole, len(rep.Damaged))
	if listed < filledWorkspaces*filledCheckpoints-1 || whole < filledWorkspaces*filledCheckpoints-1 {
		t.Errorf("%s: %d checkpoints are listed, %d whole", name, listed, whole)
	}
	if _, err := s.Sweep(t.Context(), store.SweepOptions{}); err != nil && whole == int(listed) {
		t.Errorf("%s: %v", name, err)
	}
	return true
}

// A repair takes damaged metadata from its copy before it gives anything up.
func TestARepairUsesTheCopyFirst(t *testing.T) {
	t.Parallel()
	f := fillStore(t)
	f.mirror(t)
	newest := f.newestBlob(t, "q")
	for how, change := range map[string]func([]byte) []byte{"flipped": damages["flipped"], "zeroed": damages["zeroed"]} {
		c := f.copyTo(t, filepath.Join(t.TempDir(), "store"))
		s, err := kopia.Open(t.Context(), c.opts)
		must(t, err)
		c.damage(t, newest, change) // under the open store, and as long as before
		if rep, err := s.Scrub(t.Context(), retake.ScrubQuery{Share: 1, Repair: true}); err != nil || len(rep.Failed) > 0 {
			t.Errorf("%s: %+v, %v", how, rep, err)
		}
		if n := c.readAllTexts(t, s); n != filledWorkspaces*filledCheckpoints {
			t.Errorf("%s: %d checkpoints", how, n)
		}
		must(t, s.Close())
	}
}
