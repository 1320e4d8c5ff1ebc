package kopia_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
)

// filledStore is a closed store with an oracle of every byte in it.
type filledStore struct {
	dir   string
	opts  kopia.Options
	files map[retake.WorkspaceID][]string // by number, from 1
}

const (
	filledWorkspaces  = 3
	filledCheckpoints = 8
)

func fillStore(t *testing.T) *filledStore {
	t.Helper()
	f := &filledStore{dir: t.TempDir(), files: map[retake.WorkspaceID][]string{}}
	f.opts = kopia.Options{Dir: f.dir, FS: fsx.OS(), Locks: fsx.NewLocks(t.TempDir()), Clock: clock.Wall, Exclusive: true, Derivation: derivation}
	s, err := kopia.Create(t.Context(), f.opts)
	if err != nil {
		t.Fatal(err)
	}
	for range filledWorkspaces {
		ws := retake.Workspace{ID: retake.WorkspaceID(retake.WorkspacePrefix + uuid.NewString()), Name: "w", Root: "/w"}
		for n := range filledCheckpoints {
			text := fmt.Sprintf("%s says %d", ws.ID, n+1)
			if err := sealText(t.Context(), s, ws, text); err != nil {
				t.Fatal(err)
			}
			f.files[ws.ID] = append(f.files[ws.ID], text)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return f
}

// sealText seals a tree with one file.
func sealText(ctx context.Context, s store.Store, ws retake.Workspace, text string) error {
	w, err := s.Begin(ctx, ws)
	if err != nil {
		return err
	}
	defer w.Close() // sealed, or reported
	file, size, err := w.WriteFile(ctx, "a", strings.NewReader(text))
	if err != nil {
		return err
	}
	id, sum, err := w.WriteDir(ctx, []retake.Entry{{Name: "a", Kind: retake.KindFile, Mode: 0o644, Size: size, Object: file}}, 1)
	if err != nil {
		return err
	}
	cp := retake.Checkpoint{ID: retake.CheckpointID(retake.CheckpointPrefix + uuid.NewString()), Workspace: ws.ID, Number: w.Head().Latest + 1, Tree: id}
	return w.Seal(ctx, store.SealRequest{Card: retake.Card{V: retake.CardVersion, Checkpoint: cp}, Files: retake.Entry{Kind: retake.KindDir, Object: id, Sum: sum}})
}

// copyTo copies the store, so that each damage has one of its own.
func (f *filledStore) copyTo(t *testing.T, dir string) *filledStore {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, os.DirFS(f.dir)); err != nil {
		t.Fatal(err)
	}
	out := *f
	out.dir, out.opts.Dir = dir, dir
	return &out
}

// count opens the store and returns how many checkpoints read exactly, and what was repaired.
// A byte that is wrong ends the test.
func (f *filledStore) count(t *testing.T) (whole int, repaired []string, err error) {
	t.Helper()
	o := f.opts
	o.OnRepair = func(text string) { repaired = append(repaired, text) }
	s, err := kopia.Open(t.Context(), o)
	if err != nil {
		return 0, repaired, err
	}
	defer s.Close() // only read
	for ws, texts := range f.files {
		for n, want := range texts {
			got, err := readText(t.Context(), s, ws, int64(n+1))
			if err != nil {
				continue
			}
			if got != want {
				t.Fatalf("checkpoint %d holds %q instead of %q", n+1, got, want)
			}
			whole++
		}
	}
	return whole, repaired, nil
}

func readText(ctx context.Context, s store.Store, ws retake.WorkspaceID, number int64) (string, error) {
	rec, err := s.Record(ctx, ws, number)
	if err != nil {
		return "", err
	}
	entries, err := s.Dir(ctx, rec.Files.Object)
	if err != nil {
		return "", err
	}
	r, err := s.File(ctx, entries[0].Object)
	if err != nil {
		return "", err
	}
	defer r.Close() // only read
	b, err := io.ReadAll(r)
	return string(b), err
}

// damages are what happens to files.
var damages = map[string]func(b []byte) []byte{
	"flipped": func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
	"cut":     func(b []byte) []byte { return b[:len(b)/2] },
	"empty":   func([]byte) []byte { return nil },
	"zeroed":  func(b []byte) []byte { return make([]byte, len(b)) },
}

func (f *filledStore) damage(t *testing.T, name string, how func([]byte) []byte) {
	t.Helper()
	path := filepath.Join(f.dir, name)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, how(b), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (f *filledStore) blobs(t *testing.T, prefixes ...string) (out []string) {
	t.Helper()
	all, err := os.ReadDir(filepath.Join(f.dir, "blobs"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		for _, p := range prefixes {
			if strings.HasPrefix(e.Name(), p) {
				out = append(out, filepath.Join("blobs", e.Name()))
			}
		}
	}
	return out
}

// Every index, each damaged in every way: all checkpoints read, the damage is named, and the
// damaged bytes are kept.
func TestADamagedIndexIsBuiltAgain(t *testing.T) {
	t.Parallel()
	f := fillStore(t)
	at, tried := filepath.Join(t.TempDir(), "store"), 0
	for i, name := range f.blobs(t, "xn", "xs") {
		for how, change := range damages {
			if testing.Short() && (i+len(how))%3 > 0 {
				continue
			}
			c := f.copyTo(t, at)
			c.damage(t, name, change)
			tried++
			whole, repaired, err := c.count(t)
			if err != nil || whole != filledWorkspaces*filledCheckpoints || len(repaired) == 0 {
				t.Fatalf("%s %s: %d checkpoints, repaired %q, %v", name, how, whole, repaired, err)
			}
			if kept, err := os.ReadDir(filepath.Join(c.dir, "damaged")); err != nil || len(kept) == 0 {
				t.Fatalf("%s %s: the damaged index is gone: %v", name, how, err)
			}
			if _, again, err := c.count(t); err != nil || len(again) > 0 {
				t.Fatalf("%s %s: opened again: %q, %v", name, how, again, err)
			}
		}
	}
	t.Logf("%d damages, all repaired", tried)
}

// What an interrupted save left is not brought back: its marker is still there, and nobody knows
// whether all of it was written.
func TestAnInterruptedSaveStaysAway(t *testing.T) {
	t.Parallel()
	f := fillStore(t)
	newest := f.newestBlob(t, "q")
	_, session, ok := strings.Cut(strings.TrimSuffix(filepath.Base(newest), ".f"), "-")
	if !ok {
		t.Fatalf("the pack %s has no session", newest)
	}
	for _, marked := range []bool{false, true} {
		c := f.copyTo(t, filepath.Join(t.TempDir(), "store"))
		c.damage(t, f.newestBlob(t, "xn"), damages["flipped"])
		want := filledWorkspaces * filledCheckpoints
		if marked {
			must(t, os.WriteFile(filepath.Join(c.dir, "blobs", "s0123456789abcdef-"+session+".f"), []byte("x"), 0o600))
			want--
		}
		if whole, repaired, err := c.count(t); err != nil || whole != want {
			t.Errorf("marked %v: %d checkpoints instead of %d, %q, %v", marked, whole, want, repaired, err)
		}
	}
}

// If a pack does not tell what it holds either, nothing is set aside and the store does not open:
// a sweep would take that pack for garbage.
func TestADamagedIndexStaysWhileAPackIsDamagedToo(t *testing.T) {
	t.Parallel()
	f := fillStore(t)
	index, pack := f.newestBlob(t, "xn"), f.newestBlob(t, "q")
	f.damage(t, index, damages["flipped"])
	f.damage(t, pack, damages["cut"])
	if _, _, err := f.count(t); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("the store opens: %v", err)
	}
	if _, err := os.Stat(filepath.Join(f.dir, index)); err != nil {
		t.Errorf("the index was set aside: %v", err)
	}
}

// A directory for temporary files that is gone says nothing about the store.
func TestNoPlaceForTemporaryFilesIsNoDamage(t *testing.T) {
	f := fillStore(t)
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "gone"))
	if _, repaired, err := f.count(t); err == nil || errors.Is(err, store.ErrDamaged) || len(repaired) > 0 {
		t.Errorf("it opens with %q, %v", repaired, err)
	}
}

func (f *filledStore) newestBlob(t *testing.T, prefix string) (name string) {
	t.Helper()
	var newest time.Time
	for _, b := range f.blobs(t, prefix) {
		i, err := os.Stat(filepath.Join(f.dir, b))
		must(t, err)
		if i.ModTime().After(newest) {
			name, newest = b, i.ModTime()
		}
	}
	return name
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The keys of a store, each damaged in every way and gone: the copy brings them back.
func TestDamagedKeysComeFromTheirCopy(t *testing.T) {
	t.Parallel()
	f := fillStore(t)
	at := filepath.Join(t.TempDir(), "store")
	keys := append(f.blobs(t, "kopia."), "password")
	for _, name := range keys {
		for how, change := range damages {
			c := f.copyTo(t, at)
			c.damage(t, name, change)
			if whole, repaired, err := c.count(t); err != nil || whole != filledWorkspaces*filledCheckpoints {
				t.Errorf("%s %s: %d checkpoints, repaired %q, %v", name, how, whole, repaired, err)
			}
		}
		c := f.copyTo(t, at)
		if err := os.Remove(filepath.Join(c.dir, name)); err != nil {
			t.Fatal(err)
		}
		if whole, repaired, err := c.count(t); err != nil || whole != filledWorkspaces*filledCheckpoints {
			t.Errorf("%s gone: %d checkpoints, repaired %q, %v", name, whole, repaired, err)
		}
	}
	c := f.copyTo(t, at) // a control: without the copy all is lost
	if err := os.RemoveAll(filepath.Join(c.dir, "keys")); err != nil {
		t.Fatal(err)
	}
	c.damage(t, "blobs/kopia.repository.f", damages["zeroed"])
	if whole, _, err := c.count(t); err == nil || whole > 0 {
		t.Errorf("without the copy %d checkpoints are there, %v", whole, err)
	}
}

// Copies are made for a store that has none, and a damaged copy is made again; it is never used.
func TestACopyOfTheKeysIsMadeAndChecked(t *testing.T) {
	t.Parallel()
	f := fillStore(t)
	want := map[string][]byte{}
	for _, name := range []string{"password", "kopia.repository.f", "kopia.blobcfg.f"} {
		b, err := os.ReadFile(filepath.Join(f.dir, "keys", name))
		if err != nil {
			t.Fatal(err)
		}
		want[name] = b
	}
	for name, b := range want {
		for how, change := range damages {
			f.damage(t, filepath.Join("keys", name), change)
			if whole, _, err := f.count(t); err != nil || whole != filledWorkspaces*filledCheckpoints {
				t.Fatalf("copy of %s %s: %d checkpoints, %v", name, how, whole, err)
			}
			if got, err := os.ReadFile(filepath.Join(f.dir, "keys", name)); err != nil || !bytes.Equal(got, b) {
				t.Fatalf("copy of %s %s was not made again: %v", name, how, err)
			}
		}
	}
}

// mirror gives the store the second copy of its metadata.
func (f *filledStore) mirror(t *testing.T) {
	t.Helper()
	s, err := kopia.Open(t.Context(), f.opts)
	must(t, err)
	must(t, s.Maintain(t.Context()))
	must(t, s.Close())
}

// Every file that describes others, each damaged in every way, gone, and exchanged with another:
// all checkpoints read.
func TestDamagedMetadataComesFromItsCopy(t *testing.T) {
	t.Parallel()
	f := fillStore(t)
	bare := f.copyTo(t, filepath.Join(t.TempDir(), "bare"))
	f.mirror(t)
	all := f.blobs(t, "q", "x", "kopia.")
	const whole = filledWorkspaces * filledCheckpoints
	at, tried, control := filepath.Join(t.TempDir(), "store"), 0, 0
	for i, name := range all {
		for how, change := range moreDamages(all[(i+1)%len(all)]) {
			if testing.Short() && (i+len(how))%5 > 0 {
				continue
			}
			tried++
			c := f.copyTo(t, at)
			change(t, c, name)
			if n, repaired, err := c.count(t); err != nil || n != whole {
				t.Errorf("%s %s: %d of %d checkpoints, repaired %q, %v", name, how, n, whole, repaired, err)
			}
			if _, again, err := c.count(t); err != nil || len(again) > 0 {
				t.Errorf("%s %s: opened again: %q, %v", name, how, again, err)
			}
			c = bare.copyTo(t, at)
			change(t, c, name)
			if n, _, _ := c.count(t); n != whole {
				control++
			}
		}
	}
	if control == 0 {
		t.Error("without copies nothing is lost either: the test shows nothing")
	}
	t.Logf("%d damages, without copies %d of them lost checkpoints", tried, control)
}

// moreDamages are all that happens to a file of a store. Other is the file it is exchanged with.
func moreDamages(other string) map[string]func(*testing.T, *filledStore, string) {
	out := map[string]func(*testing.T, *filledStore, string){
		"gone": func(t *testing.T, f *filledStore, name string) { must(t, os.Remove(filepath.Join(f.dir, name))) },
		"exchanged": func(t *testing.T, f *filledStore, name string) {
			a, b := filepath.Join(f.dir, name), filepath.Join(f.dir, other)
			must(t, os.Rename(a, a+".x"))
			must(t, os.Rename(b, a))
			must(t, os.Rename(a+".x", b))
		},
	}
	for how, change := range damages {
		out[how] = func(t *testing.T, f *filledStore, name string) { f.damage(t, name, change) }
	}
	return out
}

// Metadata that is damaged while the store is open is put back by the read or the save that meets
// it.
func TestAnOpenStorePutsMetadataBack(t *testing.T) {
	t.Parallel()
	f := fillStore(t)
	for _, change := range []func([]byte) []byte{damages["zeroed"], damages["cut"]} {
		f.mirror(t)
		s, err := kopia.Open(t.Context(), f.opts)
		must(t, err)
		for _, name := range f.blobs(t, "q") {
			f.damage(t, name, change)
		}
		for ws := range f.files {
			must(t, sealText(t.Context(), s, retake.Workspace{ID: ws, Name: "w", Root: "/w"}, "more"))
		}
		must(t, s.Close())
		if n, _, err := f.count(t); err != nil || n != filledWorkspaces*filledCheckpoints {
			t.Errorf("%d checkpoints, %v", n, err)
		}
	}
}

// A purge leaves no copy of what it wiped.
func TestASweepRemovesCopies(t *testing.T) {
	t.Parallel()
	f := fillStore(t)
	f.mirror(t)
	s, err := kopia.Open(t.Context(), f.opts)
	must(t, err)
	for ws := range f.files {
		must(t, s.Erase(t.Context(), ws))
	}
	_, err = s.Sweep(t.Context(), store.SweepOptions{Wipe: true})
	must(t, err)
	must(t, s.Close())
	there := map[string]bool{}
	for _, name := range f.blobs(t, "q", "x") {
		there[filepath.Base(name)] = true
	}
	copies, err := os.ReadDir(filepath.Join(f.dir, "copies"))
	must(t, err)
	for _, e := range copies {
		if e.Name() != "intact" && !there[e.Name()] {
			t.Errorf("the copy of %s is left", e.Name())
		}
	}
}
