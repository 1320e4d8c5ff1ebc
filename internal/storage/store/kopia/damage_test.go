package kopia_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

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

// A damaged piece of a large file does not take the others with it, however often the store is
// cleaned up.
func TestALargeFileKeepsItsOtherPieces(t *testing.T) {
	t.Parallel()
	f := fillStore(t)
	s, err := kopia.Open(t.Context(), f.opts)
	must(t, err)
	defer s.Close() // read at the end
	large := make([]byte, 30<<20)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range large {
		large[i] = byte(r.Uint32())
	}
	ws := retake.Workspace{ID: retake.WorkspaceID(retake.WorkspacePrefix + uuid.NewString()), Name: "large", Root: "/large"}
	must(t, sealText(t.Context(), s, ws, string(large)))
	rec, err := s.Record(t.Context(), ws.ID, 1)
	must(t, err)
	entries, err := s.Dir(t.Context(), rec.Files.Object)
	must(t, err)
	name, offset, err := s.Place(t.Context(), entries[0].Object)
	must(t, err)
	f.damage(t, filepath.Join("blobs", name), func(b []byte) []byte { b[offset] ^= 1; return b })
	if rep, err := s.Scrub(t.Context(), retake.ScrubQuery{Share: 1}); err != nil || len(rep.Damaged) != 1 {
		t.Fatalf("damaged: %+v, %v", rep.Damaged, err)
	}
	for range 3 {
		must(t, s.Maintain(t.Context()))
		_, err := s.Sweep(t.Context(), store.SweepOptions{})
		must(t, err)
	}
	lost := 0
	const step = 64 << 10
	for at := 0; at < len(large); at += step {
		file, err := s.File(t.Context(), entries[0].Object)
		must(t, err)
		part := make([]byte, step)
		if _, err = file.Seek(int64(at), io.SeekStart); err == nil {
			_, err = io.ReadFull(file, part)
		}
		if err != nil && !errors.Is(err, store.ErrDamaged) {
			t.Fatalf("at %d: %v", at, err)
		}
		if err != nil {
			lost += step
		} else if !bytes.Equal(part, large[at:at+step]) {
			t.Fatalf("wrong bytes at %d", at)
		}
		must(t, file.Close())
	}
	if lost == 0 || lost > len(large)/2 {
		t.Errorf("%d of %d bytes are lost", lost, len(large))
	}
}

// A pack that was away for a while is used again when it is back.
func TestAPackThatComesBackIsUsedAgain(t *testing.T) {
	t.Parallel()
	f := fillStore(t)
	packs := f.blobs(t, "p")
	s, err := kopia.Open(t.Context(), f.opts)
	must(t, err)
	for _, name := range packs[:3] {
		must(t, os.Rename(filepath.Join(f.dir, name), filepath.Join(f.dir, filepath.Base(name))))
	}
	whole := f.readAllTexts(t, s)
	must(t, s.Maintain(t.Context()))
	if d := s.Damage(); d.Parts == 0 || whole == filledWorkspaces*filledCheckpoints {
		t.Fatalf("%d parts are damaged, %d checkpoints whole", d.Parts, whole)
	}
	for _, name := range packs[:3] {
		must(t, os.Rename(filepath.Join(f.dir, filepath.Base(name)), filepath.Join(f.dir, name)))
	}
	_, err = s.Sweep(t.Context(), store.SweepOptions{})
	must(t, err)
	must(t, s.Maintain(t.Context()))
	if n := f.readAllTexts(t, s); n != filledWorkspaces*filledCheckpoints || s.Damage().Parts > 0 {
		t.Errorf("%d checkpoints are whole, %d parts damaged", n, s.Damage().Parts)
	}
	must(t, s.Close())
}

// Heads are never dropped as damaged: a history would go on from an older one, and the newest
// checkpoints would be swept.
func TestAHeadIsNeverDropped(t *testing.T) {
	t.Parallel()
	f := fillStore(t) // without a second copy
	s, err := kopia.Open(t.Context(), f.opts)
	must(t, err)
	var trees []retake.ObjectID
	for ws, texts := range f.files {
		rec, err := s.Record(t.Context(), ws, int64(len(texts)))
		must(t, err)
		trees = append(trees, rec.Files.Object)
	}
	f.damage(t, f.newestBlob(t, "q"), damages["zeroed"])
	for _, id := range trees {
		_, _ = s.Dir(t.Context(), id) // one of them is damaged, and noted
	}
	_ = s.Maintain(t.Context()) // it may complain
	must(t, s.Close())
	if s, err = kopia.Open(t.Context(), f.opts); err == nil {
		for ws, texts := range f.files {
			if h, err := s.Head(t.Context(), ws); err == nil && h.Latest != int64(len(texts)) {
				t.Errorf("%s went back to checkpoint %d of %d", ws, h.Latest, len(texts))
			}
		}
		must(t, s.Close())
	}
}

// An index that goes away under an open store is put back.
func TestAnIndexLostUnderAnOpenStoreComesBack(t *testing.T) {
	t.Parallel()
	f := fillStore(t)
	f.mirror(t)
	s, err := kopia.Open(t.Context(), f.opts)
	must(t, err)
	if n := f.readAllTexts(t, s); n != filledWorkspaces*filledCheckpoints {
		t.Fatalf("%d checkpoints", n)
	}
	for _, name := range f.blobs(t, "xn", "xs") {
		must(t, os.Remove(filepath.Join(f.dir, name)))
	}
	must(t, s.Retire(t.Context()))
	if n := f.readAllTexts(t, s); n != filledWorkspaces*filledCheckpoints {
		t.Errorf("%d checkpoints after the indexes were lost", n)
	}
	must(t, s.Close())
}
