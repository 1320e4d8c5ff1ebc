package mirror_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/fsx/fsxtest"
	"github.com/retake-dev/retake/internal/storage/store/mirror"
)

// bed is a store with a mirror, in memory.
type bed struct {
	t    *testing.T
	disk *fsxtest.Memory
	home fsx.Dir
	m    *mirror.Mirror
}

func newBed(t *testing.T) *bed {
	t.Helper()
	disk := fsxtest.NewMemory()
	must(t, disk.MkdirAll("/store/blobs", 0o700))
	for _, path := range []string{"/", "/store", "/store/blobs"} {
		d, err := disk.OpenRoot(path)
		must(t, err)
		must(t, d.Sync())
	}
	return openBed(t, disk)
}

func openBed(t *testing.T, disk *fsxtest.Memory) *bed {
	t.Helper()
	home, err := disk.OpenRoot("/store")
	must(t, err)
	return &bed{t, disk, home, mirror.New(home, "blobs", func(name string) bool { return strings.HasPrefix(name, "q") && !strings.Contains(name, fsx.TempMark) })}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (b *bed) blobs() fsx.Dir {
	b.t.Helper()
	d, err := b.home.OpenDir("blobs")
	must(b.t, err)
	return d
}

// add adds a file as the store does.
func (b *bed) add(name string) {
	b.t.Helper()
	must(b.t, fsx.WriteIn(b.blobs(), name, content(name))) // its directory is synced later, or never
	b.m.Added(name)
}

func content(name string) []byte { return bytes.Repeat([]byte(name), 100) }

// remove removes a file as the store does.
func (b *bed) remove(name string) {
	b.t.Helper()
	done, err := b.m.Removing(name)
	must(b.t, err)
	defer done()
	must(b.t, b.blobs().Remove(name))
}

// lose removes a file behind the back of the store.
func (b *bed) lose(name string) {
	b.t.Helper()
	must(b.t, b.blobs().Remove(name))
}

func (b *bed) update() []string {
	b.t.Helper()
	restored, err := b.m.Update(b.t.Context(), true)
	must(b.t, err)
	return restored
}

func (b *bed) restore(quick bool) []string {
	b.t.Helper()
	restored, err := b.m.Restore(b.t.Context(), "now", quick)
	must(b.t, err)
	return restored
}

// files returns the names of the files that are whole.
func (b *bed) files() map[string]bool {
	b.t.Helper()
	names, err := b.blobs().Names()
	must(b.t, err)
	out := map[string]bool{}
	for _, n := range names {
		got, err := b.disk.ReadFile("/store/blobs/" + n)
		must(b.t, err)
		if strings.HasPrefix(n, "q") && bytes.Equal(got, content(n)) {
			out[n] = true
		}
	}
	return out
}

// A lost file and a damaged one are put back, and the damaged bytes are kept.
func TestLostAndDamagedFilesArePutBack(t *testing.T) {
	t.Parallel()
	for _, quick := range []bool{true, false} {
		b := newBed(t)
		b.add("q1")
		b.add("q2")
		b.add("q3")
		b.update()
		b.lose("q1")
		must(t, fsx.ReplaceIn(b.blobs(), "q2", []byte("cut")))
		flipped := content("q3")
		flipped[7] ^= 1
		must(t, fsx.ReplaceIn(b.blobs(), "q3", flipped))
		want := []string{"q1", "q2"}
		if !quick {
			want = append(want, "q3")
		}
		got := b.restore(quick)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("quick %v: put back %q, want %q", quick, got, want)
		}
		if kept, err := b.disk.ReadFile("/store/damaged/q2.now"); err != nil || string(kept) != "cut" {
			t.Errorf("the damaged bytes are %q, %v", kept, err)
		}
	}
}

// What the store removed stays removed, whenever it is looked for.
func TestRemovedFilesStayAway(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.add("q1")
	b.add("q2")
	b.update()
	b.remove("q1")
	if got := b.restore(false); len(got) > 0 {
		t.Errorf("before the update %q came back", got)
	}
	if got := b.update(); len(got) > 0 {
		t.Errorf("with the update %q came back", got)
	}
	if _, err := b.disk.ReadFile("/store/copies/q1"); err == nil {
		t.Error("the copy of a removed file is still there")
	}
	b.lose("q2")
	if got := b.restore(true); !slices.Equal(got, []string{"q2"}) {
		t.Errorf("after the update the lost q2 does not come back: %q", got)
	}
}

// A damaged copy is never used, and is made again.
func TestADamagedCopyIsMadeAgain(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.add("q1")
	b.update()
	whole, err := b.disk.ReadFile("/store/copies/q1")
	must(t, err)
	bad := slices.Clone(whole)
	bad[40] ^= 1
	must(t, b.disk.WriteFile("/store/copies/q1", bad, 0o600))
	if got := b.restore(false); len(got) > 0 {
		t.Fatalf("%q was put back from a damaged copy", got)
	}
	b.update()
	if got, err := b.disk.ReadFile("/store/copies/q1"); err != nil || !bytes.Equal(got, whole) {
		t.Errorf("the copy was not made again: %v", err)
	}
}

// A copy that has come to another name is not used: nothing good is replaced by it.
func TestExchangedCopiesAreNotUsed(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.add("q1")
	b.add("q2")
	b.update()
	one, err := b.disk.ReadFile("/store/copies/q1")
	must(t, err)
	two, err := b.disk.ReadFile("/store/copies/q2")
	must(t, err)
	must(t, b.disk.WriteFile("/store/copies/q1", two, 0o600))
	must(t, b.disk.WriteFile("/store/copies/q2", one, 0o600))
	if got := b.restore(false); len(got) > 0 {
		t.Errorf("%q were replaced", got)
	}
	if got := b.files(); !got["q1"] || !got["q2"] {
		t.Errorf("what is left: %v", got)
	}
}

// A full disk can be cleaned up: removing a file needs no space.
func TestRemovingNeedsNoSpace(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.add("q1")
	b.update()
	b.disk.SetCapacity(1)
	b.remove("q1")
	if _, err := b.m.Update(t.Context(), false); err != nil && !errors.Is(err, fsx.ErrNoSpace) {
		t.Errorf("the update of a full disk: %v", err)
	}
	if _, err := b.disk.ReadFile("/store/copies/q1"); err == nil {
		t.Error("the copy of a removed file is still there")
	}
}

// Random work with a power cut at a random operation, of which any later changes were kept or
// not: what the store removed never comes back by our hand, and what it holds is never changed.
func TestCuts(t *testing.T) {
	t.Parallel()
	const tries = 3000
	controls := 0
	for seed := range uint64(tries) {
		r := rand.New(rand.NewPCG(seed, 1))
		b := newBed(t)
		removed, n := map[string]bool{}, 0
		var crashed *fsxtest.Memory
		var removedThen map[string]bool
		for range 2 + r.IntN(12) {
			switch have := slices.Sorted(maps.Keys(b.files())); {
			case r.IntN(5) == 0:
				b.update()
			case len(have) > 0 && r.IntN(2) == 0:
				name := have[r.IntN(len(have))]
				b.remove(name)
				removed[name] = true
			default:
				n++
				b.add(fmt.Sprint("q", n))
			}
			if r.IntN(6) == 0 {
				crashed, removedThen = b.disk.Crash(func(int) bool { return r.IntN(2) == 0 }), maps.Clone(removed)
			}
		}
		if crashed == nil {
			continue
		}
		after := openBed(t, crashed)
		before := after.files()
		got := append(after.restore(seed%2 == 0), after.update()...)
		for _, name := range got {
			if removedThen[name] {
				t.Fatalf("seed %d: %s was removed and came back", seed, name)
			}
		}
		for name := range before {
			if !after.files()[name] {
				t.Fatalf("seed %d: %s was there and is not any more", seed, name)
			}
		}
		controls += len(got)
	}
	if controls == 0 {
		t.Error("no cut lost a file: the test shows nothing")
	}
	t.Logf("%d tries, %d lost files put back", tries, controls)
}
