package capture_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/capture"
	"github.com/retake-dev/retake/internal/platform/fsx/fsxtest"
)

// The law of the index: a capture by it gives the same tree as one that reads
// everything, whatever happened in between.
func TestIncrementalEqualsFull(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := newCaptureTest(t)
		for range rapid.IntRange(1, 6).Draw(rt, "rounds") {
			for range rapid.IntRange(0, 8).Draw(rt, "edits") {
				w.edit(rt)
			}
			w.clock.Advance(time.Duration(rapid.IntRange(0, 5000).Draw(rt, "pause")) * time.Millisecond)
			got := w.captureAndAccept()
			full := w.captureWith(capture.NewIndex())
			if got.Files.Object != full.Files.Object || got.Content != full.Content {
				rt.Fatalf("by the index %s, in full %s", got.Files.Object, full.Files.Object)
			}
			if fmt.Sprint(got.Coverage) != fmt.Sprint(full.Coverage) {
				rt.Fatalf("coverage by the index %v, in full %v", got.Coverage, full.Coverage)
			}
		}
	})
}

var names = []string{"a", "b", "c\xff", "d\n", "x.db", "x.db-wal", "sub", "link"}

// edit does one random thing to the workspace.
func (w *captureTest) edit(t *rapid.T) {
	w.clock.Advance(time.Millisecond)
	dirs := []string{"/ws"}
	for _, p := range w.fs.Paths() {
		if d, err := w.fs.OpenRoot(p); err == nil {
			if strings.HasPrefix(p, "/ws/") {
				dirs = append(dirs, p)
			}
			_ = d.Close()
		}
	}
	slices.Sort(dirs)
	dir := rapid.SampledFrom(dirs).Draw(t, "dir")
	name := rapid.SampledFrom(names).Draw(t, "name")
	path := dir + "/" + name
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0, 1, 2:
		_ = w.fs.WriteFile(path, []byte(rapid.StringN(0, 20, 40).Draw(t, "text")), 0o644)
	case 3:
		_ = w.fs.MkdirAll(path, 0o755)
	case 4:
		_ = w.fs.Symlink(rapid.SampledFrom(names).Draw(t, "target"), path)
	case 5:
		_ = w.fs.Link(path, rapid.SampledFrom(dirs).Draw(t, "to")+"/"+rapid.SampledFrom(names).Draw(t, "as"))
	case 6:
		w.remove(dir, name)
	case 7:
		_ = w.fs.Chmod(path, 0o700)
	case 8:
		_ = w.fs.SetMtime(path, int64(rapid.IntRange(0, 5).Draw(t, "mtime")))
	case 9:
		w.rename(dir, name, rapid.SampledFrom(dirs).Draw(t, "to"), rapid.SampledFrom(names).Draw(t, "as"))
	}
}

func (w *captureTest) remove(dir, name string) {
	d, err := w.fs.OpenRoot(dir)
	w.check(err)
	defer d.Close()
	if d.Remove(name) != nil {
		if sub, err := d.OpenDir(name); err == nil {
			names, err := sub.Names()
			w.check(err)
			for _, n := range names {
				w.remove(dir+"/"+name, n)
			}
			_ = sub.Close()
			_ = d.Remove(name)
		}
	}
}

func (w *captureTest) rename(from, name, to, newName string) {
	if strings.HasPrefix(to+"/", from+"/"+name+"/") {
		return // not into itself
	}
	a, err := w.fs.OpenRoot(from)
	w.check(err)
	b, err := w.fs.OpenRoot(to)
	w.check(err)
	_ = a.Rename(name, b, newName) // often there is nothing to rename
	_, _ = a.Close(), b.Close()
}

func TestIndexIsDroppedWhenItsSealIsNot(t *testing.T) {
	t.Parallel()
	w := newCaptureTest(t)
	w.writeFile("a", "one")
	w.advanceClock()
	w.captureAndAccept()
	w.writeFile("b", "two")
	w.advanceClock()
	w.captureAndAccept()
	if got := w.loadIndex().Seal(); got != w.seals[1] {
		t.Fatalf("loaded under %+v", got)
	}
	w.seals = w.seals[:1] // the store lost the second one
	if got := w.loadIndex().Seal(); got != w.seals[0] {
		t.Errorf("loaded under %+v", got)
	}
	if res := w.captureAndAccept(); res.Changed.Added != 1 || res.Read != 3 {
		t.Errorf("what only the lost seal vouched for was not read: %+v", res)
	}
	w.seals = nil
	if got := w.loadIndex().Seal(); got != (capture.Seal{}) {
		t.Errorf("loaded under %+v", got)
	}
}

// A file cut off or spoilt anywhere gives a shorter index or none, never a wrong one.
func TestDamagedIndexNeverLies(t *testing.T) {
	t.Parallel()
	w := newCaptureTest(t)
	for i := range 5 {
		w.writeFile(fmt.Sprintf("dir%d/f", i), strings.Repeat("x", i))
		w.advanceClock()
		w.captureAndAccept()
	}
	whole, err := w.fs.ReadFile("/state/index")
	w.check(err)
	want := w.captureWith(capture.NewIndex()).Files.Object
	for i := 0; i < len(whole); i += 7 {
		for _, spoilt := range [][]byte{whole[:i], flip(whole, i)} {
			w.check(w.fs.WriteFile("/state/index", spoilt, 0o600))
			if got := w.captureWith(w.loadIndex()).Files.Object; got != want {
				t.Fatalf("spoilt at %d: another tree", i)
			}
		}
	}
}

func flip(b []byte, i int) []byte {
	c := slices.Clone(b)
	c[i] ^= 0x41
	return c
}

func TestLook(t *testing.T) {
	t.Parallel()
	w := newCaptureTest(t)
	w.writeFile("same", "s")
	w.writeFile("edit", "before")
	w.writeFile("gone/deep/x", "x")
	w.advanceClock()
	w.captureAndAccept()
	w.writeFile("edit", "after!")
	w.remove("/ws", "gone")
	w.writeFile("new", "n")
	w.check(w.fs.SetMtime("/ws/same", 7))
	w.advanceClock()
	changes, cov, err := capture.Diff(context.Background(), w.openDir("/ws"), w.loadIndex(), w.opts, w.equal)
	w.check(err)
	var got []string
	for _, c := range changes {
		got = append(got, string(c.What)+" "+c.Path)
	}
	want := []string{"edited edit", "deleted gone", "deleted gone/deep", "deleted gone/deep/x", "added new", "timed same"}
	if !slices.Equal(got, want) || cov.Grade != retake.Complete {
		t.Errorf("got %v, %s", got, cov.Grade)
	}
}

func FuzzLoad(f *testing.F) {
	w := newCaptureTest(f)
	w.writeFile("a", "one")
	w.writeFile("d/b", "two")
	w.captureAndAccept()
	b, err := w.fs.ReadFile("/state/index")
	w.check(err)
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		m := fsxtest.NewMemory()
		if err := errsOf(m.MkdirAll("/s", 0o700), m.WriteFile("/s/index", b, 0o600)); err != nil {
			t.Fatal(err)
		}
		d, err := m.OpenRoot("/s")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := capture.LoadIndex(d, "index", func(capture.Seal) bool { return true }); err != nil {
			t.Fatal(err)
		}
	})
}

func errsOf(errs ...error) error { return errors.Join(errs...) }

func (w *captureTest) equal(ctx context.Context, id retake.ObjectID, r io.Reader) (bool, error) {
	f, err := w.store.File(ctx, id)
	if err != nil {
		return false, err
	}
	a, err := io.ReadAll(f)
	if err != nil {
		return false, err
	}
	b, err := io.ReadAll(r)
	return bytes.Equal(a, b), err
}
