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

// readAllTexts reads every checkpoint and returns how many were whole. A wrong byte ends the test.
func (f *filledStore) readAllTexts(t *testing.T, s store.Store) (whole int) {
	t.Helper()
	for ws, texts := range f.files {
		for n, want := range texts {
			switch got, err := readText(t.Context(), s, ws, int64(n+1)); {
			case err != nil && !errors.Is(err, store.ErrDamaged):
				t.Fatalf("checkpoint %d: %v", n+1, err)
			case err == nil && got != want:
				t.Fatalf("checkpoint %d holds %q instead of %q", n+1, got, want)
			case err == nil:
				whole++
			}
		}
	}
	return whole
}

// writeAgain stores all texts once more, without a checkpoint.
func (f *filledStore) writeAgain(t *testing.T, s store.Store) {
	t.Helper()
	for ws, texts := range f.files {
		w, err := s.Begin(t.Context(), retake.Workspace{ID: ws, Name: "w", Root: "/w"})
		must(t, err)
		for _, text := range texts {
			_, _, err := w.WriteFile(t.Context(), "a", strings.NewReader(text))
			must(t, err)
		}
		must(t, w.Flush(t.Context()))
		must(t, w.Close())
	}
}

// Every pack of files, each damaged in every way: reads never give a wrong byte, the damage is
// found by reading, and whoever still has the bytes makes every checkpoint whole by writing them.
func TestDamagedFilesAreWholeOnceTheyAreWrittenAgain(t *testing.T) {
	t.Parallel()
	f := fillStore(t)
	f.mirror(t)
	packs := f.blobs(t, "p")
	at, tried := filepath.Join(t.TempDir(), "store"), 0
	for i, name := range packs {
		for how, change := range moreDamages(packs[(i+1)%len(packs)]) {
			if testing.Short() && (i+len(how))%5 > 0 {
				continue
			}
			c := f.copyTo(t, at)
			change(t, c, name)
			tried++
			s, err := kopia.Open(t.Context(), c.opts)
			must(t, err)
			const all = filledWorkspaces * filledCheckpoints
			whole := c.readAllTexts(t, s)
			must(t, s.Maintain(t.Context()))
			if d := s.Damage(); (d.Parts > 0) != (whole < all) {
				t.Errorf("%s %s: %d of %d checkpoints are whole, and %d parts are damaged", name, how, whole, all, d.Parts)
			}
			if _, err := s.Sweep(t.Context(), store.SweepOptions{}); err != nil {
				t.Errorf("%s %s: clean up a damaged store: %v", name, how, err)
			}
			if n := c.readAllTexts(t, s); n != whole {
				t.Errorf("%s %s: %d checkpoints before the sweep, %d after it", name, how, whole, n)
			}
			c.writeAgain(t, s)
			if n := c.readAllTexts(t, s); n != all {
				t.Errorf("%s %s: %d of %d checkpoints are whole after the bytes were written again", name, how, n, all)
			}
			must(t, s.Maintain(t.Context()))
			if d := s.Damage(); d.Parts > 0 {
				t.Errorf("%s %s: %d parts are still called damaged", name, how, d.Parts)
			}
			must(t, s.Close())
		}
	}
	t.Logf("%d damages", tried)
}

// What is damaged is known after a restart too, and named by a scrub for each checkpoint.
func TestDamageIsNamed(t *testing.T) {
	t.Parallel()
	f := fillStore(t)
	s, err := kopia.Open(t.Context(), f.opts)
	must(t, err)
	var ws retake.WorkspaceID
	for id := range f.files {
		ws = id
		break
	}
	same := retake.Workspace{ID: ws, Name: "w", Root: "/w"}
	must(t, sealText(t.Context(), s, same, f.files[ws][0])) // checkpoint 9 is as 1
	must(t, s.Close())
	f.damage(t, f.oldestPackOf(t, ws), damages["zeroed"])
	for _, share := range []float64{1, 0} { // the second finds what the first found out
		s, err = kopia.Open(t.Context(), f.opts)
		must(t, err)
		rep, err := s.Scrub(t.Context(), retake.ScrubQuery{Share: share})
		must(t, err)
		named := map[int64]bool{}
		for _, d := range rep.Damaged {
			if d.Workspace == ws && d.Path == "a" {
				named[d.Number] = true
			}
		}
		if len(rep.Damaged) != 2 || !named[1] || !named[9] {
			t.Errorf("share %v: damaged are %+v", share, rep.Damaged)
		}
		must(t, s.Maintain(t.Context()))
		must(t, s.Close())
	}
}

// oldestPackOf returns the pack of the first checkpoint of a workspace.
func (f *filledStore) oldestPackOf(t *testing.T, ws retake.WorkspaceID) string {
	t.Helper()
	s, err := kopia.Open(t.Context(), f.opts)
	must(t, err)
	defer s.Close() // only read
	rec, err := s.Record(t.Context(), ws, 1)
	must(t, err)
	entries, err := s.Dir(t.Context(), rec.Files.Object)
	must(t, err)
	name, _, err := s.Place(t.Context(), entries[0].Object)
	must(t, err)
	return filepath.Join("blobs", name)
}

// An empty directory in the place of the blobs is not taken for damage of everything.
func TestALostDirectoryIsNoDamage(t *testing.T) {
	t.Parallel()
	f := fillStore(t)
	s, err := kopia.Open(t.Context(), f.opts)
	must(t, err)
	defer s.Close() // its directory is gone
	var trees []retake.ObjectID
	for ws := range f.files {
		rec, err := s.Record(t.Context(), ws, 1)
		must(t, err)
		trees = append(trees, rec.Files.Object)
	}
	for _, name := range f.blobs(t, "") {
		must(t, os.Remove(filepath.Join(f.dir, name)))
	}
	for _, id := range trees {
		if _, err := s.Dir(t.Context(), id); err == nil {
			t.Fatal("it reads what is gone")
		}
	}
	if err := s.Maintain(t.Context()); err == nil {
		t.Error("nobody says that the storage is gone")
	}
	if d := s.Damage(); d.Parts > 0 {
		t.Errorf("%d parts count as damaged", d.Parts)
	}
}
