package mirror_test

import (
	"bytes"
	"testing"

	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/fsx/fsxtest"
	"github.com/retake-dev/retake/internal/storage/store/mirror"
)

// A copy counts as whole only if WriteCopy would write the same bytes under the same name.
func FuzzReadCopy(f *testing.F) {
	f.Add("q1", []byte("index"), []byte{})
	f.Add("q1", []byte{}, make([]byte, 32))
	f.Add("q", []byte("short"), make([]byte, 31))
	f.Fuzz(func(t *testing.T, name string, data, damaged []byte) {
		disk := fsxtest.NewMemory()
		must(t, disk.MkdirAll("/c", 0o700))
		dir, err := disk.OpenRoot("/c")
		must(t, err)
		must(t, mirror.WriteCopy(dir, "q1", data))
		if got, ok := mirror.ReadCopy(dir, "q1"); !ok || !bytes.Equal(got, data) {
			t.Fatalf("a new copy is read as %q, %v", got, ok)
		}
		whole, err := disk.ReadFile("/c/q1")
		must(t, err)
		must(t, disk.WriteFile("/c/q1", damaged, 0o600))
		if _, ok := mirror.ReadCopy(dir, "q1"); ok && !bytes.Equal(damaged, whole) {
			// Only a copy of other data can be whole, too; then it must have the same form.
			got, _ := mirror.ReadCopy(dir, "q1")
			must(t, mirror.WriteCopy(dir, "q1", got))
			if form, err := disk.ReadFile("/c/q1"); err != nil || !bytes.Equal(form, damaged) {
				t.Fatalf("%q counts as a copy", damaged)
			}
		}
		if name == "" || name == "q1" {
			return
		}
		if d, err := disk.OpenRoot("/c"); err != nil || fsx.WriteIn(d, name, whole) != nil {
			return // not a file name
		}
		if _, ok := mirror.ReadCopy(dir, name); ok {
			t.Fatalf("the copy of q1 is accepted as %q", name)
		}
	})
}

// storedState is what a fuzzed store holds of one file.
type storedState struct {
	file, copied, intact []byte // nil: it is not there
}

func (s storedState) build(t *testing.T) *bed {
	t.Helper()
	b := newBed(t)
	must(t, b.disk.MkdirAll("/store/copies", 0o700))
	for path, data := range map[string][]byte{"blobs/q1": s.file, "copies/q1": s.copied, "copies/intact": s.intact} {
		if data != nil {
			must(t, b.disk.WriteFile("/store/"+path, data, 0o600))
		}
	}
	return b
}

// Whatever the copies and the mark of the mirror hold, a file is replaced only from a whole copy,
// its old bytes are kept, and a file that the store removed does not come back.
func FuzzRestoreFromCopies(f *testing.F) {
	const hasFile, hasCopy, isIntact, isWhole, isQuick = 1, 2, 4, 8, 16
	f.Add([]byte("good"), []byte("good"), []byte{}, byte(hasFile|hasCopy|isIntact|isWhole))
	f.Add([]byte("bad!"), []byte("good"), []byte{}, byte(hasFile|hasCopy|isIntact|isWhole))
	f.Add([]byte("cut"), []byte("good"), []byte("x"), byte(hasFile|hasCopy|isIntact|isWhole|isQuick))
	f.Add([]byte(nil), []byte("good"), []byte{}, byte(hasCopy|isWhole))
	f.Add([]byte(nil), []byte("good"), []byte{}, byte(hasCopy|isWhole|isIntact))
	f.Add([]byte("good"), make([]byte, 40), []byte{}, byte(hasFile|hasCopy|isIntact))
	f.Fuzz(func(t *testing.T, file, copied, intact []byte, flags byte) {
		var s storedState
		if flags&hasFile != 0 {
			s.file = append([]byte{}, file...)
		}
		if flags&isIntact != 0 {
			s.intact = append([]byte{}, intact...)
		}
		if flags&hasCopy != 0 {
			s.copied = append([]byte{}, copied...)
			if flags&isWhole != 0 {
				s.copied = copyOf(t, copied)
			}
		}
		b := s.build(t)
		b.restore(flags&isQuick != 0)
		b.update()
		now, err := b.disk.ReadFile("/store/blobs/q1")
		kept, _ := b.disk.ReadFile("/store/damaged/q1.now")
		whole := flags&(hasCopy|isWhole) == hasCopy|isWhole
		switch {
		case s.file == nil && err == nil && (!whole || s.intact == nil || !bytes.Equal(now, copied)):
			t.Fatalf("a file came back as %q: %+v", now, s)
		case s.file == nil && err != nil && whole && s.intact != nil:
			t.Fatalf("a lost file did not come back: %v", err)
		case s.file != nil && (err != nil || !bytes.Equal(now, file) && !whole):
			t.Fatalf("%q became %q, %v: %+v", file, now, err, s)
		case s.file != nil && !bytes.Equal(now, file) && (!bytes.Equal(now, copied) || !bytes.Equal(kept, file)):
			t.Fatalf("%q became %q, and %q was kept", file, now, kept)
		}
	})
}

// copyOf returns a whole copy of q1.
func copyOf(t *testing.T, data []byte) []byte {
	t.Helper()
	disk := fsxtest.NewMemory()
	must(t, disk.MkdirAll("/c", 0o700))
	dir, err := disk.OpenRoot("/c")
	must(t, err)
	must(t, mirror.WriteCopy(dir, "q1", data))
	b, err := disk.ReadFile("/c/q1")
	must(t, err)
	return b
}
